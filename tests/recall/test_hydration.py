"""What a model is shown of a history: so many turns, and of calls and their results all or nothing."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.core.pairs import paired_calls
from agent.core.turn import SessionTurn
from agent.errors import ValidationError
from agent.recall.hydration import at_least, before, newest


def turn(seq: int, role: str, *calls: int, erased: bool = False) -> SessionTurn:
    """A turn that makes, or on a tool turn answers, the calls of these numbers."""
    invocations = [{"invocation_id": f"00000000-0000-4000-8000-{call:012x}", "tool_name": "t"} for call in calls]
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


def exchanged(history: list[SessionTurn]) -> list[tuple[SessionTurn, SessionTurn]]:
    """Each call that is answered behind it and that a cut may part from its result: the two turns."""
    there = {each.turn_id: each for each in history if not each.erased}
    pairs = [(call.place.turn_id, result.turn_id) for result, call in paired_calls(history).items()]
    found = [(there[call], there[result]) for call, result in pairs if call in there and result in there]
    return [(call, result) for call, result in found if call.seq < result.seq and call.role != "system"]


@given(histories, st.integers(0, 12))
def test_it_is_so_many_turns_at_most_in_their_order_and_no_exchange_in_parts(
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
    assert all((call in shown) is (result in shown) for call, result in exchanged(history))


@given(histories, st.integers(1, 12))
def test_a_page_that_may_grow_is_the_end_of_the_history_and_as_short_as_its_exchanges_allow(
    history: list[SessionTurn], count: int
) -> None:
    pairs = paired_calls(history)
    found = at_least(history, lambda: pairs, count=count)
    there = [each for each in history if not each.erased]
    messages = [each for each in there if each.role != "system"]
    system = [each for each in there if each.role == "system"]
    kept = [each for each in found.turns if each.role != "system"]
    assert list(found.turns) == [each for each in there if each in found.turns]
    assert [each for each in found.turns if each.role == "system"] == system[-count:]
    assert kept == messages[len(messages) - len(kept) :]
    assert bool(found.turns) is bool(there)

    def parts_none(length: int) -> bool:
        shown = messages[len(messages) - length :]
        return all(call in shown for call, result in exchanged(history) if result in shown)

    least = min(max(1, count - len(system)), len(messages))
    assert len(kept) == next(length for length in range(least, len(messages) + 1) if parts_none(length))
    assert (found.total, found.erased) == (len(history), len(history) - len(there))


def test_a_result_that_never_had_a_call_stays_where_it_is() -> None:
    history = [turn(1, "user"), turn(2, "tool", 1), turn(3, "user"), turn(4, "tool", 2)]
    assert [each.seq for each in newest(history, lambda: paired_calls(history), most=2).turns] == [3, 4]
    assert [each.seq for each in at_least(history, lambda: paired_calls(history), count=1).turns] == [4]


def test_a_call_that_is_never_cut_off_or_not_shown_any_longer_takes_no_result_along() -> None:
    spoken = [turn(1, "assistant", 2), turn(2, "system", 1), turn(3, "user"), turn(4, "tool", 1), turn(5, "tool", 2)]
    history = spoken[1:]
    assert [each.seq for each in newest(history, lambda: paired_calls(spoken), most=3).turns] == [2, 4, 5]
    assert [each.seq for each in at_least(history, lambda: paired_calls(spoken), count=3).turns] == [2, 4, 5]


def test_of_one_turn_that_answers_two_calls_the_other_call_goes_with_it() -> None:
    history = [
        turn(1, "assistant", 1),
        turn(2, "assistant", 2),
        turn(3, "tool", 1, 2),
        turn(4, "tool", 2),
        turn(5, "user"),
    ]
    assert [each.seq for each in newest(history, lambda: paired_calls(history), most=4).turns] == [5]
    assert [each.seq for each in newest(history, lambda: paired_calls(history), most=5).turns] == [1, 2, 3, 4, 5]
    assert [each.seq for each in at_least(history, lambda: paired_calls(history), count=2).turns] == [1, 2, 3, 4, 5]


def test_parallel_results_stay_with_their_call() -> None:
    history = [
        turn(1, "user"),
        turn(2, "assistant", 1, 2, 3),
        turn(3, "tool", 1),
        turn(4, "tool", 2),
        turn(5, "tool", 3),
    ]
    for count in (1, 2, 3, 4):
        assert [each.seq for each in at_least(history, lambda: paired_calls(history), count=count).turns] == [
            2,
            3,
            4,
            5,
        ]
    assert newest(history, lambda: paired_calls(history), most=3).turns == ()


def test_who_has_no_results_to_show_needs_no_pairs() -> None:
    def never() -> dict[Any, Any]:
        raise AssertionError

    history = [turn(1, "assistant", 1), turn(2, "tool", 1), turn(3, "user"), turn(4, "user")]
    assert len(newest(history, never, most=2).turns) == len(at_least(history, never, count=2).turns) == 2


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
