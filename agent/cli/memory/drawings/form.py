"""What a graph may be drawn as."""

from __future__ import annotations

from enum import StrEnum


class Form(StrEnum):
    """What the graph is drawn as."""

    TREE = "tree"
    MERMAID = "mermaid"
    DOT = "dot"
    JSON = "json"
