"""Which payloads are accepted, and which rule another breaks (CONTRACT 1, 2; field cases H18, H19, H21, H22)."""

from typing import Any

import pytest

from agent.capture.validation import validate_payload
from tests.capture.cases import ABSENT, BASE, CALL, FIRST, SECOND, SESSION, changed, problems
from tests.conftest import vectors


def called(turn: int, **members: Any) -> tuple[Any, ...]:
    """A change: one invocation on a turn, with some members of its own."""
    return ("turns", turn, "tool_invocations", [{"tool_name": "t", "invocation_id": CALL, **members}])


def test_the_base_payload_is_accepted():
    assert problems(BASE) == []


@pytest.mark.parametrize("case", vectors(), ids=lambda case: case["name"])
def test_every_golden_payload_is_accepted(case):
    validate_payload(case["input"])


@pytest.mark.parametrize(
    ("change", "path", "rule"),
    [
        (("session_id", "not-a-uuid"), "$.session_id", "format"),
        (("session_id", None), "$.session_id", "type"),
        (("conversation_id", ABSENT), "$.conversation_id", "required"),
        (("turns", ABSENT), "$.turns", "required"),
        (("turns", {}), "$.turns", "type"),
        (("turns", []), "$.turns", "minItems"),
        (("turns", 1, "x"), "$.turns[1]", "type"),
        (("turns", 0, "turn_id", ABSENT), "$.turns[0].turn_id", "required"),
        (("turns", 1, "role", ABSENT), "$.turns[1].role", "required"),
        (("turns", 0, "role", "developer"), "$.turns[0].role", "enum"),
        (("turns", 0, "role", "User"), "$.turns[0].role", "enum"),
        (("turns", 1, "content", None), "$.turns[1].content", "type"),
        (("turns", 0, "content", ABSENT), "$.turns[0].content", "required"),
        (("turns", 0, "timestamp", "yesterday"), "$.turns[0].timestamp", "format"),
        (("turns", 0, "timestamp", "2026-03-02T08:15:03"), "$.turns[0].timestamp", "format"),
        (("turns", 0, "timestamp", 1772439300), "$.turns[0].timestamp", "type"),
        (("turns", 0, "model", None), "$.turns[0].model", "type"),
        (("turns", 0, "metadata", []), "$.turns[0].metadata", "type"),
        (("turns", 0, "metadata", None), "$.turns[0].metadata", "type"),
        (("turns", 0, "parent_turn_id", "m1"), "$.turns[0].parent_turn_id", "format"),
        (("turns", 0, "parent_turn_id", 7), "$.turns[0].parent_turn_id", "type"),
        (("turns", 1, "token_usage", "total_tokens", ABSENT), "$.turns[1].token_usage.total_tokens", "required"),
        (("turns", 1, "token_usage", "total_tokens", -1), "$.turns[1].token_usage.total_tokens", "minimum"),
        (("turns", 1, "token_usage", "total_tokens", 2**63), "$.turns[1].token_usage.total_tokens", "maximum"),
        (("turns", 1, "token_usage", "total_tokens", 2.0**63), "$.turns[1].token_usage.total_tokens", "maximum"),
        (("turns", 1, "token_usage", "total_tokens", 1.5), "$.turns[1].token_usage.total_tokens", "type"),
        (("turns", 1, "token_usage", "total_tokens", True), "$.turns[1].token_usage.total_tokens", "type"),
        (("turns", 1, "token_usage", None), "$.turns[1].token_usage", "type"),
        (called(1, tool_name=""), "$.turns[1].tool_invocations[0].tool_name", "minLength"),
        (called(1, invocation_id="call_9aZ"), "$.turns[1].tool_invocations[0].invocation_id", "format"),
        (called(1, success=None), "$.turns[1].tool_invocations[0].success", "type"),
        (("turns", 1, "tool_invocations", {}), "$.turns[1].tool_invocations", "type"),
        (("context", []), "$.context", "type"),
        (("context", "user_id", 1), "$.context.user_id", "type"),
        (("context", "tags", ["a", None]), "$.context.tags[1]", "type"),
        (("capture_options", None), "$.capture_options", "type"),
        (("capture_options", "create_lineage", 1), "$.capture_options.create_lineage", "type"),
        (("capture_options", "derive_ids", "true"), "$.capture_options.derive_ids", "type"),
        (("capture_options", "content", "some"), "$.capture_options.content", "enum"),
        # Rules that tie fields together.
        (("turns", 1, "turn_id", FIRST.upper()), "$.turns[1].turn_id", "turn_id_unique"),
        (("turns", 0, "turn_id", SESSION.upper()), "$.turns[0].turn_id", "turn_id_is_session_id"),
        (
            called(1, invocation_id=SESSION.upper()),
            "$.turns[1].tool_invocations[0].invocation_id",
            "invocation_id_clash",
        ),
        (
            called(0, invocation_id=SECOND.upper()),
            "$.turns[0].tool_invocations[0].invocation_id",
            "invocation_id_clash",
        ),
        (("turns", 0, "parent_turn_id", SECOND.upper()), "$.turns[0].parent_turn_id", "parent_order"),
        (("turns", 1, "parent_turn_id", SECOND.upper()), "$.turns[1].parent_turn_id", "parent_order"),
        (("turns", 1, "parent_turn_id", SESSION.upper()), "$.turns[1].parent_turn_id", "parent_order"),
    ],
)
def test_one_wrong_member_is_one_problem_at_its_own_path(change, path, rule):
    assert problems(changed(*change)) == [(path, rule)]


