"""What a session knows: merged, waited for, cleared, pruned and counted, each by one event that is no message."""

from __future__ import annotations

import pytest

from agent.errors import ValidationError
from agent.sdk import ConversationMemory, Message, SessionHandle, ToolCall, ToolResult
from tests.sdk.memories import events_of, inputs_of, texts


def test_parameters_are_merged_by_name_and_none_takes_one_away(session: SessionHandle):
    session.merge({"order_id": "O-1", "city": "Zürich", "lines": [1, 2]})
    session.merge({"order_id": "O-2", "lines": None, "never there": None})
    assert session.params() == {"order_id": "O-2", "city": "Zürich"}


def test_each_change_is_one_event_of_one_turn_that_shows_in_no_history(memory: ConversationMemory, session):
    session.merge({"a": 1})
    session.set_waiting("order_id")
    session.update(last_intent_id="order_status")
    turns = [turn for each in inputs_of(memory, session) for turn in each["turns"]]
    assert [(turn["role"], turn["content"], turn["metadata"]["memory"]["state_only"]) for turn in turns] == [
        ("system", "", True)
    ] * 3
    assert session.history() == []
    assert session.stats()["total_messages"] == 0


def test_nothing_to_merge_and_nothing_to_update_write_nothing(memory: ConversationMemory, session: SessionHandle):
    session.merge({})
    session.update()
    session.clear()
    session.clear(all=True)
    assert session.prune() == 0
    assert list(memory.sessions()) == []


@pytest.mark.parametrize("params", [None, [("a", 1)], "a", 5])
def test_what_is_no_mapping_is_not_merged(session: SessionHandle, params: object):
    with pytest.raises(ValidationError) as caught:
        session.merge(params)
    assert [(each.path, each.rule) for each in caught.value.problems] == [("$.params", "type")]


@pytest.mark.parametrize(("value", "rule"), [({1, 2}, "type"), (float("inf"), "number_range"), ("\udfff", "surrogate")])
def test_a_value_that_json_has_no_form_for_is_refused_by_its_path(session: SessionHandle, value, rule):
    with pytest.raises(ValidationError) as caught:
        session.merge({"order": {"lines": [value]}})
    assert [(each.path, each.rule) for each in caught.value.problems] == [("$.params.order.lines[0]", rule)]
    assert session.params() == {}


def test_a_parameter_is_waited_for_until_it_is_known_or_nobody_waits_any_longer(session: SessionHandle):
    session.set_waiting("order_id")
    assert session.waiting() == "order_id"
    session.merge({"city": "Bern"})
    assert session.waiting() == "order_id"
    session.merge({"order_id": "O-1"})
    assert session.waiting() is None
    session.set_waiting("city")
    session.set_waiting(None)
    assert session.waiting() is None


@pytest.mark.parametrize(("name", "rule"), [("", "minLength"), (5, "type"), ("\ud800", "surrogate")])
def test_what_is_no_name_is_not_waited_for(session: SessionHandle, name: object, rule: str):
    with pytest.raises(ValidationError) as caught:
        session.set_waiting(name)
    assert [(each.path, each.rule) for each in caught.value.problems] == [("$.name", rule)]


def test_an_update_replaces_what_is_given_and_leaves_the_rest(session: SessionHandle):
    session.update(last_intent_id="order_status", last_result={"rows": 3}, plan_execution={"step": 1})
    session.update(plan_execution={"step": 2})
    session.update(last_result=None)
    assert session.state() == {
        "params": {},
        "waiting_for_param": None,
        "last_intent_id": "order_status",
        "last_result": None,
        "plan_execution": {"step": 2},
        "version": 3,
    }
    session.update(last_intent_id=None, plan_execution=None)
    assert session.state()["last_intent_id"] is None
    assert session.resume() is None


def test_an_intent_is_named_by_a_string(session: SessionHandle):
    with pytest.raises(ValidationError):
        session.update(last_intent_id=7)


