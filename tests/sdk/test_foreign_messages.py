"""Message objects of other libraries, by what they dump: each is what a capture in its format would make of it.

What the real objects dump was looked at with langchain-core 1.8, openai 3.57, anthropic 2.14, google-genai 2.34 and
pydantic-ai 2.68; here each is a class of its own that dumps the same, so that none of them has to be installed.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import Enum, StrEnum
from types import SimpleNamespace
from typing import Any, NamedTuple
from uuid import UUID

import pytest

from agent.bootstrap import capture_service_on, new_id
from agent.capture.service import CaptureRequest
from agent.content.policy import FULL
from agent.core.session import fold
from agent.errors import ValidationError
from agent.formats import format_named
from agent.observability.tracing import NoSpans
from agent.recall.exported_session import exported_session
from agent.recall.turns import session_turns
from agent.sdk import ConversationMemory, Message, SessionHandle, ToolCall, ToolResult
from tests.sdk.memories import events_of, inputs_of, texts


class Pydantic:
    """What dumps as the models of pydantic do."""

    def __init__(self, **members: Any) -> None:
        self._members = members

    def model_dump(self, *, mode: str = "python", warnings: bool = True) -> dict[str, Any]:
        assert (mode, warnings) == ("json", False)
        return self._members


class OldPydantic:
    def __init__(self, **members: Any) -> None:
        self._members = members

    def model_dump(self) -> dict[str, Any]:
        return self._members


HUMAN = Pydantic(content="where is it?", additional_kwargs={}, response_metadata={}, type="human", name=None, id=None)
AI = Pydantic(
    content="",
    additional_kwargs={},
    response_metadata={},
    type="ai",
    name=None,
    id="run-1",
    tool_calls=[{"name": "track", "args": {"n": 4471}, "id": "call_7", "type": "tool_call"}],
    invalid_tool_calls=[],
    usage_metadata={"input_tokens": 3, "output_tokens": 4, "total_tokens": 7},
)
TOOL = Pydantic(
    content="on its way", additional_kwargs={}, response_metadata={}, type="tool", name=None, id=None,
    tool_call_id="call_7", artifact=None, status="success",
)  # fmt: skip
COMPLETION = Pydantic(
    role="assistant", content=None, refusal=None,
    tool_calls=[{"id": "call_7", "type": "function", "function": {"name": "track", "arguments": '{"n": 4471}'}}],
)  # fmt: skip
COMPLETION_RESULT = {"role": "tool", "tool_call_id": "call_7", "content": "on its way"}
ANSWER = Pydantic(
    id="msg_1", type="message", role="assistant", model="claude", stop_reason="tool_use", stop_sequence=None,
    usage={"input_tokens": 3, "output_tokens": 4},
    content=[
        {"type": "text", "text": "let me look"},
        {"type": "tool_use", "id": "toolu_1", "name": "track", "input": {"n": 4471}},
    ],
)  # fmt: skip
ANSWER_RESULT = {
    "role": "user",
    "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "on its way"}],
}
GEMINI = Pydantic(
    role="model", parts=[{"text": None, "function_call": {"name": "track", "args": {"n": 4471}, "id": None}}]
)
GEMINI_RESULT = Pydantic(
    role="user", parts=[{"function_response": {"name": "track", "response": {"output": "on its way"}, "id": None}}]
)


@dataclass
class Part:
    content: str
    part_kind: str = "user-prompt"
    timestamp: datetime = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)


@dataclass
class ModelRequest:
    parts: list[Part]
    kind: str = "request"
    run_id: UUID = field(default_factory=lambda: UUID(int=7))


@pytest.mark.parametrize(
    ("call", "result", "form"),
    [
        (AI, TOOL, "langchain"),
        (COMPLETION, COMPLETION_RESULT, "openai-chat"),
        (ANSWER, ANSWER_RESULT, "anthropic"),
        (GEMINI, GEMINI_RESULT, "gemini"),
    ],
)
def test_a_call_and_its_result_are_invocations_that_belong_together(memory, session, call, result, form):
    session.append(Message("user", "where is it?"))
    session.append(call)
    session.append(result)
    asked, called, answered = session.history()
    assert asked.text == "where is it?"
    (made,) = called.tool_calls
    assert (made.tool_name, made.arguments) == ("track", {"n": 4471})
    (named,) = answered.tool_results
    assert answered.role == "tool"
    assert "on its way" in answered.text
    assert (named.invocation_id, named.tool_name) == (made.invocation_id, "track")
    assert [each.get("native") for each in inputs_of(memory, session)] == [None, {"format": form}, {"format": form}]


@pytest.mark.parametrize(
    ("form", "document"),
    [
        ("openai-chat", {"messages": [COMPLETION.model_dump(mode="json", warnings=False), COMPLETION_RESULT]}),
        ("langchain", {"messages": [each.model_dump(mode="json", warnings=False) for each in (HUMAN, AI, TOOL)]}),
    ],
)
def test_a_list_makes_the_turns_that_a_capture_in_its_format_makes(memory: ConversationMemory, form, document):
    session = memory.for_session("in python")
    session.extend(document["messages"])
    body = {"session_id": "posted", "mode": "delta", "request_id": "r", **document}
    service = capture_service_on(lambda: memory.store.client, FULL)
    service.capture(CaptureRequest(json.dumps(body).encode(), form, None, new_id()), NoSpans())
    (ours,) = inputs_of(memory, session)
    (posted,) = inputs_of(memory, memory.for_session("posted"))
    assert list(map(said, ours["turns"])) == list(map(said, posted["turns"]))


def said(turn: dict[str, Any]) -> dict[str, Any]:
    """A turn without what says when, and under which ids."""
    own = {name: value for name, value in turn.items() if name not in {"turn_id", "timestamp"}}
    entries = [
        {name: value for name, value in entry.items() if name != "invocation_id"}
        for entry in own.pop("tool_invocations", [])
    ]
    return {**own, "invocations": entries}


@pytest.mark.parametrize("form", ["openai-chat", "langchain"])
def test_what_came_in_a_format_is_written_in_it_to_the_letter(memory: ConversationMemory, form: str):
    given = {
        "openai-chat": [
            {"role": "developer", "content": "be brief"},
            {"role": "user", "content": "hi", "name": "bob"},
            COMPLETION.model_dump(mode="json", warnings=False),
            COMPLETION_RESULT,
        ],
        "langchain": [each.model_dump(mode="json", warnings=False) for each in (HUMAN, AI, TOOL)],
    }[form]
    session = memory.for_session("round trip")
    for message in given:
        session.append(message)
    assert written(memory, session, form) == given


def written(memory: ConversationMemory, session: SessionHandle, form: str) -> list[Any]:
    turns = session_turns(memory.store.reads, session.session_uuid)
    exported = exported_session(
        memory.store.reads, session.session_uuid, None, shown=list(fold(turns).history), turns=turns
    )
    (text,) = format_named(form).write(exported).documents
    return json.loads(text)["messages"]


def test_events_that_have_ids_of_their_own_are_known_when_they_come_again(session: SessionHandle):
    events = [
        {
            "id": f"event-{number}",
            "author": "user" if number % 2 == 0 else "shop",
            "invocationId": "e-1",
            "timestamp": 1772439300.5 + number,
            "content": {"role": "user" if number % 2 == 0 else "model", "parts": [{"text": f"t{number}"}]},
            "actions": {},
        }
        for number in range(4)
    ]
    session.extend(events[:2])
    session.append(Message("user", "said meanwhile"))
    session.extend(events[:3])
    with session.batch():
        session.extend(events)
        assert texts(session) == ["t0", "t1", "said meanwhile", "t2", "t3"]
    assert texts(session) == ["t0", "t1", "said meanwhile", "t2", "t3"]
    assert [message.agent for message in session.history()] == [None, "shop", None, None, "shop"]


def test_messages_of_several_libraries_make_one_event_in_their_order(
    memory: ConversationMemory, session: SessionHandle
):
    session.extend([HUMAN, COMPLETION, ANSWER, {"role": "user", "content": "plain"}, Message("assistant", "ours")])
    assert texts(session) == ["where is it?", "", "let me look", "plain", "ours"]
    assert len(events_of(memory, session)) == 1
    assert "native" not in inputs_of(memory, session)[0]


def test_plain_messages_between_those_of_a_library_belong_to_its_list(
    memory: ConversationMemory, session: SessionHandle
):
    session.extend([{"role": "user", "content": "hi"}, COMPLETION, COMPLETION_RESULT])
    assert inputs_of(memory, session)[0]["native"] == {"format": "openai-chat"}
    assert [each.role for each in session.history()] == ["user", "assistant", "tool"]


def test_members_that_nobody_here_knows_stay_with_the_message(session: SessionHandle):
    session.append({"role": "agent", "text": "hi", "score": 0.5, "tags": ["a"]})
    (message,) = session.history()
    assert (message.role, message.text) == ("assistant", "hi")
    assert message.metadata["native"] == {"score": 0.5, "tags": ["a"]}


def test_a_whole_answer_goes_on_from_where_the_conversation_is(session: SessionHandle):
    session.append(Message("user", "hi"))
    session.append(
        {
            "object": "chat.completion",
            "model": "gpt",
            "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "hello"}}],
            "usage": {"prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 7},
        }
    )
    session.append(ANSWER)
    assert [(each.text, each.model) for each in session.history()] == [
        ("hi", None),
        ("hello", "gpt"),
        ("let me look", "claude"),
    ]
    assert session.stats()["token_usage"]["total_tokens"] == 14


def test_an_answer_of_several_choices_is_refused_for_there_is_no_telling_which_is_meant(session: SessionHandle):
    choices = [{"index": n, "message": {"role": "assistant", "content": str(n)}} for n in range(2)]
    with pytest.raises(ValidationError) as caught:
        session.append({"object": "chat.completion", "model": "gpt", "choices": choices})
    assert [problem.rule for problem in caught.value.problems] == ["several_conversations"]


def test_a_dataclass_of_a_library_is_read_by_its_fields(session: SessionHandle):
    session.append(ModelRequest(parts=[Part("where is it?")]))
    (message,) = session.history()
    assert (message.role, message.text) == ("user", "where is it?")


class Kind(Enum):
    USER = "user"


class Word(StrEnum):
    HELLO = "hello"


class Said(NamedTuple):
    role: str
    content: str


@pytest.mark.parametrize(
    "given",
    [
        SimpleNamespace(role="user", content="hello", _private="hidden"),
        SimpleNamespace(role=Kind.USER, content=Word.HELLO),
        OldPydantic(role="user", content="hello"),
        SimpleNamespace(to_dict=lambda: {"role": "user", "content": "hello"}),
        SimpleNamespace(dict=lambda: {"role": "user", "content": "hello"}),
        Said("user", "hello"),
    ],
)
def test_an_object_tells_what_it_holds_in_one_of_the_usual_ways(session: SessionHandle, given: object):
    session.append(given)
    (message,) = session.history()
    assert (message.role, message.text, message.metadata) == ("user", "hello", {})


def test_values_of_python_are_written_as_json_has_them(session: SessionHandle):
    at = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
    session.append({"role": "user", "content": "hi", "at": at, "id": UUID(int=1), "raw": b"\0\1", "pair": (1, None)})
    assert session.history()[0].metadata["native"] == {
        "at": "2026-03-02T09:00:00+00:00",
        "id": "00000000-0000-0000-0000-000000000001",
        "raw": "AAE=",
        "pair": [1, None],
    }


@pytest.mark.parametrize("given", [Pydantic, object(), lambda: None, 7, b"bytes", ("user", 7), ("robot", "x"), Kind])
def test_what_holds_no_message_is_refused(session: SessionHandle, given: object):
    with pytest.raises(ValidationError):
        session.append(given)


def test_an_object_that_holds_itself_is_refused(session: SessionHandle):
    ring = SimpleNamespace(role="user", content="hi")
    ring.ring = ring
    with pytest.raises(ValidationError) as caught:
        session.append(ring)
    assert [problem.rule for problem in caught.value.problems] == ["depth"]


def revisions(memory: ConversationMemory, session: SessionHandle) -> list[int]:
    return [turn.revisions for turn in memory.store.reads.turns(session.session_uuid).turns]


def test_all_turns_of_an_event_are_known_when_it_comes_again(memory: ConversationMemory, session: SessionHandle):
    parts = [{"functionResponse": {"name": name, "id": name, "response": {"x": name}}} for name in ("a", "b", "c")]
    event = {
        "id": "event-1",
        "author": "shop",
        "invocationId": "e-1",
        "timestamp": 1772439300.5,
        "content": {"role": "user", "parts": parts},
        "actions": {},
    }
    session.append(event)
    session.append(event)
    assert texts(session) == ['{"x":"a"}', '{"x":"b"}', '{"x":"c"}']
    assert revisions(memory, session) == [1, 1, 1]
    session.append({**event, "id": "event-2"})
    assert len(session.history()) == 6


def test_a_message_of_langchain_with_an_id_is_known_when_it_comes_again(memory, session: SessionHandle):
    session.extend([HUMAN, AI])
    session.extend([AI, TOOL])
    assert [each.role for each in session.history()] == ["user", "assistant", "tool"]
    assert revisions(memory, session) == [1, 1, 1]
    other = memory.for_session("chat-7", "another")
    other.append(AI)
    assert len(other.history()) == 1


def test_chunks_of_one_message_share_its_id_and_are_not_one_another(session: SessionHandle):
    for text in ("he", "llo"):
        session.append({"type": "AIMessageChunk", "content": text, "id": "run-1"})
    assert texts(session) == ["he", "llo"]


TEXT_ANSWER = Pydantic(**{**ANSWER.model_dump(mode="json", warnings=False), "content": [{"type": "text", "text": "y"}]})


def test_a_whole_answer_says_the_same_in_a_list_as_alone(session: SessionHandle):
    session.append(TEXT_ANSWER)
    session.extend([{"role": "user", "content": "x"}, TEXT_ANSWER, TEXT_ANSWER, {"role": "user", "content": "z"}])
    assert texts(session) == ["y", "x", "y", "y", "z"]
    answers = [each for each in session.history() if each.role == "assistant"]
    assert {each.model for each in answers} == {"claude"}
    assert [each.token_usage for each in answers] == [answers[0].token_usage] * 3
    assert session.stats()["token_usage"]["total_tokens"] == 21


def test_a_whole_answer_in_a_list_still_goes_with_the_result_behind_it(memory, session: SessionHandle):
    session.extend([{"role": "user", "content": "x"}, ANSWER, ANSWER_RESULT])
    _, called, answered = session.history()
    (named,) = answered.tool_results
    assert (named.invocation_id, named.tool_name) == (called.tool_calls[0].invocation_id, "track")
    assert inputs_of(memory, session)[0]["turns"][2]["tool_invocations"][0]["tool_name"] == "track"


def test_a_result_has_the_name_of_its_tool_in_a_mixed_list_and_in_a_batch(session: SessionHandle):
    ours = Message("assistant", "", tool_calls=[ToolCall("call_7", "track")])
    session.extend([ours, COMPLETION_RESULT])
    with session.batch():
        session.append(COMPLETION)
        session.append(COMPLETION_RESULT)
        assert [each.tool_results[0].tool_name for each in session.history() if each.role == "tool"] == ["track"] * 2
    assert [each.tool_results[0].tool_name for each in session.history() if each.role == "tool"] == ["track"] * 2


def test_a_result_of_a_call_that_is_named_by_a_uuid_has_the_name_of_its_tool(session: SessionHandle):
    uuid = str(UUID(int=9))
    session.append(Message("assistant", "", tool_calls=[ToolCall(uuid, "track")]))
    session.append({"role": "tool", "tool_call_id": uuid, "content": "on its way"})
    session.append(Message("tool", "again", tool_results=[ToolResult(uuid, "unknown")]))
    assert [each.tool_results[0].tool_name for each in session.history()[1:]] == ["track", "track"]


@pytest.mark.parametrize("call_id", ["", "x" * 257, "nul\0"])
def test_a_call_of_a_provider_is_taken_by_whatever_it_is_named(session: SessionHandle, call_id: str):
    function = {"name": "track", "arguments": "{}"}
    call = {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": call_id, "type": "function", "function": function}],
    }
    session.extend([call, {"role": "tool", "tool_call_id": call_id, "content": "one"}])
    session.append(call)
    session.append({"role": "tool", "tool_call_id": call_id, "content": "two"})
    first, one, second, two = session.history()
    for made, answer in ((first, one), (second, two)):
        assert answer.tool_results[0][:2] == (made.tool_calls[0].invocation_id, "track")
    assert first.tool_calls[0].invocation_id != second.tool_calls[0].invocation_id


class Broken:
    def __init__(self, error: Exception) -> None:
        self._error = error

    def model_dump(self, **_: Any) -> dict[str, Any]:
        raise self._error


@pytest.mark.parametrize("error", [RuntimeError("planted"), ValueError("planted"), KeyError("planted")])
def test_an_object_that_cannot_say_what_it_holds_is_refused_without_its_words(session: SessionHandle, error: Exception):
    with pytest.raises(ValidationError) as caught:
        session.append(Broken(error))
    assert type(error).__name__ in caught.value.message
    assert "planted" not in caught.value.message
    assert caught.value.__cause__ is None


class WithBytes:
    def model_dump(self, *, mode: str = "python", warnings: bool = True) -> dict[str, Any]:
        raw = b"\xff\xfe"
        extra = raw.decode() if mode == "json" else raw
        return {"type": "human", "content": "hi", "additional_kwargs": {"raw": extra}}


def test_bytes_that_are_no_text_are_kept_in_letters(session: SessionHandle):
    session.append(WithBytes())
    assert session.history()[0].metadata["native"]["additional_kwargs"] == {"raw": "//4="}


def test_a_pair_of_a_role_and_a_text_is_a_message(session: SessionHandle):
    session.extend([("human", "hi"), ("ai", "hello"), ("user", "bye"), {"role": "ai", "content": "so long"}])
    assert [(each.role, each.text) for each in session.history()] == [
        ("user", "hi"),
        ("assistant", "hello"),
        ("user", "bye"),
        ("assistant", "so long"),
    ]
