"""What a tool came back with: its result stands behind its call, whoever made that, and all of it is one event."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.errors import ValidationError
from agent.recall.held import HeldSessions
from agent.sdk import ConversationMemory, Message, SessionHandle, ToolCall, ToolResult
from tests.sdk.memories import events_of, exported, in_memory, inputs_of, texts

# What a provider refuses.
REFUSED = {"results_without_call", "calls_without_result"}
OPENAI_CALLS = {
    "role": "assistant",
    "content": None,
    "tool_calls": [
        {"id": "call_1", "type": "function", "function": {"name": "track", "arguments": '{"order": "O-1"}'}},
        {"id": "call_2", "type": "function", "function": {"name": "track", "arguments": '{"order": "O-2"}'}},
        {"id": "call_3", "type": "function", "function": {"name": "weigh", "arguments": "{}"}},
    ],
}
ANTHROPIC_CALL = {
    "role": "assistant",
    "content": [
        {"type": "text", "text": "I look it up."},
        {"type": "tool_use", "id": "toolu_1", "name": "track", "input": {"order": "O-1"}},
    ],
}


def answered(session: SessionHandle) -> list[tuple[str, str]]:
    """The results of the history by the places of their calls: the message and the call in it."""
    messages = session.history()
    places = {
        call.invocation_id: f"{place}.{number}"
        for place, message in enumerate(messages)
        for number, call in enumerate(message.tool_calls)
    }
    return [(message.text, places[result.invocation_id]) for message in messages for result in message.tool_results]


def test_a_tool_that_nobody_called_is_called_and_answered_in_one_event(
    memory: ConversationMemory, session: SessionHandle
):
    session.ask("status", "What is its status?")
    session.record_tool(
        "track", "on its way", {"status": "shipped"}, {"rows": [1]}, arguments={"order": "O-1"}, success=True
    )
    call, result = session.history()[1:]
    assert (call.role, call.text, result.role, result.text) == ("assistant", "", "tool", "on its way")
    (called,), (answer,) = call.tool_calls, result.tool_results
    assert (called.tool_name, called.arguments) == ("track", {"order": "O-1"})
    assert (answer.tool_name, answer.success, answer.invocation_id) == ("track", True, called.invocation_id)
    assert session.params() == {"status": "shipped"}
    assert session.state()["last_result"] == {"rows": [1]}
    assert session.waiting() is None
    assert len(events_of(memory, session)) == 2


def test_a_call_without_arguments_says_none(memory: ConversationMemory, session: SessionHandle):
    session.record_tool("track", "on its way")
    (inputs,) = inputs_of(memory, session)
    call, result = inputs["turns"]
    assert [sorted(entry) for entry in call["tool_invocations"]] == [["invocation_id", "tool_name"]]
    assert result["tool_invocations"] == call["tool_invocations"]
    assert "metadata" not in result


def test_a_call_is_by_the_agent_that_the_session_is_used_by():
    with in_memory(agent_id="shop") as memory:
        session = memory.for_session("s")
        session.record_tool("track", "on its way")
        assert [message.agent for message in session.history()] == ["shop", None]


def test_a_tool_that_found_nothing_to_keep_leaves_the_state_alone(session: SessionHandle):
    session.update(last_result={"rows": [1]})
    session.record_tool("track", "nothing found", {})
    assert session.state()["last_result"] == {"rows": [1]}
    assert session.history()[1].tool_results[0].success is None


@pytest.mark.parametrize("form", ["openai-chat", "anthropic"])
def test_a_session_of_tools_is_one_that_providers_take(memory: ConversationMemory, session: SessionHandle, form: str):
    session.append(Message("user", "Where are my orders?"))
    session.record_tool("find", "two orders", arguments={"open": True})
    session.append(OPENAI_CALLS)
    for name in ("weigh", "track", "track"):
        session.record_tool(name, f"{name}: done")
    session.append(ANTHROPIC_CALL)
    session.record_tool("track", "on its way")
    session.append(Message("assistant", "It is on its way."))
    messages, lost = exported(memory, session, form)
    assert not REFUSED & lost.keys()
    if form == "openai-chat":
        ids = [call["id"] for message in messages for call in message.get("tool_calls", ())]
        results = [message["tool_call_id"] for message in messages if message["role"] == "tool"]
        assert len(ids) == len(results) == 5
        assert results == [ids[0], "call_3", "call_1", "call_2", "toolu_1"]


@pytest.mark.parametrize(
    "made", [OPENAI_CALLS, ANTHROPIC_CALL, Message("assistant", "", tool_calls=[ToolCall("c", "track")])]
)
@pytest.mark.parametrize("together", [True, False])
def test_a_result_answers_the_call_that_is_open(memory: ConversationMemory, session, made, together):
    if together:
        with session.batch():
            session.append(made)
            session.record_tool("track", "on its way")
    else:
        session.append(made)
        session.record_tool("track", "on its way")
    assert answered(session) == [("on its way", "0.0")]
    assert len(session.history()) == 2
    assert len(events_of(memory, session)) == (1 if together else 2)


def test_of_several_calls_the_first_open_one_is_answered_or_that_with_the_same_arguments(session: SessionHandle):
    session.append(OPENAI_CALLS)
    session.record_tool("track", "O-2 is lost", arguments={"order": "O-2"})
    session.record_tool("track", "O-1 is here", arguments={"order": "nobody asked for it"})
    session.record_tool("track", "asked once more")
    assert answered(session) == [("O-2 is lost", "0.1"), ("O-1 is here", "0.0"), ("asked once more", "3.0")]
    assert texts(session) == ["", "O-2 is lost", "O-1 is here", "", "asked once more"]


def test_what_another_writer_answered_is_answered(session: SessionHandle):
    session.append(OPENAI_CALLS)
    session.append({"role": "tool", "tool_call_id": "call_1", "content": "here"})
    session.record_tool("track", "lost")
    assert answered(session) == [("here", "0.0"), ("lost", "0.1")]


def test_calls_of_several_messages_one_after_the_other_are_open(session: SessionHandle):
    session.append(Message("assistant", "", tool_calls=[ToolCall("a", "track")]))
    session.append(Message("assistant", "", tool_calls=[ToolCall("b", "weigh")]))
    session.record_tool("track", "here")
    session.record_tool("weigh", "two pounds")
    assert answered(session) == [("here", "0.0"), ("two pounds", "1.0")]


@pytest.mark.parametrize(
    "between",
    [
        [Message("user", "never mind")],
        [Message("assistant", "One moment.")],
        [Message("system", "be brief")],
        [
            Message("tool", "", tool_results=[ToolResult("c", "weigh")]),
            Message("assistant", "", tool_calls=[ToolCall("d", "weigh")]),
        ],
    ],
)
def test_a_call_before_another_message_was_given_up(session: SessionHandle, between: list[Message]):
    session.append(Message("assistant", "", tool_calls=[ToolCall("c", "weigh"), ToolCall("c2", "track")]))
    session.extend(between)
    session.record_tool("track", "here")
    call, result = session.history()[-2:]
    assert call.text == ""
    assert [each.invocation_id for each in result.tool_results] == [each.invocation_id for each in call.tool_calls]


def test_state_that_is_kept_in_between_gives_no_call_up(session: SessionHandle):
    session.append(OPENAI_CALLS)
    session.merge({"a": 1})
    session.record_tool("track", "here")
    assert answered(session) == [("here", "0.0")]


def test_a_call_that_was_cleared_or_erased_is_not_answered(memory: ConversationMemory, session: SessionHandle):
    session.append(OPENAI_CALLS)
    session.clear()
    session.record_tool("track", "here")
    assert answered(session) == [("here", "0.0")]
    session.append(ANTHROPIC_CALL)
    memory.store.client.erasure.turn(str(session.history()[-1].turn_id))
    session.record_tool("track", "here too")
    assert answered(session) == [("here", "0.0"), ("here too", "3.0")]


def test_a_call_of_another_conversation_is_not_answered_and_is_not_in_between(memory: ConversationMemory):
    sales, support = memory.for_session("s", "sales"), memory.for_session("s", "support")
    support.append(OPENAI_CALLS)
    sales.append(Message("assistant", "", tool_calls=[ToolCall("c", "track")]))
    whole = memory.for_session("s")
    assert whole.conversation_uuid == sales.conversation_uuid
    support.append(Message("tool", "two pounds", tool_results=[ToolResult("call_3", "weigh")]))
    whole.record_tool("track", "sold")
    support.record_tool("track", "here")
    assert answered(sales) == [("sold", "0.0")]
    assert answered(support) == [("two pounds", "0.2"), ("here", "0.0")]


def test_a_call_is_found_in_a_session_that_is_held_without_its_content(memory: ConversationMemory):
    session = memory.for_session("large")
    session.extend(Message("user", f"word {number}") for number in range(30))
    session.append(OPENAI_CALLS)
    memory.store.held = HeldSessions(memory.store.reads, whole_bytes=1)
    session.record_tool("track", "lost", arguments={"order": "O-2"})
    assert answered(session) == [("lost", "30.1")]


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"name": ""}, ("$.name", "minLength")),
        ({"name": None}, ("$.name", "type")),
        ({"summary": None}, ("$.summary", "type")),
        ({"arguments": {1, 2}}, ("$.arguments", "type")),
        ({"arguments": {"n": float("nan")}}, ("$.arguments.n", "number_range")),
        ({"params": [1]}, ("$.params", "type")),
        ({"result": object()}, ("$.result", "type")),
    ],
)
def test_what_no_tool_says_is_refused_and_nothing_is_kept(session: SessionHandle, given, problem):
    with pytest.raises(ValidationError) as caught:
        session.record_tool(**{"name": "track", "summary": "done", **given})
    assert [(each.path, each.rule) for each in caught.value.problems] == [problem]
    assert session.history() == []


ACTS = st.one_of(
    st.tuples(st.just("say"), st.sampled_from(["user", "assistant"])),
    st.tuples(st.just("tool"), st.sampled_from(["a", "b"])),
    st.tuples(st.just("call"), st.lists(st.sampled_from(["a", "b"]), min_size=1, max_size=3)),
)


@settings(deadline=None, max_examples=50)
@given(st.lists(ACTS, max_size=8))
def test_no_result_of_a_tool_is_ever_without_its_call_and_no_call_is_answered_twice(acts):
    with in_memory() as memory:
        session = memory.for_session("s")
        for number, (kind, said) in enumerate(acts):
            if kind == "say":
                session.append(Message(said, f"{number}"))
            elif kind == "tool":
                session.record_tool(said, f"{number}")
            else:
                calls = [ToolCall(f"call_{place}", name) for place, name in enumerate(said)]
                session.append(Message("assistant", "", tool_calls=calls))
        found = answered(session)
        assert len({call for _, call in found}) == len(found)
        if found:
            for form in ("openai-chat", "anthropic"):
                assert "results_without_call" not in exported(memory, session, form)[1]
