"""Where a history may be cut so that no result loses its call, and what to say in which conversation for it."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.core.cut import Cuts, session_cut
from agent.core.history import history
from agent.core.pairs import paired_calls
from agent.core.turn import SessionTurn
from tests.core.call_turns import invocation, turn
from tests.core.session_turns import ONE, THREE, TWO, conversations, current_leaf

LAW = settings(deadline=None, max_examples=150)
NAMES = ("c", "d")


def chain(*said: str) -> tuple[SessionTurn, ...]:
    """A conversation: ``user``, ``call c``, ``result c``, each after the one before it."""
    return tuple(
        said_turn(number, words, after=number - 1 if number > 1 else None) for number, words in enumerate(said, 1)
    )


def said_turn(number: int, words: str, **more: Any) -> SessionTurn:
    role, *names = words.split()
    made = [invocation(f"{number}-{place}", name) for place, name in enumerate(names)]
    return turn(number, {"call": "assistant", "result": "tool"}.get(role, role), *made, **more)


def cuts(*turns: SessionTurn, merged: bool = False) -> Cuts:
    return Cuts.of(history(turns), paired_calls(turns), merged=merged)


def smallest(*turns: SessionTurn) -> list[int]:
    found = cuts(*turns)
    return [found.smallest(count) for count in range(found.messages + 2)]


def test_without_calls_a_cut_keeps_what_was_asked_for() -> None:
    assert smallest(*chain("user", "system", "assistant", "user")) == [0, 1, 2, 3, 4]


def test_a_result_keeps_its_call_and_what_stands_between() -> None:
    assert smallest(*chain("user", "call c", "user", "result c", "assistant")) == [0, 1, 4, 4, 4, 5, 6]


def test_results_of_one_turn_that_calls_stay_together_with_it() -> None:
    assert smallest(*chain("user", "call c d", "result c", "result d", "user")) == [0, 1, 4, 4, 4, 5, 6]


def test_a_kept_call_that_is_a_result_s_neighbour_may_keep_another_one() -> None:
    assert smallest(*chain("call c", "call d", "result c", "result d")) == [0, 4, 4, 4, 4, 5]


def test_a_result_that_never_had_a_call_or_whose_call_is_not_shown_does_not_count() -> None:
    assert smallest(*chain("user", "result c", "user")) == [0, 1, 2, 3, 4]
    state = {"memory": {"state_only": True, "keep_last": 1}}
    pruned = turn(4, "system", after=3, content="", metadata=state)
    assert smallest(*chain("user", "call c", "result c"), pruned, said_turn(5, "user", after=4)) == [0, 1, 2, 3]


def test_a_system_turn_that_calls_is_never_cut() -> None:
    assert smallest(*chain("system c", "user", "result c")) == [0, 1, 2, 3]


def test_a_call_whose_result_is_still_to_come_may_go() -> None:
    assert smallest(*chain("call c", "user")) == [0, 1, 2, 3]


def test_an_empty_history_has_nothing_to_cut() -> None:
    assert smallest() == [0, 1]
    assert session_cut({}, cuts(), 0) == {}


def test_in_a_merged_history_a_pair_counts_unless_another_conversation_speaks_between() -> None:
    call = said_turn(1, "call c", conversation=ONE)
    aside = said_turn(2, "user", conversation=TWO)
    assert cuts(call, aside, said_turn(3, "result c", after=1, conversation=ONE), merged=True).smallest(1) == 1
    answered = said_turn(2, "result c", after=1, conversation=ONE)
    assert cuts(call, answered, said_turn(3, "user", conversation=TWO), merged=True).smallest(2) == 3
    # The result stands in a conversation that was forked from the call's.
    forked = said_turn(3, "result c", after=1, conversation=THREE)
    assert cuts(call, forked, merged=True).smallest(1) == 2
    assert cuts(call, said_turn(2, "user", after=1, conversation=ONE), forked, merged=True).smallest(1) == 3
    assert cuts(call, aside, forked, merged=True).smallest(1) == 1


def test_of_many_pairs_all_that_reach_over_one_another_stay() -> None:
    asked = [*(f"call c{number}" for number in range(300)), *(f"result c{number}" for number in range(300))]
    assert cuts(*chain("user", *asked, "user")).smallest(2) == 601


# Sessions.


def views(turns: Sequence[SessionTurn], names: Sequence[str]) -> dict[str | None, list[SessionTurn]]:
    """What each conversation shows, and under None the session."""
    return {name: list(history(turns, conversation_id=name)) for name in (*names, None)}


def messages(view: Sequence[SessionTurn]) -> list[SessionTurn]:
    return [each for each in view if each.role != "system"]


def parted(
    turns: Sequence[SessionTurn], before: Sequence[SessionTurn], after: Sequence[SessionTurn], *, merged: bool
) -> Iterator[str]:
    """The results in ``after`` whose calls were in ``before`` and are not; by the words of ``Cuts.of``."""
    for result, call in paired_calls(turns).items():
        names = [each.turn_id for each in before]
        if call.place.turn_id not in names or result.turn_id not in names or result.turn_id == call.place.turn_id:
            continue
        asked, answered = before[names.index(call.place.turn_id)], before[names.index(result.turn_id)]
        between = before[before.index(asked) + 1 : before.index(answered)]
        strangers = {each.conversation_id for each in messages(between)} - {
            asked.conversation_id,
            answered.conversation_id,
        }
        if answered in after and asked not in after and not (merged and strangers):
            yield result.turn_id


def is_whole(
    turns: Sequence[SessionTurn],
    before: Mapping[str | None, list[SessionTurn]],
    after: Mapping[str | None, list[SessionTurn]],
) -> bool:
    return not any(any(parted(turns, before[name], after[name], merged=name is None)) for name in before)


def said(turns: Sequence[SessionTurn], keep_last: Mapping[str, int]) -> list[SessionTurn]:
    """``turns``, and in each conversation a turn with its count, at its current leaf."""
    now = list(turns)
    for conversation, count in keep_last.items():
        leaf = current_leaf(now, conversation)
        assert leaf is not None
        memory = {"metadata": {"memory": {"state_only": True, "keep_last": count}}}
        number = max(each.seq for each in now) + 1
        state = turn(number, "system", conversation=conversation, content="", **memory)
        now.append(SessionTurn(state.turn_id, number, conversation, leaf.turn_id, "system", "", False, state.fields))
    return now


def cut_of(turns: Sequence[SessionTurn], at_least: int, names: Sequence[str]) -> dict[str, int]:
    pairs = paired_calls(turns)
    own = {name: Cuts.of(history(turns, conversation_id=name), pairs) for name in names}
    return session_cut(own, Cuts.of(history(turns), pairs, merged=True), at_least)


@st.composite
def called_sessions(draw: st.DrawFn, most: int = 9) -> list[SessionTurn]:
    """A session of conversations that go on, fork from one another, call, and get results, all mixed."""
    turns: list[SessionTurn] = []
    for number in range(1, draw(st.integers(1, most)) + 1):
        conversation = draw(st.sampled_from([ONE, ONE, TWO, THREE]))
        own = [each.seq for each in turns if each.conversation_id == conversation]
        other = st.none() | st.sampled_from([each.seq for each in turns] or [None])
        after = own[-1] if own and draw(st.integers(0, 5)) else draw(other)
        words = " ".join(
            [
                draw(st.sampled_from(["user", "call", "call", "result", "result", "system"])),
                *draw(st.lists(st.sampled_from(NAMES), max_size=2)),
            ]
        )
        turns.append(said_turn(number, words, after=after, conversation=conversation))
    return turns


@LAW
@given(called_sessions(), st.integers(0, 4))
def test_a_cut_parts_no_result_from_its_call_in_any_view_and_not_in_between(
    turns: list[SessionTurn], keep: int
) -> None:
    names = conversations(turns)
    before = views(turns, names)
    needed = cut_of(turns, keep, names)
    assert all(count >= keep for count in needed.values())
    for done in range(len(needed) + 1):
        cut = said(turns, dict(list(needed.items())[:done]))
        assert is_whole(turns, before, views(cut, names))


@LAW
@given(called_sessions(), st.integers(0, 4))
def test_what_was_cut_needs_no_second_cut_and_one_that_broke_off_ends_alike(
    turns: list[SessionTurn], keep: int
) -> None:
    names = conversations(turns)
    needed = cut_of(turns, keep, names)
    assert cut_of(said(turns, needed), keep, names) == {}
    for done in range(len(needed)):
        first = said(turns, dict(list(needed.items())[:done]))
        again = said(first, cut_of(first, keep, names))
        assert lengths(again, names) == lengths(said(turns, needed), names)


def lengths(turns: Sequence[SessionTurn], names: Sequence[str]) -> dict[str | None, int]:
    return {name: len(messages(view)) for name, view in views(turns, names).items()}


@settings(deadline=None, max_examples=50)
@given(called_sessions(most=6), st.integers(0, 3), st.data())
def test_no_choice_of_counts_that_parts_nothing_leaves_less_in_any_view(
    turns: list[SessionTurn], keep: int, data: st.DataObject
) -> None:
    everything = conversations(turns)
    names = data.draw(st.sampled_from([everything, everything[:1]]))
    before = views(turns, names)
    most = max(len(messages(view)) for view in before.values())
    ours = lengths(said(turns, cut_of(turns, keep, names)), names)
    for chosen in product([None, *range(keep, most + 1)], repeat=len(names)):
        after = said(turns, {name: count for name, count in zip(names, chosen, strict=True) if count is not None})
        if is_whole(turns, before, views(after, names)):
            theirs = lengths(after, names)
            assert all(ours[name] <= theirs[name] for name in ours)


@pytest.mark.parametrize("keep", range(6))
def test_one_conversation_is_cut_as_if_it_were_the_session(keep: int) -> None:
    turns = chain("user", "call c", "result c", "call c", "result c", "assistant")
    needed = cut_of(turns, keep, [turns[0].conversation_id])
    assert needed == {turns[0].conversation_id: [0, 1, 3, 3, 5, 5][keep]}


def test_a_long_call_elsewhere_keeps_nothing_of_what_was_said_meanwhile() -> None:
    main = [said_turn(1, "call c", conversation=ONE), said_turn(60, "result c", after=1, conversation=ONE)]
    aside = [said_turn(number, "user", conversation=TWO, after=number - 1) for number in range(2, 60)]
    assert cut_of([*main, *aside], 2, [ONE, TWO]) == {TWO: 2}


def test_the_smallest_count_is_said_first() -> None:
    one = [said_turn(number, "user", conversation=ONE, after=number - 1) for number in range(1, 6)]
    two = [said_turn(6, "user", conversation=TWO), said_turn(7, "call c", after=6, conversation=TWO)]
    two.append(said_turn(8, "result c", after=7, conversation=TWO))
    # A count of 1 would leave the session a result without its call.
    assert list(cut_of([*one, *two], 1, [ONE, TWO]).items()) == [(ONE, 2), (TWO, 2)]
    assert list(cut_of([*two, *one], 0, [TWO, ONE]).items()) == [(TWO, 0), (ONE, 0)]
    late = said_turn(9, "user", conversation=ONE, after=5)
    assert list(cut_of([*two, *one, late], 1, [TWO, ONE]).items()) == [(ONE, 1), (TWO, 2)]
