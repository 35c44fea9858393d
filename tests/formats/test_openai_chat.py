"""The openai-chat reader: the shapes that clients send, and what is refused, by its path."""

import copy
import uuid

import pytest

from agent.core.ids import name_uuid
from agent.errors import Problem, ValidationError
from agent.formats import OPENAI_CHAT, reader
from tests.formats.chat_messages import CAPTURED_AT, base64_text, check_contract, digest, message_of

SESSION = name_uuid("session:s")
CONVERSATION = name_uuid(f"conversation:{SESSION}")
USER = {"role": "user", "content": "Where is parcel 4471?"}


def call(call_id="call_7", name="track", arguments='{"n":4471}'):
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def calling(*calls, **fields):
    return {"role": "assistant", "content": None, "tool_calls": list(calls), **fields}


def result(call_id="call_7", content="Bern", **fields):
    return {"role": "tool", "tool_call_id": call_id, "content": content, **fields}


def translate(*messages, **fields):
    return reader(OPENAI_CHAT).read({"session_id": "s", "messages": list(messages), **fields}, captured_at=CAPTURED_AT)


def turns(*messages, **fields):
    payload = translate(*messages, **fields).payload
    check_contract(payload)
    assert [message_of(turn) for turn in payload["turns"]] == list(messages)
    return payload["turns"]


def problems(**body):
    with pytest.raises(ValidationError) as refused:
        reader(OPENAI_CHAT).read(body, captured_at=CAPTURED_AT)
    return [(problem.path, problem.rule) for problem in refused.value.problems]


def message_problems(*messages):
    return problems(session_id="s", messages=list(messages))


def test_a_plain_message_becomes_a_plain_turn():
    assert turns(USER) == [
        {
            "turn_id": name_uuid(f"turn:{SESSION}:{CONVERSATION}:0"),
            "role": "user",
            "content": "Where is parcel 4471?",
            "timestamp": CAPTURED_AT,
            "parent_turn_id": None,
            "metadata": {"derived": ["timestamp"]},
        }
    ]


def test_h21_null_content_beside_a_tool_call_is_an_empty_turn_that_calls():
    _, turn = turns(USER, calling(call()))
    assert turn["content"] == ""
    assert turn["tool_invocations"] == [
        {
            "tool_name": "track",
            "invocation_id": name_uuid(f"invocation:{turn['turn_id']}:0"),
            "native_id": "call_7",
            "arguments": {"n": 4471},
        }
    ]
    assert turn["metadata"]["native"] == {"content": None}


def test_h22_developer_and_function_roles_and_one_uuid_for_call_and_result():
    conversation = [
        {"role": "developer", "content": "Be brief."},
        USER,
        calling(call("call_9aZ")),
        result("call_9aZ"),
        {"role": "function", "name": "track", "content": "Bern"},
    ]
    found = turns(*conversation)
    assert [turn["role"] for turn in found] == ["system", "user", "assistant", "tool", "tool"]
    assert found[0]["metadata"]["native"] == {"role": "developer"}
    called, answered = found[2]["tool_invocations"][0], found[3]["tool_invocations"][0]
    assert called["invocation_id"] == answered["invocation_id"]
    assert called["native_id"] == answered["native_id"] == "call_9aZ"
    assert turns(*conversation) == found


def test_call_ids_used_again_are_paired_with_their_own_calls():
    found = turns(
        calling(call("c", "direct"), call("d", "weather")),
        result("d"),
        result("c"),
        calling(call("c", "onestop")),
        result("c"),
    )
    ids = [[entry["invocation_id"] for entry in turn["tool_invocations"]] for turn in found]
    assert ids[1] == [ids[0][1]]
    assert ids[2] == [ids[0][0]]
    assert ids[4] == ids[3] != [ids[0][0]]
    assert [found[place]["tool_invocations"][0]["tool_name"] for place in (1, 2, 4)] == ["weather", "direct", "onestop"]


def test_empty_call_ids_are_paired_by_order():
    found = turns(calling(call("", "a"), call("", "b")), result(""), result(""))
    assert [found[place]["tool_invocations"][0]["tool_name"] for place in (1, 2)] == ["a", "b"]
    assert [entry["invocation_id"] for entry in found[0]["tool_invocations"]] == [
        found[place]["tool_invocations"][0]["invocation_id"] for place in (1, 2)
    ]


