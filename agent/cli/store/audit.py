"""``store audit``: who erased, exported or administered what, and when, of every tenant of the database (CONTRACT 10a).

The audit has a digest in place of a user's name: who asks for a person's acts says the name, and it is made here.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from agent.cli.columns import Column
from agent.cli.exit_codes import ExitCode
from agent.cli.invocation import Invocation
from agent.cli.listing import Listing
from agent.cli.memory import names
from agent.cli.memory.events.event_row import in_seconds
from agent.cli.output_format import Format
from agent.cli.store.database import opened, store_settings
from store.log.event_store import EventStore
from store.privacy import audit
from store.privacy.erasure import Subject

# A subject is shown whole: a part of an id, or of a digest, finds nothing.
_COLUMNS: Final = (
    Column("at", len("2026-03-02T08:15:00Z")),
    Column("action", len("erase_session")),
    Column("subject", 36),
    Column("by", 20),
    Column("tenant", 10),
)
_PAGE: Final = 1000


@dataclass(frozen=True, slots=True)
class AuditCommand:
    """One reading, ``page`` rows at a time. ``user_id``: of the acts on this user alone; None is all acts."""

    user_id: str | None
    page: int = _PAGE

    interrupted = "interrupted: the list is not whole"

    def __call__(self, invocation: Invocation) -> ExitCode:
        """Read and print. Raises ConfigurationError for what can be no name, StoreConnectionError where no store is."""
        subject = None if self.user_id is None else Subject.user(names.user_id(self.user_id)).name
        with opened(store_settings(invocation).url) as store, Listing(invocation, "audit", _COLUMNS) as listing:
            for row in self._rows(store):
                if subject in (None, row["subject"]):
                    listing.add(json.dumps(row, ensure_ascii=False, separators=(",", ":")), partial(_cells, row))
        if listing.count == 0 and (invocation.format is Format.TABLE or invocation.jsonl):
            whose = "" if subject is None else f" on the user whose digest is {subject}"
            invocation.terminal.say(f"no act found{whose}")
        return ExitCode.OK

    def _rows(self, store: EventStore) -> Iterator[dict[str, Any]]:
        """Of one tenant after the other, oldest first; each page is read in a transaction of its own."""
        after: int | None = 0
        while after is not None:
            with store.engine.reading() as connection:
                rows, after = audit.read_all(connection, after=after, limit=self.page)
            for tenant, text in rows:
                yield {"tenant": tenant, **json.loads(text)}


def _cells(row: dict[str, Any]) -> list[str]:
    return [in_seconds(row["at"]), row["action"], row["subject"], row["key_name"], row["tenant"]]
