"""The graph of a capture: all golden vectors, and the laws that hold for every payload."""

import copy
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.core.canonical import inputs_hash
from agent.core.decision import Outputs, constraints_applied
from agent.core.graph import build_graph, is_state_only
from agent.core.native import derive_ids
from tests.conftest import vectors
from tests.strategies import payloads, reordered


@pytest.mark.parametrize("vector", vectors(), ids=lambda vector: vector["name"])
def test_a_golden_vector_comes_out_exactly(vector):
    payload, expected = vector["input"], vector["expected"]
    derive = payload.get("capture_options", {}).get("derive_ids", False)
    native = derive_ids(payload) if derive else payload
    outputs = json.loads(Outputs.of(native).encode("2026-03-02T08:15:00.000000Z"))
    assert outputs.pop("capture_timestamp") == "2026-03-02T08:15:00.000000Z"
    assert outputs == expected["outputs"]
    assert inputs_hash(payload) == expected["inputs_hash"]
    assert list(constraints_applied(native, ids_derived=derive)) == expected["constraints_applied"]


def test_there_are_25_golden_vectors():
    assert len(vectors()) == 25


@given(payloads(), st.randoms())
@settings(deadline=None)
def test_the_same_payload_in_any_key_order_gives_the_same_hash_and_graph(payload, random):
    other = reordered(payload, random.shuffle)
    assert inputs_hash(other) == inputs_hash(payload)
    assert build_graph(other) == build_graph(payload)


@given(payloads())
@settings(deadline=None)
def test_building_the_graph_changes_nothing(payload):
    before = copy.deepcopy(payload)
    build_graph(payload)
    assert payload == before


@given(payloads())
@settings(deadline=None)
def test_every_edge_ends_in_a_node_of_the_capture_or_a_declared_parent(payload):
    graph = build_graph(payload)
    nodes = {node.node_id for node in graph.nodes}
    declared = {turn["parent_turn_id"].lower() for turn in payload["turns"] if turn.get("parent_turn_id")}
    for edge in graph.edges:
        assert edge.from_node_id in nodes
        assert edge.to_node_id in nodes or (edge.edge_type == "follows" and edge.to_node_id in declared)


@given(payloads())
@settings(deadline=None)
def test_every_turn_belongs_to_the_session_whatever_the_options(payload):
    session = payload["session_id"].lower()
    belonging = [edge.from_node_id for edge in build_graph(payload).edges if edge.edge_type == "belongs_to"]
    assert belonging == [turn["turn_id"].lower() for turn in payload["turns"]]
    assert all(edge.to_node_id == session for edge in build_graph(payload).edges if edge.edge_type == "belongs_to")


@given(payloads())
@settings(deadline=None)
def test_node_ids_and_edge_ids_appear_once(payload):
    graph = build_graph(payload)
    assert len({node.node_id for node in graph.nodes}) == len(graph.nodes)
    edges = json.loads(graph.edges_json())
    assert len({edge["edge_id"] for edge in edges}) == len(graph.edges) == len(edges)
    assert len(json.loads(graph.nodes_json())) == len(graph.nodes)


@given(payloads())
@settings(deadline=None)
def test_without_lineage_only_belonging_and_calls_remain(payload):
    payload["capture_options"] = {"create_lineage": False}
    assert {edge.edge_type for edge in build_graph(payload).edges} <= {"belongs_to", "invokes"}


@given(payloads())
@settings(deadline=None)
def test_an_assistant_answers_the_nearest_user_turn_up_its_own_chain(payload):
    payload.pop("capture_options", None)
    turns = {turn["turn_id"].lower(): turn for turn in payload["turns"]}
    order = list(turns)
    answers = {
        edge.from_node_id: edge.to_node_id
        for edge in build_graph(payload).edges
        if edge.edge_type == "responds_to" and turns[edge.from_node_id]["role"] == "assistant"
    }

    def parent(turn_id):
        turn = turns[turn_id]
        if "parent_turn_id" in turn:
            return turn["parent_turn_id"] and turn["parent_turn_id"].lower()
        place = order.index(turn_id)
        return order[place - 1] if place else None

    for turn_id, turn in turns.items():
        chain = []
        above = parent(turn_id)
        while above in turns:
            chain.append(above)
            above = parent(above)
        users = [one for one in chain if turns[one]["role"] == "user"]
        systems = [one for one in chain if turns[one]["role"] == "system" and not _state_only(turns[one])]
        expected = (users or systems or [None])[0] if turn["role"] == "assistant" else None
        assert answers.get(turn_id) == expected


def _state_only(turn):
    memory = turn.get("metadata", {}).get("memory")
    return turn["content"] == "" and isinstance(memory, dict) and memory.get("state_only") is True


def test_a_system_turn_with_text_is_a_message_even_if_it_is_marked_state_only():
    turns = [
        {
            "turn_id": "00000000-0000-4000-8000-000000000001",
            "role": "system",
            "content": "Be kind.",
            "metadata": {"memory": {"state_only": True}},
        },
        {"turn_id": "00000000-0000-4000-8000-000000000002", "role": "assistant", "content": "Hello"},
    ]
    graph = build_graph({"session_id": "00000000-0000-4000-8000-00000000000f", "turns": turns})
    assert [edge.edge_type for edge in graph.edges] == ["belongs_to", "belongs_to", "follows", "responds_to"]


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"content": ""}, True),
        ({"content": "words"}, False),
        ({"erased": True}, True),
        ({"erased": True, "content": None}, True),
        ({"erased": True, "content": "words"}, False),
        ({"erased": "true"}, False),
        ({}, False),
        ({"erased": True, "role": "user"}, False),
        ({"erased": True, "metadata": {"memory": {"state_only": 1}}}, False),
    ],
)
def test_a_turn_without_content_carries_state_only_where_it_is_a_skeleton_that_says_so(fields, expected):
    assert is_state_only({"role": "system", "metadata": {"memory": {"state_only": True}}, **fields}) is expected
