import unicodedata
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from agent.cli.memory.capturing.answer import Edge, Node, Output
from agent.cli.memory.capturing.inputs_shown import inputs_shown
from agent.cli.memory.drawings.graph_parts import GraphParts
from agent.cli.memory.drawings.graph_tree import Canvas, graph_tree
from agent.core.canonical import encode
from agent.core.decision import Outputs
from agent.core.native import derive_ids
from agent.recall.drawings.shown_turn import ShownCall, ShownTurn
from tests.cli.streams import Screen, printed, terminal
from tests.conftest import vectors
from tests.strategies import payloads

SESSION = "6f1a0000-0000-4000-8000-00000000000a"


def drawn(payload: dict[str, Any], *, width: int = 110, encoding: str = "utf-8") -> list[str]:
    """The lines of the tree of ``payload``."""
    body = encode(payload)
    derives = payload.get("capture_options", {}).get("derive_ids", False)
    native = derive_ids(payload) if derives else payload
    output = Output.model_validate_json(Outputs.of(native).encode("2026-03-02T08:15:00Z"))
    turns = inputs_shown(body, "native", captured_at="2026-03-02T08:15:00Z").turns
    return lines(GraphParts.of(output), turns, width=width, encoding=encoding)


def lines(graph: GraphParts, turns: Sequence[ShownTurn], *, width: int = 110, encoding: str = "utf-8") -> list[str]:
    """The lines of the tree of ``graph``."""
    page = terminal(stdout=Screen(encoding), environ={"COLUMNS": str(width)})
    page.show(graph_tree(graph, turns, Canvas(width, encoding)))
    return printed(page)[0].splitlines()


def identity(number: int) -> str:
    return f"00000000-0000-4000-8000-{number:012}"


def turn(number: int, role: str, content: str = "text", **more: Any) -> dict[str, Any]:
    return {"turn_id": identity(number), "role": role, "content": content, "timestamp": "2026-03-02T08:15:00Z", **more}


def call(number: int, **more: Any) -> dict[str, Any]:
    return {"tool_name": "search", "invocation_id": identity(number), **more}


def payload(*turns: dict[str, Any], **options: Any) -> dict[str, Any]:
    made = {"session_id": SESSION, "conversation_id": SESSION, "turns": list(turns)}
    return {**made, "capture_options": options} if options else made


def test_calls_stand_under_their_turn_and_name_where_their_results_are() -> None:
    tree = drawn(
        payload(
            turn(1, "user", "Trains to Lyon?"),
            turn(2, "assistant", "", tool_invocations=[call(8, arguments={"to": "Lyon", "seats": 2}), call(9)]),
            turn(3, "tool", "three", tool_invocations=[call(9)]),
            turn(4, "tool", "late", tool_invocations=[call(9)]),
            turn(5, "assistant", "Three."),
        )
    )
    assert tree == [
        f"session {SESSION}",
        "├── [0] user      Trains to Lyon?",
        "├── [1] assistant  (answers [0])",
        '│   ├── calls search(to="Lyon", seats=2)  (no result)',
        "│   └── calls search()  (result in [2], [3])",
        "├── [2] tool      three  (result for [1])",
        "├── [3] tool      late  (result for [1])",
        "└── [4] assistant Three.  (answers [0])",
    ]


def test_branches_new_roots_and_links_to_earlier_captures_are_said() -> None:
    tree = drawn(
        payload(
            turn(1, "user", "one", parent_turn_id=identity(77)),
            turn(2, "assistant", "two"),
            turn(3, "assistant", "two again", parent_turn_id=identity(1)),
            turn(4, "user", "anew", parent_turn_id=None),
            turn(5, "tool", "", tool_invocations=[call(66)]),
            turn(6, "user", ""),
        )
    )
    assert tree[1:] == [
        "├── [0] user      one  (follows an earlier capture)",
        "├── [1] assistant two  (answers [0])",
        "├── [2] assistant two again  (follows [0])  (answers [0])",
        "├── [3] user      anew  (a new root)",
        "├── [4] tool       (result for an earlier capture)  (no text)",
        "└── [5] user       (no text)",
    ]


