"""Events at the edges of what is accepted: whatever was acknowledged can be read, found, sent again and erased."""

import json
import sqlite3
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from agent.core.canonical import canonical
from store.log.identifiers import packed
from store.log.reads import read_events
from store.port import EventsQuery
from store.upkeep.verify import Finding, verify
from store.urls import open_store
from tests.store.surface import CONVERSATION, SESSION, Surface, envelope, payload, ref_of, turn, turn_id

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
    text = (
        '{"decision_type":"x","execution_ref":"r","timestamp":"2026-03-02T09:00:00Z","context":{"user_id":"d"},"deep":'
    )
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


def long_text(number: int) -> str:
    """Text that packing makes little smaller."""
    return " ".join(ref_of(f"{number} {part}") for part in range(20))


SHAPES = {
    "as native": lambda number, snapshot: turn(number, long_text(number)),
    "with ids in upper case": lambda number, snapshot: {
        **turn(number, long_text(number)),
        "turn_id": ref_of(f"turn {number}").upper(),
    },
    "with a time that each snapshot derives anew": lambda number, snapshot: turn(
        number,
        long_text(number),
        timestamp=f"2026-03-02T08:{snapshot:02}:00Z",
        metadata={"derived": ["timestamp"]},
    ),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_a_snapshot_that_is_sent_again_whole_keeps_only_what_is_new(shape: str, in_process: Surface) -> None:
    made = SHAPES[shape]
    for snapshot in range(1, 21):
        in_process.capture(payload(*(made(number, snapshot) for number in range(1, snapshot * 5 + 1))))
    grown = in_process.get("/v1/stats")["bytes"]
    once = envelope(payload(*(made(number, 1) for number in range(1, 101)), session=ref_of("once")))
    assert in_process.post(once).status_code == 201
    # Sent whole, they would be ten times as much.
    assert grown < 1.5 * (in_process.get("/v1/stats")["bytes"] - grown)
    for event in in_process.get("/v1/decision-events")["events"]:
        inputs = event["payload"]["inputs"]
        assert canonical(inputs) == canonical(
            payload(*(made(n, len(inputs["turns"]) // 5) for n in range(1, len(inputs["turns"]) + 1)))
            if inputs["session_id"] == SESSION
            else once["payload"]["inputs"]
        )


def test_an_event_that_another_store_erased_is_erased_here_too(in_process: Surface) -> None:
    in_process.capture(payload(turn(1, "gone"), turn(2)))
    in_process.erase("turn", turn_id(1))
    (fed,) = in_process.get("/events/decisions")["events"]
    with closing(Surface(open_store("sqlite:///:memory:"))) as other:
        assert other.post(fed).json()["turns"] == {"new": 1, "known": 0, "revised": 0, "erased": 1}
        (again,) = other.get("/events/decisions")["events"]
        assert canonical(again) == canonical({**fed, "position": 1})
        receipt = other.capture(payload(turn(1, "gone"), turn(2), turn(3)))
        assert receipt["turns"] == {"new": 1, "known": 1, "revised": 0, "erased": 1}
        findings: list[Finding] = []
        assert verify(other.store, findings.append).erased == 2
        assert findings == []


def test_a_database_that_was_replaced_has_the_tenants_that_it_says(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    store = open_store(f"sqlite:///{path}")
    for tenant in ("a", "b"):
        with_tenant = Surface(store, tenant=tenant)
        with_tenant.capture(payload(turn(1, f"of {tenant}")))
    for file in tmp_path.iterdir():
        file.unlink()
    Surface(store, tenant="b").capture(payload(turn(1, "of b again")))
    Surface(store, tenant="c").capture(payload(turn(1, "of c")))
    for tenant, content in (("b", "of b again"), ("c", "of c")):
        assert [turn["content"] for turn in Surface(store, tenant=tenant).turns()] == [content]
    assert [row["first_user_content"] for row in Surface(store, tenant="a").get("/v1/sessions")["sessions"]] == []
    store.close()


def test_an_erasure_that_is_done_is_answered_though_another_process_writes(tmp_path: Path) -> None:
    surface = Surface(open_store(f"sqlite:///{tmp_path / 'store.db'}"))
    surface.capture(payload(turn(1)))
    engine = surface.store.engine
    scrub = engine.scrub
    with closing(sqlite3.connect(tmp_path / "store.db", isolation_level=None)) as other:

        def held(*, at_most_bytes: int | None = None) -> bool:
            other.execute("BEGIN IMMEDIATE")
            try:
                return scrub(at_most_bytes=at_most_bytes)
            finally:
                other.execute("ROLLBACK")

        engine.scrub = held
        receipt = surface.erase("session", SESSION)
    assert (receipt["turns"], receipt["files"]) == (1, "pending")
    surface.close()


def test_a_list_by_conversation_has_what_came_since_its_labels_were_written(in_process: Surface) -> None:
    in_process.capture(payload(turn(1)))
    assert len(in_process.get("/v1/decision-events", conversation_id=CONVERSATION)["events"]) == 1
    in_process.capture(payload(turn(2), session=ref_of("other")))
    with in_process.store.engine.reading() as connection:
        (tenant,) = connection.execute("SELECT max(tenant) FROM events").fetchone()
        page = read_events(connection, tenant, EventsQuery(conversation_id=packed(CONVERSATION)))
    assert len(page.events) == 2
