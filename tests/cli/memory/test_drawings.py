"""Mermaid and DOT text of a session's graph: valid, and true to the labels, whatever the texts hold."""

import json
import unicodedata
from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from agent.cli.terminal_text import preview
from agent.core.session_graph import session_graph
from agent.core.turn import SessionTurn
from agent.recall.drawings.dot import dot
from agent.recall.drawings.drawing import Drawing, DrawnNode, drawing
from agent.recall.drawings.mermaid import mermaid
from tests.cli.memory.dot_reader import Digraph, read_digraph
from tests.cli.memory.hostile import PIECES, texts
from tests.cli.memory.mermaid_reader import Flowchart, read_flowchart
from tests.core.call_turns import CONVERSATION, SESSION, invocation, turn, turn_id

UNSAFE = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}


def drawn(
    *turns: SessionTurn, session: str = SESSION, current: tuple[int, ...] = (), encoding: str = "utf-8"
) -> Drawing:
    label = partial(preview, encoding=encoding)
    return drawing(session_graph(session, turns), {turn_id(number) for number in current}, label)


def nodes_of(made: Drawing) -> list[DrawnNode]:
    return [*(node for group in made.groups for node in group.nodes), *made.absent]


def both_read(made: Drawing) -> tuple[Flowchart, Digraph]:
    """The drawing read back from both languages; that they say what it says is checked."""
    chart, graph = read_flowchart(mermaid(made)), read_digraph(dot(made))
    labels = {node.name: node.label for node in nodes_of(made)}
    assert chart.nodes == labels
    assert {name: attributes["label"] for name, attributes in graph.nodes.items()} == labels
    titles = [made.title, *(group.label for group in made.groups if group.label is not None)]
    assert chart.groups == titles
    assert graph.groups == titles
    assert chart.edges == graph.edges == [tuple(edge) for edge in made.edges]
    return chart, graph


def test_turns_calls_and_results_are_nodes_and_edges_under_short_names() -> None:
    made = drawn(
        turn(1, "user", content="Trains to Lyon?"),
        turn(2, "assistant", invocation("x", arguments={"to": "Lyon"}), after=1, content=""),
        turn(3, "tool", invocation("x"), after=2, content="three"),
        current=(1, 2),
    )
    chart, graph = both_read(made)
    assert chart.nodes == {
        "n0": "#1 user: Trains to Lyon?",
        "n1": "#2 assistant",
        "n2": 'calls look(to="Lyon")',
        "n3": "#3 tool: three",
    }
    assert chart.edges == [
        ("follows", "n1", "n0"),
        ("responds_to", "n1", "n0"),
        ("invokes", "n1", "n2"),
        ("follows", "n3", "n1"),
        ("responds_to", "n3", "n2"),
    ]
    assert chart.groups == [f"session {SESSION}"]
    assert chart.classes == {
        "userNode": ["n0"],
        "assistantNode": ["n1"],
        "toolNode": ["n3"],
        "callNode": ["n2"],
        "currentNode": ["n0", "n1"],
    }
    assert [name for name, attributes in graph.nodes.items() if "penwidth" in attributes] == ["n0", "n1"]
    assert graph.nodes["n2"]["shape"] == "ellipse"


def test_what_is_erased_only_state_of_another_role_or_not_here_says_so() -> None:
    made = drawn(
        turn(1, "user", content=None),
        turn(2, "system", content="", metadata={"memory": {"state_only": True}}),
        turn(3, "robot", after=77),
        turn(4, "", invocation("x", tool_name=None)),
    )
    chart, graph = both_read(made)
    assert list(chart.nodes.values()) == [
        "#1 user (erased)",
        "#2 system (state only)",
        "#3 robot: words",
        "#4: words",
        "calls [unknown]",
        f"not here: turn {turn_id(77)}",
    ]
    assert chart.edges == [("follows", "n2", "n5"), ("invokes", "n3", "n4")]
    assert chart.classes["erasedNode"] == ["n0"]
    assert chart.classes["otherNode"] == ["n2", "n3"]
    assert [name for name, attributes in graph.nodes.items() if "style" in attributes] == ["n0", "n5"]


