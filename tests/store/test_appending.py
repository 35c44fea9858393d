"""POST /v1/decision-events: what is accepted, what is a duplicate, what is a conflict (CONTRACT 10)."""

import json
from typing import Any

import pytest

from agent.core.ids import is_uuid
from tests.store.surface import (
    CAPTURED_AT,
    CONVERSATION,
    OTHER_CONVERSATION,
    SESSION,
    Surface,
    envelope,
    payload,
    ref_of,
    turn,
    turn_id,
)

ALL_ZERO = {"new": 0, "known": 0, "revised": 0, "erased": 0}


def test_a_new_capture_is_answered_201_with_its_whole_receipt(surface: Surface) -> None:
    body = envelope(payload(turn(1), turn(2)))
    answer = surface.post(body)
    assert answer.status_code == 201
    assert answer.headers["content-type"] == "application/json"
    assert is_uuid(answer.json()["eventId"])
    assert answer.json() == {
        "status": "accepted",
        "eventId": answer.json()["eventId"],
        "executionRef": body["runId"],
        "timestamp": CAPTURED_AT,
        "position": 1,
        "turns": {"new": 2, "known": 0, "revised": 0, "erased": 0},
    }


@pytest.mark.parametrize("path", ["/v1/decision-events", "/events/decisions", "/api/v1/decision-events"])
def test_every_alias_takes_the_write(path: str, surface: Surface) -> None:
    assert surface.post(envelope(payload(turn(1))), path=path).status_code == 201


def test_the_same_payload_under_another_execution_ref_is_the_first_event(surface: Surface) -> None:
    first = surface.post(envelope(payload(turn(1), turn(2)), execution_ref="run-1")).json()
    again = surface.post(envelope(payload(turn(1), turn(2)), execution_ref="run-2", timestamp="2026-03-03T00:00:00Z"))
    assert again.status_code == 200
    assert again.json() == {**first, "status": "duplicate", "turns": {**ALL_ZERO, "known": 2}}
    assert len(surface.get("/v1/decision-events")["events"]) == 1
    assert surface.client.get("/v1/decision-events/run-2").status_code == 404


def test_the_same_execution_ref_in_another_case_is_the_same(surface: Surface) -> None:
    ref = ref_of("a")
    first = surface.capture(payload(turn(1)), execution_ref=ref.upper())
    again = surface.capture(payload(turn(1)), execution_ref=ref)
    assert first["executionRef"] == again["executionRef"] == ref
    assert again["status"] == "duplicate"


def test_h14_an_execution_ref_with_another_body_is_a_conflict_and_changes_nothing(surface: Surface) -> None:
    ref = "11111111-2222-4333-8444-555555555555"
    body = envelope(payload(turn(1)), execution_ref=ref)
    first = surface.post(body).json()
    answer = surface.post(envelope(payload(turn(2)), execution_ref=ref))
    assert answer.status_code == 409
    assert answer.json() == {"error": "conflict", "message": "this execution_ref came before, with another body"}
    assert surface.get(f"/v1/decision-events/{ref}") == {**body, "position": 1}
    assert surface.post(body).json() == {**first, "status": "duplicate", "turns": {**ALL_ZERO, "known": 1}}
    assert len(surface.turns()) == 1


def test_a_callers_key_with_another_body_is_a_conflict(surface: Surface) -> None:
    assert surface.post(envelope(payload(turn(1))), key="mine").status_code == 201
    answer = surface.post(envelope(payload(turn(2))), key="mine")
    assert answer.status_code == 409
    assert answer.json()["message"] == "this Idempotency-Key came before, with another body"
    assert surface.post(envelope(payload(turn(1))), key="mine").status_code == 200


def test_a_callers_key_is_bound_also_when_its_payload_was_there_already(surface: Surface) -> None:
    surface.post(envelope(payload(turn(1))))
    assert surface.post(envelope(payload(turn(1))), key="late").status_code == 200
    assert surface.post(envelope(payload(turn(2))), key="late").status_code == 409


def test_a_key_that_equals_the_inputs_hash_is_not_a_callers_key(surface: Surface) -> None:
    one, two = envelope(payload(turn(1))), envelope(payload(turn(2)))
    key = one["payload"]["inputs_hash"]
    assert surface.post(one, key=key).status_code == 201
    assert surface.post(two, key=key).status_code == 201, "nothing was bound to it"
    assert surface.post(one, key=key).status_code == 200
    assert surface.post(envelope(payload(turn(3))), key=key).status_code == 409, "the second writer bound it"


