"""The anthropic format: messages of blocks as they are sent, answered, streamed and recorded."""

import copy
import json
from collections import Counter

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent.errors import ValidationError
from agent.formats import format_named, reader
from tests.formats.block_laws import check_laws, edited, lied_to, messages_of, mutations, says_who
from tests.formats.chat_messages import CAPTURED_AT, base64_text, same_json
from tests.formats.round_trips import again, bare, captures, conversations, lines, spoken, stored, written
from tests.formats.sessions import session_of, turn
from tests.strategies import json_values

FORM = "anthropic"
LAW = settings(deadline=None, max_examples=50, suppress_health_check=[HealthCheck.too_slow])
USER = {"role": "user", "content": "Where is parcel 4471?"}
TRACK = {"type": "tool_use", "id": "toolu_7", "name": "track", "input": {"n": 4471}}
BERN = {"type": "tool_result", "tool_use_id": "toolu_7", "content": "Bern"}
SEARCH = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "parcel"}}
FOUND = {
    "type": "web_search_tool_result",
    "tool_use_id": "srvtoolu_1",
    "content": [
        {"type": "web_search_result", "title": "Parcels", "url": "https://x.test", "encrypted_content": "EuA="}
    ],
}
ANSWER = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "model": "claude-x",
    "content": [{"type": "text", "text": "In Bern."}],
    "stop_reason": "end_turn",
    "stop_sequence": None,
    "usage": {
        "input_tokens": 3,
        "cache_creation_input_tokens": 20,
        "cache_read_input_tokens": 100,
        "output_tokens": 7,
    },
}


def text(words, **more):
    return {"type": "text", "text": words, **more}


def user(*blocks):
    return {"role": "user", "content": list(blocks)}


def assistant(*blocks):
    return {"role": "assistant", "content": list(blocks)}


def system(*blocks):
    return {"role": "system", "content": list(blocks)}


DIALOG = [
    USER,
    assistant({"type": "thinking", "thinking": "Look.", "signature": "c2ln"}, text("I look."), TRACK, SEARCH, FOUND),
    user(BERN, text("Go on.", cache_control={"type": "ephemeral"})),
    system(text("Be brief.")),
    assistant(text("It is in "), text("Bern.", citations=[{"type": "char_location", "cited_text": "Bern"}])),
]
REQUEST = {"model": "claude-x", "max_tokens": 9, "system": "You track parcels.", "messages": DIALOG}
RECORDED = {"request": {"messages": [USER], "max_tokens": 9}, "response": ANSWER}


def turns(*messages, **fields):
    (payload,) = captures(FORM, {"messages": list(messages), **fields})
    return payload["turns"]


def told(*messages, **fields):
    return [(each["role"], each["content"]) for each in turns(*messages, **fields)]


def problems(document):
    (refused,) = format_named(FORM).read(document)
    assert isinstance(refused, ValidationError)
    return [(problem.path, problem.rule) for problem in refused.problems]


def test_a_result_carried_by_the_user_is_a_tool_turn_and_what_is_left_is_the_users():
    found = turns(USER, assistant(text("I look."), TRACK), user(BERN, text("And?")))
    assert [(each["role"], each["content"]) for each in found] == [
        ("user", "Where is parcel 4471?"),
        ("assistant", "I look."),
        ("tool", "Bern"),
        ("user", "And?"),
    ]
    (call,), (result,) = found[1]["tool_invocations"], found[2]["tool_invocations"]
    assert call["arguments"] == {"n": 4471}
    assert call["native_id"] == "toolu_7"
    assert result["invocation_id"] == call["invocation_id"]
    assert result["tool_name"] == "track"
    assert "success" not in result


def test_several_results_of_one_message_are_a_turn_each_whatever_stands_between():
    other = {**TRACK, "id": "toolu_8"}
    failed = {**BERN, "tool_use_id": "toolu_8", "is_error": True, "content": [text("lost")]}
    found = turns(assistant(TRACK, other), user(text("Here:"), BERN, text("and"), failed))
    assert [(each["role"], each["content"]) for each in found[1:]] == [
        ("tool", "Bern"),
        ("tool", "lost"),
        ("user", "Here:\nand"),
    ]
    assert found[2]["tool_invocations"][0]["success"] is False
    check_laws(FORM, {"messages": [assistant(TRACK, other), user(text("Here:"), BERN, text("and"), failed)]})


