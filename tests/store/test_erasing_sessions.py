"""DELETE /v1/sessions/{id}: what goes, what stays, what the receipt says (CONTRACT 10a)."""

import json
from typing import Any

from tests.store.surface import (
    CAPTURED_AT,
    CONVERSATION,
    OTHER_CONVERSATION,
    SESSION,
    Surface,
    envelope,
    payload,
    turn,
    turn_id,
)

OTHER_SESSION = "7a7a7a7a-0000-4000-8000-00000000000a"
USAGE = {"prompt_tokens": 12, "completion_tokens": 4, "total_tokens": 16}
CALL = {"tool_name": "SECRET", "invocation_id": turn_id(77), "arguments": {"n": "SECRET"}, "success": True}
# Each member of it says SECRET wherever the contract lets a caller say anything.
SECRET = payload(
    turn(1, "SECRET", metadata={"agent": "SECRET", "SECRET": "SECRET"}, SECRET="SECRET"),
    turn(2, "SECRET", parent_turn_id=None, tool_invocations=[CALL], token_usage=USAGE, model="SECRET"),
    context={"user_id": "SECRET", "agent_id": "SECRET", "source_system": "SECRET", "tags": ["SECRET"]},
    native_session_id="SECRET",
    SECRET=["SECRET"],
)
OUTPUTS = {
    "conversation_id": CONVERSATION,
    "session_id": SESSION,
    "nodes_created": [{"node_id": turn_id(1), "node_type": "prompt", "turn_index": 0}],
    "edges_created": [],
    "capture_timestamp": CAPTURED_AT,
    "turn_count": 2,
    "total_tokens": 16,
}
ENTITY = {"turn_id": turn_id(1), "type": "SECRET", "start": 0, "end": 6, "text_sha256": "SECRET", "text": "SECRET"}


def secret_event() -> dict[str, Any]:
    telemetry = {"duration_ms": 1, "memory_bytes": 2, "redactions": {"email": 1}}
    outputs = {**OUTPUTS, "entities": [ENTITY], "SECRET": "SECRET"}
    body = envelope(SECRET, outputs=outputs, telemetry=telemetry, stored_inputs_hash="cd" * 32, SECRET="SECRET")
    return {**body, "SECRET": {"SECRET": "SECRET"}}


def everything(surface: Surface) -> str:
    """All that the store says, by whichever way."""
    sessions = surface.sessions()
    turns = [surface.turns(row["session_id"]) for row in sessions]
    feed = surface.get("/events/decisions", limit=1000)["events"]
    return json.dumps([surface.events(), feed, sessions, turns])


def test_an_erased_session_says_no_secret_anywhere(surface: Surface) -> None:
    assert surface.post(secret_event()).status_code == 201
    assert everything(surface).count("SECRET") > 20
    surface.erase("session", SESSION)
    assert "SECRET" not in everything(surface)
    assert (
        surface.sessions(user_id="SECRET")
        == surface.sessions(agent_id="SECRET")
        == surface.sessions(tag="SECRET")
        == []
    )
    assert surface.sessions(q="SECRET") == []


def test_the_receipt_says_what_how_much_when_and_by_whom(surface: Surface) -> None:
    surface.capture(payload(turn(1), turn(2)))
    surface.capture(payload(turn(2), turn(3)))
    surface.capture(payload(turn(9), session=OTHER_SESSION))
    receipt = surface.erase("session", SESSION)
    assert {name: receipt[name] for name in ("status", "kind", "position", "sessions", "turns", "events")} == {
        "status": "erased",
        "kind": "session",
        "position": 4,
        "sessions": 1,
        "turns": 3,
        "events": 2,
    }
    assert receipt["files"] in ("rewritten", "pending")
    assert receipt["key_name"]
    assert receipt["at"].endswith("Z")


