"""A strict reader of the DOT language, of the part that a digraph without ports and HTML-like labels needs.

By the grammar of graphviz.org/doc/info/lang.html: an identifier is a word, a number or a double-quoted string, in which
only a quote is escaped. What a label then draws is said by the escString rules and the character entities.
"""

from __future__ import annotations

import html
import re
from dataclasses import dataclass, field

_TOKEN = re.compile(
    r"""\s*(?:
        (?P<string>"(?:[^"\\\n\0]|\\.)*")
      | (?P<word>[A-Za-z_\x80-\U0010ffff][A-Za-z0-9_\x80-\U0010ffff]*|-?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?))
      | (?P<arrow>->)
      | (?P<mark>[{}\[\];,=])
    )""",
    re.VERBOSE,
)
_KEYWORDS = {"node", "edge", "graph", "digraph", "subgraph", "strict"}


@dataclass
class Digraph:
    """What a digraph holds; labels as they are drawn."""

    nodes: dict[str, dict[str, str]] = field(default_factory=dict)
    edges: list[tuple[str, str, str]] = field(default_factory=list)
    groups: list[str] = field(default_factory=list)


def read_digraph(text: str) -> Digraph:
    """The digraph in ``text``; AssertionError where it is none."""
    reader = _Reader(_tokens(text))
    reader.expect("digraph", "session", "{")
    reader.statements()
    assert reader.tokens == []
    for _, start, end in reader.found.edges:
        assert {start, end} <= reader.found.nodes.keys()
    return reader.found


def drawn(string: str) -> str:
    """What Graphviz draws for a label: escapes first, then entities. Escapes that stand for a name are refused."""
    assert re.fullmatch(r'(?:[^\\]|\\\\|\\")*', string, re.DOTALL)
    # Between the marks of an escaped backslash, so that an entity cannot be made of one.
    return "\\".join(html.unescape(part).replace('\\"', '"') for part in string.split("\\\\"))


def _tokens(text: str) -> list[str]:
    tokens: list[str] = []
    place = 0
    text = text.rstrip()
    while place < len(text):
        found = _TOKEN.match(text, place)
        assert found is not None, text[place : place + 40]
        tokens.append(found[0].strip())
        place = found.end()
    # Read from the end.
    return tokens[::-1]


class _Reader:
    def __init__(self, tokens: list[str]) -> None:
        self.tokens = tokens
        self.found = Digraph()

    def expect(self, *wanted: str) -> None:
        for each in wanted:
            assert self.tokens.pop() == each

    def statements(self) -> None:
        while (token := self.tokens.pop()) != "}":
            self._statement(token)

    def _statement(self, token: str) -> None:
        following = self.tokens[-1]
        if token == "subgraph":
            assert self.tokens.pop().startswith("cluster_")
            self.expect("{")
            self.statements()
            return
        if token in ("node", "edge"):
            self._attributes()
        elif following == "=":
            self.expect("=")
            value = self._identifier()
            if token == "label":
                self.found.groups.append(value)
        elif following == "->":
            self.expect("->")
            end = self.tokens.pop()
            self.found.edges.append((self._attributes()["label"], token, end))
        else:
            assert re.fullmatch(r"n[0-9]+", token)
            assert token not in self.found.nodes
            self.found.nodes[token] = self._attributes()
        self.expect(";")

    def _attributes(self) -> dict[str, str]:
        self.expect("[")
        attributes: dict[str, str] = {}
        while True:
            name = self.tokens.pop()
            self.expect("=")
            attributes[name] = self._identifier()
            if (mark := self.tokens.pop()) == "]":
                return attributes
            assert mark == ","

    def _identifier(self) -> str:
        token = self.tokens.pop()
        if token.startswith('"'):
            return drawn(token[1:-1])
        assert re.fullmatch(r"[A-Za-z0-9_]+", token)
        assert token.lower() not in _KEYWORDS
        return token
