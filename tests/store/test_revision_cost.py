"""A capture that revises many turns costs what its payload costs. Counted, never timed: calls, statements, steps."""

import sqlite3
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest

from store.engines.postgres_connection import PostgresConnection
from store.engines.sqlite import SqliteStore
from tests.store.surface import OTHER_CONVERSATION, Surface, payload, ref_of, turn
from tests.store.test_cost import steps_of

_MANY = 150
_LONG = 2_000
_LATER = "2026-03-02T09:00:00Z"
_DERIVED = {"metadata": {"derived": ["timestamp"]}}
_COUNTED = {"token_usage": {"prompt_tokens": 0, "completion_tokens": 5, "total_tokens": 5}}

Kind = tuple[dict[str, Any], dict[str, Any]]
# What each turn says beside its text, at first and then.
KINDS: dict[str, Kind] = {
    "the user's text": ({}, {}),
    "the answer's text": ({"role": "assistant"}, {"role": "assistant"}),
    "every time": ({}, {"timestamp": _LATER}),
    "who speaks": ({}, {"role": "system"}),
    "no tokens any more": (_COUNTED, {}),
    "derived times": ({"role": "assistant", **_DERIVED}, {"role": "assistant", "timestamp": _LATER, **_DERIVED}),
}


def said(number: int, text: str, more: dict[str, Any]) -> dict[str, Any]:
    return turn(1, f"{text} {number}", **{"turn_id": ref_of(f"revised {number}"), **more})


def revise(surface: Surface, numbers: range, kind: Kind) -> Callable[[], object]:
    """Send the turns ``numbers``; what is given back revises each of them, in one capture."""
    surface.capture(payload(*[said(number, "first", kind[0]) for number in numbers]))
    sent = payload(*[said(number, "then", kind[1]) for number in numbers])

    def act() -> None:
        assert surface.capture(sent)["turns"]["revised"] == len(numbers)

    return act


def counted(act: Callable[[], object]) -> tuple[int, int]:
    """How many functions of ours ``act`` enters, and how many single statements it hands to its engine.

    Of ours alone: how often a driver looks at its socket is a matter of time.
    """
    calls = statements = 0

    def count(frame: FrameType, event: str, called: Any) -> None:
        nonlocal calls, statements
        if event == "call":
            calls += frame.f_globals.get("__name__", "").startswith(("store.", "agent."))
            statements += frame.f_code is PostgresConnection.execute.__code__
        elif event == "c_call" and isinstance(getattr(called, "__self__", None), sqlite3.Connection):
            statements += called.__name__ == "execute"

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        act()
    finally:
        sys.setprofile(before)
    return calls, statements


@pytest.mark.parametrize("kind", KINDS)
def test_twice_the_revisions_take_twice_the_calls_and_as_many_statements(kind: str, in_process: Surface) -> None:
    revise(in_process, range(-_MANY, 0), KINDS[kind])()
    calls, statements = counted(revise(in_process, range(_MANY), KINDS[kind]))
    more_calls, more_statements = counted(revise(in_process, range(_MANY, 3 * _MANY), KINDS[kind]))
    assert calls > _MANY
    assert statements > 0
    assert more_calls <= calls * 2.3
    # Ids go in batches of a few sizes.
    assert more_statements <= statements + 4


@pytest.mark.parametrize("kind", KINDS)
def test_twice_the_revisions_take_twice_the_steps_of_the_database(kind: str) -> None:
    def steps(count: int) -> int:
        surface = Surface(SqliteStore(":memory:"))
        taken = steps_of(surface, revise(surface, range(count), KINDS[kind]))
        surface.close()
        return taken

    once = steps(_MANY)
    assert once > _MANY
    assert steps(2 * _MANY) <= once * 2.3


@pytest.mark.parametrize("kind", ["the user's text", "the answer's text", "derived times"])
def test_a_revision_takes_no_more_steps_in_a_long_session_than_in_a_short_one(kind: str) -> None:
    def steps(length: int) -> int:
        surface = Surface(SqliteStore(":memory:"))
        first_two = revise(surface, range(2), KINDS[kind])
        surface.capture(payload(*[said(number, "first", {}) for number in range(2, length)]))
        taken = steps_of(surface, first_two)
        surface.close()
        return taken

    assert steps(_LONG) <= steps(100) * 1.3 + 1


def test_late_parents_are_asked_for_together(in_process: Surface) -> None:
    def parents(numbers: range) -> Callable[[], object]:
        children = [said(number, "c", {"parent_turn_id": ref_of(f"revised p{number}")}) for number in numbers]
        in_process.capture(payload(*children, conversation=OTHER_CONVERSATION))
        late = [said(number, "p", {"turn_id": ref_of(f"revised p{number}")}) for number in numbers]
        return lambda: in_process.capture(payload(*late))

    parents(range(-1, 0))()
    _, statements = counted(parents(range(_MANY)))
    _, more_statements = counted(parents(range(_MANY, 3 * _MANY)))
    assert 0 < more_statements <= statements + 4