def test_calls_without_ids_are_answered_by_the_functions_name():
    found = turns(
        calling({"type": "function", "function": {"name": "a", "arguments": "{}"}}),
        {"role": "tool", "name": "a", "content": "1"},
    )
    assert found[0]["tool_invocations"][0]["invocation_id"] == found[1]["tool_invocations"][0]["invocation_id"]


def test_a_call_without_id_and_name_is_kept_as_unknown():
    (turn,) = turns(calling({"function": {"arguments": "{}"}}))
    assert turn["tool_invocations"] == [
        {"tool_name": "unknown", "invocation_id": name_uuid(f"invocation:{turn['turn_id']}:0"), "arguments": {}}
    ]


def test_a_result_without_id_and_name_names_no_invocation():
    (turn,) = turns({"role": "tool", "content": "?"})
    assert "tool_invocations" not in turn


def test_a_result_whose_call_is_not_in_the_list_is_named_by_the_session():
    (turn,) = turns(result("call_77"))
    assert turn["tool_invocations"] == [
        {"tool_name": "unknown", "invocation_id": name_uuid(f"invocation:{SESSION}:call_77"), "native_id": "call_77"}
    ]


def test_a_result_keeps_its_own_name():
    found = turns(calling(call()), result(name="tracker"))
    assert found[1]["tool_invocations"][0]["tool_name"] == "tracker"


def test_call_ids_that_are_uuids_stay_in_whatever_case_they_came():
    given = str(uuid.UUID(int=0xABC)).upper()
    found = turns(calling(call(given)), result(given.lower()))
    assert found[0]["tool_invocations"][0]["invocation_id"] == given
    assert found[1]["tool_invocations"][0] == {"tool_name": "track", "invocation_id": given.lower()}


def test_an_old_function_call_and_its_result():
    found = turns(
        {"role": "assistant", "content": None, "function_call": {"name": "track", "arguments": '{"n": 1}'}},
        {"role": "function", "name": "track", "content": "Bern"},
    )
    called, answered = (turn["tool_invocations"][0] for turn in found)
    assert called["arguments"] == {"n": 1}
    assert called["native_id"] == answered["native_id"] == "track"
    assert called["invocation_id"] == answered["invocation_id"]


def test_custom_calls_keep_their_text():
    (turn,) = turns(calling({"id": "a", "type": "custom", "custom": {"name": "sh", "input": "[1]"}}, call("b")))
    assert [entry["arguments"] for entry in turn["tool_invocations"]] == ["[1]", {"n": 4471}]
    assert turn["metadata"]["native"]["tool_calls"][1] is None


def test_arguments_text_that_json_would_write_otherwise_is_kept_as_text_too():
    (turn,) = turns(calling(call(arguments='{"n": 4471}')))
    assert turn["tool_invocations"][0]["arguments"] == {"n": 4471}
    assert turn["metadata"]["native"]["tool_calls"] == [call(arguments='{"n": 4471}')]


@pytest.mark.parametrize(
    ("message", "content"),
    [
        ({"role": "assistant"}, ""),
        ({"role": "assistant", "content": None}, ""),
        ({"role": "assistant", "content": ""}, ""),
        ({"role": "assistant", "content": []}, ""),
        ({"role": "assistant", "content": "None"}, "None"),
        ({"role": "assistant", "content": None, "refusal": "I may not."}, "I may not."),
        ({"role": "assistant", "content": "", "refusal": "I may not."}, "I may not."),
        ({"role": "assistant", "refusal": "I may not."}, "I may not."),
        ({"role": "assistant", "content": "I may not.", "refusal": "I may not."}, "I may not."),
        ({"role": "assistant", "content": "Well", "refusal": "I may not."}, "Well"),
        ({"role": "assistant", "content": None, "refusal": None}, ""),
        ({"role": "assistant", "content": None, "audio": {"id": "audio_1"}}, "[audio]"),
        ({"role": "assistant", "content": None, "audio": {"id": "audio_1", "transcript": "Hello"}}, "Hello"),
        ({"role": "assistant", "content": None, "audio": None}, ""),
        ({"role": "user", "content": "hi", "name": "ada", "id": "m1", "metadata": {"a": 1}}, "hi"),
        ({"role": "user", "content": "hi", "name": 5, "tool_call_id": 5}, "hi"),
        ({"role": "assistant", "content": "a", "tool_calls": []}, "a"),
        ({"role": "assistant", "content": "a", "tool_calls": None, "function_call": None, "annotations": []}, "a"),
        ({"role": "tool", "content": [{"type": "text", "text": "a"}], "tool_call_id": None}, "a"),
        ({"role": "tool", "content": "a", "tool_calls": "whatever"}, "a"),
        ({"role": "user", "content": "NUL \0 and 🚀"}, "NUL \0 and 🚀"),
    ],
)
def test_a_message_is_read_and_can_be_had_back_exactly(message, content):
    (turn,) = turns(message)
    assert turn["content"] == content


