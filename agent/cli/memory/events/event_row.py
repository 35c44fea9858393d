"""An event as one row of a list for people: where it stands, when, how much, and the ids that find it again.

No content is shown. What another writer put in place of a time or an id is made safe and cut by the columns.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from agent.cli.columns import Column
from agent.cli.memory.events.event_ids import members_of, session_of, with_native
from agent.cli.raw_json import decoded, value_of
from agent.core.timestamps import instant
from agent.ruvector.feed import FedEvent

# Ids are shown whole: a part of one finds nothing. So much of a native id is shown even where there is no room.
_NATIVE: Final = len(" (2026-03-02/order-4471)")
COLUMNS: Final = (
    Column("position", 9, right=True),
    Column("captured at", len("2026-03-02T08:15:00Z")),
    Column("turns", len("erased"), right=True),
    Column("execution ref", 36),
    Column("session", 36 + _NATIVE),
)
_NOTHING: Final = "-"
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def event_row(fed: FedEvent) -> list[str]:
    """The values of COLUMNS. An event of no session says of what type it is and who wrote it.

    ``erased`` in place of turns: no turn of it has its content.
    """
    envelope = members_of(value_of(decoded(fed.text)))
    event = members_of(envelope.get("payload")) or envelope
    turns = members_of(event.get("outputs")).get("turn_count", _NOTHING)
    is_empty = fed.is_erased and not _has_content(event)
    return [
        _NOTHING if fed.position is None else str(fed.position),
        in_seconds(envelope.get("timestamp")),
        "erased" if is_empty else str(turns),
        fed.execution_ref or _NOTHING,
        _session(event) or f"{fed.type or 'no type'} of {event.get('agent_id', 'no agent')}",
    ]


def _session(event: Mapping[str, Any]) -> str | None:
    identity = session_of(event)
    return None if identity is None else with_native(identity, members_of(event.get("inputs")).get("native_session_id"))


def _has_content(event: Mapping[str, Any]) -> bool:
    """Whether an event that was erased holds a turn that was not: a turn can be erased alone."""
    turns = members_of(event.get("inputs")).get("turns")
    return isinstance(turns, list) and any(members_of(turn).get("erased") is not True for turn in turns)


def session_of_fed(fed: FedEvent) -> str | None:
    """The session that the store counts an event to."""
    envelope = members_of(value_of(decoded(fed.text)))
    return session_of(members_of(envelope.get("payload")) or envelope)


def in_seconds(timestamp: object) -> str:
    """An RFC 3339 time in UTC to the second; anything else as it is."""
    if not isinstance(timestamp, str):
        return _NOTHING
    try:
        seconds = instant(timestamp) // 10**9
    except ValueError:
        return timestamp
    return f"{(_EPOCH + timedelta(seconds=seconds)).isoformat().removesuffix('+00:00')}Z"
