"""What a model is shown of a history: so many turns, none of them a result that lost its call."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.core.pairs import paired_calls
from agent.core.turn import SessionTurn
from agent.errors import ValidationError
from agent.recall.hydration import before, newest


def turn(seq: int, role: str, *calls: int, erased: bool = False) -> SessionTurn:
    """A turn that makes, or on a tool turn answers, the calls of these numbers."""
    invocations = [{"invocation_id": f"i{call}", "tool_name": "t"} for call in calls]
    parent = f"t{seq - 1}" if seq > 1 else None
    content = None if erased else "x"
    return SessionTurn(f"t{seq}", seq, "c", parent, role, content, erased, {"tool_invocations": invocations})


# Numbers of calls come again, so that results find theirs near and far.
spoken = st.tuples(
    st.sampled_from(["user", "assistant", "tool", "system"]), st.lists(st.integers(1, 4), max_size=2), st.booleans()
)
histories = st.lists(spoken, max_size=25).map(
    lambda said: [turn(place, role, *calls, erased=gone) for place, (role, calls, gone) in enumerate(said, 1)]
)


@given(histories, st.integers(0, 12))
def test_it_is_so_many_turns_at_most_in_their_order_without_a_result_that_lost_its_call(
    history: list[SessionTurn], most: int
) -> None:
    pairs = paired_calls(history)
    found = newest(history, lambda: pairs, most=most)
    shown = list(found.turns)
    assert len(shown) <= most
    assert shown == [each for each in history if each in shown]
    assert not any(each.erased for each in shown)
    assert found.erased == sum(each.erased for each in history)
    assert found.is_truncated is (len(shown) + found.erased < len(history))
    names = {each.turn_id for each in shown}
    alive = {each.turn_id for each in history if not each.erased}
    for result, call in pairs.items():
        if result.turn_id in names and call.place.turn_id in alive:
            assert call.place.turn_id in names


@given(histories)
def test_a_history_that_fits_is_shown_whole_but_for_what_is_erased(history: list[SessionTurn]) -> None:
    found = newest(history, lambda: paired_calls(history), most=len(history))
    assert list(found.turns) == [each for each in history if not each.erased]


@given(histories, st.integers(1, 12))
def test_the_newest_turn_of_a_user_is_always_shown_unless_system_turns_take_the_room(
    history: list[SessionTurn], most: int
) -> None:
    there = [each for each in history if not each.erased]
    system = sum(each.role == "system" for each in there)
    others = [each for each in there if each.role != "system"]
    if others and others[-1].role == "user" and system < most:
        assert others[-1] in newest(history, lambda: paired_calls(history), most=most).turns


def test_more_system_turns_than_there_is_room_leave_the_newest_of_them() -> None:
    history = [turn(1, "system"), turn(2, "system"), turn(3, "user"), turn(4, "system")]
    assert [each.seq for each in newest(history, dict, most=2).turns] == [2, 4]
    assert newest(history, dict, most=0).turns == ()


def test_what_comes_before_a_message_ends_where_it_stands() -> None:
    history = [turn(1, "user"), turn(2, "assistant"), turn(3, "user")]
    assert before(history, "t3") == history[:2]
    assert before(history, "t1") == []
    assert before(history, "t9") is None
    with pytest.raises(ValidationError):
        before(history, "t2")