def test_what_shows_nothing_stays_with_the_last_result():
    mark = {"type": "mcp_tool_listing", "mcp_server_name": "s", "tools": []}
    assert told(assistant(TRACK), user(mark, BERN)) == [("assistant", ""), ("tool", "Bern")]
    check_laws(FORM, [assistant(TRACK), user(mark, BERN)])


def test_a_servers_tool_answers_inside_the_message_and_the_assistant_goes_on():
    found = turns(assistant(text("I search."), SEARCH, FOUND, text("Found."), TRACK))
    assert [(each["role"], each["content"]) for each in found] == [
        ("assistant", "I search."),
        ("tool", "Parcels\nhttps://x.test"),
        ("assistant", "Found."),
    ]
    assert found[1]["tool_invocations"][0]["invocation_id"] == found[0]["tool_invocations"][0]["invocation_id"]
    assert found[1]["tool_invocations"][0]["tool_name"] == "web_search"


@pytest.mark.parametrize(
    ("content", "shown", "success"),
    [
        ({"type": "web_search_tool_result_error", "error_code": "unavailable"}, "unavailable", False),
        ({"type": "code_execution_result", "stdout": "37170\n", "stderr": "", "return_code": 0, "content": []},
         "37170\n", None),
        ({"type": "code_execution_result", "stdout": "", "stderr": "", "return_code": 0, "content": []}, "", None),
        ({"type": "tool_search_tool_search_result",
          "tool_references": [{"type": "tool_reference", "tool_name": "track"}]}, "track", None),
        ({"type": "advisor_redacted_result", "encrypted_content": "b3Bh"}, "[advisor_redacted_result]", None),
        ({"type": "web_fetch_result", "url": "https://x.test", "content": {
            "type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "Words"}}},
         "https://x.test\n[file: text/plain]", None),
    ],
)  # fmt: skip
def test_what_a_servers_tool_says_is_shown(content, shown, success):
    block = {"type": "any_tool_result", "tool_use_id": "srvtoolu_1", "content": content}
    found = turns(assistant(SEARCH, block))
    assert found[1]["content"] == shown
    assert found[1]["tool_invocations"][0].get("success") is success


def test_thinking_and_compaction_are_kept_and_not_shown():
    thought = {"type": "thinking", "thinking": "Hm.", "signature": "c2ln" * 3000}
    blocks = [thought, {"type": "redacted_thinking", "data": "QUJD" * 3000}, {"type": "compaction", "content": "Sum."}]
    (found,) = turns(assistant(*blocks))
    assert found["content"] == ""
    assert found["metadata"]["native"] == {"parts": blocks}


def test_images_and_documents_show_what_they_are_and_large_ones_leave_their_digest():
    data = base64_text(bytes(5000))
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}}
    upload = {"type": "container_upload", "file_id": "file_1"}
    result = {**BERN, "content": [image]}
    with stored(FORM, {"messages": [user(text("See"), image, upload), assistant(TRACK), user(result)]}) as session:
        assert [each.content for each in session.shown] == [
            "See\n[image: image/png]\n[container_upload]",
            "",
            "[image: image/png]",
        ]
        document, told_lost = written(FORM, session)
    assert data not in json.dumps(document)
    assert told_lost.lost["binaries"] == 2


def test_instructions_beside_the_messages_come_first_and_those_among_them_stay_there():
    found = turns(USER, system(text("Be brief.")), system="You track parcels.")
    assert [(each["role"], each["content"]) for each in found] == [
        ("system", "You track parcels."),
        ("user", "Where is parcel 4471?"),
        ("system", "Be brief."),
    ]
    assert "native" not in found[0].get("metadata", {})


def test_instructions_that_say_nothing_are_no_turn():
    assert told(USER, system=[]) == told(USER, system="") == told(USER)
    (conversation,) = conversations(FORM, {"messages": [USER], "system": []})
    assert conversation.native == {"system": []}


def test_what_a_request_says_beside_its_messages_is_kept_and_its_model_is_the_assistants():
    options = {"model": "claude-x", "max_tokens": 9, "tools": [{"name": "track", "input_schema": {}}]}
    (conversation,) = conversations(FORM, {**options, "messages": DIALOG, "session_id": "s"})
    assert conversation.native == options
    models = {message.role: (message.model, tuple(message.derived)) for message in conversation.messages}
    assert models["assistant"] == ("claude-x", ("model",))
    assert models["user"] == (None, ())