def test_images_are_a_placeholder_in_content_and_a_digest_in_native():
    data = b"\x89PNG" * 2000
    image = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{base64_text(data)}"}}
    (turn,) = translate({"role": "user", "content": [{"type": "text", "text": "What is it?"}, image]}).payload["turns"]
    assert turn["content"] == "What is it?\n[image: image/png]"
    assert turn["metadata"]["native"]["content"] == [
        {"type": "text", "text": "What is it?"},
        {"type": "image_url", "image_url": {"url": digest(data, "image/png")}},
    ]


def test_the_lists_model_is_set_on_assistant_turns_and_named_as_derived():
    user, assistant = turns(USER, {"role": "assistant", "content": "Bern"}, model="gpt-4o")
    assert "model" not in user
    assert assistant["model"] == "gpt-4o"
    assert assistant["metadata"]["derived"] == ["timestamp", "model"]


def test_a_missing_time_is_the_nearest_earlier_one_else_the_instant_of_capture():
    at = "2026-01-01T09:00:00+02:00"
    found = turns(USER, {**USER, "timestamp": at}, USER, {**USER, "timestamp": "yesterday"}, {**USER, "timestamp": 1.5})
    assert [turn["timestamp"] for turn in found] == [CAPTURED_AT, at, at, at, at]
    assert [turn.get("metadata", {}).get("derived") for turn in found] == [["timestamp"], None, *[["timestamp"]] * 3]
    assert "metadata" not in found[1]


def test_start_index_shifts_the_names_of_the_turns():
    whole = turns(USER, USER, USER)
    assert [turn["turn_id"] for turn in turns(USER, start_index=2)] == [whole[2]["turn_id"]]
    assert [turn["turn_id"] for turn in turns(USER, start_index=2.0)] == [whole[2]["turn_id"]]


def test_a_delta_counts_within_its_list_and_is_no_snapshot():
    translation = translate(USER, USER, mode="delta", request_id="r1")
    assert [turn["turn_id"] for turn in translation.payload["turns"]] == [
        name_uuid(f"turn:{SESSION}:{CONVERSATION}:r1:{index}") for index in range(2)
    ]
    assert translation.snapshot_path is None
    assert translate(USER).snapshot_path == translate(USER, mode="snapshot").snapshot_path == "$.messages"


def test_session_and_conversation_keep_their_native_strings():
    payload = translate(USER, conversation_id="c").payload
    assert (payload["session_id"], payload["native_session_id"]) == (SESSION, "s")
    assert (payload["conversation_id"], payload["native_conversation_id"]) == (name_uuid("conversation:c"), "c")
    assert payload["turns"][0]["turn_id"] == name_uuid(f"turn:{SESSION}:{name_uuid('conversation:c')}:0")


def test_a_conversation_that_was_not_named_has_no_native_string():
    payload = translate(USER).payload
    assert payload["conversation_id"] == CONVERSATION
    assert "native_conversation_id" not in payload


def test_uuids_given_for_session_and_conversation_stay_as_sent():
    given = "6F1D2C3A-8B4E-4F70-9A51-0C2D3E4F5A61"
    payload = translate(USER, session_id=given, conversation_id=given).payload
    assert payload["session_id"] == payload["conversation_id"] == given
    assert payload["turns"][0]["turn_id"] == name_uuid(f"turn:{given.lower()}:{given.lower()}:0")


def test_context_and_options_go_through_but_derive_ids_which_is_done():
    context = {"agent_id": "a", "user_id": "u", "tags": ["x"], "tier": 1}
    translation = translate(USER, context=context, capture_options={"create_lineage": False, "derive_ids": True})
    assert translation.payload["context"] == context
    assert translation.payload["capture_options"] == {"create_lineage": False}
    assert translation.payload["native"] == {"format": "openai-chat", "derive_ids": True}
    assert translation.warnings == (Problem("$.context.tier", "unknown_field"),)


