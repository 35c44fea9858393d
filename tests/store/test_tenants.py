"""One store key is one tenant: two of them with the same ids never meet (CONTRACT 10)."""

import json
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from store.errors import NotFound
from store.port import Actor, EventsQuery
from tests.store.engines import IN_PROCESS, opened
from tests.store.surface import SESSION, Surface, envelope, payload, turn, turn_id

Pair = tuple[Surface, Surface]
CONTEXT = {"context": {"user_id": "anna", "agent_id": "shop", "tags": ["t"]}}


@pytest.fixture(params=IN_PROCESS)
def pair(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Pair]:
    """Two tenants of one store."""
    with opened(request.param, tmp_path) as surface:
        yield Surface(surface.store, tenant=str(uuid.uuid4())), Surface(surface.store, tenant=str(uuid.uuid4()))


def everything(surface: Surface) -> str:
    sessions = surface.sessions()
    lists = [surface.events(), surface.get("/events/decisions")["events"], sessions, surface.get("/v1/stats")]
    turns = [surface.turns(row["session_id"]) for row in sessions]
    found = [surface.sessions(**{name: value}) for name, value in CONTEXT["context"].items() if name != "tags"]
    return json.dumps([lists, turns, found, surface.sessions(q="t1"), surface.sessions(tag="t")])


def test_the_same_payload_of_two_tenants_is_two_events(pair: Pair) -> None:
    body = envelope(payload(turn(1), **CONTEXT))
    receipts = [surface.post(body, key="mine").json() for surface in pair]
    assert [receipt["status"] for receipt in receipts] == ["accepted", "accepted"]
    assert [receipt["position"] for receipt in receipts] == [1, 1]


def test_an_execution_ref_and_a_callers_key_are_bound_for_one_tenant(pair: Pair) -> None:
    one, other = pair
    one.post(envelope(payload(turn(1)), execution_ref="run"), key="mine")
    assert other.post(envelope(payload(turn(2)), execution_ref="run"), key="mine").status_code == 201
    assert one.event("run")["payload"] != other.event("run")["payload"]


def test_positions_of_a_tenant_have_no_gaps_from_another(pair: Pair) -> None:
    for number in range(1, 9):
        for surface in pair[: 1 + number % 2]:
            surface.capture(payload(turn(number)))
    one, other = pair
    one.erase("turn", turn_id(1))
    other.capture(payload(turn(90)))
    assert [event["position"] for event in one.events()] == [1, 2, 3, 4, 5, 6, 7, 8]
    assert [event["position"] for event in other.events()] == [1, 2, 3, 4, 5]
    assert [event["position"] for event in other.get("/events/decisions")["events"]] == [1, 2, 3, 4, 5]


def test_a_turn_of_one_tenant_is_new_to_another_and_its_tree_is_its_own(pair: Pair) -> None:
    one, other = pair
    one.capture(payload(turn(1), turn(2)))
    assert other.capture(payload(turn(2), turn(3)))["turns"] == {"new": 2, "known": 0, "revised": 0, "erased": 0}
    assert [record["parent_turn_id"] for record in other.turns()] == [None, turn_id(2)]
    assert [record["seq"] for record in other.turns()] == [1, 2]


def test_a_tenant_sees_and_counts_nothing_of_another(pair: Pair) -> None:
    one, other = pair
    empty = everything(other)
    receipt = one.capture(payload(turn(1), **CONTEXT))
    assert everything(other) == empty
    for path in (f"/v1/sessions/{SESSION}", f"/v1/sessions/{SESSION}/turns", "/v1/users/anna/export",
                 f"/v1/decision-events/{receipt['executionRef']}"):  # fmt: skip
        assert other.client.get(path).status_code == 404
        assert one.client.get(path).status_code == 200


def test_a_tenant_erases_nothing_of_another(pair: Pair) -> None:
    one, other = pair
    for surface in pair:
        surface.capture(payload(turn(1), **CONTEXT))
        surface.capture(payload(turn(2), session=turn_id(9), **CONTEXT))
    before = everything(other)
    for kind, name in (("turn", turn_id(1)), ("session", SESSION), ("user", "anna")):
        one.erase(kind, name)
    assert everything(other) == before
    assert other.capture(payload(turn(1), note="n", session=turn_id(8)))["turns"]["new"] == 1, "no tombstone here"


def test_what_only_another_tenant_has_cannot_be_erased(pair: Pair) -> None:
    one, other = pair
    one.capture(payload(turn(1), **CONTEXT))
    for path in (f"/v1/sessions/{SESSION}", f"/v1/turns/{turn_id(1)}", "/v1/users/anna"):
        assert other.client.delete(path).status_code == 404
    assert one.turns()[0]["erased"] is False


def test_an_audit_tells_a_tenant_of_its_own_acts_alone(pair: Pair) -> None:
    one, other = pair
    one.capture(payload(turn(1)))
    one.erase("turn", turn_id(1))
    assert len(one.get("/v1/audit")["audit"]) == 1
    assert other.get("/v1/audit") == {"audit": [], "next_after": None}


def test_a_cursor_of_one_tenant_shows_another_nothing_but_its_own(pair: Pair) -> None:
    one, other = pair
    for number in range(1, 4):
        one.capture(payload(turn(number), session=turn_id(100 + number)))
    other.capture(payload(turn(9)))
    for path, name in (("/v1/decision-events", "cursor"), ("/v1/sessions", "cursor"), ("/events/decisions", "after")):
        cursor = one.get(path, limit=1)["next_cursor"]
        answer = other.client.get(path, params={name: cursor})
        assert answer.status_code in (200, 400)
        assert turn_id(101) not in answer.text
        assert turn_id(102) not in answer.text


@pytest.mark.parametrize("name", ["default", "a", "é\U0001f680", "x" * 300, "'; --"])
def test_a_tenant_may_have_any_name(name: str, in_process: Surface) -> None:
    store: Any = in_process.store
    tenant = f"{name} {uuid.uuid4()}"
    surface = Surface(store, tenant=tenant)
    surface.capture(payload(turn(1)))
    assert len(store.events(EventsQuery(), tenant=tenant).events) == 1
    with pytest.raises(NotFound):
        store.erase_turn(uuid.UUID(turn_id(2)).bytes, Actor("k", datetime.now(UTC)), tenant=tenant)


def test_a_tenant_that_never_wrote_has_nothing(in_process: Surface) -> None:
    surface = Surface(in_process.store, tenant=str(uuid.uuid4()))
    assert surface.get("/v1/decision-events") == {"events": [], "next_cursor": None}
    assert surface.get("/v1/sessions") == {"sessions": [], "next_cursor": None}
    assert surface.get("/v1/stats") == {"sessions": 0, "turns": 0, "events": 0, "bytes": 0}
    assert surface.client.get("/v1/users/anna/export").status_code == 404
    assert surface.client.delete("/v1/users/anna").status_code == 404