def test_other_fields_of_a_message_are_kept_on_its_first_turn():
    message = {**user(BERN, text("And?")), "name": "Ada", "timestamp": "2026-03-02T08:15:00Z"}
    first, second = turns(message)
    assert first["metadata"]["native"]["fields"] == {"name": "Ada", "timestamp": "2026-03-02T08:15:00Z"}
    assert "fields" not in second["metadata"]["native"]
    assert first["timestamp"] == "2026-03-02T08:15:00Z"
    check_laws(FORM, [message])


def test_calls_of_others_are_shown_and_kept():
    assert told(user(TRACK)) == [("user", "[call]")]
    check_laws(FORM, [user(TRACK)])


def test_an_answer_is_a_turn_with_its_model_and_what_was_sent_counts_caches():
    (conversation,) = conversations(FORM, RECORDED)
    said = conversation.messages[1]
    assert said.content == "In Bern."
    assert said.model == "claude-x"
    assert said.usage == {"prompt_tokens": 123, "completion_tokens": 7, "total_tokens": 130}
    assert said.native["answer"]["stop_reason"] == "end_turn"
    assert conversation.native == {"max_tokens": 9}


def test_a_refusal_without_content_is_a_turn():
    details = {"type": "refusal", "category": "cyber"}
    refusal = {**ANSWER, "content": [], "stop_reason": "refusal", "stop_details": details}
    with stored(FORM, refusal) as session:
        (only,) = session.shown
        document, told_lost = written(FORM, session)
    assert only.content == ""
    assert only.fields["metadata"]["native"]["answer"]["stop_details"] == details
    assert document["messages"] == [{"role": "assistant", "content": []}]
    assert told_lost.lost == {"answers": 1, "empty_messages": 1, "models": 1, "token_usage": 1}


def sse(*events):
    return "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events)


def delta(index, **fields):
    return {"type": "content_block_delta", "index": index, "delta": fields}


def start(index, block):
    return {"type": "content_block_start", "index": index, "content_block": block}


STREAM = [
    {"type": "message_start", "message": {**ANSWER, "content": [], "stop_reason": None}},
    {"type": "ping"},
    start(0, {"type": "thinking", "thinking": "", "signature": ""}),
    delta(0, type="thinking_delta", thinking="Hm"),
    delta(0, type="thinking_delta", thinking="."),
    delta(0, type="signature_delta", signature="c2ln"),
    start(1, {"type": "text", "text": ""}),
    delta(1, type="text_delta", text="In "),
    delta(1, type="text_delta", text="Bern."),
    delta(1, type="citations_delta", citation={"type": "char_location"}),
    start(2, {"type": "tool_use", "id": "toolu_7", "name": "track", "input": {}}),
    delta(2, type="input_json_delta", partial_json='{"n":'),
    delta(2, type="input_json_delta", partial_json=" 4471}"),
    start(3, {**TRACK, "id": "toolu_8", "input": {}}),
    delta(3, type="input_json_delta", partial_json=""),
    {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 9}},
    {"type": "message_stop"},
]


def test_a_streamed_answer_is_the_message_that_its_events_make():
    recorded = {"request": RECORDED["request"], "response": {"status": 200, "body": sse(*STREAM)}}
    (conversation,) = conversations(FORM, recorded)
    said = conversation.messages[1]
    assert said.content == "In Bern."
    assert [(call.native_id, call.arguments) for call in said.calls] == [("toolu_7", {"n": 4471}), ("toolu_8", {})]
    assert said.native["parts"][:2] == [
        {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"},
        [0, {"citations": [{"type": "char_location"}]}],
    ]
    assert said.native["answer"]["stop_reason"] == "tool_use"
    assert said.usage["completion_tokens"] == 9
    assert conversations(FORM, STREAM)[0].messages[0].content == "In Bern."


def test_calls_that_count_tokens_or_fail_have_no_answer_and_those_of_others_are_counted():
    request = {"messages": [USER]}
    recording = {
        "interactions": [
            {"request": request, "response": {"input_tokens": 9}},
            {"request": request, "response": {"type": "error", "error": {"type": "overloaded_error"}}},
            {"request": {"contents": []}, "response": {"candidates": []}},
            {"request": request, "response": ANSWER},
        ]
    }
    (conversation,) = conversations(FORM, recording)
    assert [message.content for message in conversation.messages] == [USER["content"], "In Bern."]
    assert conversation.ignored.counts == {"calls without an answer": 2, "calls of something else": 1}


def test_histories_that_part_are_branches_and_the_last_call_is_where_it_stands():
    other = {**ANSWER, "content": [text("In Basel.")]}
    recording = {"interactions": [RECORDED, {**RECORDED, "response": other}]}
    with stored(FORM, recording) as session:
        assert [each.content for each in session.shown] == [USER["content"], "In Basel."]
    (conversation,) = conversations(FORM, recording)
    assert conversation.ignored.counts == {"options of calls": 2}


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        ({"messages": "x"}, [("$.messages", "type")]),
        ({}, [("$.messages", "required")]),
        ({"messages": []}, [("$.messages", "minItems")]),
        ([{"role": "user", "content": 3}], [("$[0].content", "type")]),
        ([{"content": "x"}, {"role": "bot", "content": "x"}, {"role": 3}],
         [("$[0].role", "required"), ("$[1].role", "enum"), ("$[2].role", "type")]),
        ({"messages": ["x"]}, [("$.messages[0]", "type")]),
        ([user(3, {"type": 3}, {"type": "text", "text": 3})],
         [("$[0].content[0]", "type"), ("$[0].content[1].type", "type"), ("$[0].content[2].text", "type")]),
        ([assistant({**TRACK, "id": 3}), user({**BERN, "tool_use_id": 3, "content": 3})],
         [("$[0].content[0].id", "type"), ("$[1].content[0].tool_use_id", "type"),
          ("$[1].content[0].content", "type")]),
        ({"messages": [USER], "system": 3}, [("$.system", "type")]),
    ],
)  # fmt: skip
def test_every_wrong_path_is_named(document, expected):
    assert problems(document) == expected