@pytest.mark.parametrize(
    "change",
    [
        ("turns", 0, "content", ""),
        ("turns", 0, "content", "\0"),
        ("turns", 0, "parent_turn_id", None),
        ("turns", 0, "parent_turn_id", "00000000-0000-0000-0000-000000000000"),
        ("turns", 1, "parent_turn_id", FIRST.upper()),
        ("turns", 0, "tool_invocations", []),
        ("turns", 1, "token_usage", "total_tokens", 1.0),
        ("turns", 1, "token_usage", "total_tokens", 2**63 - 1),
        ("turns", 0, "metadata", {"memory": 1, "anything": [None]}),
        ("turns", 0, "tokenUsage", {}),
        ("capture_options", {}),
        ("capture_options", "derive_ids", False),
        ("capture_options", "content", "full"),
        ("capture_options", "content", "redacted"),
        ("capture_options", "content", "none"),
        ("capture_options", "extract_entities", True),
        ("capture_options", "extract_entities", False),
        ("capture_options", "compute_embeddings", True),
        ("context", {}),
        ("session_id", SESSION.upper()),
        ("x", None),
    ],
)
def test_what_the_contract_allows_is_accepted(change):
    assert problems(changed(*change)) == []


def test_an_invocation_may_be_named_by_several_turns_and_hold_any_arguments():
    call = {"tool_name": "t", "invocation_id": CALL, "success": False, "arguments": [None, 1.5]}
    payload = changed("turns", 0, "tool_invocations", [call, call])
    assert problems(changed("turns", 1, "tool_invocations", [call], payload=payload)) == []


TIMES = {
    "2026-03-02T10:15:00+02:00": True,
    "2026-03-02T08:15:01.250000Z": True,
    "2026-03-02T08:15:02+00:00": True,
    "2026-03-02t08:15:02z": True,
    "2026-03-02T08:15:02." + "1" * 200 + "-23:59": True,
    "2024-02-29T00:00:00Z": True,
    "2026-12-31T00:00:00Z": True,
    "2016-12-31T23:59:60Z": True,
    "2016-12-31T23:59:60.5z": True,
    "2016-12-31T23:59:60+00:00": True,
    "0001-01-01T00:00:00Z": True,
    "0001-01-01T00:00:00-01:00": True,
    "9999-12-31T23:59:59+01:00": True,
    "2026-03-02T08:15:03": False,
    "2026-03-02": False,
    "2026-03-02 08:15:03Z": False,
    "2026-03-02T08:15:03Z\n": False,
    " 2026-03-02T08:15:03Z": False,
    "2026-03-02T08:15:03.Z": False,
    "2026-03-02T08:15Z": False,
    "2026-03-02T08:15:03+0100": False,
    "2026-03-02T24:00:00Z": False,
    "2026-03-02T08:60:00Z": False,
    "2026-03-02T08:15:61Z": False,
    "2026-03-02T08:15:03+24:00": False,
    "2026-13-02T08:15:03Z": False,
    "2026-02-29T08:15:03Z": False,
    "2026-04-31T08:15:03Z": False,
    "2026-00-10T08:15:03Z": False,
    "2026-01-00T08:15:03Z": False,
    "\uff12026-03-02T08:15:03Z": False,
    "12026-03-02T08:15:03Z": False,
    # These three the fast validator accepts: the contract decides.
    "0000-01-01T00:00:00Z": False,
    "0001-01-01T00:00:00+01:00": False,
    "9999-12-31T23:59:59-01:00": False,
    "2016-12-31T23:59:60-00:00": False,
    "2016-12-31T22:59:60-01:00": False,
    "2016-12-31T12:59:60Z": False,
}


@pytest.mark.parametrize(("text", "accepted"), TIMES.items())
def test_a_time_is_strict_rfc_3339(text, accepted):
    expected = [] if accepted else [("$.turns[0].timestamp", "format")]
    assert problems(changed("turns", 0, "timestamp", text)) == expected


@pytest.mark.parametrize(
    "text",
    [
        "urn:uuid:" + SESSION,
        "{" + SESSION + "}",
        SESSION.replace("-", ""),
        SESSION + "\n",
        SESSION[:-1] + "\uff11",
        " " + SESSION,
        "",
    ],
)
def test_other_spellings_of_a_uuid_are_refused(text):
    assert problems(changed("session_id", text)) == [("$.session_id", "format")]
