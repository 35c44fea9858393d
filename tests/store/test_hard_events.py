"""Events at the edges of what is accepted: whatever was acknowledged can be read, found, sent again and erased."""

import json
import sys
from typing import Any

import pytest

from tests.store.surface import SESSION, Surface, envelope, payload, turn, turn_id

HUGE = 10**400


def sent(body: dict[str, Any]) -> bytes:
    before = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(0)
    try:
        return json.dumps(body).encode()
    finally:
        sys.set_int_max_str_digits(before)


def is_whole(surface: Surface, count: int) -> bool:
    answers = [surface.client.get(path) for path in ("/events/decisions", "/v1/decision-events", "/v1/sessions")]
    return [answer.status_code for answer in answers] == [200] * 3 and len(answers[0].json()["events"]) == count


@pytest.mark.parametrize("role", ["user", "system"])
def test_an_integer_of_four_hundred_digits_is_read_and_erased(role: str, surface: Surface) -> None:
    memory = {"state_only": True} if role == "system" else {}
    first = turn(1, "", role=role, metadata={"memory": memory, "n": HUGE})
    body = envelope(payload(first, turn(2)), confidence=HUGE)
    graph = {"nodes_created": [], "edges_created": []}
    body["payload"]["outputs"] = {"session_id": SESSION, **graph}
    assert surface.post(sent(body)).status_code == 201
    assert is_whole(surface, 1)
    assert surface.erase("turn", turn_id(1))["turns"] == 1
    assert surface.erase("session", SESSION)["turns"] == 1
    assert is_whole(surface, 1)


@pytest.mark.parametrize("where", ["turn", "event"])
def test_the_last_leap_second_of_9999_is_refused_or_listed(where: str, surface: Surface) -> None:
    last = "9999-12-31T23:59:60Z"
    body = envelope(payload(turn(1, timestamp=last) if where == "turn" else turn(1)))
    if where == "event":
        body["timestamp"] = last
    assert surface.post(sent(body)).status_code == (201 if where == "turn" else 400)
    assert is_whole(surface, 1 if where == "turn" else 0)


@pytest.mark.parametrize(("depth", "status"), [(190, 201), (199, 400)])
def test_a_bare_event_is_taken_as_deep_as_it_can_be_given_back(depth: int, status: int, surface: Surface) -> None:
    text = '{"decision_type":"x","execution_ref":"r","timestamp":"2026-03-02T09:00:00Z","context":{"user_id":"d"},"deep":'
    body = f"{text}{'[' * depth}0{']' * depth}}}".encode()
    assert surface.post(body).status_code == status
    if status == 201:
        assert is_whole(surface, 1)
        assert surface.post(body).status_code == 200
        assert surface.erase("user", "d")["events"] == 1
        assert is_whole(surface, 1)


def test_another_body_under_the_reference_of_an_event_that_lost_a_turn_is_a_conflict(surface: Surface) -> None:
    body = envelope(payload(turn(1, "gone"), turn(2)), inputs_hash=None)
    assert surface.post(body).status_code == 201
    surface.erase("turn", turn_id(1))
    assert surface.post(body).status_code == 200
    changed = envelope(payload(turn(1, "gone"), turn(2, "changed"), turn(3)), inputs_hash=None)
    changed["runId"] = body["runId"]
    assert surface.post(changed).status_code == 409
