"""Laws of order and history, over sessions of any shape, and against the contract's own words written as loops."""

import random

from hypothesis import given, settings
from hypothesis import strategies as st

from agent.core.history import history, shown
from agent.core.paths import SessionPaths
from agent.core.turn import SessionTurn
from tests.core.session_turns import (
    ONE,
    conversations,
    current_leaf,
    naive_history,
    naive_leaf,
    naive_parents,
    naive_path,
    sessions,
    state_only,
    turn_id,
)

LATER = 200
anything = settings(deadline=None, max_examples=150)


def continued(turns: list[SessionTurn], conversation: str, *carriers: SessionTurn) -> list[SessionTurn]:
    """``turns`` with ``carriers`` captured one after the other at the end of a conversation."""
    for carrier in carriers:
        leaf = current_leaf(turns, conversation)
        assert leaf is not None
        added = SessionTurn(
            carrier.turn_id,
            carrier.seq,
            conversation,
            leaf.turn_id,
            carrier.role,
            carrier.content,
            False,
            carrier.fields,
        )
        turns = [*turns, added]
    return turns


@anything
@given(sessions())
def test_order_and_histories_are_those_of_the_contracts_own_words(turns: list[SessionTurn]) -> None:
    paths = SessionPaths.of(turns)
    assert dict(paths.parents) == naive_parents(turns)
    assert list(paths.path()) == naive_path(turns)
    assert list(history(turns)) == naive_history(turns)
    for conversation in conversations(turns):
        assert paths.leaves[conversation] == naive_leaf(turns, conversation)
        assert list(history(turns, conversation_id=conversation)) == naive_history(turns, conversation)
    for turn in turns:
        assert list(history(turns, leaf=turn.turn_id)) == naive_history(turns, leaf=turn.turn_id)


@anything
@given(sessions(), st.randoms(use_true_random=False))
def test_the_order_in_which_turns_are_given_does_not_matter(turns: list[SessionTurn], order: random.Random) -> None:
    shuffled = order.sample(turns, len(turns))
    assert history(shuffled) == history(turns)
    assert conversations(shuffled) == conversations(turns)


@anything
@given(sessions())
def test_a_merged_path_has_each_turn_once_and_every_parent_before_its_child(turns: list[SessionTurn]) -> None:
    paths = SessionPaths.of(turns)
    merged = [turn.turn_id for turn in paths.path()]
    assert len(set(merged)) == len(merged)
    for place, name in enumerate(merged):
        parent = paths.parents[name]
        assert parent is None or parent in merged[:place]


@anything
@given(sessions())
def test_each_conversations_path_keeps_its_order_in_the_sessions(turns: list[SessionTurn]) -> None:
    paths = SessionPaths.of(turns)
    own = [paths.path(conversation) for conversation in conversations(turns)]
    merged = paths.path()
    for path in own:
        assert tuple(turn for turn in merged if turn in path) == path
    assert {turn.turn_id for turn in merged} == {turn.turn_id for path in own for turn in path}


@anything
@given(sessions(conversations=(ONE,)))
def test_the_history_of_a_session_of_one_conversation_is_that_of_the_conversation(turns: list[SessionTurn]) -> None:
    if turns:
        assert history(turns) == history(turns, conversation_id=ONE)


@anything
@given(sessions())
def test_the_path_to_the_current_leaf_is_that_of_its_conversation(turns: list[SessionTurn]) -> None:
    paths = SessionPaths.of(turns)
    for conversation, leaf in paths.leaves.items():
        assert paths.path(leaf=leaf) == paths.path(conversation)


@anything
@given(sessions(), st.sampled_from([{"reset": True}, {"reset": "all"}, {"keep_last": 2}]))
def test_what_empties_a_history_empties_it_no_further_the_second_time(
    turns: list[SessionTurn], memory: dict[str, object]
) -> None:
    for conversation in conversations(turns):
        once = continued(turns, conversation, state_only(LATER, **memory))
        twice = continued(once, conversation, state_only(LATER + 1, **memory))
        assert history(twice, conversation_id=conversation) == history(once, conversation_id=conversation)


@anything
@given(sessions(), st.integers(0, 4))
def test_clear_and_prune_leave_of_a_history_what_they_say(turns: list[SessionTurn], keep: int) -> None:
    for conversation in conversations(turns):
        before = history(turns, conversation_id=conversation)
        system = [turn for turn in before if turn.role == "system"]
        messages = [turn for turn in before if turn.role != "system"]

        cleared = continued(turns, conversation, state_only(LATER, reset=True))
        assert list(history(cleared, conversation_id=conversation)) == system
        pruned = history(
            continued(turns, conversation, state_only(LATER, keep_last=keep)), conversation_id=conversation
        )
        kept = messages[len(messages) - min(keep, len(messages)) :]
        assert list(pruned) == [turn for turn in before if turn in system or turn in kept]


@anything
@given(sessions())
def test_a_turn_that_carries_state_only_changes_no_history_that_it_says_nothing_of(turns: list[SessionTurn]) -> None:
    for conversation in conversations(turns):
        more = continued(turns, conversation, state_only(LATER, params={"x": 1}))
        assert history(more, conversation_id=conversation) == history(turns, conversation_id=conversation)


@anything
@given(sessions())
def test_what_a_history_shows_is_in_the_order_of_its_path(turns: list[SessionTurn]) -> None:
    path = SessionPaths.of(turns).path()
    visible = shown(path)
    assert [turn for turn in path if turn in visible] == list(visible)


def test_the_model_tells_turns_apart() -> None:
    assert len({turn_id(number) for number in range(1, 10_001)}) == 10_000
