"""``codex``: the rollouts of Codex sessions."""

import copy
import json
from collections import Counter
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from agent.errors import ValidationError
from agent.formats import codex
from agent.formats.conversation.message import Call, Conversation, Result
from tests.formats.response_items import ITEMS, check_is_read_or_refused, mutations, unrelated_documents
from tests.formats.round_trips import captures, conversations, lines
from tests.strategies import json_values

FORM = "codex"
LAW = settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow])
SESSION = "019f0d8e-dd86-7cc0-b5e5-83e435aaf326"


def record(kind: str, payload: Any, second: int = 0) -> dict[str, Any]:
    return {"timestamp": f"2026-06-28T09:28:{second:02}.000Z", "type": kind, "payload": payload}


def text(role: str, words: str) -> dict[str, Any]:
    part = "output_text" if role == "assistant" else "input_text"
    return {"type": "message", "role": role, "content": [{"type": part, "text": words}]}


ROLLOUT = [
    record("session_meta", {"id": SESSION, "cwd": "/x", "base_instructions": {"text": "You code."}}),
    record("event_msg", {"type": "task_started"}),
    record("response_item", text("developer", "No network."), 1),
    record("turn_context", {"model": "gpt-5", "cwd": "/x"}, 1),
    record("response_item", text("user", "Fix it"), 2),
    record("event_msg", {"type": "user_message", "message": "Fix it", "images": []}, 2),
    record("response_item", {"type": "reasoning", "summary": [], "encrypted_content": "gA=="}, 3),
    record("event_msg", {"type": "agent_message", "message": "On it."}, 4),
    record("response_item", text("assistant", "On it."), 4),
    record("response_item", {"type": "function_call", "call_id": "c1", "name": "shell", "arguments": "{}"}, 5),
    record("event_msg", {"type": "patch_apply_end", "call_id": "c1", "success": True}, 6),
    record("response_item", {"type": "function_call_output", "call_id": "c1", "output": "ok"}, 6),
    record("event_msg", {"type": "token_count", "info": None}, 6),
    record("response_item", {"type": "ghost_snapshot", "ghost_commit": {}}, 7),
    record("compacted", {"message": "They fixed it.", "replacement_history": [text("user", "Fix it")]}, 8),
    record("turn_context", {"model": "gpt-6", "cwd": "/y"}, 8),
    record("response_item", text("assistant", "Done."), 9),
]


def read(records: Any) -> Conversation:
    (conversation,) = conversations(FORM, records)
    return conversation


def test_items_are_the_turns_at_the_places_of_their_records_and_instructions_come_first() -> None:
    found = read(ROLLOUT)
    assert [(m.place, m.role, m.content) for m in found.messages] == [
        ("system", "system", "You code."),
        ("2", "system", "No network."),
        ("4", "user", "Fix it"),
        ("6", "assistant", ""),
        ("8", "assistant", "On it."),
        ("9", "assistant", ""),
        ("11", "tool", "ok"),
        ("14", "assistant", "They fixed it."),
        ("16", "assistant", "Done."),
    ]
    assert found.session_id == SESSION
    assert [m.timestamp for m in found.messages][:3] == [ROLLOUT[place]["timestamp"] for place in (0, 2, 4)]
    assert [m.model for m in found.messages if m.role == "assistant"] == ["gpt-5"] * 4 + ["gpt-6"]
    assert found.messages[5].calls == (Call("shell", "c1", {}),)


def test_an_event_tells_whether_a_call_succeeded() -> None:
    assert list(read(ROLLOUT).messages[6].results) == [Result("c1", None, True)]


def test_what_makes_no_turn_is_counted_by_kind() -> None:
    assert read(
        [*ROLLOUT, "junk", 42, [1], {}, None, record("event_msg", {"type": "new"}), record("new", {})]
    ).ignored.counts == {
        "beginnings and ends of tasks": 1,
        "earlier turn contexts": 1,
        "events of tools": 1,
        "histories said again": 1,
        "other events": 1,
        "other records": 1,
        "records of no use": 5,
        "snapshots of files": 1,
        "texts said again as events": 2,
        "token counts": 1,
    }


def test_a_text_that_only_an_event_has_is_counted_apart_and_said_where_there_are_no_items() -> None:
    alone = record("event_msg", {"type": "agent_message", "message": "Only here"})
    assert read([*ROLLOUT, alone]).ignored.counts["texts of events alone"] == 1
    assert [(m.role, m.content) for m in read([ROLLOUT[5], alone]).messages] == [
        ("user", "Fix it"),
        ("assistant", "Only here"),
    ]


def test_what_the_session_says_of_itself_is_kept_without_any_text_of_its_turns() -> None:
    native = read(ROLLOUT).native
    assert native == {"session_meta": {"id": SESSION, "cwd": "/x"}, "turn_context": {"model": "gpt-6", "cwd": "/y"}}
    kept = json.dumps([native, *(m.native for m in read(ROLLOUT).messages)])
    assert "Fix it" not in kept


def test_a_session_that_was_resumed_is_the_one_that_it_began_as() -> None:
    found = read([*ROLLOUT, record("session_meta", {"id": "another"})])
    assert (found.session_id, found.ignored.counts["further session records"]) == (SESSION, 1)


