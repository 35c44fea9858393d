"""The bedrock-converse format: messages of blocks as they are sent, answered and recorded."""

import json
from collections import Counter

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent.errors import ValidationError
from agent.formats import format_named, reader
from tests.formats.block_laws import check_laws, lied_to, mutations, says_who
from tests.formats.chat_messages import CAPTURED_AT, base64_text, digest, same_json
from tests.formats.round_trips import again, bare, captures, conversations, lines, spoken, stored, written
from tests.formats.sessions import session_of, turn
from tests.strategies import json_values

FORM = "bedrock-converse"
RECORDINGS = "api-recording__pydantic-ai__bedrock-converse__10.jsonl"
LAW = settings(deadline=None, max_examples=50, suppress_health_check=[HealthCheck.too_slow])
USER = {"role": "user", "content": [{"text": "Where is parcel 4471?"}]}
TRACK = {"toolUse": {"toolUseId": "tooluse_7", "name": "track", "input": {"n": 4471}}}
POINT = {"cachePoint": {"type": "default"}}
THOUGHT = {"reasoningContent": {"reasoningText": {"text": "Look.", "signature": "c2ln"}}}


def result(*content, **more):
    return {"toolResult": {"toolUseId": "tooluse_7", "content": list(content), **more}}


def user(*blocks):
    return {"role": "user", "content": list(blocks)}


def assistant(*blocks):
    return {"role": "assistant", "content": list(blocks)}


DIALOG = [
    USER,
    assistant(THOUGHT, {"text": "I look."}, TRACK),
    user(result({"text": "Bern"}, status="success"), POINT, {"text": "Go on."}),
    {"role": "system", "content": [{"text": "Be brief."}]},
    assistant({"citationsContent": {"content": [{"text": "In Bern."}], "citations": [{"title": "x"}]}}),
]
ANSWER = {
    "output": {"message": assistant({"text": "In Bern."})},
    "stopReason": "end_turn",
    "usage": {
        "inputTokens": 3,
        "outputTokens": 7,
        "totalTokens": 130,
        "cacheReadInputTokens": 100,
        "cacheWriteInputTokens": 20,
    },
    "metrics": {"latencyMs": 5},
}
REQUEST = {"modelId": "m", "system": [{"text": "You track parcels."}, POINT], "messages": DIALOG}
RECORDED = {"request": {"messages": [USER]}, "response": ANSWER}


def turns(*messages, **fields):
    (payload,) = captures(FORM, {"messages": list(messages), **fields})
    return payload["turns"]


def test_a_result_carried_by_the_user_is_a_tool_turn_and_what_is_left_is_the_users():
    found = turns(*DIALOG)
    assert [(each["role"], each["content"]) for each in found] == [
        ("user", "Where is parcel 4471?"),
        ("assistant", "I look."),
        ("tool", "Bern"),
        ("user", "Go on."),
        ("system", "Be brief."),
        ("assistant", "In Bern."),
    ]
    (call,), (answer,) = found[1]["tool_invocations"], found[2]["tool_invocations"]
    assert (call["native_id"], call["arguments"]) == ("tooluse_7", {"n": 4471})
    assert (answer["invocation_id"], answer["tool_name"], answer["success"]) == (call["invocation_id"], "track", True)


@pytest.mark.parametrize(
    ("content", "shown"),
    [
        ({"json": {"city": "Bern"}}, '{"city":"Bern"}'),
        ({"text": ""}, ""),
        ({"image": {"format": "png", "source": {"bytes": "QQ=="}}}, "[image: image/png]"),
        ({"document": {"format": "txt", "name": "d", "source": {"bytes": "QQ=="}}}, "[file: text/plain]"),
        ({"document": {"name": "d", "source": {"text": "words"}}}, "[file]"),
        ({"video": {"format": "mp4", "source": {"s3Location": {"uri": "s3://abc/d"}}}}, "[video: video/mp4]"),
        ({"searchResult": {"source": "s", "title": "t", "content": []}}, "[searchResult]"),
        ({"guardContent": {"text": {"text": "guarded"}}}, "guarded"),
        ({"what is this?": 1}, "[part]"),
        ({}, "[part]"),
    ],
)
def test_blocks_show_their_text_or_what_they_are(content, shown):
    found = turns(assistant(TRACK), user(result(content, status="error")))
    assert found[1]["content"] == shown
    assert found[1]["tool_invocations"][0]["success"] is False
    check_laws(FORM, [assistant(TRACK), user(result(content, status="error"))])