def test_a_conflict_wins_over_a_duplicate(surface: Surface) -> None:
    surface.post(envelope(payload(turn(1)), execution_ref="run-1"))
    surface.post(envelope(payload(turn(2)), execution_ref="run-2"))
    assert surface.post(envelope(payload(turn(2)), execution_ref="run-1")).status_code == 409


def test_a_known_execution_ref_and_a_known_payload_answer_with_the_earlier_event(surface: Surface) -> None:
    body = envelope(payload(turn(1)), execution_ref="run-1")
    first = surface.post(body).json()
    surface.post(envelope(payload(turn(1)), execution_ref="run-2", agent_id="another-agent"))
    answer = surface.post(envelope(payload(turn(1)), execution_ref="run-2"))
    assert (answer.status_code, answer.json()["position"]) == (200, first["position"])


def test_the_same_payload_of_another_agent_is_another_event(surface: Surface) -> None:
    surface.post(envelope(payload(turn(1)), execution_ref="run-1"))
    receipt = surface.post(envelope(payload(turn(1)), execution_ref="run-2", agent_id="another-agent")).json()
    assert receipt["status"] == "accepted"
    assert receipt["turns"] == {**ALL_ZERO, "known": 1}


@pytest.mark.parametrize("stored", [None, "", 7])
@pytest.mark.parametrize("sent", [None, "", "abc"])
def test_bodies_without_a_hash_are_compared_by_their_canonical_form(stored: Any, sent: Any, surface: Surface) -> None:
    event = {"agent_id": "a", "score": 1.50, "big": 10**30, "list": [1e2]}
    first = {
        "type": "plan_approved",
        "runId": "r",
        "timestamp": CAPTURED_AT,
        "payload": {**event, "inputs_hash": stored},
    }
    assert surface.post(first).status_code == 201
    same = json.dumps(first).replace("1.5", "1.500").replace("100.0", "1E2").encode()
    assert surface.post(same).status_code == 200
    other = {**first, "payload": {**event, "inputs_hash": sent}}
    assert surface.post(other).status_code == (200 if stored == sent else 409)
    assert surface.post({**first, "payload": {**event, "score": 1.6}}).status_code == 409


def test_an_event_without_a_hash_is_never_a_duplicate_by_payload(surface: Surface) -> None:
    event = {"type": "plan_approved", "timestamp": CAPTURED_AT, "payload": {"agent_id": "a", "decision_type": "d"}}
    assert [surface.post({**event, "runId": run}).status_code for run in ("1", "2")] == [201, 201]


def test_a_bare_event_stands_for_its_envelope(surface: Surface) -> None:
    event = envelope(payload(turn(1)))["payload"]
    receipt = surface.post(event, path="/api/v1/decision-events").json()
    assert receipt["executionRef"] == event["execution_ref"]
    assert receipt["turns"] == {**ALL_ZERO, "new": 1}
    assert surface.get(f"/v1/decision-events/{event['execution_ref']}") == {
        "type": "conversation_capture",
        "runId": event["execution_ref"],
        "timestamp": CAPTURED_AT,
        "payload": event,
        "position": 1,
    }


def test_a_bare_event_without_inputs_is_kept_and_found_by_its_session(surface: Surface) -> None:
    event = envelope(payload(turn(1)), inputs=None)["payload"]
    receipt = surface.post(json.dumps(event, indent=2).encode() + b"\n").json()
    assert receipt["turns"] == ALL_ZERO
    (found,) = surface.get("/v1/decision-events", session_id=SESSION)["events"]
    assert found["payload"] == event
    assert surface.client.get(f"/v1/sessions/{SESSION}/turns").status_code == 404


def test_a_session_known_from_an_event_without_turns_gets_turns_later(surface: Surface) -> None:
    surface.post(envelope(payload(turn(1)), inputs=None, inputs_hash="other", execution_ref="a"))
    surface.post(envelope(payload(turn(2)), inputs=None, inputs_hash="more", execution_ref="b"))
    surface.capture(payload(turn(1), turn(2)))
    assert [record["seq"] for record in surface.turns()] == [1, 2]
    assert len(surface.get("/v1/decision-events", session_id=SESSION)["events"]) == 3