def test_a_plan_is_resumed_unless_a_parameter_is_waited_for(session: SessionHandle):
    session.update(plan_execution={"step": 1})
    assert session.resume() == {"step": 1}
    session.set_waiting("order_id")
    assert session.resume() is None
    session.set_waiting(None)
    assert session.resume() == {"step": 1}


def test_clearing_empties_history_and_state_but_for_what_the_system_said(session: SessionHandle):
    session.extend([Message("system", "be brief"), Message("user", "hi"), Message("assistant", "hello")])
    session.merge({"a": 1})
    session.clear()
    assert texts(session) == ["be brief"]
    assert session.params() == {}
    session.append(Message("user", "again"))
    assert texts(session) == ["be brief", "again"]
    session.clear(all=True)
    assert texts(session) == []


def test_the_log_keeps_what_was_cleared(memory: ConversationMemory, session: SessionHandle):
    session.append(Message("user", "hi"))
    session.clear()
    assert [turn.content for turn in memory.store.reads.turns(session.session_uuid).turns] == ["hi", ""]


def test_what_is_clear_already_is_not_cleared_again(memory: ConversationMemory, session: SessionHandle):
    session.append(Message("system", "be brief"))
    session.clear()
    assert len(events_of(memory, session)) == 1
    session.clear(all=True)
    session.clear(all=True)
    assert len(events_of(memory, session)) == 2


def test_pruning_shows_the_newest_messages_and_what_the_system_said(session: SessionHandle):
    session.append(Message("system", "be brief"))
    session.extend(Message("user", str(number)) for number in range(12))
    assert session.prune() == 2
    assert texts(session) == ["be brief", *map(str, range(2, 12))]
    assert session.prune(max_messages=1) == 9
    assert session.prune(max_messages=0) == 1
    assert texts(session) == ["be brief"]


def test_pruning_what_is_short_enough_writes_nothing(memory: ConversationMemory, session: SessionHandle):
    session.extend(Message("user", str(number)) for number in range(10))
    assert session.prune(10) == 0
    assert len(events_of(memory, session)) == 1


def test_pruning_keeps_the_state(session: SessionHandle):
    session.append(Message("user", "hi", metadata={"memory": {"params": {"a": 1}}}))
    session.append(Message("user", "again"))
    session.prune(1)
    assert texts(session) == ["again"]
    assert session.params() == {"a": 1}


def test_a_result_is_never_left_without_its_call(session: SessionHandle):
    session.append(Message("user", "where is it?"))
    session.append(Message("assistant", "", tool_calls=[ToolCall("call_7", "track")]))
    session.append(Message("tool", "on its way", tool_results=[ToolResult("call_7", "track")]))
    session.append(Message("assistant", "it is on its way"))
    assert session.prune(2) == 1
    assert texts(session) == ["", "on its way", "it is on its way"]


@pytest.mark.parametrize(("count", "rule"), [(-1, "minimum"), (1.5, "type"), ("3", "type"), (True, "type")])
def test_what_is_no_count_prunes_nothing(session: SessionHandle, count: object, rule: str):
    session.append(Message("user", "hi"))
    with pytest.raises(ValidationError) as caught:
        session.prune(count)
    assert [(each.path, each.rule) for each in caught.value.problems] == [("$.max_messages", rule)]
    assert texts(session) == ["hi"]


def test_a_summary_counts_messages_and_tells_when(memory: ConversationMemory, session: SessionHandle):
    session.append(Message("user", "hi"))
    session.append(Message("assistant", "hello"))
    (row,) = memory.sessions()
    assert session.summary() == {
        "message_count": 2,
        "last_activity": row.last_activity,
        "session_started": row.created_at,
    }


def test_the_figures_count_by_role_and_add_tokens(session: SessionHandle):
    used = {"prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 7}
    session.extend([Message("user", "hi"), Message("assistant", "a", token_usage=used)])
    session.append(Message("assistant", "b", token_usage=used))
    counted = {
        "total_messages": 3,
        "by_role": {"user": 1, "assistant": 2},
        "token_usage": {"prompt_tokens": 6, "completion_tokens": 8, "total_tokens": 14},
    }
    assert session.stats().items() >= counted.items()