def test_an_event_of_an_erased_session_keeps_its_skeleton(surface: Surface) -> None:
    body = secret_event()
    surface.post(body)
    surface.erase("session", SESSION.upper())
    calls = [{"invocation_id": turn_id(77)}]
    sent = body["payload"]
    assert surface.event(body["runId"]) == {
        "type": "conversation_capture",
        "runId": body["runId"],
        "source": "conversation-memory-agent",
        "timestamp": CAPTURED_AT,
        "position": 1,
        "erased": True,
        "payload": {
            **{name: sent[name] for name in ("agent_id", "agent_version", "decision_type", "inputs_hash")},
            **{name: sent[name] for name in ("stored_inputs_hash", "confidence", "constraints_applied")},
            **{name: sent[name] for name in ("execution_ref", "timestamp", "telemetry")},
            "outputs": OUTPUTS,
            "inputs": {
                "session_id": SESSION,
                "conversation_id": CONVERSATION,
                "turns": [
                    {"turn_id": turn_id(1), "role": "user", "erased": True},
                    {
                        "turn_id": turn_id(2),
                        "role": "assistant",
                        "parent_turn_id": None,
                        "tool_invocations": calls,
                        "erased": True,
                    },
                ],
            },
        },
    }
    assert surface.events() == [surface.event(body["runId"])] == surface.get("/events/decisions")["events"]


def test_a_turn_of_an_erased_session_keeps_its_place_and_role(surface: Surface) -> None:
    first = surface.capture(payload(turn(1), turn(2)))
    surface.capture(payload(turn(2, "revised"), turn(3)), timestamp="2026-03-02T08:16:00Z")
    before = surface.turns()
    surface.erase("session", SESSION)
    names = ("turn_id", "seq", "parent_turn_id", "conversation_id", "captured_at", "execution_ref", "revisions", "role")
    after = surface.turns()
    assert after == [{**{name: record[name] for name in names}, "version": 3, "erased": True} for record in before]
    assert after[0]["execution_ref"] == first["executionRef"]
    assert surface.turns(changed_after=2) == after


def test_an_erased_session_stays_listed_with_its_numbers_and_no_word(surface: Surface) -> None:
    surface.post(secret_event())
    surface.capture(payload(turn(3)), timestamp="2026-03-02T09:00:00Z")
    surface.erase("session", SESSION)
    assert surface.session() == {
        "session_id": SESSION,
        "first_user_content": None,
        "created_at": "2026-03-02T08:15:00.000000Z",
        "last_activity": "2026-03-02T09:00:00.000000Z",
        "first_turn_at": None,
        "last_turn_at": None,
        "turn_count": 3,
        "agents": [],
        "users": [],
        "tags": [],
        "version": 3,
    }
    assert surface.sessions() == [surface.session()]
    assert surface.sessions(conversation_id=CONVERSATION) == [surface.session()]


def test_another_session_with_the_same_turns_and_user_keeps_its_content(surface: Surface) -> None:
    surface.post(secret_event())
    other = {**SECRET, "session_id": OTHER_SESSION}
    body = envelope(other)
    surface.post(body)
    row, turns = surface.session(OTHER_SESSION), surface.turns(OTHER_SESSION)
    surface.erase("session", SESSION)
    assert (surface.session(OTHER_SESSION), surface.turns(OTHER_SESSION)) == (row, turns)
    assert surface.event(body["runId"]) == {**body, "position": 2}
    assert [found["session_id"] for found in surface.sessions(user_id="SECRET")] == [OTHER_SESSION]


def test_events_without_turns_that_name_the_session_are_emptied_too(surface: Surface) -> None:
    bare = envelope(payload(turn(1)), inputs=None, outputs={"session_id": SESSION, "x": "SECRET"})["payload"]
    plan = {
        "type": "plan_approved",
        "runId": "plan",
        "timestamp": CAPTURED_AT,
        "payload": {"inputs": {"session_id": SESSION, "turns": "SECRET"}, "SECRET": "SECRET", "agent_id": "planner"},
    }
    surface.post(bare)
    surface.post(plan)
    receipt = surface.erase("session", SESSION)
    assert (receipt["sessions"], receipt["turns"], receipt["events"]) == (1, 0, 2)
    assert "SECRET" not in everything(surface)
    assert surface.event("plan")["payload"]["agent_id"] == "planner"
    assert surface.event("plan")["payload"]["inputs"]["session_id"] == SESSION
    assert [event["erased"] for event in surface.events(session_id=SESSION)] == [True, True]
    assert surface.client.get(f"/v1/sessions/{SESSION}").status_code == 404


