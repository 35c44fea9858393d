"""An agent asks for what it misses, and reads the answer: one event for each thing that is said."""

from __future__ import annotations

import pytest

from agent.errors import ValidationError
from agent.sdk import ConversationMemory, Message, SessionHandle
from tests.sdk.memories import events_of, inputs_of, texts


def test_a_question_is_one_event_that_says_it_and_waits(memory: ConversationMemory, session: SessionHandle):
    session.ask("order_id", "Which order is it?")
    (message,) = session.history()
    assert (message.role, message.text) == ("assistant", "Which order is it?")
    assert session.waiting() == "order_id"
    assert len(events_of(memory, session)) == 1


def test_an_answer_is_one_event_that_says_it_merges_it_and_waits_no_longer(
    memory: ConversationMemory, session: SessionHandle
):
    session.ask("order_id", "Which order is it?")
    found = session.answer("It's O-12345, thanks")
    assert (found.params, found.cleared, found.reask, found.attempts) == ({"order_id": "O-12345"}, True, None, 1)
    assert session.params() == {"order_id": "O-12345"}
    assert session.waiting() is None
    (_, inputs) = inputs_of(memory, session)
    (turn,) = inputs["turns"]
    assert (turn["role"], turn["content"]) == ("user", "It's O-12345, thanks")
    assert turn["metadata"]["memory"] == {"params": {"order_id": "O-12345"}, "waiting_for_param": None}


def test_what_is_no_answer_is_kept_and_asked_again_with_examples_in_the_end(session: SessionHandle):
    session.ask("order_id", "Which order is it?")
    found = [session.answer(text) for text in ("why?", "I forgot", "the blue one")]
    assert [each.attempts for each in found] == [1, 2, 3]
    assert [each.cleared for each in found] == [False] * 3
    assert all(each.reask for each in found)
    assert "O-12345" in str(found[2].reask)
    assert session.params() == {}
    assert session.waiting() == "order_id"
    assert texts(session)[1:] == ["why?", "I forgot", "the blue one"]
    assert session.answer("O-54321").attempts == 4


def test_what_is_said_while_nothing_is_waited_for_is_a_message_and_no_more(session: SessionHandle):
    found = session.answer("O-12345")
    assert (found.params, found.cleared, found.reask) == ({}, False, None)
    assert texts(session) == ["O-12345"]
    assert session.history()[0].metadata == {}


def test_whoever_says_that_the_intent_changed_is_waited_for_no_longer(session: SessionHandle):
    session.update(last_intent_id="order_status", plan_execution={"step": 1})
    session.ask("order_id", "Which order is it?")
    session.set_waiting(None)
    assert session.answer("O-12345").params == {}
    session.ask("order_id", "Which order is it?")
    session.clear()
    assert session.waiting() is None
    assert session.answer("O-12345").params == {}


def test_a_tool_says_what_it_found_in_one_event(memory: ConversationMemory, session: SessionHandle):
    session.ask("status", "What is its status?")
    session.record_tool("track", "on its way", {"status": "shipped"}, {"rows": [1]}, success=True)
    message = session.history()[-1]
    assert (message.role, message.text) == ("tool", "on its way")
    (result,) = message.tool_results
    assert (result.tool_name, result.success) == ("track", True)
    assert session.params() == {"status": "shipped"}
    assert session.state()["last_result"] == {"rows": [1]}
    assert session.waiting() is None
    assert len(events_of(memory, session)) == 2


def test_a_tool_that_found_nothing_to_keep_leaves_the_state_alone(session: SessionHandle):
    session.update(last_result={"rows": [1]})
    session.record_tool("track", "nothing found")
    assert session.state()["last_result"] == {"rows": [1]}
    assert session.history()[0].tool_results[0].success is None


@pytest.mark.parametrize("name", ["", None, 5])
def test_a_question_names_what_it_asks_for_and_a_tool_its_name(session: SessionHandle, name: object):
    with pytest.raises(ValidationError):
        session.ask(name, "Which?")
    with pytest.raises(ValidationError):
        session.record_tool(name, "done")
    assert session.history() == []


def test_a_whole_loop_in_one_process(session: SessionHandle):
    session.append(Message("user", "I want to check my order"))
    session.update(last_intent_id="order_status", plan_execution={"steps": ["track"], "next": 0})
    session.ask("order_id", "Which order is it?")
    assert session.resume() is None
    assert session.answer("It's O-12345").cleared
    assert session.resume() == {"steps": ["track"], "next": 0}
    session.record_tool("track", "it is on its way", result={"status": "shipped"})
    session.update(plan_execution=None)
    assert session.resume() is None
    assert texts(session) == ["I want to check my order", "Which order is it?", "It's O-12345", "it is on its way"]
