"""Warnings about fields that were accepted but perhaps not meant (CONTRACT 1)."""

from typing import Any

import pytest
from hypothesis import given, settings

from agent.capture.validation import warnings_for
from agent.core.native import derive_ids
from tests.capture.cases import BASE, CALL, DERIVED, FIRST, changed, problems
from tests.strategies import payloads


def warned(payload: dict[str, Any], **options: Any) -> list[tuple[str, str]]:
    assert problems(payload) == []
    return [(problem.path, problem.rule) for problem in warnings_for(payload, **options)]


def test_a_payload_of_known_fields_has_no_warnings():
    call = {"tool_name": "t", "invocation_id": CALL, "success": True, "arguments": {"any": 1}}
    payload = changed("turns", 1, "tool_invocations", [call])
    payload["turns"][1] |= {
        "parent_turn_id": FIRST,
        "metadata": {"memory": {}, "agent": "a", "citations": [], "other": 1},
    }
    payload["context"] = {"agent_id": "a", "user_id": "u", "source_system": "s", "tags": []}
    payload["capture_options"] = {"create_lineage": True, "extract_entities": False, "compute_embeddings": False}
    payload["capture_options"] |= {"derive_ids": False, "content": "full"}
    assert warned(payload) == []


def test_unknown_fields_are_named_wherever_names_are_known():
    call = {"tool_name": "t", "invocation_id": CALL, "result": 1}
    payload = changed("turns", 1, "tool_invocations", [call])
    payload["turns"][0]["tokenUsage"] = {}
    payload["turns"][1]["token_usage"]["cached"] = 1
    payload |= {"trace": {"any": 1}, "context": {"userId": "u"}, "capture_options": {"lineage": True}}
    assert warned(payload) == [
        ("$.trace", "unknown_field"),
        ("$.context.userId", "unknown_field"),
        ("$.capture_options.lineage", "unknown_field"),
        ("$.turns[0].tokenUsage", "unknown_field"),
        ("$.turns[1].token_usage.cached", "unknown_field"),
        ("$.turns[1].tool_invocations[0].result", "unknown_field"),
    ]


@pytest.mark.parametrize(
    ("metadata", "names"),
    [
        ({"memory": None, "agent": 1, "citations": {}}, ["memory", "agent", "citations"]),
        ({"memory": {}, "agent": "", "citations": []}, []),
        ({"Memory": 1}, []),
        ({}, []),
    ],
)
def test_odd_types_below_metadata_are_warned_about(metadata, names):
    found = warned(changed("turns", 1, "metadata", metadata))
    assert found == [(f"$.turns[1].metadata.{name}", "type") for name in names]


def test_at_most_fifty_warnings_are_given():
    found = warned({**BASE, **{f"x{place}": 1 for place in range(60)}})
    assert found == [(f"$.x{place}", "unknown_field") for place in range(50)]


@pytest.mark.parametrize(
    ("key", "path"),
    [
        ("a_B9", "$.a_B9"),
        ("k" * 100, "$." + "k" * 64),
        ("", '$[""]'),
        ("9a", '$["9a"]'),
        ("a b", '$["a b"]'),
        ("a\n", '$["a\\n"]'),
        ('"]', '$["\\"]"]'),
        ("\u00e9", '$["\u00e9"]'),
        ("\0", '$["\\u0000"]'),
        ("a." * 50, f'$["{"a." * 32}"]'),
    ],
)
def test_odd_keys_stand_in_quotes_and_long_ones_are_cut(key, path):
    assert warned({**BASE, key: 1}) == [(path, "unknown_field")]


def test_native_names_are_known_once_ids_were_derived():
    payload = changed("turns", 1, "tool_invocations", [{"tool_name": "t", "invocation_id": "c"}], payload=DERIVED)
    payload["turns"][1] |= {"turn_id": "m2", "parent_turn_id": "m1"}
    derived = derive_ids({**payload, "session_id": "s", "conversation_id": "c"})
    assert [problem.path for problem in warnings_for(derived)] == [
        "$.native_session_id",
        "$.native_conversation_id",
        "$.turns[1].native_id",
        "$.turns[1].native_parent_turn_id",
        "$.turns[1].tool_invocations[0].native_id",
    ]
    assert warnings_for(derived, derived=True) == []


@settings(deadline=None)
@given(payloads())
def test_every_unknown_name_at_the_root_and_no_other_is_warned_about(payload):
    known = {"session_id", "conversation_id", "turns", "context", "capture_options"}
    roots = [problem for problem in warnings_for(payload) if not problem.path.startswith("$.turns[")]
    assert len(roots) == len(payload.keys() - known)
