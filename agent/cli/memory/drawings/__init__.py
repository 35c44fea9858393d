"""Graphs for people and for other programs: trees, Mermaid, Graphviz."""
