"""All targets by name. Each is made when it is wanted: some open a store, and all read the corpus."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from tests.fuzz.engine import Target
from tests.fuzz.events_target import events
from tests.fuzz.formats_target import formats, narrowing
from tests.fuzz.parser_target import arrival, parser
from tests.fuzz.recall_target import recall
from tests.fuzz.store_target import store, store_on_both
from tests.fuzz.texts_target import detectors, entities

# In the tests' minute; an hour has the store on both engines, too, which is slow.
TARGETS: Final[dict[str, Callable[[], Target]]] = {
    "parser": parser,
    "arrival": arrival,
    "events": events,
    "formats": formats,
    "narrowing": narrowing,
    "detectors": detectors,
    "entities": entities,
    "store": store,
    "recall": recall,
}
OF_AN_HOUR: Final[dict[str, Callable[[], Target]]] = {**TARGETS, "engines": store_on_both}
WHAT: Final = {
    "parser": "bodies to `parse` and `open_wrapper`, against Python's `json` made strict and `rfc8785`",
    "arrival": "streams to `read_body`: gzip, chunks, lengths, senders that go away",
    "events": "requests of queues and brokers to `delivery_of`",
    "formats": "documents of 17 formats and native ones: read, validated, drawn, written in 15 formats, read again",
    "narrowing": "the same: entities, narrowed to `redacted` and to `none`, twice",
    "detectors": "texts to `find`: places, kinds, nothing found again",
    "entities": "texts in turns to `entities_of`: places, digests, no placeholders",
    "store": "events, queries, paths, cursors and erasures to the store on SQLite",
    "engines": "the same to SQLite and PostgreSQL side by side: one answer of both",
    "recall": "queries and bodies to the read side, over whatever events the store took",
}