def test_several_conversations_are_boxes_in_the_box_of_the_session() -> None:
    made = drawn(turn(1, "user"), turn(2, "user", conversation="c2"), turn(3, "assistant", after=1))
    chart, _ = both_read(made)
    assert chart.groups == [f"session {SESSION}", f"conversation {CONVERSATION}", "conversation c2"]
    assert [[node.name for node in group.nodes] for group in made.groups] == [["n0", "n2"], ["n1"]]


def test_an_edge_to_what_is_no_node_of_a_drawing_is_left_out() -> None:
    chart, _ = both_read(drawn(turn(1, "assistant", invocation(SESSION), invocation(turn_id(1)))))
    assert chart.edges == [("invokes", "n0", "n0")]


@pytest.mark.parametrize("piece", PIECES)
def test_no_text_ends_its_label_or_begins_anything(piece: str) -> None:
    for text in (piece, piece * 2, f"{piece} a", f"a{piece}"):
        call = invocation("x", arguments={text: text}, tool_name=text)
        both_read(
            drawn(
                turn(1, "assistant", call, content=text),
                turn(2, text, conversation=text, after=1, content=text),
                session=text,
            )
        )


@settings(deadline=None, max_examples=200)
@given(st.lists(st.tuples(texts, texts, texts), min_size=1, max_size=4), texts, st.sampled_from(["utf-8", "cp1252"]))
def test_labels_are_short_safe_lines_and_come_back_from_both_languages(
    said: list[tuple[str, str, str]], session: str, encoding: str
) -> None:
    turns = [
        turn(
            number,
            "assistant" if number % 2 else role,
            invocation(f"x{number}", tool_name=text, arguments=role),
            after=number - 1 or 77,
            content=text,
            conversation=conversation,
        )
        for number, (text, role, conversation) in enumerate(said, 1)
    ]
    made = drawn(*turns, session=session, encoding=encoding)
    both_read(made)
    for text in (mermaid(made), dot(made)):
        assert not {unicodedata.category(character) for character in text.replace("\n", "")} & UNSAFE
        text.encode(encoding)
    assert all(cell_len(node.label) <= 100 for node in nodes_of(made))


def test_text_is_cut_to_forty_cells() -> None:
    (node,) = nodes_of(drawn(turn(1, "user", content="完" * 50)))
    assert node.label == f"#1 user: {'完' * 18}..."
    assert cell_len(node.label.removeprefix("#1 user: ")) == 39


def test_ten_thousand_turns_are_drawn() -> None:
    made = drawn(*(turn(number, "user", after=number - 1 or None) for number in range(1, 10_001)))
    chart, graph = both_read(made)
    assert len(chart.edges) == len(graph.edges) == 9_999


def test_the_reader_of_dot_follows_its_rules_for_quotes_escapes_and_entities() -> None:
    quoted = json.dumps('a"b')
    graph = read_digraph(f'digraph session {{ n0 [label={quoted}]; n1 [label="\\\\N &amp;lt; &#65;"]; }}')
    assert [attributes["label"] for attributes in graph.nodes.values()] == ['a"b', "\\N &lt; A"]


@pytest.mark.parametrize(
    "text",
    [
        'digraph session { n0 [label="\\N"]; }',
        'digraph session { n0 [label="a"b"]; }',
        'digraph session { n0 [label="a\\"]; }',
        'digraph session { n0 [label="a"]; n0 -> n1 [label=follows]; }',
        'digraph session { n0 [label="a"]; ',
        "digraph session { n0 [label=<b>]; }",
        "digraph session { n0 [label=node]; }",
        "digraph session { } }",
    ],
)
def test_the_reader_of_dot_refuses_what_is_none_or_not_what_we_write(text: str) -> None:
    with pytest.raises((AssertionError, IndexError)):
        read_digraph(text)


@pytest.mark.parametrize(
    "line",
    [
        '  n1["a"b"]',
        '  n1["a#35"]',
        '  n1["a%%b"]',
        '  n1["`a`"]',
        '  n0["twice"]',
        "  n1[a]",
        "  n0 -->|follows| n9",
        "  class n0 missingNode",
        "  end",
        "  click n0 x",
        "",
    ],
)
def test_the_reader_of_mermaid_refuses_what_we_never_write(line: str) -> None:
    read_flowchart('flowchart BT\n  n0["a"]\n')
    with pytest.raises(AssertionError):
        read_flowchart(f'flowchart BT\n  n0["a"]\n{line}\n')