def test_an_item_that_cannot_be_read_does_not_stop_the_others() -> None:
    wrong = record("response_item", {"type": "message", "role": "narrator", "content": "x"})
    found = read([wrong, *ROLLOUT])
    assert found.ignored.counts["items that cannot be read"] == 1
    assert len(found.messages) == len(read(ROLLOUT).messages)


def test_what_a_record_says_beside_its_payload_is_kept_with_its_turn_or_counted() -> None:
    records = [
        {**ROLLOUT[0], "ordinal": 0},
        {**ROLLOUT[1], "ordinal": 1},
        {**ROLLOUT[4], "ordinal": 2, "timestamp": "yesterday"},
        {**ROLLOUT[14], "ordinal": 3},
        {**record("response_item", text("narrator", "x")), "ordinal": 4},
    ]
    found = read(records)
    assert [(m.native or {}).get("record") for m in found.messages] == [
        {"ordinal": 0},
        {"ordinal": 2, "timestamp": "yesterday"},
        {"ordinal": 3},
    ]
    assert found.ignored.counts["members of records without a turn"] == 2
    assert found.ignored.counts["items that cannot be read"] == 1
    assert all("record" not in (m.native or {}) for m in read(ROLLOUT).messages)


def test_rollouts_of_the_first_releases_are_read_too() -> None:
    records = [
        {"id": SESSION, "timestamp": "2025-06-28T09:28:18Z", "instructions": "You code."},
        {"record_type": "state"},
        text("user", "Fix it"),
        {"type": "function_call", "call_id": "c", "name": "shell", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c", "output": {"content": "no", "success": False}},
    ]
    assert codex.detect(records)
    found = read(records)
    assert [(m.role, m.content) for m in found.messages] == [
        ("system", "You code."),
        ("user", "Fix it"),
        ("assistant", ""),
        ("tool", "no"),
    ]
    assert found.messages[3].results[0].success is False
    assert (found.session_id, found.timestamp) == (SESSION, "2025-06-28T09:28:18Z")


@pytest.mark.parametrize(
    ("document", "path", "rule"),
    [
        ({}, "$.records", "required"),
        ({"records": 1}, "$.records", "type"),
        ([], "$", "minItems"),
        ("x", "$", "type"),
    ],
)
def test_what_holds_no_records_is_refused(document: Any, path: str, rule: str) -> None:
    (error,) = codex.read(document)
    assert isinstance(error, ValidationError)
    assert [(problem.path, problem.rule) for problem in error.problems] == [(path, rule)]


def check_growth(records: list[Any], cut: int) -> None:
    whole, some = captures(FORM, records), captures(FORM, records[:cut])
    turns = [turn for payload in some for turn in payload["turns"]]
    assert [turn for payload in whole for turn in payload["turns"]][: len(turns)] == turns


@pytest.mark.parametrize("cut", range(3, len(ROLLOUT)))
def test_a_file_that_grew_has_its_old_turns_unchanged(cut: int) -> None:
    check_growth(ROLLOUT, cut)


def test_the_recorded_session_is_read_and_cut_anywhere_without_a_double(shared) -> None:
    records = list(lines(shared / "data" / "agent-trace__traceforge__codex.jsonl"))
    assert codex.detect(records)
    assert codex.detect({"records": records})
    (found,) = conversations(FORM, records)
    items = [each["payload"] for each in records if each["type"] == "response_item"]
    calls = [item["call_id"] for item in items if item["type"] == "function_call"]
    results = [item["call_id"] for item in items if item["type"] == "function_call_output"]
    assert len(found.messages) == 1 + len(items)
    assert [call.native_id for m in found.messages for call in m.calls] == calls
    assert [result.native_id for m in found.messages for result in m.results] == results
    spoken = Counter(m.content for m in found.messages if m.role != "tool" and m.content)
    assert set(spoken.values()) == {1}
    events = Counter(each["payload"]["type"] for each in records if each["type"] == "event_msg")
    assert found.ignored.counts == {
        "beginnings and ends of tasks": events["task_started"] + events["task_complete"],
        "events of tools": events["patch_apply_end"],
        "settings with texts of the session": 1,
        "texts said again as events": events["agent_message"] + events["user_message"],
        "token counts": events["token_count"],
    }
    assert found.session_id == records[0]["payload"]["id"]
    for cut in range(3, len(records), 7):
        check_growth(records, cut)


@given(mutations(ROLLOUT) | mutations({"records": ROLLOUT}) | json_values)
@LAW
def test_whatever_comes_is_read_or_refused(document: Any) -> None:
    check_is_read_or_refused(FORM, document)


def test_every_kind_of_item_is_read_as_a_record() -> None:
    records = [record("response_item", item) for item in copy.deepcopy(ITEMS)]
    assert "items that cannot be read" not in read(records).ignored.counts


def test_nothing_else_in_the_shared_data_is_taken_for_this_format(shared) -> None:
    for name, document in unrelated_documents(shared, "traceforge__codex"):
        assert not codex.detect(document), name
