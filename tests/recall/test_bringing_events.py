"""Which events are read for turns: those that brought them, and as few others as can be."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from agent.core.turn import SessionTurn
from agent.errors import StoreNotFound, StoreWriteError
from agent.recall.bringing_events import bringing_events
from agent.recall.speakers import CaptureAgents, speakers
from agent.ruvector.feed import FedEvent, FeedPage

SESSION = "6f1d2c3a-8b4e-4f70-9a51-0c2d3e4f5a61"
AT = "2026-03-02T08:15:00.000001Z"


def event(number: int) -> FedEvent:
    text = json.dumps({"payload": {"inputs": {"context": {"agent_id": f"agent {number}"}}}})
    return FedEvent(text.encode(), number, f"r-{number}", None, None)


class Reads:
    """A store with the events of these numbers; remembers what it was asked."""

    def __init__(self, *numbers: int) -> None:
        self._events = {f"r-{number}": event(number) for number in numbers}
        self.lists: list[dict[str, Any]] = []
        self.names: list[str] = []

    def raw_events(self, **which: Any) -> FeedPage:
        kept = ("session_id", "order", "since", "until")
        self.lists.append({name: which[name] for name in kept if which.get(name) is not None})
        return FeedPage(tuple(self._events.values())[::-1], None)

    def raw_event(self, execution_ref: str) -> FedEvent:
        self.names.append(execution_ref)
        if execution_ref not in self._events:
            raise StoreNotFound("there is none")
        return self._events[execution_ref]


def turn(number: int, captured_at: str | None = AT, *, revisions: int = 1, **fields: Any) -> SessionTurn:
    told = {"captured_at": captured_at, "revisions": revisions, "execution_ref": f"r-{number}", **fields}
    return SessionTurn(f"t-{number}", number, "c", None, "assistant", "x", False, told)


def brought(reads: Reads, *turns: SessionTurn) -> list[str | None]:
    return [each.execution_ref for each in bringing_events(reads, SESSION, turns)]  # type: ignore[arg-type]  # all that it reads


def test_they_are_looked_for_in_the_time_in_which_the_turns_were_captured() -> None:
    reads = Reads(1, 2, 3)
    later = turn(3, "2026-03-02T10:15:00.5+01:00")
    assert brought(reads, turn(1), later) == ["r-3", "r-1"]
    assert reads.lists == [
        {
            "session_id": SESSION,
            "order": "desc",
            "since": "2026-03-02T08:15:00.000001Z",
            "until": "2026-03-02T09:15:00.500001Z",
        }
    ]


def test_an_event_that_revised_a_turn_is_asked_for_by_its_name() -> None:
    reads = Reads(1, 2)
    assert brought(reads, turn(1), turn(2, revisions=3)) == ["r-2", "r-1"]
    assert reads.names == ["r-2"]
    assert brought(Reads(), turn(2, revisions=2)) == []


def test_where_many_were_revised_all_events_are_walked_along() -> None:
    numbers = range(1, 31)
    reads = Reads(*numbers)
    assert brought(reads, *(turn(number, revisions=2) for number in numbers)) == [f"r-{n}" for n in numbers][::-1]
    assert (reads.names, reads.lists) == ([], [{"session_id": SESSION, "order": "desc"}])


def test_a_store_that_does_not_say_when_is_walked_along_whole() -> None:
    for captured_at in (None, "yesterday", "9999-12-31T23:59:59.999999Z"):
        reads = Reads(1)
        assert brought(reads, turn(1, captured_at)) == ["r-1"]
        assert reads.lists == [{"session_id": SESSION, "order": "desc"}]


def test_nothing_is_read_for_turns_that_name_no_event() -> None:
    reads = Reads(1)
    assert brought(reads) == brought(reads, turn(1, execution_ref=None)) == []
    assert reads.lists == []


def test_an_event_comes_once_for_all_its_turns() -> None:
    assert brought(Reads(1), turn(1), turn(2, execution_ref="r-1")) == ["r-1"]


UUID = "6ba7b810-9dad-41d1-80b4-00c04fd430c8"


class Uppercase(Reads):
    """A store whose one event names itself by ``UUID`` as its writer spelt it."""

    def __init__(self) -> None:
        super().__init__()
        self._events = {UUID: replace(event(1), execution_ref=UUID.upper())}


def test_a_uuid_is_one_name_in_any_case() -> None:
    never_revised = turn(1, execution_ref=UUID)
    revised = turn(2, execution_ref=UUID, revisions=2)
    assert brought(Uppercase(), never_revised) == brought(Uppercase(), revised) == [UUID]
    assert spoken(Uppercase(), CaptureAgents(), never_revised, revised) == {"t-1": "agent 1", "t-2": "agent 1"}


def test_another_string_is_one_name_as_it_is_spelt() -> None:
    assert brought(Reads(1), turn(1, execution_ref="R-1")) == []


@pytest.mark.parametrize("name", ["other", "R-1", None])
def test_a_store_that_answers_with_another_event_than_was_asked_for_is_not_believed(name: str | None) -> None:
    reads = Reads(1)
    reads._events["r-1"] = replace(event(1), execution_ref=name)
    with pytest.raises(StoreWriteError, match="another event"):
        brought(reads, turn(1, revisions=2))


# What is remembered of them.


def spoken(reads: Reads, remembered: CaptureAgents, *turns: SessionTurn) -> dict[str, str]:
    return speakers(reads, SESSION, turns, remembered)  # type: ignore[arg-type]  # all that it reads


def test_an_agent_that_is_remembered_is_not_asked_for_again() -> None:
    reads, remembered = Reads(1, 2), CaptureAgents()
    expected = {"t-1": "agent 1", "t-2": "agent 2"}
    assert spoken(reads, remembered, turn(1), turn(2)) == expected
    assert spoken(reads, remembered, turn(1), turn(2)) == expected
    assert len(reads.lists) == 1


def test_so_many_are_remembered_those_that_were_asked_for_last() -> None:
    remembered = CaptureAgents(2)
    remembered.remember({"a": "1", "b": None})
    assert remembered.known(["a"]) == {"a": "1"}
    remembered.remember({"c": "3"})
    assert remembered.known(["a", "b", "c"]) == {"a": "1", "c": "3"}


class WithoutEvents(Reads):
    def raw_events(self, **which: Any) -> FeedPage:
        raise StoreNotFound("no such address")


def test_a_store_without_events_leaves_what_is_remembered() -> None:
    remembered = CaptureAgents()
    remembered.remember({"r-1": "desk"})
    assert spoken(WithoutEvents(), remembered, turn(1), turn(2)) == {"t-1": "desk"}
