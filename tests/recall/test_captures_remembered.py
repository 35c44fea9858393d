"""What is remembered of captures while others read the same session, and when there is more than may be held."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pytest

from agent.core.turn import SessionTurn
from agent.recall.captures_said import RememberedCaptures
from agent.ruvector.reads import StoreReads
from tests.core.session_turns import turn_id
from tests.recall.embedded import SESSION
from tests.recall.seen_sessions import Sessions, said, sessions


@dataclass
class Meanwhile:
    """The reads of a store; before the first event ``does`` happens, as another thread may do it."""

    reads: StoreReads
    does: Callable[[], object] | None

    def __getattr__(self, name: str) -> Any:
        if "event" in name and self.does is not None:
            does, self.does = self.does, None
            does()
        return getattr(self.reads, name)


@pytest.fixture
def made() -> Iterator[Sessions]:
    with sessions() as opened:
        opened.capture(said(1, "first"), said(2, "second"))
        yield opened


def history(made: Sessions) -> Sequence[SessionTurn]:
    return list(made.see().history)


def test_who_read_before_an_erasure_leaves_what_was_read_behind_it(made: Sessions) -> None:
    captures, reads = RememberedCaptures(), made.source.reads
    before, turns = made.see().state, history(made)

    def another() -> None:
        made.memory.client.erasure.turn(turn_id(2))
        captures.read(made.see().state, reads, SESSION, history(made))

    captures.read(before, Meanwhile(reads, another), SESSION, turns)  # type: ignore[arg-type]  # all that is read goes through it
    fewer = Meanwhile(reads, lambda: pytest.fail("it is known"))
    found = captures.read(made.see().state, fewer, SESSION, history(made))  # type: ignore[arg-type]  # as above
    assert found == RememberedCaptures().read(made.see().state, reads, SESSION, history(made))


def test_who_read_behind_an_erasure_drops_what_was_read_before_it(made: Sessions) -> None:
    captures, reads = RememberedCaptures(), made.source.reads
    before, turns = made.see().state, history(made)
    made.memory.client.erasure.turn(turn_id(2))
    after, left = made.see().state, history(made)
    slower = Meanwhile(reads, lambda: captures.read(before, reads, SESSION, turns))
    found = captures.read(after, slower, SESSION, left)  # type: ignore[arg-type]  # all that is read goes through it
    fewer = Meanwhile(reads, lambda: pytest.fail("it is known"))
    assert captures.read(after, fewer, SESSION, left) == found  # type: ignore[arg-type]  # as above


def test_the_session_that_was_asked_for_longest_ago_goes_first(made: Sessions) -> None:
    asked: list[str] = []
    captures, reads = RememberedCaptures(most=8), made.source.reads

    def read(session: str) -> None:
        seen = Meanwhile(reads, lambda: asked.append(session))
        captures.read(made.see().state, seen, session, history(made))  # type: ignore[arg-type]  # as above

    # One session under names that a store takes for the same: each is held by itself, and weighs three.
    one, other, third = SESSION, SESSION.upper(), SESSION[:8].upper() + SESSION[8:]
    for session in (one, other, one, third):
        read(session)
    assert asked == [one, other, third]
    read(one)
    assert asked == [one, other, third]
    read(other)
    assert asked == [one, other, third, other]
