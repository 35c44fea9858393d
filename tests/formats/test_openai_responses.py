"""``openai-responses``: what requests, answers and recorded calls of the Responses API become."""

import json
from typing import Any

import pytest

from agent.errors import ValidationError
from agent.formats import openai_responses, reader
from agent.formats.conversation.message import Call, Message, Result
from tests.formats.chat_messages import CAPTURED_AT
from tests.formats.response_items import ITEMS, LARGE_IMAGE, unrelated_documents
from tests.formats.round_trips import conversations, lines

FORM = "openai-responses"
USER = {"role": "user", "content": "Hi"}
ANSWER = {
    "id": "resp_1",
    "object": "response",
    "created_at": 1_700_000_000,
    "model": "gpt-5",
    "status": "completed",
    "output": [
        {"type": "reasoning", "id": "rs_1", "summary": []},
        {"type": "message", "id": "msg_1", "role": "assistant", "content": [{"type": "output_text", "text": "Hello"}]},
    ],
    "usage": {"input_tokens": 3, "output_tokens": 2, "total_tokens": 5},
}


def messages(document: Any) -> list[Message]:
    (conversation,) = conversations(FORM, document)
    return list(conversation.messages)


def problems(document: Any) -> list[tuple[str, str]]:
    (error,) = openai_responses.read(document)
    assert isinstance(error, ValidationError)
    return [(problem.path, problem.rule) for problem in error.problems]


def one(item: Any) -> Message:
    (message,) = messages([item])
    return message


def shown(*items: Any) -> list[tuple[str, str]]:
    return [(message.role, message.content) for message in messages(list(items))]


def test_every_item_is_a_turn_at_its_place_and_a_hosted_call_with_its_result_two() -> None:
    places = [message.place for message in messages(ITEMS)]
    doubled = [index for index, item in enumerate(ITEMS) if f"{index}.1" in places]
    assert [place for place in places if "." not in place] == [str(index) for index in range(len(ITEMS))]
    assert [ITEMS[index]["type"] for index in doubled] == [
        "file_search_call",
        "code_interpreter_call",
        "image_generation_call",
        "mcp_call",
        "mcp_call",
    ]


def test_instructions_come_first_and_a_text_alone_is_the_user_s() -> None:
    found = messages({"instructions": "Be brief.", "input": "Hi", "store": False})
    assert [(m.role, m.content, m.place) for m in found] == [
        ("system", "Be brief.", "system"),
        ("user", "Hi", "0"),
    ]
    assert found[1] == messages({"input": [USER]})[0]


def test_a_message_keeps_its_parts_without_saying_its_text_twice() -> None:
    message = one(ANSWER["output"][1])
    assert (message.role, message.content) == ("assistant", "Hello")
    assert message.native == {"item": {"type": "message", "id": "msg_1"}, "part": {"type": "output_text"}}
    assert one(USER).native is None


def test_what_is_no_text_is_shown_by_its_media_type() -> None:
    assert shown(ITEMS[2]) == [("user", "Look\n[image: image/png]\n[file]")]
    assert shown({"role": "assistant", "content": [{"type": "refusal", "refusal": "No."}]}) == [("assistant", "No.")]


def test_calls_have_their_arguments_parsed_and_custom_calls_their_text() -> None:
    assert one(ITEMS[5]).calls == (Call("look", "call_1", {"a": 1}),)
    assert one(ITEMS[7]).calls == (Call("look", "call_3", "no json"),)
    assert one({"type": "custom_tool_call", "call_id": "c", "name": "n", "input": "{}"}).calls == (
        Call("n", "c", "{}"),
    )
    assert one({"type": "function_call", "name": "n", "arguments": "{}"}).calls == (Call("n", "n", {}),)