def test_a_posted_body_is_a_capture_that_grows():
    def posted(count):
        body = {**REQUEST, "session_id": "s", "messages": DIALOG[:count]}
        return reader(FORM).read(body, captured_at=CAPTURED_AT).payload["turns"]

    whole = posted(len(DIALOG))
    for count in range(1, len(DIALOG)):
        part = posted(count)
        assert same_json(part, whole[: len(part)])


@pytest.mark.parametrize("more", [{"start_index": 2}, {"mode": "delta", "request_id": "r"}])
def test_a_window_goes_on_from_what_came_before_and_not_from_the_instructions(more):
    body = {**REQUEST, "session_id": "s", "messages": DIALOG[2:], **more}
    payload = reader(FORM).read(body, captured_at=CAPTURED_AT).payload
    assert payload["turns"][0]["role"] == "tool"
    assert "parent_turn_id" not in payload["turns"][0]
    assert payload["native"]["instructions"] == ["You track parcels."]
    if "start_index" in more:
        whole = reader(FORM).read({**body, **REQUEST, "start_index": 0}, captured_at=CAPTURED_AT).payload["turns"]
        assert {each["turn_id"] for each in payload["turns"]} < {each["turn_id"] for each in whole}


@pytest.mark.parametrize(
    "document",
    [
        REQUEST,
        {"messages": DIALOG},
        {"system": [text("You track parcels.", cache_control={"type": "ephemeral"})], "messages": [USER]},
        [system(text("First among the messages.")), USER],
        [USER, {"role": "assistant", "content": None}, {"role": "assistant"}, {"role": "assistant", "content": ""}],
        [USER, assistant(), assistant(text("")), {"role": "model", "content": [text("x")]}],
        [assistant(TRACK), user({**BERN, "content": []}), user({**BERN, "content": None}), user(BERN)],
        [assistant({**TRACK, "id": "0C0FFEE0-1111-4222-8333-444455556666"})],
        [user("a bare string", text("x"))],
        [assistant(FOUND, text("and on")), assistant({"type": "thinking", "thinking": "x", "signature": "y"})],
        [assistant(SEARCH, FOUND, {"type": "thinking", "thinking": "x", "signature": "y"}), user(text("x"), BERN)],
    ],
)
def test_what_came_is_given_back_and_bare_turns_say_the_same(document):
    check_laws(FORM, document)


def test_what_no_provider_would_have_sent_is_given_back_too():
    odd = [assistant({**TRACK, "input": {}}, {**TRACK, "id": "", "input": 3}), user({**BERN, "tool_use_id": ""})]
    check_laws(FORM, odd, bare_too=False)


def test_a_turn_that_was_edited_says_what_it_says_now():
    with stored(FORM, {"messages": DIALOG}) as session:
        document, _ = written(FORM, edited(session, "I look.", "I looked."))
    words = json.dumps(document["messages"])
    assert "I looked." in words
    assert "I look." not in words


