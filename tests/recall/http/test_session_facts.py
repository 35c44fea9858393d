"""State, summary, insights and counts of a session, and what the store counts of all."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from agent.core.ids import session_uuid
from tests.recall.http.site import SESSION, Site, payload, said, site, turn_id

PATH = f"/api/conversation/{SESSION}"
NOTHING = {
    "params": {},
    "waiting_for_param": None,
    "last_intent_id": None,
    "last_result": None,
    "plan_execution": None,
}


@pytest.fixture
def made() -> Iterator[Site]:
    with site() as made:
        yield made


def remembering(number: int, content: str = "x", role: str = "assistant", **memory: Any) -> dict[str, Any]:
    return said(number, content, role, metadata={"memory": memory})


def test_the_state_is_what_the_turns_left_with_what_the_contract_does_not_know(made: Site) -> None:
    made.capture(payload(remembering(1, params={"a": 2**70, "b": 1}, waiting_for_param="c", mood={"k": [1]})))
    made.capture(payload(remembering(2, params={"b": None, "c": "x"}, last_result={"r": 1}, last_intent_id="i")))
    assert made.get(f"{PATH}/state") == {
        "success": True,
        "session_id": SESSION,
        "version": 2,
        "params": {"a": 2**70, "c": "x"},
        "waiting_for_param": None,
        "last_intent_id": "i",
        "last_result": {"r": 1},
        "plan_execution": None,
        "mood": {"k": [1]},
        "warnings": [],
    }


def test_a_session_that_never_said_anything_of_its_state_has_none(made: Site) -> None:
    made.capture(payload(said(1, "a")))
    assert made.get(f"{PATH}/state") == {
        "success": True,
        "session_id": SESSION,
        "version": 1,
        "warnings": [],
        **NOTHING,
    }


def test_a_member_that_nobody_knows_takes_no_place_of_ours(made: Site) -> None:
    made.capture(payload(remembering(1, success="no", version="no", session_id="no", warnings="no")))
    found = made.get(f"{PATH}/state")
    assert (found["success"], found["version"], found["session_id"], found["warnings"]) == (True, 1, SESSION, [])


def test_what_is_no_memory_is_passed_over_and_named_by_its_place(made: Site) -> None:
    made.capture(
        payload(remembering(1, params="CANARY", waiting_for_param="p"), said(2, metadata={"memory": "CANARY"}))
    )
    response = made.ask(f"{PATH}/state")
    found = response.get_json()
    assert (found["params"], found["waiting_for_param"]) == ({}, "p")
    assert found["warnings"] == [
        {"path": f"$.{turn_id(1)}.metadata.memory.params", "rule": "type"},
        {"path": f"$.{turn_id(2)}.metadata.memory", "rule": "type"},
    ]
    assert "CANARY" not in response.get_data(as_text=True)


def test_the_state_of_a_conversation_a_branch_and_an_instant_is_that_of_its_path(made: Site) -> None:
    side = {"conversation": turn_id(50)}
    made.capture(payload(remembering(1, params={"a": 1}), remembering(2, params={"a": 2})))
    made.capture(payload(remembering(3, params={"a": 3}), **side))
    assert made.get(f"{PATH}/state")["params"] == {"a": 3}
    assert made.get(f"{PATH}/state?conversation_id={turn_id(50)}")["params"] == {"a": 3}
    assert made.get(f"{PATH}/state?leaf={turn_id(1)}")["params"] == {"a": 1}
    assert made.get(f"{PATH}/state?at_seq=2")["params"] == {"a": 2}


def test_the_summary_is_three_figures(made: Site) -> None:
    made.capture(payload(said(1, "a"), said(2, "b")))
    made.capture(payload(said(3, "", "system", metadata={"memory": {"state_only": True}})))
    row = made.get("/api/conversations")["sessions"][0]
    assert made.get(f"{PATH}/summary") == {
        "success": True,
        "session_id": SESSION,
        "version": 2,
        "message_count": 2,
        "session_started": row["created_at"],
        "last_activity": row["last_activity"],
    }


def test_the_counts_are_of_the_history_that_is_asked_for(made: Site) -> None:
    usage = {"prompt_tokens": 5, "completion_tokens": 2, "total_tokens": 7}
    made.capture(payload(said(1, "a"), said(2, "b", "assistant", token_usage=usage)))
    made.capture(payload(said(3, "c", "assistant", token_usage=usage), conversation=turn_id(50)))
    found = made.get(f"{PATH}/stats")
    assert (found["total_messages"], found["by_role"]) == (3, {"user": 1, "assistant": 2})
    assert found["token_usage"] == {"prompt_tokens": 10, "completion_tokens": 4, "total_tokens": 14}
    assert made.get(f"{PATH}/stats?conversation_id={turn_id(50)}")["total_messages"] == 1


def test_the_figures_of_the_window_add_up_to_the_conversation_that_is_named(made: Site) -> None:
    made.capture(payload(said(1, "a"), said(2, "b")))
    made.capture(payload(said(3, "c", "assistant"), conversation=turn_id(50)))
    found = made.get(f"{PATH}/stats")
    assert (found["total_messages"], found["conversation_id"]) == (3, turn_id(50))
    assert (found["in_context"], found["left_out"]) == (1, 0)
    whole = made.get(f"{PATH}/stats?scope=session")
    assert (whole["conversation_id"], whole["in_context"] + whole["left_out"]) == (None, 3)


def test_a_budget_that_no_window_fits_is_said_with_what_is_needed(made: Site) -> None:
    made.capture(payload(said(1, "s" * 3000, "system"), said(2, "b")))
    found = made.get(f"{PATH}/stats?max_tokens=5&model=no-such")
    assert (found["in_context"], found["left_out"], found["warnings"]) == (0, 2, ["unknown_model"])
    assert found["needed"] > 5
    assert found["percent_used"] > 100
    assert found["line"].startswith("no window fits 5 tokens: ")


def test_the_insights_are_those_of_the_session_among_the_others(made: Site) -> None:
    native = {"session": "chat-7", "capture_options": {"derive_ids": True}}
    made.capture(payload(said(1, "Please order the umbrella"), said(9, "Which umbrella?", "assistant"), **native))
    for number in range(5):
        made.capture(payload(said(1, "Please order the book"), session=turn_id(900 + number)))
    found = made.get("/api/conversation/chat-7/insights")
    assert found["topics"][0] == "umbrella"
    assert {name: found[name] for name in ("session_id", "message_count", "user_messages", "duration", "version")} == {
        "session_id": session_uuid("chat-7"),
        "message_count": 2,
        "user_messages": 1,
        "duration": 8.0,
        "version": 1,
    }
    # They change with the other sessions: a tag would say that they do not.
    assert "ETag" not in made.ask("/api/conversation/chat-7/insights").headers


def test_the_store_is_counted_with_an_average(made: Site) -> None:
    assert made.get("/api/stats")["avg_messages_per_session"] == 0
    made.capture(payload(said(1, "a"), said(2, "b")))
    made.capture(payload(said(3, "c"), session=turn_id(901)))
    found = made.get("/api/stats")
    assert {name: found[name] for name in ("sessions", "turns", "events", "avg_messages_per_session")} == {
        "sessions": 2,
        "turns": 3,
        "events": 2,
        "avg_messages_per_session": 1.5,
    }
    assert found["bytes"] > 0


def test_each_of_them_reports_the_session_that_it_was_made_from(made: Site) -> None:
    made.capture(payload(said(1, "a")))
    for asked in ("state", "summary", "stats", "insights"):
        made.telemetry.reports.clear()
        made.get(f"{PATH}/{asked}")
        assert [kind for kind, _ in made.telemetry.reports] == ["begin", "span", "received", "respond", "end"]
        assert made.telemetry.of("respond")[0][:2] == (asked, SESSION)
