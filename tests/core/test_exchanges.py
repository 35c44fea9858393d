"""What a model takes of a history: every list is valid, and nothing else is taken out of it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from agent.core.exchanges import whole_exchanges
from agent.core.pairs import named_invocations, paired_calls
from agent.core.turn import SessionTurn
from agent.recall.hydration import at_least, newest
from tests.recall.test_hydration import histories, turn


def is_valid(shown: list[SessionTurn], history: list[SessionTurn], *, open_end: bool = False) -> bool:
    """Each result comes after its call, and each call is answered before the next message of a user."""
    pairs = paired_calls(history)
    waiting: set[tuple[str, str]] = set()
    made: set[tuple[str, str]] = set()
    for each in shown:
        named = list(named_invocations(each))
        if each.role == "tool":
            answered = [pairs.get(place) for place, _, _ in named]
            calls = {(call.place.turn_id, call.invocation_id) for call in answered if call is not None}
            if not named or None in answered or not calls <= made:
                return False
            waiting -= calls
            continue
        if each.role == "user":
            if waiting:
                return False
            made.clear()
        own = {(each.turn_id, invocation_id) for _, invocation_id, _ in named}
        made |= own
        waiting |= own
    return open_end or not waiting


def told(turns: tuple[SessionTurn, ...] | list[SessionTurn]) -> list[tuple[int, int]]:
    """The places in the session, and how many calls or results are shown of each."""
    return [(each.seq, len(each.invocations)) for each in turns]


@given(histories, st.integers(0, 12))
def test_every_list_that_is_given_before_a_message_is_valid(history: list[SessionTurn], most: int) -> None:
    found = newest(history, most=most).turns
    given = whole_exchanges(found, paired_calls(history))
    assert is_valid(list(given.turns), history)
    untouched = sum(each in found for each in given.turns)
    assert len(found) - untouched == given.results + given.calls
    again = whole_exchanges(given.turns, paired_calls(history))
    assert (again.turns, again.results, again.calls) == (given.turns, 0, 0)


@given(histories, st.integers(1, 12))
def test_every_list_of_the_newest_in_a_format_is_valid_but_for_calls_at_its_end(
    history: list[SessionTurn], count: int
) -> None:
    pairs = paired_calls(history)
    found = at_least(history, lambda: pairs, count=count).turns
    assert is_valid(list(whole_exchanges(found, pairs, open_end=True).turns), history, open_end=True)


@given(histories)
def test_what_is_valid_is_given_as_it_is(history: list[SessionTurn]) -> None:
    there = [each for each in history if not each.erased]
    if is_valid(there, history):
        assert list(whole_exchanges(there, paired_calls(history)).turns) == there


def test_what_was_exchanged_with_half_an_exchange_goes_with_it() -> None:
    history = [turn(1, "assistant", 1), turn(2, "assistant", 2), turn(3, "tool", 1, 2), turn(4, "tool", 2)]
    pairs = paired_calls(history)
    assert told(whole_exchanges(history, pairs).turns) == [(1, 1), (2, 1), (3, 2), (4, 1)]
    given = whole_exchanges(history[1:], pairs)
    assert (told(given.turns), given.results, given.calls) == ([(2, 0)], 2, 1)


def test_a_message_of_a_user_ends_the_exchange() -> None:
    history = [turn(1, "assistant", 1), turn(2, "user"), turn(3, "tool", 1), turn(4, "assistant")]
    given = whole_exchanges(history, paired_calls(history))
    assert told(given.turns) == [(1, 0), (2, 0), (4, 0)]


def test_a_result_without_any_call_is_left_out() -> None:
    given = whole_exchanges([turn(1, "user"), turn(2, "tool")], {})
    assert (told(given.turns), given.results, given.calls) == ([(1, 0)], 1, 0)


def test_calls_at_an_open_end_stay_while_some_are_answered() -> None:
    history = [turn(1, "user"), turn(2, "assistant", 1, 2), turn(3, "tool", 1)]
    pairs = paired_calls(history)
    assert told(whole_exchanges(history, pairs, open_end=True).turns) == [(1, 0), (2, 2), (3, 1)]
    assert told(whole_exchanges(history, pairs).turns) == [(1, 0), (2, 0)]
    assert told(whole_exchanges([*history, turn(4, "user")], pairs, open_end=True).turns) == [(1, 0), (2, 0), (4, 0)]
    assert whole_exchanges([], pairs, open_end=True).turns == ()