def test_the_options_of_the_body_stand_under_native():
    options = {"mode": "snapshot", "start_index": 2.0, "request_id": "r", "model": "m"}
    assert translate(USER, **options).payload["native"] == {"format": "openai-chat", **options}


def test_unknown_fields_are_kept_and_named():
    translation = translate(USER, temperature=0.5, turns=[1], native=2, native_session_id=3, **{"k" * 99: 4})
    payload = translation.payload
    assert (payload["temperature"], payload["k" * 99], payload["native_session_id"]) == (0.5, 4, "s")
    assert payload["native"] == {"format": "openai-chat", "turns": [1], "native": 2, "native_session_id": 3}
    paths = ["$.temperature", "$.turns", "$.native", "$.native_session_id", "$." + "k" * 64]
    assert translation.warnings == tuple(Problem(path, "unknown_field") for path in paths)


def test_at_most_50_unknown_fields_are_named():
    assert len(translate(USER, **{f"x{number}": 0 for number in range(60)}).warnings) == 50


def test_the_body_is_not_changed():
    body = {
        "session_id": "s",
        "model": "m",
        "messages": [calling(call()), result()],
        "capture_options": {"derive_ids": True},
    }
    before = copy.deepcopy(body)
    reader(OPENAI_CHAT).read(body, captured_at=CAPTURED_AT)
    assert body == before


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"session_id": 5}, [("$.session_id", "type")]),
        ({"session_id": None}, [("$.session_id", "type")]),
        ({"session_id": ""}, [("$.session_id", "minLength")]),
        ({"session_id": "x" * 257}, [("$.session_id", "maxLength")]),
        ({"conversation_id": None}, [("$.conversation_id", "type")]),
        ({"conversation_id": ""}, [("$.conversation_id", "minLength")]),
        ({"messages": None}, [("$.messages", "type")]),
        ({"messages": {}}, [("$.messages", "type")]),
        ({"messages": []}, [("$.messages", "minItems")]),
        ({"mode": None}, [("$.mode", "type")]),
        ({"mode": ["delta"]}, [("$.mode", "type")]),
        ({"mode": "append"}, [("$.mode", "enum")]),
        ({"mode": "delta"}, [("$.request_id", "required")]),
        ({"mode": "delta", "request_id": None}, [("$.request_id", "type")]),
        ({"mode": "delta", "request_id": ""}, [("$.request_id", "minLength")]),
        ({"mode": "delta", "request_id": "r", "start_index": 0}, [("$.start_index", "not")]),
        (
            {"mode": "delta", "start_index": "0"},
            [("$.request_id", "required"), ("$.start_index", "not"), ("$.start_index", "type")],
        ),
        ({"start_index": None}, [("$.start_index", "type")]),
        ({"start_index": True}, [("$.start_index", "type")]),
        ({"start_index": 1.5}, [("$.start_index", "type")]),
        ({"start_index": "1"}, [("$.start_index", "type")]),
        ({"start_index": -1}, [("$.start_index", "minimum")]),
        ({"start_index": 2**63}, [("$.start_index", "maximum")]),
        ({"start_index": 1e300}, [("$.start_index", "maximum")]),
        ({"model": None}, [("$.model", "type")]),
        ({"context": None}, [("$.context", "type")]),
        (
            {"context": {"agent_id": None, "tags": ["a", 1]}},
            [("$.context.agent_id", "type"), ("$.context.tags[1]", "type")],
        ),
        ({"context": {"tags": "a"}}, [("$.context.tags", "type")]),
        ({"capture_options": []}, [("$.capture_options", "type")]),
        ({"capture_options": {"create_lineage": 1}}, [("$.capture_options.create_lineage", "type")]),
        ({"capture_options": {"content": None}}, [("$.capture_options.content", "type")]),
        ({"capture_options": {"content": "some"}}, [("$.capture_options.content", "enum")]),
    ],
)
def test_a_wrong_field_of_the_body_is_refused_by_path_and_rule(fields, expected):
    assert problems(**{"session_id": "s", "messages": [USER], **fields}) == expected


