"""Retention by a client: erases the sessions of its tenant whose last capture is too long ago, one after the other.

Each is an erasure like any other (CONTRACT 10a), with a receipt of its own. Who administers the store has
``memory-graph store expire``, which does the same in the database. A session that is empty already is left alone, and
so is one that became active since it was listed; a capture that comes in the moment of its erasure is erased with it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from datetime import timedelta
from typing import TYPE_CHECKING, Protocol

from agent.core.timestamps import instant, utc_text
from agent.errors import Problem, StoreNotFound, ValidationError
from agent.sdk.opened_store import OpenedStore

if TYPE_CHECKING:
    from agent.ruvector.models import SessionRow


class _Lists(Protocol):
    def __call__(self, *, until: str) -> Iterator[SessionRow]: ...


def erase_older(store: OpenedStore, sessions: _Lists, hours: float) -> int:
    """Erase what ``sessions`` lists as longer without a capture than ``hours``; return how many sessions that were.

    Raises ValidationError for hours that are no number above 0, and as the store's reads and erasures do.
    """
    before = _before(store, hours)
    if before is None:
        return 0
    return sum(_erase(store, row, before) for row in sessions(until=before) if not _is_empty(row))


def _before(store: OpenedStore, hours: object) -> str | None:
    """The instant of ``hours`` ago; None where that is before all time that an instant of capture has."""
    message = "hours must be a number above 0"
    if isinstance(hours, bool) or not isinstance(hours, int | float):
        raise ValidationError(message, [Problem("$.hours", "type")])
    if not 0 < hours < math.inf:
        raise ValidationError(message, [Problem("$.hours", "exclusiveMinimum" if hours <= 0 else "number_range")])
    try:
        return utc_text(store.clock() - timedelta(hours=hours))
    except OverflowError:
        return None


def _erase(store: OpenedStore, row: SessionRow, before: str) -> bool:
    """Erase a session; False where there is nothing to erase any more, or not yet."""
    try:
        now = store.reads.session(row.session_id)
        if instant(now.last_activity) >= instant(before):
            return False
        return store.client.erasure.session(row.session_id).sessions > 0
    except StoreNotFound:
        # It went between the list and here.
        return False


def _is_empty(row: SessionRow) -> bool:
    """Whether a session was erased before: the store says so by what it does not know of it any longer."""
    has_no_turns = "last_turn_at" in row.model_fields_set and row.last_turn_at is None
    return has_no_turns and row.native_session_id is None and not (row.agents or row.users or row.tags)