def test_results_are_tool_turns_of_the_calls_that_they_name() -> None:
    message = one({"type": "function_call_output", "call_id": "c", "output": [{"type": "input_text", "text": "x"}]})
    assert (message.role, message.content, message.results) == ("tool", "x", (Result("c"),))
    assert one({"type": "local_shell_call_output", "id": "c", "output": "x"}).results == (Result("c"),)


def test_a_hosted_call_and_its_result_hold_nothing_of_each_other() -> None:
    call, result = messages([{"type": "mcp_call", "id": "m", "name": "n", "arguments": "{}", "output": "secret"}])
    assert call.calls == (Call("n", "m", {}),)
    assert (result.content, result.results) == ("secret", (Result("m", "n"),))
    assert "secret" not in json.dumps(call.native)
    assert "arguments" not in json.dumps(result.native)


@pytest.mark.parametrize(
    ("item", "content", "success"),
    [
        ({"type": "mcp_call", "id": "m", "name": "n", "error": {"message": "broken"}}, "broken", False),
        ({"type": "mcp_call", "id": "m", "name": "n", "output": "x"}, "x", None),
        ({"type": "file_search_call", "id": "m", "results": [{"text": "a"}, {"text": "b"}]}, "a\nb", None),
        ({"type": "code_interpreter_call", "id": "m", "outputs": [{"type": "image", "url": "u"}]}, "[image]", None),
        ({"type": "image_generation_call", "id": "m", "result": "aGk="}, "[image: image/png]", None),
    ],
)
def test_the_result_that_a_hosted_call_holds_is_shown_with_its_error(item: Any, content: str, success: Any) -> None:
    _, result = messages([item])
    assert (result.role, result.content, result.results[0].success) == ("tool", content, success)


def test_an_approval_is_a_call_until_it_is_answered() -> None:
    request, response = messages(ITEMS[19:21])
    assert request.calls == (Call("act", "mcpr_1", {}),)
    assert (response.role, response.content, response.results) == ("tool", "no", (Result("mcpr_1", None, False),))


def test_reasoning_and_compaction_say_nothing_and_are_kept_to_the_letter() -> None:
    for item in ({"type": "reasoning", "summary": [], "encrypted_content": LARGE_IMAGE}, ITEMS[34]):
        message = one(item)
        assert (message.role, message.content, message.native) == ("assistant", "", {"item": item})


def test_large_pictures_become_digests() -> None:
    _, result = messages([{"type": "image_generation_call", "id": "i", "status": "completed", "result": LARGE_IMAGE}])
    kept = (result.native or {})["item"]["result"]
    assert (kept["bytes"], kept["media_type"]) == (5000, "image/png")
    message = one(
        {"role": "user", "content": [{"type": "input_image", "image_url": f"data:image/gif;base64,{LARGE_IMAGE}"}]}
    )
    assert message.content == "[image: image/gif]"
    assert LARGE_IMAGE not in json.dumps(message.native)


def test_an_answer_has_its_time_its_model_and_its_tokens_once() -> None:
    (conversation,) = conversations(FORM, ANSWER)
    assert [(m.timestamp, m.model, m.usage) for m in conversation.messages] == [
        ("2023-11-14T22:13:20.000000Z", "gpt-5", None),
        ("2023-11-14T22:13:20.000000Z", "gpt-5", {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}),
    ]
    assert all({"timestamp", "model"} <= set(m.derived) for m in conversation.messages)
    assert conversation.native == {name: value for name, value in ANSWER.items() if name != "output"}


def test_what_stands_beside_the_items_of_a_request_is_kept() -> None:
    body = {"input": [USER], "model": "gpt-5", "tools": [], "previous_response_id": "resp_0", "session_id": "s"}
    (conversation,) = conversations(FORM, body)
    assert conversation.native == {"model": "gpt-5", "tools": [], "previous_response_id": "resp_0"}
    payload = reader(FORM).read(body, captured_at=CAPTURED_AT).payload
    assert payload["native"] == {"format": FORM, "beside": conversation.native, "model": "gpt-5"}