def test_what_a_turn_says_of_the_history_is_said_and_nothing_of_what_it_holds() -> None:
    def state(number: int, **memory: Any) -> dict[str, Any]:
        return turn(number, "system", "", metadata={"memory": {"state_only": True, **memory}})

    tree = drawn(
        payload(
            turn(1, "user", "one"),
            state(2, params={"card": "4111"}),
            state(3, reset="all", keep_last=2),
            state(4, leaf=identity(1).upper()),
            state(5, leaf=identity(77)),
            turn(6, "user", "anew", metadata={"memory": {"reset": True, "keep_last": "4111"}}),
        )
    )
    assert tree[1:] == [
        "├── [0] user      one",
        "├── [1] system     (state only)",
        "├── [2] system     (state only)  (reset all)  (keep_last 2)",
        "├── [3] system     (state only)  (leaf [0])",
        f"├── [4] system     (state only)  (leaf {identity(77)})",
        "└── [5] user      anew  (reset)",
    ]


def test_without_lineage_nothing_is_said_to_follow_or_to_be_a_root() -> None:
    tree = drawn(
        payload(turn(1, "user", "one"), turn(2, "assistant", "two", tool_invocations=[call(8)]), create_lineage=False)
    )
    assert tree[1:] == ["├── [0] user      one", "└── [1] assistant two", "    └── calls search()  (no result)"]


@pytest.mark.parametrize(
    ("arguments", "text"),
    [("raw text", 'search("raw text")'), ([1], "search([1])"), ({}, "search()"), (None, "search()")],
)
def test_arguments_that_are_no_object_are_shown_as_they_are(arguments: object, text: str) -> None:
    tree = drawn(payload(turn(1, "assistant", "", tool_invocations=[call(8, arguments=arguments)])))
    assert tree[-1] == f"    └── calls {text}  (no result)"


def test_a_pipe_that_cannot_hold_lines_gets_plain_ones() -> None:
    assert drawn(payload(turn(1, "user", "Zoë ✅")), encoding="cp1252")[1] == "`-- [0] user      Zoë \\u2705"


def test_a_long_text_gives_way_to_the_links() -> None:
    tree = drawn(payload(turn(1, "user", "x" * 500), turn(2, "assistant", "y" * 500)), width=60)
    assert [len(line) for line in tree[1:]] == [60, 60]
    assert tree[2].endswith("yyy...  (answers [0])")


def test_content_that_is_hostile_to_a_terminal_stays_on_its_line() -> None:
    evil = "\x1b[2J\x1b[1;1Hgone\r\b\n\u202etxet\u2028 完成\x9b2J"
    tree = drawn(
        payload(turn(1, "user", evil, tool_invocations=[{**call(8), "tool_name": evil, "arguments": {evil: evil}}]))
    )
    assert len(tree) == 3
    assert tree[1] == "└── [0] user      \\x1b[2J\\x1b[1;1Hgone \\x08 \\u202etxet 完成\\x9b2J"


@pytest.mark.parametrize("vector", vectors(), ids=lambda vector: str(vector["name"]))
def test_every_golden_capture_can_be_drawn(vector: dict[str, Any]) -> None:
    assert len(drawn(vector["input"])) > len(vector["input"]["turns"])


@settings(deadline=None, max_examples=80)
@given(payloads(), st.sampled_from([60, 110]))
def test_a_node_is_a_line_within_the_width_whatever_its_texts_hold(made: dict[str, Any], width: int) -> None:
    tree = drawn(made, width=width)
    graph = Outputs.of(made).graph
    invokes = sum(edge.edge_type == "invokes" for edge in graph.edges)
    linked = {edge.to_node_id for edge in graph.edges} | {edge.from_node_id for edge in graph.edges}
    named = sum(node.node_id not in linked for node in graph.nodes)
    assert len(tree) == 1 + len(made["turns"]) + invokes + named
    assert all(cell_len(line) <= width for line in tree)
    assert not {unicodedata.category(character) for line in tree for character in line} & {"Cc", "Cf", "Cs", "Co", "Cn"}


def test_an_invocation_without_a_link_stands_under_the_turn_that_names_it() -> None:
    tree = drawn(payload(turn(1, "tool", "three", tool_invocations=[call(8)]), create_lineage=False))
    assert tree[1:] == ["└── [0] tool      three", "    └── names search()  (no link)"]


def node(number: int, node_type: str, turn_index: int | None) -> Node:
    return Node(node_id=identity(number), node_type=node_type, turn_index=turn_index)


