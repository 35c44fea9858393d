"""The graph of a session: the law that ties it to the graph of a capture, and what only a whole session has."""

import json
from collections.abc import Iterable
from contextlib import closing
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings

from agent.bootstrap import capture_service_on, new_id, store_client
from agent.capture.service import CaptureRequest
from agent.config import Settings
from agent.content.policy import FULL
from agent.core.graph import build_graph
from agent.core.ids import edge_id
from agent.core.native import derive_ids
from agent.core.session_graph import SessionGraph, session_graph
from agent.core.turn import SessionTurn
from agent.errors import StoreNotFound
from agent.observability.tracing import NoSpans
from agent.recall.turns import session_turns
from tests.conftest import REPOSITORY, vectors
from tests.core.call_turns import CONVERSATION, SESSION, call_id, captured_at_once, invocation, turn, turn_id
from tests.strategies import payloads

OTHER = "c2c2c2c2-0000-4000-8000-000000000002"
X = call_id("x")


def edges(graph: SessionGraph, *types: str) -> list[tuple[str, int | str, int | str]]:
    """The edges of these types, or all but belongs_to; turns by their numbers, the invocation ``x`` by its name."""
    numbers: dict[str, int | str] = {turn_id(number): number for number in range(1, 100)}
    numbers[X] = "x"
    return [
        (kind, numbers.get(start, start), numbers.get(end, end))
        for kind, start, end in graph.edges
        if kind in types or (not types and kind != "belongs_to")
    ]


def of(turns: Iterable[SessionTurn], **which: str) -> SessionGraph:
    return session_graph(SESSION, turns, **which)


def stored(captures: Iterable[dict[str, Any]]) -> tuple[SessionTurn, ...]:
    """The turns that the embedded store has after these captures."""
    with closing(store_client(Settings.from_env({"RUVECTOR_SERVICE_URL": "embedded::memory:"}))) as client:
        for payload in captures:
            request = CaptureRequest(json.dumps(payload).encode(), "native", None, new_id())
            capture_service_on(lambda: client, FULL).capture(request, NoSpans())
            session = payload["session_id"].lower()
        return session_turns(client.reads, session)


def with_lineage(payload: dict[str, Any]) -> dict[str, Any]:
    native = derive_ids(payload) if payload.get("capture_options", {}).get("derive_ids", False) else payload
    return {**native, "capture_options": {"create_lineage": True}}


def assert_same_graph(payload: dict[str, Any], turns: Iterable[SessionTurn]) -> None:
    captured, found = build_graph(payload), session_graph(payload["session_id"].lower(), turns)
    assert {(node.node_id, node.node_type) for node in found.nodes} == {node[:2] for node in captured.nodes}
    assert set(found.edges) == set(captured.edges)
    assert len(found.nodes) == len(captured.nodes)
    assert len(found.edges) == len(captured.edges)


@pytest.mark.parametrize("vector", vectors(), ids=lambda vector: str(vector["name"]))
def test_a_session_that_was_captured_at_once_has_the_graph_of_its_capture(vector: dict[str, Any]) -> None:
    payload = with_lineage(vector["input"])
    assert_same_graph(payload, captured_at_once(payload))
    assert_same_graph(payload, stored([payload]))


@settings(deadline=None, max_examples=300)
@given(payloads())
def test_so_has_any_session_that_was_captured_at_once(payload: dict[str, Any]) -> None:
    payload = with_lineage(payload)
    assert_same_graph(payload, captured_at_once(payload))


@pytest.mark.parametrize("case", vectors("session"), ids=lambda case: str(case["name"]))
def test_the_lineage_of_a_golden_session_is_that_of_its_turn_table(case: dict[str, Any]) -> None:
    graph = of(stored(case["captures"]))
    table = {each["turn_id"]: each["parent_turn_id"] for each in case["expected"]["turns"]}
    assert [each.turn_id for each in graph.turns()] == list(table)
    follows = {start: end for kind, start, end in graph.edges if kind == "follows"}
    assert follows == {name: parent for name, parent in table.items() if parent is not None}
    assert {end for kind, _, end in graph.edges if kind == "belongs_to"} == {graph.session_id}
    assert set(graph.absent) == set(follows.values()) - table.keys()


