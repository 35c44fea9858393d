"""What captures said beside their turns is read once, and again where more is erased or something was revised."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import pytest

from agent.recall.captures_said import RememberedCaptures, read_captures
from agent.recall.written_window import WrittenWindow, written
from agent.ruvector.reads import StoreReads
from tests.core.session_turns import turn_id
from tests.recall.embedded import SESSION
from tests.recall.seen_sessions import Sessions, said, sessions


@dataclass
class Counted:
    """The reads of a store, of which those of events are counted."""

    reads: StoreReads
    asked: list[str] = field(default_factory=list)

    def __getattr__(self, name: str) -> Any:
        if "event" in name:
            self.asked.append(name)
        return getattr(self.reads, name)

    def taken(self) -> int:
        asked, self.asked = self.asked, []
        return len(asked)


@pytest.fixture
def made() -> Iterator[Sessions]:
    with sessions() as opened:
        yield opened


@pytest.fixture
def counted(made: Sessions) -> Counted:
    counted = Counted(made.source.reads)
    made.source = made.source._replace(reads=counted)  # type: ignore[arg-type]  # all that is read goes through it
    return counted


def as_chat(made: Sessions, *, remembers: bool = True) -> WrittenWindow:
    window = made.window(format="openai-chat")
    remembered = made.windows.captures if remembers else None
    return written(window, "openai-chat", seen=made.see(), source=made.source, remembered=remembered)


def contents(found: WrittenWindow) -> list[str]:
    return [message["content"] for message in found.document["messages"]]


def test_events_are_read_once_and_then_those_that_are_new(made: Sessions, counted: Counted) -> None:
    made.capture(said(1, "first"), said(2, "second"))
    made.capture(said(3, "third"))
    first = as_chat(made)
    assert counted.taken() > 0
    assert as_chat(made) == first
    assert counted.taken() == 0
    made.capture(said(4, "fourth"))
    assert contents(as_chat(made)) == ["first", "second", "third", "fourth"]
    assert counted.taken() > 0
    assert as_chat(made) == as_chat(made, remembers=False)


def test_a_revision_is_seen_at_once(made: Sessions, counted: Counted) -> None:
    body = {"session_id": SESSION, "messages": [{"role": "user", "content": "one", "name": "ada"}]}
    made.capture_body(body, "openai-chat")
    assert as_chat(made).document["messages"][0] == body["messages"][0]
    counted.taken()
    turn = made.see().history[0]
    made.capture(
        {"turn_id": turn.turn_id, "role": "user", "content": "one, revised", "timestamp": "2026-03-02T08:00:00Z"}
    )
    found = as_chat(made)
    assert (contents(found), counted.taken() > 0) == (["one, revised"], True)
    assert "name" not in found.document["messages"][0]
    assert found == as_chat(made, remembers=False)


def test_with_an_erasure_all_of_the_session_is_forgotten(made: Sessions, counted: Counted) -> None:
    made.capture(said(1, "first"), said(2, "second"), context={"agent_id": "a secret name"})
    made.capture(said(3, "third"))
    as_chat(made)
    counted.taken()
    made.memory.client.erasure.turn(turn_id(2))
    found = as_chat(made)
    assert counted.taken() > 0
    assert "second" not in str(contents(found))
    assert found == as_chat(made, remembers=False)
    made.memory.client.erasure.session(SESSION)
    assert as_chat(made) == as_chat(made, remembers=False)
    known = made.windows.captures.read(made.see().state, made.source.reads, SESSION, [])
    assert "a secret name" not in str(known)


def test_what_a_capture_said_of_another_turn_than_was_asked_for_is_known_too(made: Sessions, counted: Counted) -> None:
    made.capture(*[said(number) for number in range(1, 9)])
    turns = list(made.see().history)
    captures = RememberedCaptures()
    captures.read(made.see().state, made.source.reads, SESSION, turns[-1:])
    counted.taken()
    (found,) = captures.read(made.see().state, made.source.reads, SESSION, turns).values()
    assert counted.taken() == 0
    assert found.without_parent == {turn.turn_id for turn in turns}


def test_of_a_client_that_sends_its_whole_list_again_each_turn_is_held_once(made: Sessions) -> None:
    for last in range(1, 8):
        made.capture(*[said(number) for number in range(1, last + 1)])
    turns = list(made.see().history)
    found = RememberedCaptures().read(made.see().state, made.source.reads, SESSION, turns)
    assert len(found) == 7
    assert sum(len(each.without_parent) for each in found.values()) == 7
    assert found == read_captures(made.source.reads, SESSION, turns)


def test_what_is_too_large_is_not_held(made: Sessions, counted: Counted) -> None:
    made.capture(said(1), said(2), context={"agent_id": "x" * 5000})
    captures = RememberedCaptures(most=4)
    for _ in range(2):
        counted.taken()
        captures.read(made.see().state, made.source.reads, SESSION, list(made.see().history))
        assert counted.taken() > 0


def test_any_number_of_threads_write_the_same_window(made: Sessions) -> None:
    made.capture(*[said(number) for number in range(1, 30)])
    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(lambda _: contents(as_chat(made)), range(32)))
    assert all(each == found[0] for each in found)
