"""Where content stands, and what stays whatever holds (CONTRACT 8)."""

import pytest

from agent.content.narrowing import narrowed
from agent.content.policy import ContentPolicy
from tests.capture.cases import BASE, CALL, FIRST, changed
from tests.content.found_texts import find, nothing

WORDS = "a planted text"
LEFT = "[omitted:14]"
NONE = ContentPolicy("none")


def omitted(payload, **known):
    return narrowed(payload, "none", NONE, nothing, **known).payload


def on_turn(**members):
    payload = changed("x", 1)
    del payload["x"]
    payload["turns"][0] |= members
    return omitted(payload)["turns"][0]


def test_the_payload_that_was_given_is_left_as_it_is():
    payload = changed("turns", 0, "metadata", {"a": [WORDS]})
    again = changed("turns", 0, "metadata", {"a": [WORDS]})
    omitted(payload)
    assert payload == again


def test_ids_roles_names_times_tags_and_counts_stay():
    context = {"agent_id": "a", "user_id": "u", "source_system": "s", "tags": ["t", "tag two"]}
    options = {"create_lineage": True, "content": "none", "derive_ids": False}
    turn = {
        "model": "m-1",
        "parent_turn_id": None,
        "native_id": "msg_1",
        "native_parent_turn_id": "msg_0",
        "token_usage": {"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3},
        "tool_invocations": [{"tool_name": "t", "invocation_id": CALL, "native_id": "call_1", "success": False}],
    }
    payload = {
        **BASE,
        "context": context,
        "capture_options": options,
        "native_session_id": "s",
        "native_conversation_id": "c",
    }
    payload["turns"] = [{**BASE["turns"][0], **turn, "content": ""}]
    assert omitted(payload) == payload
    assert list(omitted(payload)) == list(payload)


@pytest.mark.parametrize("name", ["context", "capture_options"])
def test_an_unknown_member_of_a_known_object_is_content(name):
    assert omitted({**BASE, name: {"note": WORDS}})[name] == {"note": LEFT}


def test_unknown_fields_are_content_wherever_they_stand():
    payload = omitted({**BASE, "note": [WORDS, {"k": 123}], "native": {"format": "anthropic"}})
    assert payload["note"] == [LEFT, {"k": "[omitted:3]"}]
    assert payload["native"] == {"format": "[omitted:9]"}
    assert on_turn(note=WORDS)["note"] == LEFT
    assert on_turn(token_usage={"total_tokens": 1, "cached": 12})["token_usage"]["cached"] == "[omitted:2]"
    call = {"tool_name": "t", "invocation_id": CALL, "result": WORDS}
    assert on_turn(tool_invocations=[call])["tool_invocations"][0]["result"] == LEFT


@pytest.mark.parametrize("value", [{"x": WORDS}, [WORDS], WORDS * 20])
def test_a_native_id_that_can_be_none_is_content(value):
    assert WORDS not in str(on_turn(native_id=value))


def test_a_native_id_beside_a_derived_one_stays_whatever_its_length():
    native = WORDS * 100
    call = {"tool_name": "t", "invocation_id": CALL, "native_id": native}
    turn = {"native_id": native, "native_parent_turn_id": native, "tool_invocations": [call], "content": ""}
    payload = {**BASE, "native_session_id": native, "turns": [{**BASE["turns"][0], **turn}]}
    assert omitted(payload, ids_derived=True) == payload


def test_an_id_that_no_string_is_stays_nowhere():
    held = omitted({**BASE, "native_session_id": {"x": WORDS}}, ids_derived=True)
    assert held["native_session_id"] == {"x": LEFT}


def test_of_metadata_the_speaker_and_what_was_derived_stay():
    metadata = {"agent": "planner", "derived": ["timestamp"], "citations": [{"url": WORDS, "n": 1, "ok": True}]}
    assert on_turn(metadata=metadata)["metadata"] == {
        "agent": "planner",
        "derived": ["timestamp"],
        "citations": [{"url": LEFT, "n": "[omitted:1]", "ok": True}],
    }


def test_a_speaker_and_derived_names_of_another_shape_are_content():
    metadata = {"agent": [WORDS], "derived": {"a": WORDS}, "memory": [WORDS]}
    assert on_turn(metadata=metadata)["metadata"] == {"agent": [LEFT], "derived": {"a": LEFT}, "memory": [LEFT]}


def test_of_state_only_the_values_of_parameters_results_and_plans_are_content():
    memory = {
        "params": {"city": WORDS, "n": 12, "gone": None, "sure": True},
        "last_result": {"rows": [WORDS, 1]},
        "plan_execution": WORDS,
        "waiting_for_param": "order_id",
        "last_intent_id": "find_order",
        "reset": "all",
        "keep_last": 3,
        "leaf": FIRST,
        "importance": 0.5,
        "pinned": True,
        "task": "complete",
        "state_only": True,
    }
    assert on_turn(metadata={"memory": memory})["metadata"]["memory"] == memory | {
        "params": {"city": LEFT, "n": "[omitted:2]", "gone": None, "sure": True},
        "last_result": {"rows": [LEFT, "[omitted:1]"]},
        "plan_execution": LEFT,
    }


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("note", WORDS),
        ("deep", {"a": [{"b": WORDS}]}),
        ("reset", WORDS),
        ("reset", ["all"]),
        ("keep_last", WORDS),
        ("leaf", WORDS),
        ("importance", WORDS),
        ("importance", 4711),
        ("pinned", WORDS),
        ("task", WORDS),
        ("state_only", {"a": WORDS}),
        ("waiting_for_param", [WORDS]),
        ("last_intent_id", {"a": WORDS}),
    ],
)
def test_a_member_of_state_that_says_nothing_to_a_reader_is_content(name, value):
    held = on_turn(metadata={"memory": {name: value}})["metadata"]["memory"]
    assert list(held) == [name]
    assert WORDS not in str(held)
    assert "4711" not in str(held)