def test_what_the_format_cannot_say_is_counted():
    call = {"tool_name": "two words", "invocation_id": "11111111-0000-4000-8000-000000000001", "arguments": [1]}
    none = {"tool_name": "track", "invocation_id": "11111111-0000-4000-8000-000000000002"}
    session = session_of(
        turn(1, "Go", role="system"),
        turn(2, "", role="assistant", tool_invocations=[call, none]),
        turn(3, "both", role="tool", tool_invocations=[call | {"success": False}, none | {"tool_name": "other"}]),
        turn(4, "", role="user"),
    )
    document, told_lost = written(FORM, session)
    assert document["system"] == "Go"
    ids = [call["invocation_id"], none["invocation_id"]]
    assert [block["tool_use_id"] for block in document["messages"][1]["content"]] == ids
    assert [block.get("is_error") for block in document["messages"][1]["content"]] == [True, None]
    assert told_lost.lost == {
        "arguments": 2,
        "odd_tool_names": 1,
        "several_results": 1,
        "tool_names": 1,
        "times": 4,
        "empty_messages": 1,
    }


@LAW
@given(json_values | st.lists(json_values, max_size=3) | st.dictionaries(st.just("messages"), json_values))
def test_any_json_value_is_read_or_refused(document):
    form = format_named(FORM)
    assert form.detect(document) in (True, False)
    assert all(each is not None for each in form.read(document))


@LAW
@given(mutations([REQUEST, RECORDED, ANSWER, {"request": RECORDED["request"], "response": sse(*STREAM)}, STREAM]))
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
    lied_to(FORM, {"messages": DIALOG, "system": "You track parcels."}, data)


RECORDINGS = "api-recording__pydantic-ai__anthropic-messages__18.jsonl"
RESPONSES = "api-response__vercel-ai__64.jsonl"


def documents(shared):
    """The documents of this format in the shared data, with recordings that mix it with others."""
    folder = shared / "data"
    yield from lines(folder / RECORDINGS)
    for record in lines(folder / RESPONSES):
        if record["source"].startswith("packages/anthropic/src/__fixtures__"):
            yield record["body"]
    # What Bedrock passes on to this API as it is.
    yield list(lines(folder / "api-recording__pydantic-ai__bedrock-converse__10.jsonl"))[2]


def test_real_documents_are_given_back_and_bare_turns_say_the_same(shared):
    count = 0
    for document in documents(shared):
        assert format_named(FORM).detect(document)
        check_laws(FORM, document)
        count += 1
    assert count == 18 + 19 + 1


def test_the_recordings_hold_what_their_manifest_counts(shared):
    kinds, answers, ignored = Counter(), 0, Counter()
    for recording in lines(shared / "data" / RECORDINGS):
        for conversation in conversations(FORM, recording):
            ignored += conversation.ignored.counts
            answers += sum("answer" in (message.native or {}) for message in conversation.messages)
        blocks = [block for message in messages_of(FORM, recording) for block in message["content"]]
        kinds.update({block["type"] for block in blocks})
    # The manifest counts recordings, three with server_tool_use; a fourth has it in its stream.
    known = {"compaction": 1, "redacted_thinking": 1, "server_tool_use": 3 + 1, "web_search_tool_result": 1}
    assert {name: kinds[name] for name in known} == known
    # 41 calls, of which 3 are Google's, one failed, and one counts tokens.
    assert answers == 41 - 3 - 2
    assert (ignored["calls of something else"], ignored["calls without an answer"]) == (3, 2)


def test_no_document_of_another_kind_is_taken_for_one(shared):
    taken = Counter()
    for path in sorted((shared / "data").glob("*.json*")):
        for document in (
            [*lines(path), list(lines(path))] if path.suffix == ".jsonl" else [json.loads(path.read_text())]
        ):
            body = document.get("body", document) if isinstance(document, dict) else document
            taken[path.name] += format_named(FORM).detect(body)
    assert +taken == {
        RECORDINGS: 18,
        RESPONSES: 19,
        # Recordings of several providers: some of their calls are this one's.
        "api-recording__pydantic-ai__bedrock-converse__10.jsonl": 1,
        "api-recording__pydantic-ai__openai-responses__22.jsonl": 4,
    }


def test_turns_of_other_formats_come_through(shared):
    for chat in list(lines(shared / "data" / "tau-bench__gpt-4o-airline__40.jsonl"))[:6]:
        with stored("openai-chat", chat["traj"]) as session:
            document, _ = written(FORM, session)
            assert again(FORM, copy.deepcopy(document)) == spoken(bare(session))