def test_an_event_of_another_type_comes_back_as_it_came(surface: Surface) -> None:
    event = {
        "type": "plan_approved",
        "runId": "any string, even this / one",
        "timestamp": "2026-03-02T10:15:00+02:00",
        "payload": {"inputs": payload(turn(1)), "decision_type": "plan", "n": 1e-7, "s": "\u0000é\U0001f680"},
        "extra": [1, {"a": None}],
    }
    assert surface.post(event).json()["turns"] == ALL_ZERO
    assert surface.get("/v1/decision-events/any string, even this %2F one") == {**event, "position": 1}


def test_an_envelope_that_another_store_fed_gets_the_position_of_this_one(surface: Surface) -> None:
    body = envelope(payload(turn(1)))
    surface.post({**body, "position": 4711})
    other = {"type": "t", "runId": "r", "timestamp": CAPTURED_AT, "position": 4712, "payload": {"f": 2.5}}
    surface.post(other)
    assert surface.get(f"/v1/decision-events/{body['runId']}") == {**body, "position": 1}
    assert surface.get("/v1/decision-events/r") == {**other, "position": 2}


ODD_INPUTS: list[Any] = [
    [],
    "text",
    {},
    {"session_id": SESSION, "conversation_id": CONVERSATION},
    {"session_id": SESSION, "conversation_id": CONVERSATION, "turns": {}},
    {"session_id": SESSION, "conversation_id": CONVERSATION, "turns": []},
    {"session_id": SESSION, "conversation_id": CONVERSATION, "turns": ["x"]},
    {"session_id": SESSION, "conversation_id": CONVERSATION, "turns": [{"content": "no id"}]},
    {"session_id": SESSION, "conversation_id": CONVERSATION, "turns": [{"turn_id": 7}]},
    {"session_id": SESSION, "conversation_id": CONVERSATION, "turns": [turn(1), turn(1)]},
    {"session_id": SESSION, "conversation_id": CONVERSATION, "turns": [turn(1), turn(2, turn_id="x")]},
    {"session_id": SESSION, "conversation_id": CONVERSATION, "turns": [turn(1, parent_turn_id="call_1")]},
    {"session_id": "s", "conversation_id": CONVERSATION, "turns": [turn(1)]},
    {"session_id": SESSION, "conversation_id": None, "turns": [turn(1)]},
]


@pytest.mark.parametrize("inputs", ODD_INPUTS, ids=range(len(ODD_INPUTS)))
def test_a_capture_with_odd_inputs_is_kept_and_makes_no_turns(inputs: Any, surface: Surface) -> None:
    body = envelope(payload(turn(1)), inputs=inputs)
    answer = surface.post(body)
    assert (answer.status_code, answer.json()["turns"]) == (201, ALL_ZERO)
    assert surface.get(f"/v1/decision-events/{body['runId']}") == {**body, "position": 1}
    assert surface.client.get(f"/v1/sessions/{SESSION}/turns").status_code == 404


ODD_MEMBERS: list[dict[str, Any]] = [
    {"metadata": "text"},
    {"metadata": {"memory": "text", "derived": "timestamp"}},
    {"metadata": {"memory": {"leaf": "not an id"}, "derived": [1, None, "absent"]}},
    {"metadata": {"memory": {"leaf": 7}, "derived": ["turn_id", "turn_id"]}},
    {"tool_invocations": "text"},
    {"tool_invocations": ["text", {"invocation_id": 7}, {"tool_name": "t"}, {"invocation_id": "call_1"}]},
    {"role": None, "content": [1.5, {"\U0001f680": 10**40}]},
    {"token_usage": {"total_tokens": 1e300}},
]


@pytest.mark.parametrize("members", ODD_MEMBERS, ids=range(len(ODD_MEMBERS)))
def test_odd_members_of_a_turn_are_kept_and_known_again(members: dict[str, Any], surface: Surface) -> None:
    surface.capture(payload(turn(1, **members)))
    receipt = surface.capture(payload(turn(1, **members), turn(2)))
    assert receipt["turns"] == {**ALL_ZERO, "known": 1, "new": 1}
    first = surface.turns()[0]
    assert {name: first[name] for name in members} == members


@pytest.mark.parametrize("applied", [None, "content_omitted", [["content_omitted"], 7]])
def test_odd_constraints_say_nothing_about_the_content(applied: Any, surface: Surface) -> None:
    surface.capture(payload(turn(1, "a")), constraints_applied=applied)
    surface.capture(payload(turn(1, "b")), constraints_applied=["content_omitted"])
    assert surface.turns()[0]["content"] == "a"


