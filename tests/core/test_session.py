"""A session is the fold of its turns (CONTRACT 9 and 10): all at once, or one turn more at a time."""

from functools import reduce
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.core.growing import Growing, GrowingTurns
from agent.core.history import shown
from agent.core.memory import remembered
from agent.core.session import SessionState, _forest, as_of, evolve, fold
from agent.core.turn import SessionTurn
from agent.errors import StoreNotFound
from tests.conftest import vectors
from tests.core.session_turns import ONE, TWO, chain, naive_history, sessions, state_only, turn, turn_id
from tests.core.test_history import as_stored, ids

CASES = vectors("session")
NAMES = ("params", "waiting_for_param", "last_intent_id", "last_result", "plan_execution")
VALUES = st.sampled_from([None, "a", "b", 1, [], {"x": 1}, {"a": None}, {"a": "later"}, {"a": 1, "b": {"c": []}}, True])
MEMORY = st.dictionaries(st.sampled_from([*NAMES, "reset", "unknown", "importance"]), VALUES, max_size=4)


def seen(state: SessionState) -> dict[str, Any]:
    """All that a state answers."""
    memory = state.memory
    return {
        "turns": state.turns.as_tuple(),
        "leaves": dict(state.leaves),
        "history": state.history.as_tuple(),
        "memory": (memory.document(), memory.answers, memory.ignored),
        "waited_for": state.waited_for,
        "branches": state.branches(),
        "version": state.version,
    }


@st.composite
def remembering_sessions(draw: st.DrawFn) -> list[SessionTurn]:
    """Sessions in any order; their turns say anything of the state."""
    turns = draw(sessions())
    return [
        SessionTurn(
            each.turn_id,
            each.seq,
            each.conversation_id,
            each.parent_turn_id,
            each.role,
            each.content,
            each.erased,
            {**each.fields, "metadata": {"memory": {**each.memory, **draw(MEMORY)}}},
        )
        for each in turns
    ]


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_a_golden_session_has_the_history_and_the_state_of_its_vector(case: dict[str, Any]) -> None:
    state = fold(as_stored(case))
    assert ids(state.history) == case["expected"]["history"]
    assert state.memory.document() == case["expected"]["state"]
    for conversation, names in case["expected"]["history_by_conversation"].items():
        assert ids(state.history_of(conversation)) == names


@given(remembering_sessions(), st.integers(0, 9))
def test_folding_the_rest_turn_by_turn_comes_to_the_same_as_folding_all(turns: list[SessionTurn], at: int) -> None:
    first, rest = turns[:at], turns[at:]
    assert seen(reduce(evolve, rest, fold(first))) == seen(fold(turns))
    assert seen(evolve(fold(first), *rest)) == seen(fold(turns))


@given(remembering_sessions(), st.data())
def test_a_state_answers_as_it_did_whatever_grew_from_it(turns: list[SessionTurn], data: st.DataObject) -> None:
    in_order = sorted(turns, key=lambda each: each.seq)
    at = data.draw(st.integers(0, len(in_order)))
    state = fold(in_order[:at])
    before = seen(state)
    one, other = evolve(state, *in_order[at:]), evolve(state, *reversed(in_order[at:]))
    assert seen(state) == before
    assert seen(one) == seen(other) == seen(fold(turns))
    for each in turns:
        assert (state.turns.find(each.turn_id) is each) == (each in in_order[:at])


@given(sessions())
def test_the_history_is_that_of_the_contracts_own_words(turns: list[SessionTurn]) -> None:
    assert list(fold(turns).history) == naive_history(turns)


@given(remembering_sessions())
def test_a_revision_takes_the_place_of_what_it_revises(turns: list[SessionTurn]) -> None:
    revised = [
        SessionTurn(t.turn_id, t.seq, t.conversation_id, t.parent_turn_id, t.role, "revised", False, {}) for t in turns
    ]
    assert seen(evolve(fold(turns), *revised)) == seen(fold(revised))


def test_one_more_turn_at_the_end_shares_what_was_folded() -> None:
    state = fold(chain(*(turn(number) for number in range(1, 200))))
    grown = evolve(state, turn(200, after=199))
    assert grown.history._items is state.history._items
    assert len(state.history) == 199
    assert len(grown.history) == 200


@given(st.lists(st.integers(), max_size=8), st.slices(8))
def test_a_growing_sequence_is_a_sequence(items: list[int], part: slice) -> None:
    grown = reduce(lambda growing, item: growing.plus(item), items, Growing[int]())
    shorter = Growing(items)
    shorter.plus(-1)
    for growing in (grown, shorter):
        assert list(growing) == list(growing.as_tuple()) == [growing[place] for place in range(len(items))] == items
        assert list(growing[part]) == items[part]
        assert list(reversed(growing)) == items[::-1]
        with pytest.raises(IndexError):
            growing[len(items)]


