"""The order of a session and what its history shows (CONTRACT 9 and 10), rule by rule."""

from collections.abc import Iterable
from typing import Any

import pytest

from agent.core.history import history
from agent.core.paths import SessionPaths
from agent.core.turn import SessionTurn
from agent.errors import StoreNotFound
from tests.conftest import vectors
from tests.core.session_turns import (
    MISSING,
    ONE,
    THREE,
    TWO,
    chain,
    conversations,
    current_leaf,
    state_only,
    turn,
    turn_id,
)

CASES = vectors("session")
DEEP = 10_000


def ids(turns: Iterable[SessionTurn]) -> list[str]:
    return [each.turn_id for each in turns]


def numbers(turns: Iterable[SessionTurn]) -> list[int]:
    """The turns by the numbers that they were made with."""
    return [int(each.turn_id[-2:], 16) for each in turns]


def as_stored(case: dict[str, Any]) -> list[SessionTurn]:
    """The turns of a golden session: the table that it expects, with what was captured last of each."""
    captured: dict[str, tuple[str, dict[str, Any]]] = {}
    for payload in case["captures"]:
        for sent in payload["turns"]:
            name = sent["turn_id"].lower()
            conversation = captured[name][0] if name in captured else payload["conversation_id"].lower()
            captured[name] = (conversation, sent)
    turns = []
    for row in case["expected"]["turns"]:
        conversation, sent = captured[row["turn_id"]]
        parent, content = row["parent_turn_id"], row["content"]
        turns.append(SessionTurn(row["turn_id"], row["seq"], conversation, parent, sent["role"], content, False, sent))
    return turns


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_a_golden_session_has_the_histories_of_its_vector(case: dict[str, Any]) -> None:
    turns, expected = as_stored(case), case["expected"]
    assert ids(history(turns)) == expected["history"]
    assert set(conversations(turns)) == set(expected["history_by_conversation"])
    for conversation, names in expected["history_by_conversation"].items():
        assert ids(history(turns, conversation_id=conversation)) == names


def test_a_session_without_turns_has_no_conversation_and_an_empty_history() -> None:
    assert history([]) == ()
    assert conversations([]) == ()
    assert current_leaf([], ONE) is None


def test_conversations_are_in_the_order_of_their_first_turns() -> None:
    turns = [turn(3, conversation=ONE), turn(2, conversation=TWO), turn(1, conversation=THREE), turn(4)]
    assert conversations(turns) == (THREE, TWO, ONE)


def test_the_leaf_is_the_last_turn_that_nothing_in_its_own_conversation_continues() -> None:
    turns = [turn(1), turn(2, after=1), turn(3, after=1), turn(4, after=3, conversation=TWO)]
    leaf = current_leaf(turns, ONE)
    assert leaf is not None
    assert numbers([leaf]) == [3]


def test_a_named_leaf_holds_until_a_later_leaf_comes() -> None:
    turns = [*chain(turn(1), turn(2), turn(3), state_only(4, leaf=turn_id(1)))]
    assert numbers(history(turns)) == [1]
    assert numbers(history([*turns, turn(5, after=3)])) == [1, 2, 3, 5]


def test_the_latest_carrier_of_a_leaf_that_is_there_counts() -> None:
    turns = [*chain(turn(1), turn(2), turn(3, leaf=turn_id(1)), turn(4, leaf=turn_id(2).upper()))]
    assert numbers(history(turns)) == [1, 2]
    assert numbers(history([*turns, turn(5, after=4, leaf=MISSING)])) == [1, 2, 3, 4, 5]


def test_a_named_leaf_may_stand_in_another_conversation() -> None:
    turns = [turn(1, conversation=TWO), turn(2, leaf=turn_id(1))]
    assert numbers(history(turns, conversation_id=ONE)) == [1]
    assert numbers(history(turns)) == [1]


def test_a_turn_may_name_itself_as_the_leaf() -> None:
    turns = [turn(1), turn(2, after=1, leaf=turn_id(2))]
    assert numbers(history(turns)) == [1, 2]


@pytest.mark.parametrize("leaf", [17, None, True, "", "no id", [turn_id(1)], MISSING])
def test_what_names_no_turn_is_no_leaf(leaf: object) -> None:
    assert numbers(history(chain(turn(1), turn(2, leaf=leaf)))) == [1, 2]


def test_a_turn_whose_parent_is_not_there_shows_as_a_root() -> None:
    assert numbers(history([turn(1, after=MISSING), turn(2, after=1)])) == [1, 2]