def test_a_type_that_the_payload_contradicts_makes_no_turns(surface: Surface) -> None:
    assert surface.capture(payload(turn(1)), decision_type="another")["turns"] == ALL_ZERO


def test_h29_a_history_sent_again_and_again_is_stored_once(surface: Surface) -> None:
    for count in (2, 4, 6):
        surface.capture(payload(*[turn(number) for number in range(1, count + 1)]))
    assert len(surface.get("/v1/decision-events", session_id=SESSION)["events"]) == 3
    assert [record["turn_id"] for record in surface.turns()] == [turn_id(number) for number in range(1, 7)]


def test_h20_equal_times_and_falling_ids_keep_the_order_sent(surface: Surface) -> None:
    sent = [turn(100 - place, f"t{place}", timestamp="2026-03-02T09:00:00Z") for place in range(6)]
    surface.capture(payload(*sent))
    for _ in range(50):
        assert [record["content"] for record in surface.turns()] == ["t0", "t1", "t2", "t3", "t4", "t5"]


def test_h19_times_come_back_verbatim(surface: Surface) -> None:
    times = ["2026-03-02T10:15:00+02:00", "2026-03-02T08:15:01.250000Z", "2026-03-02T08:15:02+00:00"]
    surface.capture(payload(*[turn(n, timestamp=time) for n, time in enumerate(times, 1)]))
    assert [record["timestamp"] for record in surface.turns()] == times


def test_a_known_turn_in_another_conversation_keeps_its_conversation_seq_and_parent(surface: Surface) -> None:
    surface.capture(payload(turn(1), turn(2)))
    surface.capture(payload(turn(3), turn(2, "changed"), conversation=OTHER_CONVERSATION))
    second = surface.turns()[1]
    assert (second["seq"], second["conversation_id"], second["parent_turn_id"]) == (2, CONVERSATION, turn_id(1))
    assert (second["content"], second["revisions"], second["version"]) == ("changed", 2, 2)


def test_a_revision_keeps_the_derived_fields_of_the_first_arrival(surface: Surface) -> None:
    def sent(content: str, time: str) -> dict[str, Any]:
        return payload(turn(1, content, timestamp=time, model="m", metadata={"derived": ["timestamp", "absent"]}))

    surface.capture(sent("a", "2026-01-01T00:00:00Z"))
    surface.capture(sent("b", "2027-01-01T00:00:00Z"))
    receipt = surface.capture(sent("b", "2028-01-01T00:00:00Z"))
    assert receipt["turns"] == {**ALL_ZERO, "known": 1}
    surface.capture(sent("c", "2029-01-01T00:00:00Z"))
    (record,) = surface.turns()
    assert (record["content"], record["timestamp"], record["revisions"]) == ("c", "2026-01-01T00:00:00Z", 3)


def test_a_record_shows_the_stores_words_where_a_turn_uses_the_same_names(surface: Surface) -> None:
    body = payload(turn(1, seq=77, version="mine", erased=True, captured_at=None))
    receipt = surface.capture(body)
    (record,) = surface.turns()
    assert (record["seq"], record["version"], record["erased"], record["captured_at"]) == (1, 1, False, CAPTURED_AT)
    assert surface.get(f"/v1/decision-events/{receipt['executionRef']}")["payload"]["inputs"] == body


def test_a_turn_of_nothing_but_its_id_has_a_record(surface: Surface) -> None:
    surface.capture(payload({"turn_id": turn_id(1)}, {"turn_id": turn_id(2), "parent_turn_id": None}))
    assert [record["parent_turn_id"] for record in surface.turns()] == [None, None]
    assert surface.turns()[0].keys() == {
        "turn_id",
        "seq",
        "parent_turn_id",
        "conversation_id",
        "captured_at",
        "version",
        "execution_ref",
        "revisions",
        "erased",
    }


def test_a_payload_of_inputs_alone_makes_turns(surface: Surface) -> None:
    body = {
        "type": "conversation_capture",
        "runId": "r",
        "timestamp": CAPTURED_AT,
        "payload": {"inputs": payload(turn(1))},
    }
    assert surface.post(body).json()["turns"] == {**ALL_ZERO, "new": 1}
    assert surface.get("/v1/decision-events/r") == {**body, "position": 1}
