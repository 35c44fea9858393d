"""A session's graph as other programs draw it: Mermaid and Graphviz."""
