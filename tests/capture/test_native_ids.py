"""Ids that are any string, compared as the UUIDs that they become (CONTRACT 1, 3)."""

import pytest
from hypothesis import given, settings

from agent.capture.validation import check_ids
from agent.core.native import derive_ids
from agent.errors import Problem, ValidationError
from tests.capture.cases import DERIVED, FIRST, changed, problems
from tests.capture.clashes import clashing_payloads
from tests.strategies import payloads


@pytest.mark.parametrize("text", ["m1", "x" * 256, "\U0001f680" * 256, "\0", " "])
def test_with_derive_ids_an_id_is_any_string_of_1_to_256_characters(text):
    payload = changed("turns", 1, "turn_id", text, payload=DERIVED)
    payload["turns"][1]["parent_turn_id"] = FIRST
    payload["turns"][1]["tool_invocations"] = [{"tool_name": "t", "invocation_id": text}]
    assert problems({**payload, "session_id": text, "conversation_id": text}) == []


@pytest.mark.parametrize(("text", "rule"), [("", "minLength"), ("x" * 257, "maxLength"), (1, "type")])
@pytest.mark.parametrize(
    "path", [("session_id",), ("conversation_id",), ("turns", 0, "turn_id"), ("turns", 0, "parent_turn_id")]
)
def test_with_derive_ids_an_empty_or_endless_id_is_refused(path, text, rule):
    (problem,) = problems(changed(*path, text, payload=DERIVED))
    assert problem[1] == rule


def test_only_true_derives_ids():
    for value in (False, 1, "true", None):
        payload = changed("capture_options", "derive_ids", value)
        assert ("$.session_id", "format") in problems({**payload, "session_id": "s"})


@pytest.mark.parametrize(
    ("change", "path"),
    [
        (("native_session_id", "x"), "$.native_session_id"),
        (("native_conversation_id", None), "$.native_conversation_id"),
        (("turns", 0, "native_id", 1), "$.turns[0].native_id"),
        (("turns", 1, "native_parent_turn_id", "x"), "$.turns[1].native_parent_turn_id"),
        (
            ("turns", 1, "tool_invocations", [{"tool_name": "t", "invocation_id": "c", "native_id": "c"}]),
            "$.turns[1].tool_invocations[0].native_id",
        ),
    ],
)
def test_names_that_derivation_writes_are_reserved_with_derive_ids_alone(change, path):
    assert problems(changed(*change, payload=DERIVED)) == [(path, "reserved_field")]
    if "tool_invocations" not in change:
        assert problems(changed(*change)) == []


def test_derived_ids_are_compared_as_the_uuids_that_they_become():
    payload = changed("turns", 1, "turn_id", "m1", payload=DERIVED)
    uuid = derive_ids(payload)["turns"][1]["turn_id"]
    assert problems(changed("turns", 0, "turn_id", uuid.upper(), payload=payload)) == [
        ("$.turns[1].turn_id", "turn_id_unique")
    ]
    called = [{"tool_name": "t", "invocation_id": "call_1"}]
    payload["turns"][1]["tool_invocations"] = called
    call_uuid = derive_ids(payload)["turns"][1]["tool_invocations"][0]["invocation_id"]
    clash = changed("turns", 0, "turn_id", call_uuid, payload=payload)
    assert problems(clash) == [("$.turns[1].tool_invocations[0].invocation_id", "invocation_id_clash")]


@settings(deadline=None, max_examples=250)
@given(clashing_payloads(native=True))
def test_a_payload_with_native_ids_is_accepted_exactly_if_its_derived_form_is(payload):
    derived = derive_ids(payload)
    try:
        check_ids(derived)
    except ValidationError:
        assert problems(payload)
    else:
        assert problems(payload) == []


@settings(deadline=None, max_examples=250)
@given(clashing_payloads(native=False))
def test_the_check_of_derived_ids_is_the_one_that_uuids_undergo(payload):
    found = problems(payload)
    try:
        check_ids(payload)
    except ValidationError as error:
        assert [(problem.path, problem.rule) for problem in error.problems] == found  # noqa: PT017 - either may happen
    else:
        assert found == []


@settings(deadline=None)
@given(payloads())
def test_ids_that_are_uuids_pass_the_check_of_derived_ids(payload):
    check_ids(payload)
    with pytest.raises(ValidationError) as raised:
        check_ids({**payload, "session_id": payload["turns"][0]["turn_id"]})
    assert Problem("$.turns[0].turn_id", "turn_id_is_session_id") in raised.value.problems