def test_a_second_erasure_changes_nothing(surface: Surface) -> None:
    surface.post(secret_event())
    surface.erase("session", SESSION)
    before = everything(surface)
    receipt = surface.erase("session", SESSION)
    assert (receipt["position"], receipt["sessions"], receipt["turns"], receipt["events"]) == (3, 0, 0, 0)
    assert everything(surface) == before


def test_an_erasure_takes_a_position_and_no_place_among_the_events(surface: Surface) -> None:
    surface.capture(payload(turn(1)))
    assert surface.erase("session", SESSION)["position"] == 2
    assert surface.capture(payload(turn(2), session=OTHER_SESSION))["position"] == 3
    assert [event["position"] for event in surface.events()] == [1, 3]
    assert surface.get("/v1/stats")["events"] == 2


def test_counts_of_what_is_there_include_what_is_empty(surface: Surface) -> None:
    surface.post(secret_event())
    before = surface.get("/v1/stats")
    surface.erase("session", SESSION)
    after = surface.get("/v1/stats")
    assert {**after, "bytes": 0} == {**before, "bytes": 0}
    assert after["bytes"] < before["bytes"]


def test_what_comes_after_an_erasure_is_a_sessions_content_again(surface: Surface) -> None:
    surface.capture(payload(turn(1), context={"user_id": "anna"}))
    surface.erase("session", SESSION)
    context = {"user_id": "bert", "tags": ["new"]}
    sent = payload(turn(3, "after", token_usage=USAGE), context=context, native_session_id="chat")
    receipt = surface.capture(sent, timestamp="2026-03-02T10:00:00Z")
    assert receipt["turns"] == {"new": 1, "known": 0, "revised": 0, "erased": 0}
    row = surface.session()
    assert (row["first_user_content"], row["users"], row["tags"], row["turn_count"]) == ("after", ["bert"], ["new"], 2)
    assert (row["native_session_id"], row["total_tokens"], row["version"]) == ("chat", 16, 3)
    assert (row["first_turn_at"], row["last_turn_at"]) == ("2026-03-02T08:00:00.000000Z",) * 2
    assert surface.turns()[1]["parent_turn_id"] == turn_id(1)
    receipt = surface.erase("session", SESSION)
    assert (receipt["sessions"], receipt["turns"], receipt["events"]) == (1, 1, 1)


def test_a_session_that_was_never_named_is_404(surface: Surface) -> None:
    surface.capture(payload(turn(1)))
    for name in (OTHER_SESSION, "abc", turn_id(1)):
        answer = surface.client.delete(f"/v1/sessions/{name}")
        assert (answer.status_code, answer.json()["error"]) == (404, "not_found")
    assert surface.capture(payload(turn(2)))["position"] == 2, "a refusal takes no position"


def test_branches_of_an_erased_session_keep_their_shape(surface: Surface) -> None:
    surface.capture(payload(turn(1), turn(2)))
    surface.capture(payload(turn(3, parent_turn_id=turn_id(1)), turn(4), conversation=OTHER_CONVERSATION))
    before = [(record["turn_id"], record["parent_turn_id"], record["conversation_id"]) for record in surface.turns()]
    surface.erase("session", SESSION)
    after = [(record["turn_id"], record["parent_turn_id"], record["conversation_id"]) for record in surface.turns()]
    assert after == before


def test_a_query_on_an_erasure_is_refused_and_erases_nothing(surface: Surface) -> None:
    surface.capture(payload(turn(1)))
    assert surface.client.delete(f"/v1/sessions/{SESSION}", params={"dry_run": "1"}).status_code == 400
    assert surface.turns()[0]["content"] == "t1"