def edge(edge_type: str, start: int, end: int | str) -> Edge:
    target = end if isinstance(end, str) else identity(end)
    return Edge(edge_id="e", edge_type=edge_type, from_node_id=identity(start), to_node_id=target)


def test_what_a_damaged_graph_lacks_is_said_where_it_is_missing() -> None:
    nodes = [
        Node(node_id=SESSION, node_type="session"),
        Node(node_id="a second session", node_type="session"),
        node(1, "prompt", 0),
        node(1, "prompt", 0),
        node(2, "response", 1),
        node(3, "tool_invocation", 9),
        node(8, "tool_invocation", 5),
    ]
    edges = [
        *(edge("belongs_to", number, SESSION) for number in (1, 2, 3)),
        edge("belongs_to", 1, SESSION),
        edge("follows", 2, 1),
        edge("follows", 2, 3),
        edge("responds_to", 2, 1),
        edge("responds_to", 2, 3),
        edge("invokes", 2, 8),
        edge("invokes", 77, 8),
        edge("admires", 2, 1),
    ]
    turns = [ShownTurn("user", "one", {}), ShownTurn("assistant", None, {}), ShownTurn(None, "left", {})]
    assert lines(GraphParts(SESSION, tuple(nodes), tuple(edges)), turns) == [
        f"session {SESSION}",
        "├── [0] user      one",
        "├── [1] assistant  (answers [0])",
        "│   └── calls [unknown]  (no result)",
        "├── [9] tool       (a new root)  (not in the inputs)",
        "├── [2] ?         left  (no node)",
        "└── 3 nodes and 5 edges have no place in this tree",
    ]


def test_an_event_without_inputs_is_drawn_from_its_nodes() -> None:
    graph = GraphParts(
        "\x1b[2J" + "s" * 500,
        (node(1, "prompt", 0), node(2, "\u202egnorts", 1)),
        (edge("belongs_to", 1, "s"), edge("belongs_to", 2, "s")),
    )
    tree = lines(graph, (), width=60)
    assert tree[0].startswith("session \\x1b[2Jsss")
    assert tree[0].endswith("...")
    assert [line.rstrip() for line in tree[1:]] == ["├── [0] prompt", "└── [1] \\u202e..."]


def test_an_erased_turn_and_an_erased_call_are_called_so() -> None:
    said = {"memory": {"reset": True}}
    skeleton = {"turn_id": identity(1), "role": "assistant", "erased": True, "metadata": said}
    made = ShownTurn.of({**skeleton, "tool_invocations": [{"invocation_id": identity(8)}]})
    assert made == ShownTurn("assistant", None, {identity(8): ShownCall(None)}, erased=True, memory={"reset": True})
    nodes = (node(1, "response", 0), node(8, "tool_invocation", 0))
    tree = lines(GraphParts(SESSION, nodes, (edge("belongs_to", 1, SESSION), edge("invokes", 1, 8))), [made])
    assert tree[1:] == ["└── [0] assistant  (erased)  (reset)", "    └── calls [unknown]  (no result)"]


@pytest.mark.parametrize(
    ("turn", "shown"),
    [
        (None, ShownTurn(None, None, {})),
        ([1], ShownTurn(None, None, {})),
        ({"role": 7, "content": ["a", {"b": "é"}]}, ShownTurn("7", '["a", {"b": "é"}]', {})),
        ({"tool_invocations": {"a": 1}}, ShownTurn(None, None, {})),
        ({"tool_invocations": [1, {}, {"invocation_id": 3}, {"invocation_id": "A", "tool_name": 5}]},
         ShownTurn(None, None, {"a": ShownCall("5")})),
        ({"erased": "yes"}, ShownTurn(None, None, {})),
        ({"metadata": [1]}, ShownTurn(None, None, {})),
        ({"role": "system", "content": "", "metadata": {"memory": 7}}, ShownTurn("system", "", {})),
        ({"metadata": {"memory": {"state_only": True}}},
         ShownTurn(None, None, {}, memory={"state_only": True})),
    ],
)  # fmt: skip
def test_whatever_stands_in_place_of_a_turn_can_be_shown(turn: object, shown: ShownTurn) -> None:
    assert ShownTurn.of(turn) == shown
