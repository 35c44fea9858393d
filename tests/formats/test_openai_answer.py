"""What Chat Completions calls came back with, and recorded calls as conversations."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent.errors import ValidationError
from agent.formats import openai_chat
from agent.formats.conversation.message import Conversation
from agent.formats.conversation.recording import Recorded, recorded_calls
from agent.formats.openai_answer import answered as answered_by
from agent.formats.openai_answer import answers_of
from tests.conftest import TESTS
from tests.formats.round_trips import captures, conversations, lines, stored, written
from tests.strategies import json_values

LAW = settings(deadline=None, max_examples=200, suppress_health_check=[HealthCheck.too_slow])
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
    assert calls == [
        {"id": "call_7", "type": "function", "function": {"name": "track", "arguments": '{"n":4471}'}},
        {"id": "call_8", "function": {"name": "weigh"}},
    ]
    assert answer.message["content"] is None
    assert (answer.model, answer.timestamp) == ("m", "2025-12-31T16:53:20.000000Z")
    assert answer.usage == {"prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 7}


def merged(*deltas: Any) -> tuple[dict[str, Any], dict[str, int]]:
    """The message that ``deltas`` make, but for its role, and what of them has no place in it."""
    found = answered_by(Recorded({}, None, tuple(map(chunk, deltas)), 200))
    ((message, *_),) = found.choices
    return {name: value for name, value in message.items() if name != "role"}, dict(found.left_out)


CALL = {"index": 0, "id": "call_7", "type": "function", "function": {"name": "track", "arguments": "{}"}}
SIGNED = {"google": {"thought_signature": "c2lnbmVk"}}
WHOLE_CALL = {name: value for name, value in CALL.items() if name != "index"}


def of_calls(*pieces: Any) -> list[dict[str, Any]]:
    return [{"tool_calls": [piece]} for piece in pieces]


@pytest.mark.parametrize(
    ("deltas", "message"),
    [
        (
            [{"function_call": each} for each in ({"name": "track", "arguments": ""}, {"arguments": '{"n":'}, {})]
            + [{"function_call": {"arguments": "4471}"}}],
            {"function_call": {"name": "track", "arguments": '{"n":4471}'}},
        ),
        (
            of_calls(
                {"index": 0, "id": "c", "type": "custom", "custom": {"name": "run", "input": ""}},
                {"index": 0, "custom": {"input": "ls"}},
                {"index": 0, "custom": {"input": " -l"}},
            ),
            {"tool_calls": [{"id": "c", "type": "custom", "custom": {"name": "run", "input": "ls -l"}}]},
        ),
        (
            of_calls(CALL, {"index": 0, "extra_content": SIGNED, "x": [1]}, {"index": 0, "x": [2]}),
            {"tool_calls": [{**WHOLE_CALL, "extra_content": SIGNED, "x": [1, 2]}]},
        ),
        (
            [{"reasoning_details": [{"index": 0, "text": text}]} for text in ("a", "b")],
            {"reasoning_details": [{"index": 0, "text": "a"}, {"index": 0, "text": "b"}]},
        ),
        (
            [{"audio": each} for each in ({"id": "a"}, {"transcript": "ha"}, {"transcript": "ha"}, {"expires_at": 7})],
            {"audio": {"id": "a", "transcript": "haha", "expires_at": 7}},
        ),
        ([{"reasoning_content": "ha"}, {"reasoning_content": "ha"}], {"reasoning_content": "haha"}),
        ([{"name": "", "x": None}, {"name": "a", "x": "b"}, {"name": "c", "x": "b"}], {"name": "ac", "x": "b"}),
        ([{"x": "a"}, {"x": "b"}, {"x": None}], {"x": "ab"}),
    ],
)
def test_what_grows_is_joined_objects_by_member_lists_at_their_end(deltas: list[Any], message: Any) -> None:
    assert merged(*deltas) == (message, {})


def test_pieces_of_calls_without_an_index_go_by_id_or_to_the_call_before() -> None:
    first, second = ({"id": each, "function": {"name": each, "arguments": "{"}} for each in ("a", "b"))
    message, _ = merged(*of_calls(first, {"function": {"arguments": "}"}}, second, {**first, "function": {}}))
    assert [(call["id"], call["function"]["arguments"]) for call in message["tool_calls"]] == [("a", "{}"), ("b", "{")]
    nameless = [{"function": {"name": each, "arguments": "{}"}} for each in ("a", "a")]
    assert merged(*of_calls(*nameless)) == ({"tool_calls": nameless}, {})


def test_two_calls_with_one_index_are_two_calls() -> None:
    other = {**CALL, "id": "call_8"}
    assert merged(*of_calls(CALL, other)) == ({"tool_calls": [WHOLE_CALL, other]}, {})


@pytest.mark.parametrize(
    ("deltas", "message", "left"),
    [
        ([{"tool_calls": 1.5}, *of_calls(CALL, 5)], {"tool_calls": [WHOLE_CALL]}, {"stream pieces of another type": 2}),
        (of_calls({**CALL, "index": [0]}), {"tool_calls": [{**CALL, "index": [0]}]}, {}),
        ([{"content": "a"}, {"content": [{}]}], {"content": "a"}, {"stream pieces of another type": 1}),
        ([{"content": "a"}, 5], {"content": "a"}, {"stream pieces of another type": 1}),
        ([{"id": "a"}, {"id": "b"}, {"x": 1}, {"x": 2}], {"id": "a", "x": 2}, {"stream values said otherwise": 2}),
    ],
)
def test_what_cannot_be_merged_is_counted(deltas: list[Any], message: Any, left: dict[str, int]) -> None:
    assert merged(*deltas) == (message, left)


def test_what_chunks_say_beside_their_deltas_is_kept_once() -> None:
    token = {"content": [{"token": "ha"}]}
    beside = [
        {"id": "", "citations": ["a"], "usage": {"total_tokens": 1}},
        {"id": "x", "citations": ["a", "b"], "usage": {"total_tokens": 2, "cost": 0.5}, "obfuscation": "zz"},
    ]
    chunks = [{**each, "choices": [{"index": 0, "delta": {"content": "ha"}, "logprobs": token}]} for each in beside]
    end = {"choices": [{"index": 0, "delta": {}, "finish_reason": "error"}], "error": {"code": 502}}
    found = answered_by(Recorded({}, None, (*chunks, end), 200))
    assert found.choices[0].beside == {
        "id": "x",
        "citations": ["a", "b"],
        "usage": {"total_tokens": 2, "cost": 0.5},
        "error": {"code": 502},
        "choices": [{"index": 0, "logprobs": {"content": [{"token": "ha"}] * 2}, "finish_reason": "error"}],
    }
    assert found.left_out == {"stream paddings": 1}


def test_a_message_that_ends_its_stream_as_a_whole_is_not_said_twice() -> None:
    end = {"choices": [{"message": {"role": "assistant", "content": "Hi", "x": 1}}]}
    (answer,) = streamed(chunk({"content": "Hi"}), end)
    assert answer.message == {"role": "assistant", "content": "Hi", "x": 1}
    assert streamed(end)[0].message == end["choices"][0]["message"]


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


ANSWER = {
    "id": "chatcmpl-1",
    "object": "chat.completion",
    "created": 1767200000,
    "model": "m",
    "system_fingerprint": "fp",
    "usage": {
        "prompt_tokens": 3,
        "completion_tokens": 4,
        "total_tokens": 7,
        "prompt_tokens_details": {"cached_tokens": 2},
    },
    "choices": [
        {"index": 0, "message": {"role": "assistant", "content": "a"}, "finish_reason": "stop", "logprobs": None},
        {"index": 1, "message": {"role": "assistant", "content": "b"}, "finish_reason": "length"},
    ],
}


def test_what_an_answer_says_beside_its_messages_is_kept_and_no_part_of_the_message() -> None:
    (payload,) = captures("openai-chat", {"request": {"messages": [USER]}, "response": ANSWER})
    kept = {turn["content"]: turn["metadata"].get("native", {}).get("answer") for turn in payload["turns"]}
    choices = [{name: value for name, value in each.items() if name != "message"} for each in ANSWER["choices"]]
    assert kept["a"] == {**ANSWER, "choices": choices[:1]}
    assert kept["b"] == {"choices": choices[1:]}
    with stored("openai-chat", {"request": {"messages": [USER]}, "response": ANSWER}) as session:
        document, told = written("openai-chat", session)
    assert document["messages"] == [USER, ANSWER["choices"][0]["message"]]
    assert told.lost["answers"] == 1


def test_a_member_of_a_message_that_is_called_as_what_answers_say_is_the_messages() -> None:
    own = {"role": "assistant", "content": "6", "answer": {"choices": []}}
    for document in ({"messages": [USER, own]}, {"request": {"messages": [USER]}, "response": answered(own)}):
        with stored("openai-chat", document) as session:
            found, told = written("openai-chat", session)
        assert found["messages"] == [USER, own]
        assert "answers" not in told.lost
    (conversation,) = conversations("openai-chat", document)
    assert conversation.ignored.counts == {"details of answers": 1}


def test_what_an_answer_says_that_was_known_before_is_counted() -> None:
    calls = [{"request": {"messages": [USER]}, "response": answered({"content": "Hi"}, id=each)} for each in "aab"]
    (conversation,) = conversations("openai-chat", {"interactions": calls})
    assert conversation.messages[1].native == {"answer": {"id": "a", "choices": [{"index": 0}]}}
    assert conversation.ignored.counts == {"details of answers": 1}


def test_options_of_one_call_are_kept_and_of_several_counted() -> None:
    options = {"model": "m", "tools": [{"type": "function"}], "context": "x"}
    call = {"request": {"messages": [USER], **options}, "response": answered({"content": "Hi"})}
    (one,) = conversations("openai-chat", call)
    assert (one.native, one.ignored.counts) == (options, {})
    (several,) = conversations("openai-chat", {"interactions": [call, {**call, "response": {}}]})
    assert several.native == {}
    assert several.ignored.counts == {"options of calls": 2, "calls without an answer": 1}


def test_choices_without_a_message_are_counted() -> None:
    body = {"choices": [5, {"text": "x"}, {"message": None}, *answered({"content": "Hi"})["choices"]]}
    (conversation,) = conversations("openai-chat", {"request": "junk", "response": body})
    assert conversation.ignored.counts == {"choices without a message": 3, "requests of something else": 1}


def test_only_what_somebody_said_is_derived() -> None:
    (payload,) = captures("openai-chat", answered({"content": "Hi"}))
    assert payload["turns"][0]["metadata"]["derived"] == ["timestamp", "answer"]
    own = {"content": "Hi", "timestamp": "2026-01-01T00:00:00Z"}
    (payload,) = captures("openai-chat", answered(own, created=1767200000))
    assert payload["turns"][0]["timestamp"] == own["timestamp"]
    assert payload["turns"][0]["metadata"]["derived"] == ["answer"]


def test_a_posted_answer_does_not_keep_where_it_belongs() -> None:
    (conversation,) = conversations("openai-chat", {**answered({"content": "Hi"}, id="x"), "session_id": "s"})
    assert conversation.messages[0].native == {"answer": {"id": "x", "choices": [{"index": 0}]}}


@pytest.mark.parametrize("choices", [[], [{"text": "Hi"}], [{"message": None}], [5], 5])
def test_completions_of_texts_are_no_chat(choices: Any) -> None:
    assert not openai_chat.detect({"choices": choices})
    assert not openai_chat.detect({"request": {"prompt": "Say"}, "response": {"choices": choices}})
    (refused,) = openai_chat.read({"choices": choices})
    assert isinstance(refused, ValidationError)


def test_a_stream_is_known_whatever_it_was_asked_with() -> None:
    stream = f"data: {json.dumps(chunk({'content': 'Hi'}))}\n\ndata: [DONE]\n\n"
    assert openai_chat.detect({"request": {}, "response": stream})
    assert openai_chat.detect(chunk({"content": "Hi"}))
    (conversation,) = conversations("openai-chat", chunk({"content": "Hi"}))
    assert [message.content for message in conversation.messages] == ["Hi"]


@pytest.mark.parametrize("document", [-1, 1.5, None, True, "x"])
def test_what_is_neither_a_body_nor_a_list_is_refused_as_such(document: Any) -> None:
    (refused,) = openai_chat.read(document)
    assert isinstance(refused, ValidationError)
    assert [(problem.path, problem.rule) for problem in refused.problems] == [("$", "type")]


MEMBERS = (
    *("choices", "delta", "message", "messages", "role", "content", "tool_calls", "index", "id", "type", "name"),
    *("function", "custom", "function_call", "arguments", "input", "audio", "data", "usage", "created", "model"),
    *("request", "response", "body", "interactions", "answer", "timestamp", "session_id", "error"),
)
odd = st.recursive(
    json_values | st.sampled_from(["assistant", "user", "tool", "", 10**400, 1767200000]),
    lambda children: st.lists(children, max_size=4) | st.dictionaries(st.sampled_from(MEMBERS), children, max_size=5),
    max_leaves=30,
)
pieces = st.lists(st.fixed_dictionaries({}, optional=dict.fromkeys(MEMBERS[5:16], odd)), max_size=4)
deltas = odd | st.fixed_dictionaries({}, optional={"tool_calls": pieces | odd, "content": odd, "audio": odd})
choices = st.lists(odd | st.fixed_dictionaries({}, optional={"index": odd, "delta": deltas, "message": deltas}))
bodies = odd | st.fixed_dictionaries({"choices": choices}, optional={"created": odd, "usage": odd, "id": odd})


@LAW
@given(st.lists(bodies, max_size=6), bodies, odd)
def test_whatever_came_back_is_read_or_refused(chunks: list[Any], body: Any, request: Any) -> None:
    answers_of(Recorded(request, body, None, None))
    answers_of(Recorded(request, None, tuple(chunks), None))
    stream = "".join(f"data: {json.dumps(each)}\n\n" for each in chunks)
    for document in (body, request, chunks, *({"request": request, "response": each} for each in (body, stream))):
        assert openai_chat.detect(document) in (True, False)
        before = json.dumps(document)
        found = list(openai_chat.read(document))
        assert all(isinstance(each, Conversation | ValidationError) for each in found)
        assert found or recorded_calls(document) is not None
        assert json.dumps(document) == before
