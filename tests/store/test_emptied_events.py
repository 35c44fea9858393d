"""What an emptied event still says, where it is of a writer who keeps to no contract, and where its graph is from."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from agent.core.decision import Outputs
from store.urls import open_store
from tests.store.surface import CAPTURED_AT, SESSION, Surface, envelope, payload, turn, turn_id

SESSION_NODE = {"node_id": SESSION, "node_type": "session"}


@pytest.fixture
def surface() -> Iterator[Surface]:
    opened = Surface(open_store("sqlite:///:memory:"))
    yield opened
    opened.close()


def emptied(surface: Surface, sent: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """The payload of the event of ``sent`` after its session was erased."""
    receipt = surface.capture(sent, **changes)
    surface.erase("session", SESSION)
    return dict(surface.event(receipt["executionRef"])["payload"])


def graph_of(sent: dict[str, Any]) -> dict[str, Any]:
    return dict(json.loads(Outputs.of(sent).encode(CAPTURED_AT)))


@pytest.mark.parametrize("create_lineage", [True, False])
def test_the_graph_stays_when_the_options_that_it_was_made_by_go(surface: Surface, create_lineage: bool) -> None:
    sent = payload(turn(1), turn(2), turn(3), capture_options={"create_lineage": create_lineage})
    kept = emptied(surface, sent, outputs=graph_of(sent))
    assert kept["outputs"] == graph_of(sent)
    assert "capture_options" not in kept["inputs"]


def test_an_invocation_that_was_named_by_a_text_goes_from_the_graph_with_its_turn(surface: Surface) -> None:
    calls = [{"tool_name": "t", "invocation_id": "Secret"}, {"tool_name": "t", "invocation_id": turn_id(77)}]
    sent = payload(turn(1), turn(2, tool_invocations=calls))
    expected = graph_of(sent)
    receipt = surface.capture(sent, outputs=graph_of(sent))
    surface.erase("turn", turn_id(2))
    found = surface.event(receipt["executionRef"])["payload"]["outputs"]
    for name in ("nodes_created", "edges_created"):
        expected[name] = [entry for entry in expected[name] if "secret" not in json.dumps(entry)]
    assert found == expected


@pytest.mark.parametrize(
    ("name", "nodes"),
    [
        ("nodes_created", [SESSION_NODE, {"node_id": "secret", "node_type": "prompt"}]),
        ("nodes_created", [{**SESSION_NODE, "label": "secret"}]),
        ("nodes_created", [{**SESSION_NODE, "node_type": "secret"}]),
        ("nodes_created", [{**SESSION_NODE, "turn_index": "secret"}]),
        ("nodes_created", ["secret"]),
        ("nodes_created", {"secret": 1}),
        (
            "edges_created",
            [{"edge_id": SESSION, "edge_type": "secret", "from_node_id": SESSION, "to_node_id": SESSION}],
        ),
        ("edges_created", [{"edge_type": "follows", "from_node_id": SESSION, "to_node_id": "secret"}]),
    ],
)
def test_a_foreign_graph_stays_only_where_it_names_nothing(surface: Surface, name: str, nodes: Any) -> None:
    sent = {"session_id": SESSION, "nodes_created": [SESSION_NODE], "edges_created": [], name: nodes}
    kept = emptied(surface, payload(turn(1)), outputs=sent)["outputs"]
    other = "edges_created" if name == "nodes_created" else "nodes_created"
    assert kept == {"session_id": SESSION, other: sent[other]}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("agent_version", "secret"),
        ("stored_inputs_hash", "secret"),
        ("confidence", "secret"),
        ("confidence", 41791234567),
        ("timestamp", "secret"),
        ("execution_ref", "secret"),
        ("telemetry", "secret"),
        ("inputs_hash_of_mine", "secret"),
        ("agent_id", {"name": "secret"}),
    ],
)
def test_a_member_that_is_not_what_its_name_says_goes(surface: Surface, name: str, value: Any) -> None:
    body = envelope(payload(turn(1)))
    body["payload"][name] = value
    receipt = surface.post(body).json()
    surface.erase("session", SESSION)
    assert name not in surface.event(receipt["executionRef"])["payload"]


def test_of_measures_and_constraints_the_known_ones_stay(surface: Surface) -> None:
    telemetry = {
        "duration_ms": 3,
        "release": "secret",
        "redactions": {"email": 2, "SECRET": 1, "iban": "secret"},
        "x": 1,
    }
    constraints = ["content_redacted", "secret", 7]
    kept = emptied(surface, payload(turn(1)), telemetry=telemetry, constraints_applied=constraints)
    assert kept["telemetry"] == {"duration_ms": 3, "redactions": {"email": 2}}
    assert kept["constraints_applied"] == ["content_redacted"]


def test_an_event_of_another_type_keeps_what_it_is_found_by(surface: Surface) -> None:
    ids = {"session_id": SESSION, "conversation_id": "secret"}
    found_by = {"agent_id": "planner", "decision_type": "plan", "inputs_hash": "1", "timestamp": CAPTURED_AT}
    more = {"confidence": 0.5, "agent_version": "1.0.0", "telemetry": {"duration_ms": 1}, "execution_ref": "plan"}
    plan = {**found_by, **more, "outputs": {**ids, "turn_count": 3}, "inputs": {**ids, "turns": ["secret"]}}
    sent = {"type": "plan", "runId": "plan", "source": "secret", "timestamp": CAPTURED_AT, "payload": plan}
    surface.post(sent)
    surface.erase("session", SESSION)
    only = {"session_id": SESSION}
    assert surface.event("plan") == {
        "type": "plan",
        "runId": "plan",
        "timestamp": CAPTURED_AT,
        "position": 1,
        "erased": True,
        "payload": {**found_by, "execution_ref": "plan", "outputs": only, "inputs": only},
    }