def test_a_sequence_extends_what_it_grew_from_and_no_other() -> None:
    begun = Growing([1, 2])
    grown = begun.plus(3)
    branched = begun.plus(4)
    assert begun.extends(begun)
    assert grown.extends(begun)
    assert not begun.extends(grown)
    assert not branched.extends(grown)
    assert not grown.extends(branched)
    assert not branched.extends(begun)
    assert not Growing([1, 2, 3]).extends(begun)


def test_turns_that_two_states_add_under_one_id_stay_apart() -> None:
    common = GrowingTurns([turn(1)])
    one, other = common.plus(turn(2)), common.plus(turn(3)).plus(turn(2, content="other"))
    assert [each.content for each in (one.find(turn_id(2)), other.find(turn_id(2))) if each] == ["words", "other"]
    assert one.find(turn_id(3)) is None
    assert common.find(turn_id(2)) is None


def test_branches_are_the_ends_of_each_conversation_and_the_leaf_that_is_named() -> None:
    turns = [turn(1), turn(2, after=1), turn(3, after=1), turn(4, after=3, conversation=TWO)]
    assert [tuple(each) for each in fold(turns).branches()] == [
        (ONE, turn_id(2), False),
        (ONE, turn_id(3), True),
        (TWO, turn_id(4), True),
    ]
    named = [*turns, state_only(5, after=3, leaf=turn_id(1))]
    assert (ONE, turn_id(1), True) in fold(named).branches()
    assert [number.turn_id for number in fold(turns).history_of(leaf=turn_id(2))] == [turn_id(1), turn_id(2)]
    with pytest.raises(StoreNotFound):
        fold(turns).history_of(TWO, turn_id(2))


def captured(number: int, at: str | None) -> SessionTurn:
    made = turn(number, after=number - 1 or None)
    return SessionTurn(
        made.turn_id,
        number,
        ONE,
        made.parent_turn_id,
        "user",
        "words",
        False,
        {} if at is None else {"captured_at": at},
    )


@pytest.mark.parametrize("odd", [None, "yesterday", "", "2026-03-02T08:00:00"])
def test_a_turn_of_a_store_that_does_not_say_when_it_was_captured_is_there_at_any_instant(odd: str | None) -> None:
    state = fold([captured(1, odd), captured(2, "2026-03-02T08:00:00Z")])
    assert [turn.seq for turn in as_of(state, at="2026-03-02T07:00:00Z").turns] == [1]


def test_as_of_stops_the_fold_at_a_seq_or_an_instant() -> None:
    turns = [
        captured(1, "2026-03-02T08:00:00Z"),
        captured(2, "2026-03-02T09:00:00+01:00"),
        captured(3, "2026-03-02T08:00:00.1Z"),
    ]
    state = fold(turns)
    assert as_of(state) is state
    assert seen(as_of(state, at_seq=2)) == seen(fold(turns[:2]))
    assert seen(as_of(state, at="2026-03-02T08:00:00Z")) == seen(fold(turns[:2]))
    assert seen(as_of(state, at="2026-03-02T08:00:00.1Z", at_seq=1)) == seen(fold(turns[:1]))
    assert len(as_of(fold([captured(1, None)]), at="1970-01-01T00:00:00Z").turns) == 1
    with pytest.raises(ValueError, match="RFC 3339"):
        as_of(state, at="yesterday")


@given(remembering_sessions())
def test_the_state_of_a_path_is_the_fold_of_its_turns(turns: list[SessionTurn]) -> None:
    state = fold(turns)
    for branch in state.branches():
        path = state.paths().path(leaf=branch.leaf)
        assert state.memory_of(leaf=branch.leaf) == remembered(path)
        assert tuple(state.history_of(leaf=branch.leaf)) == shown(path)


@given(sessions() | remembering_sessions())
def test_any_session_folded_as_a_line_comes_to_its_fold(turns: list[SessionTurn]) -> None:
    in_order = sorted(turns, key=lambda each: each.seq)
    assert seen(fold(in_order)) == seen(_forest(in_order))


@given(
    st.lists(st.sampled_from(["user", "assistant", "system", "state"]), min_size=1, max_size=8),
    st.data(),
)
def test_a_line_comes_to_its_fold_whatever_its_turns_say(roles: list[str], data: st.DataObject) -> None:
    names = [turn_id(number) for number in range(1, len(roles) + 2)]
    memory = st.fixed_dictionaries(
        {},
        optional={
            "params": st.just({"a": 1}),
            "reset": st.sampled_from([True, "all"]),
            "keep_last": st.integers(0, 2),
            "leaf": st.sampled_from(names),
            "waiting_for_param": st.sampled_from(["a", None]),
        },
    )
    turns = [
        state_only(number, **data.draw(memory)) if role == "state" else turn(number, role=role, **data.draw(memory))
        for number, role in enumerate(roles, 1)
    ]
    line = list(chain(*turns))
    assert seen(fold(line)) == seen(_forest(line))