def test_everything_that_is_wrong_is_named_by_its_path() -> None:
    body = {
        "instructions": 1,
        "input": [
            "text",
            {"role": "narrator", "content": "x"},
            {"content": "x"},
            {"role": "user", "content": 1},
            {"type": "function_call", "call_id": 1, "name": "n"},
            {"type": "function_call_output", "call_id": "c", "output": 1},
            {"type": "Odd!"},
            {"type": 1},
            {"type": "message", "content": "x"},
        ],
    }
    assert problems(body) == [
        ("$.instructions", "type"),
        ("$.input[0]", "type"),
        ("$.input[1].role", "enum"),
        ("$.input[2].type", "required"),
        ("$.input[3].content", "type"),
        ("$.input[4].call_id", "type"),
        ("$.input[5].output", "type"),
        ("$.input[6].type", "enum"),
        ("$.input[7].type", "type"),
        ("$.input[8].role", "required"),
    ]
    assert problems({}) == [("$.input", "required")]
    assert problems({"input": 1}) == [("$.input", "type")]
    assert problems({"input": []}) == [("$.input", "minItems")]
    assert problems([]) == [("$", "minItems")]
    assert problems({**ANSWER, "output": []}) == [("$.output", "minItems")]
    assert problems("text") == [("$", "type")]


def test_an_item_of_a_kind_that_nobody_knows_yet_is_kept() -> None:
    assert one({"type": "dream", "id": "d"}).native == {"item": {"type": "dream", "id": "d"}}
    assert one({"type": "dream_call", "call_id": "c", "input": {"x": 1}}).calls == (Call("dream", "c", {"x": 1}),)
    assert one({"type": "dream_call_output", "call_id": "c", "output": "x"}).results == (Result("c"),)


def exchange(request: Any, response: Any) -> dict[str, Any]:
    return {"request": {"method": "POST", "body": request}, "response": {"status": 200, "body": response}}


def events(*documents: Any) -> str:
    return "".join(f"event: {each['type']}\ndata: {json.dumps(each)}\n\n" for each in documents)


CREATED = {"type": "response.created", "response": {**ANSWER, "output": []}}
DONE = [
    {"type": "response.output_item.done", "output_index": index, "item": item}
    for index, item in reversed(list(enumerate(ANSWER["output"])))
]


@pytest.mark.parametrize(
    "stream",
    [events(CREATED, {"type": "response.completed", "response": ANSWER}), events(CREATED, *DONE), events(*DONE)],
    ids=["whole", "cut off", "items only"],
)
def test_a_stream_is_the_answer_that_it_makes(stream: str) -> None:
    found = messages(exchange({"input": [USER]}, stream))
    assert [(m.role, m.content) for m in found] == [("user", "Hi"), ("assistant", ""), ("assistant", "Hello")]


def test_calls_that_repeat_what_was_said_are_one_conversation() -> None:
    later = {**ANSWER, "id": "resp_2", "output": [{"role": "assistant", "content": "Bye"}]}
    first = exchange({"instructions": "Be brief.", "input": "Hi"}, ANSWER)
    whole = {"instructions": "Be brief.", "input": [USER, *ANSWER["output"], {"role": "user", "content": "Go"}]}
    found = messages({"interactions": [first, exchange(whole, later)]})
    assert [m.content for m in found] == ["Be brief.", "Hi", "", "Hello", "Go", "Bye"]


@pytest.mark.parametrize(
    ("names", "more"),
    [({"previous_response_id": "resp_1"}, {}), ({"conversation": {"id": "conv_1"}}, {"conversation": "conv_1"})],
    ids=["previous response", "conversation"],
)
def test_a_call_that_was_sent_only_what_is_new_goes_on_from_what_is_known(names: Any, more: Any) -> None:
    later = {**ANSWER, "id": "resp_2", "output": [{"role": "assistant", "content": "Bye"}]}
    first = exchange({"instructions": "Be brief.", "input": "Hi", **more}, ANSWER)
    second = exchange({"instructions": "Be brief.", "input": "Go", **names}, later)
    found = messages({"interactions": [first, second]})
    assert [m.content for m in found] == ["Be brief.", "Hi", "", "Hello", "Go", "Bye"]


