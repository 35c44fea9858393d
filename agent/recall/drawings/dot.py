"""A session's graph in the DOT language of Graphviz, whatever its texts hold.

Every text is in double quotes, where only a quote ends it; a backslash and an ampersand, which mean more there than
themselves, are written so that Graphviz draws exactly what the label says. Only a text without quotes could be
HTML-like.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from agent.recall.drawings.drawing import Drawing, DrawnNode, Kind

_FILLS: Final = {
    Kind.SYSTEM: "lavender",
    Kind.USER: "honeydew",
    Kind.ASSISTANT: "azure",
    Kind.TOOL: "lightyellow",
    Kind.OTHER: "white",
    Kind.CALL: "cornsilk",
    Kind.ABSENT: "white",
}
_LINES: Final = {"follows": "solid", "responds_to": "dashed", "invokes": "bold"}


def dot(drawing: Drawing) -> str:
    """The text of a digraph; the newest turns at the bottom, as the edges point from the later to the earlier."""
    return "".join(f"{line}\n" for line in _lines(drawing))


def _lines(drawing: Drawing) -> Iterator[str]:
    yield "digraph session {"
    yield "  rankdir=BT;"
    yield "  node [shape=box, style=filled];"
    yield "  edge [fontsize=10];"
    yield "  subgraph cluster_session {"
    yield f"    label={_quoted(drawing.title)};"
    for number, group in enumerate(drawing.groups):
        if group.label is not None:
            yield f"    subgraph cluster_{number} {{"
            yield f"      label={_quoted(group.label)};"
        for node in group.nodes:
            yield f"      {_node(node)}"
        if group.label is not None:
            yield "    }"
    yield "  }"
    for node in drawing.absent:
        yield f"  {_node(node)}"
    for edge in drawing.edges:
        word = _quoted(drawing.word(edge)) if edge in drawing.resolved else edge.edge_type
        yield f"  {edge.start} -> {edge.end} [label={word}, style={_LINES[edge.edge_type]}];"
    yield "}"


def _node(node: DrawnNode) -> str:
    attributes = [f"label={_quoted(node.label)}", f"fillcolor={_FILLS[node.kind]}"]
    if node.kind is Kind.CALL:
        attributes.append("shape=ellipse")
    if node.erased or node.kind is Kind.ABSENT:
        attributes.append('style="filled,dashed"')
    if node.current:
        attributes.append("penwidth=3")
    return f"{node.name} [{', '.join(attributes)}];"


def _quoted(text: str) -> str:
    # "&" would begin a character entity, "\" an escape such as \N, the node's name.
    written = text.replace("\\", "\\\\").replace('"', '\\"').replace("&", "&amp;")
    return f'"{written}"'
