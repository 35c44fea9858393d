"""The state that a path leaves (CONTRACT 9), member by member."""

from typing import Any

from agent.core.memory import Memory, remembered
from agent.core.turn import SessionTurn
from agent.errors import MAX_PROBLEMS, Problem
from tests.core.session_turns import ONE, chain, state_only, turn, turn_id


def after(*said: dict[str, Any]) -> Memory:
    return remembered(chain(*(turn(number, **each) for number, each in enumerate(said, 1))))


def test_params_merge_by_their_top_level_keys_and_null_removes_one() -> None:
    memory = after({"params": {"a": {"x": 1}, "b": 2}}, {"params": {"a": {"y": 2}, "b": None, "c": 3}})
    assert memory.params == {"a": {"y": 2}, "c": 3}


def test_what_is_waited_for_is_cleared_by_null_and_by_parameters_that_hold_it() -> None:
    waiting = {"waiting_for_param": "order_id"}
    assert after(waiting).waiting_for_param == "order_id"
    assert after(waiting, {"waiting_for_param": None}).waiting_for_param is None
    assert after(waiting, {"params": {"order_id": "O-1"}}).waiting_for_param is None
    assert after(waiting, {"params": {"order_id": None}}).waiting_for_param is None
    assert after(waiting, {"params": {"other": 1}}).waiting_for_param == "order_id"


def test_within_a_turn_what_is_waited_for_comes_after_the_parameters() -> None:
    assert after({"waiting_for_param": "a", "params": {"a": 1}}).waiting_for_param == "a"


def test_results_and_plans_are_replaced_whole() -> None:
    memory = after({"last_result": {"a": 1}, "plan_execution": {"step": 1}}, {"last_result": {"b": 2}})
    assert (memory.last_result, memory.plan_execution) == ({"b": 2}, {"step": 1})
    assert after({"plan_execution": {"step": 1}}, {"plan_execution": None}).plan_execution is None


def test_a_reset_empties_the_state_and_what_stands_beside_it_holds() -> None:
    for reset in (True, "all"):
        memory = after({"params": {"a": 1}, "last_intent_id": "x", "own": 1}, {"reset": reset, "params": {"b": 2}})
        assert memory == Memory(params={"b": 2})
    assert after({"params": {"a": 1}}, {"reset": "yes"}).params == {"a": 1}


def test_unknown_members_are_kept_and_those_of_the_turn_alone_are_not() -> None:
    said = {"mood": "calm", "importance": 0.5, "pinned": True, "task": "complete", "keep_last": 2, "leaf": turn_id(1)}
    memory = after(said, {"params": {"a": 1}})
    assert memory.more == {"mood": "calm"}
    assert memory.document() == {
        "mood": "calm",
        "params": {"a": 1},
        "waiting_for_param": None,
        "last_intent_id": None,
        "last_result": None,
        "plan_execution": None,
    }
    assert after(said, {"mood": None}).more == {}


def test_members_of_another_shape_are_named_and_the_rest_of_their_turn_counts() -> None:
    memory = after({"params": [1], "waiting_for_param": 5, "last_intent_id": {}, "last_result": {"a": 1}})
    assert memory == Memory(last_result={"a": 1})
    path = f"$.{turn_id(1)}.metadata.memory"
    assert set(memory.ignored) == {
        Problem(f"{path}.{name}", "type") for name in ("params", "waiting_for_param", "last_intent_id")
    }


def test_a_memory_that_is_no_object_is_named() -> None:
    for foreign in ("text", 5, [], None):
        made = SessionTurn(turn_id(1), 1, ONE, None, "user", "words", False, {"metadata": {"memory": foreign}})
        assert remembered([made]).ignored == (Problem(f"$.{turn_id(1)}.metadata.memory", "type"),)
    bare = SessionTurn(turn_id(1), 1, ONE, None, "user", "words", False, {"metadata": "text"})
    assert remembered([bare]).ignored == ()


def test_at_most_fifty_are_named() -> None:
    assert len(after(*({"params": 1} for _ in range(60))).ignored) == MAX_PROBLEMS


def test_answers_count_what_users_said_while_the_same_parameter_was_waited_for() -> None:
    ask, user = {"waiting_for_param": "a"}, {}
    path = chain(turn(1, role="assistant", **ask), turn(2), turn(3, role="assistant", **ask), turn(4), state_only(5))
    assert [remembered(path[:end]).answers for end in range(6)] == [0, 0, 1, 1, 2, 2]
    assert after(ask, user, user, {"waiting_for_param": "b"}).answers == 0
    assert after(ask, user, {"waiting_for_param": None}).answers == 0