def test_an_answer_and_a_result_are_found_in_earlier_captures() -> None:
    graph = of(
        [
            turn(1, "user"),
            turn(2, "assistant", invocation("x", "call"), after=1),
            turn(3, "tool", invocation("orphan", "call"), after=2),
            turn(4, "assistant", after=3),
        ]
    )
    assert edges(graph, "responds_to", "invokes") == [
        ("responds_to", 2, 1),
        ("invokes", 2, "x"),
        ("responds_to", 3, "x"),
        ("responds_to", 4, 1),
    ]
    assert [node.node_id for node in graph.nodes if node.invocation is not None] == [X]


def test_a_system_turn_is_answered_where_no_user_spoke_and_a_state_only_turn_never() -> None:
    state = {"metadata": {"memory": {"state_only": True}}}
    graph = of(
        [
            turn(1, "system"),
            turn(2, "system", after=1, content="", **state),
            turn(3, "assistant", after=2),
            turn(4, "system", content="", **state),
            turn(5, "assistant", after=4),
            turn(6, "system", after=3, content=None),
            turn(7, "assistant", after=6),
            turn(8, "system", after=6, content=None, **state),
            turn(9, "assistant", after=8),
        ]
    )
    # An erased turn speaks, unless its skeleton says that it did not.
    assert edges(graph, "responds_to") == [("responds_to", 3, 1), ("responds_to", 7, 6), ("responds_to", 9, 6)]
    marked = [node["node_id"] for node in graph.document()["nodes"] if node.get("state_only")]
    assert marked == [turn_id(2), turn_id(4), turn_id(8)]


def test_a_parent_that_came_later_is_above_its_turn() -> None:
    graph = of([turn(1, "assistant", after=2), turn(2, "user")])
    assert edges(graph) == [("follows", 1, 2), ("responds_to", 1, 2)]


def test_a_parent_that_is_not_here_stays_an_edge_and_makes_no_node() -> None:
    graph = of([turn(1, "assistant", after=77), turn(2, "assistant", after=77)])
    assert edges(graph) == [("follows", 1, 77), ("follows", 2, 77)]
    assert [node.node_id for node in graph.nodes] == [SESSION, turn_id(1), turn_id(2)]
    assert graph.absent == (turn_id(77),)
    assert [edge.get("to_absent") for edge in graph.document()["edges"]] == [None, True, None, True]


def test_a_parent_that_closes_a_ring_counts_as_none() -> None:
    assert edges(of([turn(1, "user", after=1)])) == []
    assert edges(of([turn(1, "user", after=2), turn(2, "assistant", after=1)])) == [("follows", 1, 2)]


def test_an_erased_turn_is_a_node_and_what_it_called_is_one_where_another_turn_names_it() -> None:
    graph = of(
        [turn(1, "user"), turn(2, "assistant", after=1, content=None), turn(3, "tool", invocation("X"), after=2)]
    )
    assert edges(graph) == [("follows", 2, 1), ("responds_to", 2, 1), ("follows", 3, 2), ("responds_to", 3, "x")]
    assert graph.document()["nodes"] == [
        {"node_id": SESSION, "node_type": "session"},
        _node(1, "prompt", "user"),
        {**_node(2, "response", "assistant"), "erased": True},
        _node(3, "tool_invocation", "tool"),
        {"node_id": X, "node_type": "tool_invocation", "turn_id": turn_id(3), "tool_name": "look"},
    ]


