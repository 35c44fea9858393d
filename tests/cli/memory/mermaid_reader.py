"""A strict reader of the Mermaid flowcharts that we write: it takes no line that it does not know.

The label of a node is read as Mermaid does: what stands between the double quotes, with entity codes taken for the
characters that they stand for. A label holds letters, digits, blanks, ``,.-`` and entity codes; anything else may mean
something to one of Mermaid's own passes over the text, and is refused here.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, field

_TEXT = r"\"([^\"]*)\""
_CODE = re.compile(r"#([0-9]+);")
_SUBGRAPH = re.compile(rf" +subgraph (\w+) \[{_TEXT}\]")
_NODE = re.compile(rf" +(n[0-9]+)(?:\[{_TEXT}\]|\(\[{_TEXT}\]\))")
_WORD = r"(?:follows|responds_to|invokes)"
_EDGE = re.compile(rf"  (n[0-9]+) (-->|-\.->|==>)\|({_WORD}|\"{_WORD}, resolved on read\")\| (n[0-9]+)")
_CLASS_DEF = re.compile(r"  classDef (\w+Node) [a-z0-9:,\-]+")
_CLASS = re.compile(r"  class (n[0-9]+(?:,n[0-9]+)*) (\w+Node)")
# Mermaid's own marks for entity codes on their way through its parser.
_MARKS = ("\ufb02", "¶ß")


@dataclass
class Flowchart:
    """What a flowchart holds."""

    nodes: dict[str, str] = field(default_factory=dict)
    groups: list[str] = field(default_factory=list)
    edges: list[tuple[str, str, str]] = field(default_factory=list)
    classes: dict[str, list[str]] = field(default_factory=dict)


def read_flowchart(text: str) -> Flowchart:
    """The flowchart in ``text``; AssertionError where it is none, or not one of ours."""
    assert not any(mark in text for mark in _MARKS)
    first, *lines, end = text.split("\n")
    assert (first, end) == ("flowchart BT", "")
    chart = Flowchart()
    depth = 0
    defined = set()
    for line in lines:
        if found := _SUBGRAPH.fullmatch(line):
            depth += 1
            chart.groups.append(decoded(found[2]))
        elif line.strip() == "end":
            depth -= 1
            assert depth >= 0
        elif line.strip() == "direction BT":
            assert depth > 0
        elif found := _NODE.fullmatch(line):
            assert found[1] not in chart.nodes
            chart.nodes[found[1]] = decoded(found[2] if found[2] is not None else found[3])
        elif found := _EDGE.fullmatch(line):
            assert {found[1], found[4]} <= chart.nodes.keys()
            chart.edges.append((found[3].strip('"'), found[1], found[4]))
        elif found := _CLASS_DEF.fullmatch(line):
            defined.add(found[1])
        else:
            found = _CLASS.fullmatch(line)
            assert found is not None, line
            assert found[2] in defined
            chart.classes[found[2]] = found[1].split(",")
    assert depth == 0
    return chart


def decoded(label: str) -> str:
    """``label`` as Mermaid draws it."""
    bare = _CODE.sub("", label)
    assert all(character in " ,.-" or unicodedata.category(character)[0] in "LMN" for character in bare), bare
    return _CODE.sub(lambda code: chr(int(code[1])), label)