def test_large_media_leave_their_digest_and_reasoning_stays_to_the_letter():
    sent = base64_text(bytes(5000))
    image = {"image": {"format": "png", "source": {"bytes": sent}}}
    redacted = {"reasoningContent": {"redactedContent": sent}}
    with stored(FORM, [user(image), assistant(redacted, TRACK), user(result(image))]) as session:
        document, told_lost = written(FORM, session)
    first, thought, answered = document["messages"]
    held = first["content"][0]["image"]["source"]["bytes"]
    assert held == digest(bytes(5000), "image/png")
    assert answered["content"][0]["toolResult"]["content"][0]["image"]["source"]["bytes"] == held
    assert thought["content"][0] == redacted
    assert told_lost.lost["binaries"] == 2


def test_an_answer_is_a_turn_and_what_was_sent_counts_caches():
    (conversation,) = conversations(FORM, RECORDED)
    said = conversation.messages[1]
    assert said.content == "In Bern."
    assert said.usage == {"prompt_tokens": 123, "completion_tokens": 7, "total_tokens": 130}
    assert said.native["answer"] == {name: ANSWER[name] for name in ("stopReason", "usage", "metrics")}


def test_what_tokens_are_counted_of_is_a_request():
    counted = {"input": {"converse": {"messages": [USER], "system": []}}}
    recorded = {"request": counted, "response": {"inputTokens": 9}}
    for document in (counted, recorded):
        assert format_named(FORM).detect(document)
        (conversation,) = conversations(FORM, document)
        assert [message.content for message in conversation.messages] == ["Where is parcel 4471?"]
        assert conversation.native == {"system": []}
    assert conversation.ignored.counts == {"calls without an answer": 1}


def test_what_a_request_says_beside_its_messages_is_kept_and_its_model_is_the_assistants():
    (conversation,) = conversations(FORM, {**REQUEST, "inferenceConfig": {"maxTokens": 9}})
    assert conversation.native == {"modelId": "m", "inferenceConfig": {"maxTokens": 9}}
    assert {(message.role, message.model) for message in conversation.messages if message.model} == {("assistant", "m")}


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        ({"messages": []}, [("$.messages", "minItems")]),
        ([user("x", 3, {"text": 3})], [("$[0].content[1]", "type"), ("$[0].content[2].text", "type")]),
        ([assistant({"toolUse": 3}, {"toolUse": {"toolUseId": 3}}), user({"toolResult": {"content": 3}})],
         [("$[0].content[0].toolUse", "type"), ("$[0].content[1].toolUse.toolUseId", "type"),
          ("$[1].content[0].toolResult.content", "type")]),
    ],
)  # fmt: skip
def test_every_wrong_path_is_named(document, expected):
    (refused,) = format_named(FORM).read(document)
    assert [(problem.path, problem.rule) for problem in refused.problems] == expected


def test_a_posted_body_is_a_capture_that_grows():
    def posted(count):
        body = {**REQUEST, "session_id": "s", "messages": DIALOG[:count]}
        return reader(FORM).read(body, captured_at=CAPTURED_AT).payload["turns"]

    whole = posted(len(DIALOG))
    for count in range(1, len(DIALOG)):
        part = posted(count)
        assert same_json(part, whole[: len(part)])


