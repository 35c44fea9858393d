"""``GET .../graph``: one graph over all captures of a session, as nodes and edges or drawn."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.cli.memory.dot_reader import read_digraph
from tests.cli.memory.mermaid_reader import read_flowchart
from tests.recall.http.site import SESSION, Site, error_of, payload, said, site, turn_id

PATH = f"/api/conversation/{SESSION}/graph"
CALL = {"tool_name": "track", "invocation_id": turn_id(77), "arguments": {"n": "\x1b[2J"}}


@pytest.fixture
def made() -> Iterator[Site]:
    with site() as made:
        yield made


def resolved(graph: Any) -> list[tuple[str, int, str]]:
    """The edges that no capture has: the kind, from which turn, to which node."""
    return [
        (edge["edge_type"], int(edge["from_node_id"][-12:], 16), edge["to_node_id"])
        for edge in graph["edges"]
        if edge.get("resolved_on_read")
    ]


def test_a_session_that_was_captured_at_once_has_the_graph_of_its_capture(made: Site) -> None:
    made.capture(payload(said(1, "a"), said(2, "b", "assistant")))
    graph = made.get(PATH)
    assert resolved(graph) == []
    assert [(edge["edge_type"], edge["from_node_id"]) for edge in graph["edges"]] == [
        ("belongs_to", turn_id(1)),
        ("belongs_to", turn_id(2)),
        ("follows", turn_id(2)),
        ("responds_to", turn_id(2)),
    ]
    assert [node["node_type"] for node in graph["nodes"]] == ["session", "prompt", "response"]
    assert graph["version"] == 1


def test_what_joins_two_captures_is_marked_as_resolved_on_read(made: Site) -> None:
    made.capture(payload(said(1, "a"), said(2, "b", "assistant", tool_invocations=[CALL])))
    made.capture(payload(said(3, "c", "tool", tool_invocations=[CALL]), said(4, "d", "assistant")))
    assert resolved(made.get(PATH)) == [("follows", 3, turn_id(2)), ("responds_to", 4, turn_id(1))]


def test_what_a_later_capture_states_is_not(made: Site) -> None:
    made.capture(payload(said(1, "a")))
    made.capture(payload(said(2, "b", "assistant")))
    before = made.ask(PATH)
    assert resolved(before.get_json()) == [("follows", 2, turn_id(1)), ("responds_to", 2, turn_id(1))]
    # Nothing new: the version stays, and the tag does not.
    made.capture(payload(said(1, "a"), said(2, "b", "assistant")))
    after = made.ask(PATH)
    assert resolved(after.get_json()) == []
    assert before.get_json()["version"] == after.get_json()["version"]
    assert before.headers["ETag"] != after.headers["ETag"]


def test_lineage_that_a_capture_did_not_ask_for_is_resolved_on_read(made: Site) -> None:
    made.capture(payload(said(1, "a"), said(2, "b"), capture_options={"create_lineage": False}))
    assert resolved(made.get(PATH)) == [("follows", 2, turn_id(1))]


def test_a_parent_that_is_named_is_stated_and_one_that_is_not_there_is_absent(made: Site) -> None:
    made.capture(payload({**said(1, "a"), "parent_turn_id": turn_id(9)}))
    graph = made.get(PATH)
    assert resolved(graph) == []
    assert [edge["to_node_id"] for edge in graph["edges"] if edge.get("to_absent")] == [turn_id(9)]


def test_a_conversation_is_drawn_alone(made: Site) -> None:
    made.capture(payload(said(1, "a")))
    made.capture(payload(said(2, "b"), conversation=turn_id(50)))
    graph = made.get(f"{PATH}?conversation_id={turn_id(50)}")
    assert [node["node_id"] for node in graph["nodes"]] == [SESSION, turn_id(2)]
    response = made.ask(f"{PATH}?conversation_id=nowhere")
    assert (response.status_code, error_of(response)["message"]) == (404, "the session has no such conversation")


def test_both_drawings_say_what_the_graph_says(made: Site) -> None:
    made.capture(payload(said(1, 'Say "x"\n& <b>'), said(2, "", "assistant", tool_invocations=[CALL])))
    made.capture(payload(said(3, "w" * 50), said(4, "\u202e\x1b[2J")))
    chart = made.ask(f"{PATH}?format=mermaid")
    digraph = made.ask(f"{PATH}?format=dot")
    assert chart.headers["Content-Type"] == "text/plain; charset=utf-8"
    assert digraph.headers["Content-Type"] == "text/vnd.graphviz; charset=utf-8"
    drawn, read = read_flowchart(chart.get_data(as_text=True)), read_digraph(digraph.get_data(as_text=True))
    assert drawn.nodes == {
        "n0": '#1 user: Say "x" & <b>',
        "n1": "#2 assistant",
        "n2": 'calls track(n="\\u001b[2J")',
        "n3": f"#3 user: {'w' * 37}...",
        "n4": "#4 user: \\u202e\\x1b[2J",
    }
    assert {name: attributes["label"] for name, attributes in read.nodes.items()} == drawn.nodes
    assert drawn.edges == read.edges
    assert ("follows, resolved on read", "n3", "n1") in drawn.edges
    assert ("follows", "n1", "n0") in drawn.edges
    assert drawn.classes["currentNode"] == ["n0", "n1", "n3", "n4"]


def test_a_drawing_has_the_tag_of_what_it_shows(made: Site) -> None:
    made.capture(payload(said(1, "a")))
    tag = made.ask(f"{PATH}?format=dot").headers["ETag"]
    assert made.ask(f"{PATH}?format=dot", headers={"If-None-Match": tag}).status_code == 304
    assert made.ask(f"{PATH}?format=mermaid").headers["ETag"] != tag


def test_an_erased_turn_is_a_node_without_a_text(made: Site) -> None:
    made.capture(payload(said(1, "a"), said(2, "secret")))
    made.client.erasure.turn(turn_id(2))
    assert made.get(PATH)["nodes"][2]["erased"] is True
    text = made.ask(f"{PATH}?format=dot").get_data(as_text=True)
    assert "secret" not in text
    assert "#2 user (erased)" in text