def _node(number: int, node_type: str, role: str) -> dict[str, Any]:
    name = turn_id(number)
    return {
        "node_id": name,
        "node_type": node_type,
        "turn_id": name,
        "role": role,
        "seq": number,
        "conversation_id": CONVERSATION,
    }


def test_another_writer_s_roles_names_and_ids_make_a_graph_too_where_they_are_uuids() -> None:
    graph = of(
        [
            turn(1, ""),
            turn(2, "robot", invocation("x", tool_name=7), {"tool_name": "look", "invocation_id": "call_1"}, after=1),
            turn(3, "assistant", invocation(turn_id(1)), invocation(SESSION), invocation("X"), after=2),
        ]
    )
    nodes = graph.document()["nodes"]
    assert [(node["node_id"], node["node_type"]) for node in nodes] == [
        (SESSION, "session"),
        (turn_id(1), "prompt"),
        (turn_id(2), "prompt"),
        (X, "tool_invocation"),
        (turn_id(3), "response"),
    ]
    assert "tool_name" not in nodes[3]
    assert edges(graph, "invokes") == [
        ("invokes", 2, "x"),
        ("invokes", 3, 1),
        ("invokes", 3, SESSION),
        ("invokes", 3, "x"),
    ]


def test_a_conversation_has_its_turns_and_those_that_they_continue_and_no_other() -> None:
    turns = [
        turn(1, "user"),
        turn(2, "assistant", invocation("x", "call"), after=1),
        turn(3, "tool", invocation("orphan", "call"), after=2, conversation=OTHER),
        turn(4, "assistant", after=3, conversation=OTHER),
        turn(5, "user", after=2),
    ]
    assert [each.seq for each in of(turns, conversation_id=OTHER).turns()] == [1, 2, 3, 4]
    own = of(turns, conversation_id=CONVERSATION)
    assert [each.seq for each in own.turns()] == [1, 2, 5]
    assert {edge.from_node_id for edge in own.edges} == {turn_id(1), turn_id(2), turn_id(5)}
    with pytest.raises(StoreNotFound):
        of(turns, conversation_id=SESSION)


def test_a_conversation_whose_current_end_stands_in_another_one_has_the_way_there() -> None:
    leaf = {"metadata": {"memory": {"leaf": turn_id(2)}}}
    turns = [turn(1, "user", conversation=OTHER), turn(2, "user", after=1, conversation=OTHER), turn(3, "user", **leaf)]
    assert [each.seq for each in of(turns, conversation_id=CONVERSATION).turns()] == [1, 2, 3]


def test_the_document_keeps_the_published_shapes_and_holds_no_content() -> None:
    schema = json.loads((REPOSITORY / "schemas" / "capture-output.schema.json").read_bytes())
    text = "SECRET-71b"
    entry = {"tool_name": "look", "invocation_id": turn_id(50), "arguments": {"q": text}}
    turns = [
        turn(1, "user", content=text),
        turn(2, "assistant", entry, after=1, content=text, metadata={"note": text}),
        turn(3, "tool", entry, after=2, content=text),
    ]
    document = of(turns).document()
    for name, members in (("GraphNode", document["nodes"]), ("GraphEdge", document["edges"])):
        shape = {**schema["$defs"][name], "$defs": schema["$defs"]}
        for member in members:
            jsonschema.validate(member, shape)
    assert text not in json.dumps(document)
    assert {edge["edge_id"] for edge in document["edges"]} == {edge_id(*edge) for edge in of(turns).edges}


def test_a_conversation_of_ten_thousand_turns_and_one_of_as_many_branches_have_a_graph() -> None:
    count = 10_000
    line = of(
        turn(number, ("assistant", "user")[number % 2], after=number - 1 or None) for number in range(1, count + 1)
    )
    assert len(line.edges) == count + count - 1 + count // 2
    star = of(turn(number, "assistant", after=1 if number > 1 else None) for number in range(1, count + 1))
    assert len(star.edges) == count + count - 1