def test_an_answer_that_was_fetched_later_belongs_to_its_call() -> None:
    first = exchange({"input": "Hi"}, {**ANSWER, "status": "queued", "output": []})
    found = messages({"interactions": [first, exchange(None, ANSWER)]})
    assert [m.content for m in found] == ["Hi", "", "Hello"]


def test_calls_of_others_and_calls_without_an_answer_are_counted() -> None:
    failed = exchange({"input": [USER]}, {"error": {"message": "no"}})
    vectors = exchange({"input": "Hi", "model": "m"}, {"data": [], "object": "list"})
    (conversation,) = conversations(FORM, {"interactions": [failed, vectors, exchange({}, {"id": "conv_1"})]})
    assert conversation.ignored.counts == {"calls without an answer": 1, "calls of something else": 2}
    assert [m.content for m in conversation.messages] == ["Hi"]


@pytest.mark.parametrize(
    "document",
    [
        {"input": ["a text", "another"], "model": "text-embedding-3-small"},
        {"input": "a text", "model": "text-embedding-3-small"},
        {"input": "a text", "voice": "alloy", "instructions": "Speak"},
        {"messages": [USER], "input": [USER]},
        [USER, {"role": "assistant", "content": "Hello"}],
        [{"type": "message", "role": "assistant", "content": [{"type": "text", "text": "x"}]}],
        [{"type": "reasoning", "text": "x"}],
        {"object": "response"},
        {"object": ["response"], "output": []},
    ],
)
def test_bodies_of_other_apis_are_not_taken_for_this_one(document: Any) -> None:
    assert not openai_responses.detect(document)


@pytest.mark.parametrize(
    "document",
    [ITEMS, {"input": ITEMS}, {"input": "Hi", "store": True}, ANSWER, exchange({"input": [USER]}, events(*DONE))],
)
def test_requests_answers_recordings_and_items_are_known(document: Any) -> None:
    assert openai_responses.detect(document)


def test_all_recordings_and_answers_in_the_shared_data_are_known_and_nothing_else_is(shared) -> None:
    recordings = list(lines(shared / "data" / "api-recording__pydantic-ai__openai-responses__22.jsonl"))
    assert [openai_responses.detect(recording) for recording in recordings] == [True] * 22
    for line in lines(shared / "data" / "api-response__vercel-ai__64.jsonl"):
        body = line["body"]
        assert openai_responses.detect(body) == (isinstance(body, dict) and body.get("object") == "response")
    for name, document in unrelated_documents(shared, "openai-responses"):
        assert not openai_responses.detect(document), name


def test_every_item_of_every_recording_is_a_turn(shared) -> None:
    for recording in lines(shared / "data" / "api-recording__pydantic-ai__openai-responses__22.jsonl"):
        calls, results, texts = set(), set(), set()
        for each in recording["interactions"]:
            sent, came = each["request"]["body"], each["response"]["body"]
            items = list(sent.get("input") or []) if isinstance(sent, dict) else []
            items += came.get("output") or [] if isinstance(came, dict) else []
            calls |= {i["call_id"] for i in items if i.get("type") == "function_call"}
            results |= {i["call_id"] for i in items if i.get("type") == "function_call_output"}
            texts |= {i["content"] for i in items if isinstance(i.get("content"), str)}
        found = [message for each in conversations(FORM, recording) for message in each.messages]
        assert calls <= {call.native_id for message in found for call in message.calls}
        assert results <= {result.native_id for message in found for result in message.results}
        assert texts <= {message.content for message in found}