def test_an_unknown_member_of_state_is_looked_at_for_secrets():
    payload = changed("turns", 0, "metadata", {"memory": {"note": "ann@example.org", "pinned": True}})
    held, redactions = narrowed(payload, "redacted", ContentPolicy("redacted"), find)
    assert held["turns"][0]["metadata"]["memory"] == {"note": "[redacted:email]", "pinned": True}
    assert redactions == {"email": 1}


def test_of_what_was_derived_only_the_names_of_fields_stay():
    metadata = {"derived": ["timestamp", WORDS, "model", [WORDS]]}
    assert on_turn(metadata=metadata)["metadata"] == {"derived": ["timestamp", LEFT, "model", [LEFT]]}


def test_parameters_that_are_no_object_are_content():
    assert on_turn(metadata={"memory": {"params": [WORDS]}})["metadata"]["memory"] == {"params": [LEFT]}


def test_a_parameter_is_redacted_by_its_name_in_state_arguments_results_and_metadata():
    payload = changed(
        "turns", 0, "metadata", {"memory": {"params": {"pin": 4711, "a": "b"}}, "native": {"pin": "4711"}}
    )
    payload["turns"][0]["metadata"]["memory"]["last_result"] = {"rows": [{"pin": [4, 7]}]}
    payload["turns"][0]["tool_invocations"] = [{"tool_name": "t", "invocation_id": CALL, "arguments": {"pin": "4711"}}]
    held, redactions = narrowed(payload, "redacted", ContentPolicy("redacted", params=frozenset({"pin"})), find)
    assert redactions == {"param": 4}
    assert held["turns"][0]["metadata"] == {
        "memory": {
            "params": {"pin": "[redacted:param]", "a": "b"},
            "last_result": {"rows": [{"pin": "[redacted:param]"}]},
        },
        "native": {"pin": "[redacted:param]"},
    }
    assert held["turns"][0]["tool_invocations"][0]["arguments"] == {"pin": "[redacted:param]"}


def test_full_content_does_not_come_here():
    with pytest.raises(ValueError, match="nothing to narrow"):
        narrowed(BASE, "full", NONE, nothing)


@pytest.mark.parametrize(
    ("own", "asked", "held"),
    [
        ("full", None, "full"),
        ("full", "redacted", "redacted"),
        ("redacted", "full", "redacted"),
        ("redacted", None, "redacted"),
        ("redacted", "none", "none"),
        ("none", "full", "none"),
        ("none", "none", "none"),
    ],
)
def test_the_narrower_of_what_the_operator_lets_and_the_caller_asks_holds(own, asked, held):
    assert ContentPolicy(own).held(asked) == held
