"""What Chat Completions calls came back with, and recorded calls as conversations."""

from __future__ import annotations

import json
from typing import Any

from agent.formats.conversation.recording import Recorded
from agent.formats.openai_answer import answers_of
from tests.conftest import TESTS
from tests.formats.round_trips import captures, conversations, lines

USER = {"role": "user", "content": "Where is parcel 4471?"}


def chunk(delta: dict[str, Any], index: int = 0, **fields: Any) -> dict[str, Any]:
    return {"object": "chat.completion.chunk", "choices": [{"index": index, "delta": delta}], **fields}


def streamed(*chunks: Any) -> list[Any]:
    return answers_of(Recorded({}, None, chunks, 200))


def answered(message: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "message": {"role": "assistant", **message}}], **fields}


def test_chunks_are_one_message():
    piece = {"index": 0, "id": "call_7", "type": "function", "function": {"name": "track", "arguments": ""}}
    (answer,) = streamed(
        chunk({"role": "assistant", "content": None}, model="m", created=1767200000),
        chunk({"tool_calls": [piece]}),
        chunk({"tool_calls": [{"index": 0, "function": {"arguments": '{"n":'}}]}),
        chunk({"tool_calls": [{"index": 1, "id": "call_8", "function": {"name": "weigh"}}]}),
        chunk({"tool_calls": [{"index": 0, "function": {"arguments": "4471}"}}]}),
        {"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 7}},
    )
    calls = answer.message["tool_calls"]
    assert [(call["id"], call["function"]["arguments"]) for call in calls] == [("call_7", '{"n":4471}'), ("call_8", "")]
    assert answer.message["content"] is None
    assert (answer.model, answer.timestamp) == ("m", "2025-12-31T16:53:20.000000Z")
    assert answer.usage == {"prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 7}


def test_chunks_of_several_choices_are_several_messages():
    found = streamed(
        chunk({"content": "a"}), chunk({"content": "x"}, 1), chunk({"content": "b"}), chunk({"content": "y"}, 1)
    )
    assert [answer.message["content"] for answer in found] == ["ab", "xy"]


def test_what_is_no_answer_is_none():
    assert streamed() == streamed(5, {}, {"choices": 5}, {"choices": [5, {"delta": 5}]}) == []
    assert answers_of(Recorded({}, {"error": {"code": 400}}, None, 400)) == []
    assert answers_of(Recorded({}, "oops", None, 500)) == []


def test_the_usage_of_a_call_counts_once_however_many_answers_it_has():
    usage = {"prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 7}
    body = {"choices": [{"message": {"content": "a"}}, {"message": {"content": "b"}}], "usage": usage}
    assert [answer.usage for answer in answers_of(Recorded({}, body, None, 200))] == [usage, None]


def test_an_answer_alone_is_a_conversation_of_one_message():
    (payload,) = captures("openai-chat", answered({"content": "Hi"}, model="m"))
    (turn,) = payload["turns"]
    assert (turn["role"], turn["content"], turn["model"]) == ("assistant", "Hi", "m")


def test_recorded_calls_that_repeat_what_was_said_are_one_conversation():
    first = {"role": "assistant", "content": "Let me check."}
    grown = [USER, first, {"role": "user", "content": "Thanks"}]
    calls = [
        {"request": {"messages": [USER]}, "response": answered({"content": "Let me check."}, created=1767200000)},
        {"request": {"messages": grown}, "response": answered({"content": "Bern."})},
        {"request": {"url": "/models"}, "response": {"data": []}},
    ]
    (payload,) = captures("openai-chat", {"interactions": calls})
    assert [turn["content"] for turn in payload["turns"]] == [
        "Where is parcel 4471?",
        "Let me check.",
        "Thanks",
        "Bern.",
    ]
    # The time is the answer's, not the message's: it is not written into the message.
    assert payload["turns"][1]["timestamp"] == "2025-12-31T16:53:20.000000Z"
    assert "timestamp" in payload["turns"][1]["metadata"]["derived"]
    (conversation,) = conversations("openai-chat", {"interactions": calls})
    assert conversation.ignored.counts == {"calls of something else": 1}


def test_an_answer_that_was_not_taken_stays_as_a_branch():
    call = {
        "request": {"messages": [USER]},
        "response": {
            "choices": [
                {"message": m}
                for m in ({"role": "assistant", "content": "taken"}, {"role": "assistant", "content": "not taken"})
            ]
        },
    }
    (conversation,) = conversations("openai-chat", call)
    said = {message.place: message.content for message in conversation.messages}
    assert conversation.leaf is not None
    assert said[conversation.leaf] == "taken"
    assert set(said.values()) == {USER["content"], "taken", "not taken"}


def test_a_call_without_an_answer_keeps_what_was_asked():
    call = {"request": {"messages": [USER]}, "response": {"status": 400, "body": {"error": {}}}}
    (conversation,) = conversations("openai-chat", call)
    assert [message.content for message in conversation.messages] == [USER["content"]]
    assert conversation.ignored.counts == {"calls without an answer": 1}


def recordings():
    return [
        record
        for record in lines(TESTS / "data" / "api-recording__openai-chat__5.jsonl")
        if "openai.com" in json.dumps([call["request"].get("uri") for call in record["interactions"]])
    ]


def test_every_message_of_a_recording_is_said_once_in_its_order():
    """Counted apart: what the last request holds, and the answer to it."""
    found = 0
    for record in recordings():
        chats = [call for call in record["interactions"] if "messages" in (call["request"].get("body") or {})]
        longest = max(len(call["request"]["body"]["messages"]) for call in chats)
        (conversation,) = conversations("openai-chat", record)
        assert len(conversation.messages) >= longest + 1
        found += 1
    assert found