def test_a_late_parent_stands_before_what_waited_for_it() -> None:
    assert numbers(history([turn(3, after=5), turn(4, after=3), turn(5)])) == [5, 3, 4]


def test_a_path_goes_on_through_another_conversation_and_a_merged_history_shows_a_turn_once() -> None:
    turns = [
        turn(1),
        turn(2, after=1),
        turn(3, after=2, conversation=TWO),
        turn(4, after=3, conversation=THREE),
        turn(5, after=2),
    ]
    assert numbers(history(turns, conversation_id=THREE)) == [1, 2, 3, 4]
    assert numbers(history(turns)) == [1, 2, 3, 4, 5]


def test_the_merge_looks_at_the_heads_that_are_left_when_a_shared_turn_was_taken() -> None:
    # Both paths begin with turn 5; of what follows the smaller seq comes first, in whichever path it stands.
    turns = [turn(5, conversation=THREE), turn(2, after=5, conversation=ONE), turn(1, after=5, conversation=TWO)]
    assert numbers(history(turns)) == [5, 1, 2]


@pytest.mark.parametrize(
    ("turns", "expected"),
    [
        ([turn(1, after=1), turn(2, after=1)], [1, 2]),
        ([turn(1, after=2), turn(2, after=1)], [2, 1]),
        ([turn(1, after=3), turn(2, after=1), turn(3, after=2), turn(4, after=2)], [3, 1, 2, 4]),
    ],
)
def test_a_ring_of_parents_is_cut_at_the_turn_that_came_last(turns: list[SessionTurn], expected: list[int]) -> None:
    leaf = turn_id(expected[-1])
    assert numbers(history(turns, leaf=leaf)) == expected


def test_a_conversation_that_is_a_ring_still_has_a_leaf() -> None:
    assert numbers(history([turn(1, after=2), turn(2, after=1)])) == [2, 1]


def test_a_branch_is_asked_for_by_its_last_turn() -> None:
    turns = [turn(1), turn(2, after=1), turn(3, after=1), turn(4, after=3)]
    assert numbers(history(turns, leaf=turn_id(2))) == [1, 2]
    assert numbers(history(turns, conversation_id=ONE, leaf=turn_id(3))) == [1, 3]


@pytest.mark.parametrize(
    ("conversation", "leaf", "message"),
    [
        (THREE, None, f"the session has no conversation {THREE}"),
        (THREE, turn_id(1), f"the session has no conversation {THREE}"),
        (None, MISSING, f"the session has no turn {MISSING}"),
        (TWO, turn_id(1), f"the turn {turn_id(1)} is not in the conversation {TWO}"),
    ],
)
def test_what_is_not_in_the_session_is_not_found(conversation: str | None, leaf: str | None, message: str) -> None:
    with pytest.raises(StoreNotFound) as caught:
        history([turn(1), turn(2, conversation=TWO)], conversation_id=conversation, leaf=leaf)
    assert caught.value.message == message


def test_a_reset_leaves_the_system_turns_and_its_carrier_belongs_to_the_new_history() -> None:
    turns = chain(turn(1, role="system"), turn(2), turn(3, role="assistant"), turn(4, reset=True), turn(5))
    assert numbers(history(turns)) == [1, 4, 5]


def test_a_reset_of_all_leaves_nothing() -> None:
    assert numbers(history(chain(turn(1, role="system"), turn(2), state_only(3, reset="all")))) == []


def test_a_reset_in_one_conversation_empties_the_view_of_the_session_too() -> None:
    turns = [turn(1), turn(2, conversation=TWO), turn(3, after=1, reset=True), turn(4, after=2, conversation=TWO)]
    assert numbers(history(turns)) == [3, 4]
    assert numbers(history(turns, conversation_id=TWO)) == [2, 4]


def test_a_reset_on_another_branch_does_not_count() -> None:
    turns = [turn(1), turn(2, after=1, reset=True), turn(3, after=1)]
    assert numbers(history(turns)) == [1, 3]


def test_keep_last_counts_messages_and_system_turns_stay_where_they_were() -> None:
    turns = chain(turn(1), turn(2), turn(3, role="system"), turn(4, role="tool"), state_only(5, keep_last=2), turn(6))
    assert numbers(history(turns)) == [2, 3, 4, 6]


def test_keep_last_of_nothing_leaves_the_system_turns() -> None:
    assert numbers(history(chain(turn(1, role="system"), turn(2), turn(3, keep_last=0)))) == [1, 3]


