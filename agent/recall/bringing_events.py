"""The events that brought turns: of each turn the capture of its latest revision.

A turn's record does not hold what its capture said beside it, so events are read, each of which may be as large as its
session. They are read only where the turns ask for one: within the time in which these were captured, the newest first,
until each is found. An event that revised a turn has a time of its own, and is asked for by its name.

A writer may have named its event by a UUID in upper case, and the envelope says it as it was sent. Events go by their
names in lower case here, as turns name them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from http import HTTPStatus
from typing import TYPE_CHECKING, Final

from agent.core.ids import is_uuid
from agent.core.timestamps import instant, utc_text
from agent.core.turn import SessionTurn
from agent.errors import StoreNotFound, StoreWriteError
from agent.recall.events import events

if TYPE_CHECKING:
    from agent.ruvector.feed import FedEvent
    from agent.ruvector.reads import EventFilters, StoreReads

# Asked for one by one, more would cost more than a walk along all.
_MOST_BY_NAME: Final = 16
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_NANOSECONDS_A_MICROSECOND: Final = 1000


def bringing_events(reads: StoreReads, session_id: str, turns: Iterable[SessionTurn]) -> Iterator[FedEvent]:
    """Each event that brought one of ``turns``, once; one that is not in the store (any longer) is left out.

    Its ``execution_ref`` is that of its turns. Raises StoreNotFound for a store that has no list of events,
    StoreWriteError for one that answers with another event than was asked for.
    """
    brought: dict[str, list[SessionTurn]] = {}
    for turn in turns:
        execution_ref = turn.fields.get("execution_ref")
        if isinstance(execution_ref, str):
            brought.setdefault(execution_ref, []).append(turn)
    revising = [name for name, revised in brought.items() if any(map(_is_revised, revised))]
    if len(revising) <= _MOST_BY_NAME:
        for name in revising:
            del brought[name]
            event = _named(reads, name)
            if event is not None:
                yield event
    asked = set(brought)
    if asked:
        which: EventFilters = {"session_id": session_id, "order": "desc", **_when(brought)}
        newest = map(_in_lower_case, events(reads, **which))
        while asked and (event := next(newest, None)) is not None:
            if event.execution_ref in asked:
                asked.remove(event.execution_ref)
                yield event


def _named(reads: StoreReads, execution_ref: str) -> FedEvent | None:
    try:
        event = _in_lower_case(reads.raw_event(execution_ref))
    except StoreNotFound:
        return None
    if event.execution_ref != execution_ref:
        message = "the store answered with another event than the one that was asked for"
        raise StoreWriteError(message, upstream_status=HTTPStatus.OK)
    return event


def _in_lower_case(event: FedEvent) -> FedEvent:
    name = event.execution_ref
    return replace(event, execution_ref=name.lower()) if is_uuid(name) and name != name.lower() else event


def _is_revised(turn: SessionTurn) -> bool:
    return bool(turn.fields.get("revisions", 1) != 1)


def _when(brought: Mapping[str, Collection[SessionTurn]]) -> EventFilters:
    """The time in which ``brought`` were captured; none where one of them does not say it, or was revised later."""
    times: list[int] = []
    for turn in (turn for turns in brought.values() for turn in turns):
        try:
            times.append(instant(turn.captured_at or "") // _NANOSECONDS_A_MICROSECOND)
        except ValueError:
            return {}
        if _is_revised(turn):
            return {}
    try:
        return {"since": _text(min(times)), "until": _text(max(times) + 1)}
    except OverflowError:
        # The last microsecond of the calendar has none behind it.
        return {}


def _text(microseconds: int) -> str:
    return utc_text(_EPOCH + timedelta(microseconds=microseconds))