def test_missing_fields_are_named_together():
    assert problems() == [("$.session_id", "required"), ("$.messages", "required")]


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("hi", [("$.messages[1]", "type")]),
        (None, [("$.messages[1]", "type")]),
        ([], [("$.messages[1]", "type")]),
        ({"content": "hi"}, [("$.messages[1].role", "required")]),
        ({"role": None, "content": "hi"}, [("$.messages[1].role", "type")]),
        ({"role": "model", "content": "hi"}, [("$.messages[1].role", "enum")]),
        ({"role": "Function"}, [("$.messages[1].role", "enum")]),
        ({"role": "user", "content": 5}, [("$.messages[1].content", "type")]),
        ({"role": "user", "content": [{"type": "text", "text": 5}]}, [("$.messages[1].content[0].text", "type")]),
        ({"role": "assistant", "tool_calls": {}}, [("$.messages[1].tool_calls", "type")]),
        ({"role": "assistant", "tool_calls": ["x"]}, [("$.messages[1].tool_calls[0]", "type")]),
        ({"role": "assistant", "tool_calls": [{"id": 5}]}, [("$.messages[1].tool_calls[0].id", "type")]),
        ({"role": "assistant", "function_call": "track"}, [("$.messages[1].function_call", "type")]),
        ({"role": "tool", "tool_call_id": 5}, [("$.messages[1].tool_call_id", "type")]),
        (
            {"role": 5, "content": 5, "tool_calls": 5},
            [(f"$.messages[1].{name}", "type") for name in ("role", "content", "tool_calls")],
        ),
    ],
)
def test_a_wrong_message_is_refused_by_path_and_rule(message, expected):
    assert message_problems(USER, message) == expected


def test_all_problems_are_told_at_once_and_at_most_50():
    found = problems(mode="x", messages=[5] * 100)
    assert found[:3] == [("$.session_id", "required"), ("$.mode", "enum"), ("$.messages[0]", "type")]
    assert len(found) == 50


def test_a_refusal_repeats_no_value():
    with pytest.raises(ValidationError) as refused:
        translate({"role": "hunter2", "content": 5}, mode="hunter2")
    assert "hunter2" not in f"{refused.value.message}{refused.value.details}"


@pytest.mark.parametrize(
    "messages",
    [
        [USER] * 10_001,
        [calling(*[call()] * 9_999), USER],
        [calling(call())] * 5_001,
        [result()] * 5_001,
    ],
)
def test_more_than_10_000_turns_and_invocations_are_refused(messages):
    assert message_problems(*messages) == [("$.messages", "too_many_turns")]


def test_10_000_turns_and_invocations_are_taken():
    payload = translate(*[calling(call()), result()] * 2_500).payload
    check_contract(payload)
    assert len({entry["invocation_id"] for turn in payload["turns"] for entry in turn["tool_invocations"]}) == 2_500


def test_a_call_id_that_names_the_session_or_a_turn_is_refused_at_its_place():
    session = "6f1d2c3a-8b4e-4f70-9a51-0c2d3e4f5a61"
    turn = translate(USER, session_id=session).payload["turns"][0]["turn_id"]
    found = problems(session_id=session.upper(), messages=[USER, calling(call(), call(session)), result(turn.upper())])
    assert found == [
        ("$.messages[1].tool_calls[1].id", "invocation_id_clash"),
        ("$.messages[2].tool_call_id", "invocation_id_clash"),
    ]


def test_a_field_that_no_chat_message_has_is_warned_about_once_where_it_comes_first():
    warnings = translate({"role": "user", "contnet": "hi"}, USER, {**USER, "contnet": "x", "mood": 1}).warnings
    assert warnings == (
        Problem("$.messages[0].contnet", "unknown_field"),
        Problem("$.messages[2].mood", "unknown_field"),
    )


def test_what_chat_messages_have_is_not_warned_about():
    full = {
        "role": "assistant",
        "content": "x",
        "name": "n",
        "refusal": None,
        "audio": None,
        "annotations": [],
        "id": "m",
    }
    assert translate(USER, full, calling(call()), result()).warnings == ()


def test_a_refusal_says_how_many_problems_and_the_first_one():
    with pytest.raises(ValidationError, match=r"^2 problems; first: \$\.session_id: is required$"):
        reader(OPENAI_CHAT).read({"messages": []}, captured_at=CAPTURED_AT)
