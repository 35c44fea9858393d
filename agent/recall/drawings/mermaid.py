"""A session's graph as a Mermaid flowchart, whatever its texts hold.

Labels stand in double quotes, and every character in them that is not a letter, a digit, a blank or one of ``,.-`` is
written as an entity code (``#35;``). So no text ends its label, opens a comment, a directive or Markdown, or is taken
for HTML or a word of the language. Mermaid draws what the codes stand for.

Its viewers draw at most 500 edges and 50 000 characters, unless ``maxEdges`` and ``maxTextSize`` of their own
configuration allow more; a text cannot.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from typing import Final

from agent.recall.drawings.drawing import Drawing, DrawnNode, Kind

# Mermaid marks entity codes with these on their way through its parser, and would take them for such marks.
_MARKS: Final = frozenset("\ufb02\u00df")
_PLAIN: Final = frozenset(" ,.-")
_ARROWS: Final = {"follows": "-->", "responds_to": "-.->", "invokes": "==>"}
# Names with a second word: a class may not be called as a word of the language is. Colours without "#".
_STYLES: Final = {
    Kind.SYSTEM: "fill:lavender,stroke:purple,color:black",
    Kind.USER: "fill:honeydew,stroke:green,color:black",
    Kind.ASSISTANT: "fill:azure,stroke:teal,color:black",
    Kind.TOOL: "fill:lightyellow,stroke:olive,color:black",
    Kind.OTHER: "fill:white,stroke:gray,color:black",
    Kind.CALL: "fill:cornsilk,stroke:olive,color:black",
    Kind.ABSENT: "fill:white,stroke:gray,color:gray,stroke-dasharray:4",
}
_ERASED: Final = "color:gray,stroke-dasharray:4"
_CURRENT: Final = "stroke-width:3px"


def mermaid(drawing: Drawing) -> str:
    """The text of a flowchart; the newest turns at the bottom, as the edges point from the later to the earlier."""
    return "".join(f"{line}\n" for line in _lines(drawing))


def _lines(drawing: Drawing) -> Iterator[str]:
    yield "flowchart BT"
    yield f"  subgraph session [{_quoted(drawing.title)}]"
    yield "    direction BT"
    for number, group in enumerate(drawing.groups):
        if group.label is not None:
            yield f"    subgraph conversation{number} [{_quoted(group.label)}]"
            yield "      direction BT"
        for node in group.nodes:
            yield f"      {_node(node)}"
        if group.label is not None:
            yield "    end"
    yield "  end"
    for node in drawing.absent:
        yield f"  {_node(node)}"
    for edge in drawing.edges:
        word = _quoted(drawing.word(edge)) if edge in drawing.resolved else edge.edge_type
        yield f"  {edge.start} {_ARROWS[edge.edge_type]}|{word}| {edge.end}"
    yield from _classes(drawing)


def _node(node: DrawnNode) -> str:
    label = _quoted(node.label)
    return f"{node.name}([{label}])" if node.kind is Kind.CALL else f"{node.name}[{label}]"


def _quoted(text: str) -> str:
    return f'"{"".join(map(_written, text))}"'


def _written(character: str) -> str:
    # Letters, their marks, numbers.
    plain = character in _PLAIN or (unicodedata.category(character)[0] in "LMN" and character not in _MARKS)
    return character if plain else f"#{ord(character)};"


def _classes(drawing: Drawing) -> Iterator[str]:
    """Which styles are used, and by which nodes."""
    nodes = [*(node for group in drawing.groups for node in group.nodes), *drawing.absent]
    styles = [(f"{kind}Node", style, [node for node in nodes if node.kind is kind]) for kind, style in _STYLES.items()]
    styles.append(("erasedNode", _ERASED, [node for node in nodes if node.erased]))
    styles.append(("currentNode", _CURRENT, [node for node in nodes if node.current]))
    for name, style, members in styles:
        if members:
            yield f"  classDef {name} {style}"
            yield f"  class {','.join(node.name for node in members)} {name}"