@pytest.mark.parametrize(
    "document",
    [
        REQUEST,
        {"messages": DIALOG},
        RECORDED,
        [user(POINT), assistant(), assistant({"text": ""}), user({"text": "a"}, {"text": "b"})],
        [assistant(TRACK, {"text": "after"}), user(POINT, result({"text": "a"}, {"text": "b"}))],
        [assistant({"toolUse": {**TRACK["toolUse"], "input": "text"}}), user(result())],
        [assistant({"toolUse": {**TRACK["toolUse"], "type": "server_tool_use"}}, result({"json": 1}), {"text": "x"})],
    ],
)
def test_what_came_is_given_back_and_bare_turns_say_the_same(document):
    check_laws(FORM, document)


def test_what_the_format_cannot_say_is_counted():
    call = {"tool_name": "two words", "invocation_id": "11111111-0000-4000-8000-000000000001"}
    session = session_of(turn(1, "", role="assistant", tool_invocations=[call]), turn(2, "?", role="tool"))
    document, told_lost = written(FORM, session)
    assert [message["role"] for message in document["messages"]] == ["assistant", "user"]
    assert told_lost.lost == {
        "arguments": 1,
        "odd_tool_names": 1,
        "calls_without_result": 1,
        "results_without_call": 1,
        "times": 2,
    }


@LAW
@given(
    json_values | st.dictionaries(st.sampled_from(["messages", "output", "input", "request", "response"]), json_values)
)
def test_any_json_value_is_read_or_refused(document):
    form = format_named(FORM)
    assert form.detect(document) in (True, False)
    assert all(each is not None for each in form.read(document))


@LAW
@given(mutations([REQUEST, RECORDED, ANSWER, {"input": {"converse": REQUEST}}]))
def test_a_real_document_with_anything_wrong_in_it_is_read_or_refused(document):
    form = format_named(FORM)
    assert form.detect(document) in (True, False)
    for each in form.read(document):
        assert isinstance(each, ValidationError) or each.messages


@LAW
@given(mutations([REQUEST]))
def test_whatever_is_read_is_given_back(document):
    if says_who(FORM, document):
        check_laws(FORM, document, bare_too=False)


@LAW
@given(st.data())
def test_native_that_lies_changes_nothing_that_is_said(data):
    lied_to(FORM, {"messages": DIALOG, "system": REQUEST["system"]}, data)


def test_real_documents_are_given_back_and_bare_turns_say_the_same(shared):
    answers, ignored, points = 0, Counter(), 0
    for place, recording in enumerate(lines(shared / "data" / RECORDINGS)):
        # One call was made of another API: Bedrock passes it on as it is.
        assert format_named(FORM).detect(recording) == (place != 2)
        if place == 2:
            continue
        check_laws(FORM, recording)
        for conversation in conversations(FORM, recording):
            answers += sum("answer" in (message.native or {}) for message in conversation.messages)
            ignored += conversation.ignored.counts
        points += "cachePoint" in json.dumps(recording)
    # 17 calls by the manifest, one of another API, three that only count tokens.
    assert answers == 17 - 1 - 3
    assert ignored["calls without an answer"] == 3
    assert points == 2


def test_no_document_of_another_kind_is_taken_for_one(shared):
    taken = Counter()
    for path in sorted((shared / "data").glob("*.json*")):
        is_lines = path.suffix == ".jsonl"
        for document in [*lines(path), list(lines(path))] if is_lines else [json.loads(path.read_text())]:
            body = document.get("body", document) if isinstance(document, dict) else document
            taken[path.name] += format_named(FORM).detect(body)
    assert +taken == {RECORDINGS: 9}


def test_turns_of_other_formats_come_through(shared):
    for chat in list(lines(shared / "data" / "tau-bench__gpt-4o-airline__40.jsonl"))[:6]:
        with stored("openai-chat", chat["traj"]) as session:
            document, _ = written(FORM, session)
            assert again(FORM, document) == spoken(bare(session))
