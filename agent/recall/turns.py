"""The turns of a session, page after page behind the scenes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from http import HTTPStatus
from itertools import chain
from typing import Final, Unpack

from agent.core.turn import SessionTurn
from agent.errors import StoreWriteError
from agent.ruvector.reads import StoreReads, TurnFilters
from agent.ruvector.turn_rows import TurnRows

PAGE: Final = 1000
# How a turn's members follow one another where people read them; the others come behind.
_ORDER: Final = (
    *("turn_id", "seq", "conversation_id", "parent_turn_id", "role", "content", "timestamp", "captured_at"),
    *("version", "execution_ref", "revisions", "erased"),
)


def session_turns(reads: StoreReads, session_id: str, *, at_seq: int | None = None) -> tuple[SessionTurn, ...]:
    """All turns of a session in ``seq`` order, of every conversation and branch; ``at_seq``: only up to that one.

    Their ``fields`` are in the order of people. Raises StoreNotFound for a session that the store never had,
    NewerContract for a turn that this release cannot read.
    """
    pages = turn_pages(reads, session_id, at_seq=at_seq)
    return tuple(map(_in_order, chain.from_iterable(page.turns for page in pages)))


def turn_pages(reads: StoreReads, session_id: str, **which: Unpack[TurnFilters]) -> Iterator[TurnRows]:
    """The pages of the turns that ``which`` names, one in memory at a time, none of them empty.

    Raises as ``StoreReads`` does, in the middle too, and StoreWriteError where the store's pages do not advance.
    """
    after = 0
    while True:
        page = reads.turn_rows(session_id, after_seq=after, limit=PAGE, **which)
        # Only an empty page is the end: a store may end one early, where its turns are large.
        if not page.turns:
            return
        last = page.turns[-1].seq
        if last <= after:
            raise StoreWriteError("the store's pages do not advance", upstream_status=HTTPStatus.OK)
        yield page
        after = last


def _in_order(turn: SessionTurn) -> SessionTurn:
    fields = {name: turn.fields[name] for name in _ORDER if name in turn.fields}
    return replace(turn, fields={**fields, **turn.fields})