@pytest.mark.parametrize("count", [2, 2.0])
def test_two_and_two_point_nought_are_one_number(count: float) -> None:
    assert numbers(history(chain(turn(1), turn(2), turn(3), turn(4, keep_last=count)))) == [2, 3, 4]


@pytest.mark.parametrize("count", [-1, -0.5, 1.5, float("inf"), float("nan"), True, False, "2", None, [], {}])
def test_a_count_of_another_shape_says_nothing(count: object) -> None:
    assert numbers(history(chain(turn(1), turn(2), turn(3, keep_last=count)))) == [1, 2, 3]


@pytest.mark.parametrize("reset", [False, None, 0, 1, 5, "true", "ALL", ["all"], {}])
def test_a_reset_of_another_shape_says_nothing(reset: object) -> None:
    assert numbers(history(chain(turn(1), turn(2, reset=reset)))) == [1, 2]


def test_a_turn_that_carries_state_only_is_not_shown_and_one_with_words_or_another_role_is() -> None:
    turns = chain(
        turn(1),
        state_only(2),
        turn(3, role="system", content="words", state_only=True),
        turn(4, role="user", content="", state_only=True),
        turn(5, role="system", content="", state_only=1),
    )
    assert numbers(history(turns)) == [1, 3, 4, 5]


@pytest.mark.parametrize("metadata", [None, 5, "memory", [], {"memory": None}, {"memory": [True]}, {}])
def test_metadata_of_another_shape_says_nothing(metadata: object) -> None:
    odd = SessionTurn(turn_id(2), 2, ONE, turn_id(1), "system", "", False, {"metadata": metadata})
    assert numbers(history([turn(1), odd])) == [1, 2]


def test_an_erased_turn_stays_in_its_place_without_content() -> None:
    turns = chain(turn(1), turn(2, erased=True), turn(3, role="system", erased=True))
    assert [(each.turn_id, each.content) for each in history(turns)] == [
        (turn_id(1), "words"),
        (turn_id(2), None),
        (turn_id(3), None),
    ]


def test_a_reset_and_a_cut_hold_when_the_turn_that_carries_them_is_erased() -> None:
    assert numbers(history(chain(turn(1), turn(2, role="system"), turn(3, erased=True, reset=True), turn(4)))) == [
        2,
        3,
        4,
    ]
    assert numbers(history(chain(turn(1), turn(2, role="system"), turn(3, erased=True, reset="all"), turn(4)))) == [
        3,
        4,
    ]
    assert numbers(history(chain(turn(1), turn(2), turn(3, erased=True, keep_last=1), turn(4)))) == [2, 3, 4]


def test_an_erased_turn_that_carried_state_only_is_not_shown_and_what_it_says_holds() -> None:
    cleared = chain(turn(1), state_only(2, erased=True, reset=True), turn(3))
    assert numbers(history(cleared)) == [3]
    # One with words is a message, and a skeleton of another role or without the mark is shown as any.
    others = chain(turn(1, erased=True, state_only=True), turn(2, role="system", erased=True, state_only=1))
    assert numbers(history(others)) == [1, 2]


def test_a_leaf_that_an_erased_turn_names_stays_named() -> None:
    turns = chain(turn(1), turn(2), state_only(3, erased=True, leaf=turn_id(1).upper()))
    assert numbers(history(turns)) == [1]
    leaf = current_leaf(turns, ONE)
    assert leaf is not None
    assert numbers([leaf]) == [1]


def test_ten_thousand_turns_in_one_path_are_a_history_of_ten_thousand() -> None:
    turns = chain(*(turn(number, role="system" if number % 3 else "user") for number in range(1, DEEP + 1)))
    assert history(turns[::-1]) == turns


def test_five_thousand_conversations_that_fork_from_a_long_path_are_merged_as_one_forest() -> None:
    trunk = chain(*(turn(number) for number in range(1, DEEP // 2 + 1)))
    forks = [
        turn(number, after=DEEP // 2, conversation=f"{number:08x}-0000-4000-8000-000000000000")
        for number in range(DEEP // 2 + 1, DEEP + 1)
    ]
    assert history([*trunk, *forks]) == (*trunk, *forks)


def test_a_ring_of_ten_thousand_is_walked_once() -> None:
    turns = [turn(1, after=DEEP), *chain(*(turn(number) for number in range(1, DEEP + 1)))[1:]]
    parents = SessionPaths.of(turns).parents
    assert [name for name, parent in parents.items() if parent is None] == [turn_id(DEEP)]
