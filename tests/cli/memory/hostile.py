"""Texts that try to be more than text: to a terminal, to Mermaid, to Graphviz."""

from hypothesis import strategies as st

# Quotes, brackets, comments, directives, keywords and statements, Markdown, HTML, entities, escapes, controls.
PIECES = (
    '"', "'", "`", '""', '"]', '["', "]", "[[", "(", "})", "{", "|", "<", ">", "<b>x</b>", "<script>", "<br/>", "\\",
    '\\"', "\\\\", "\\n", "\\N", "\\G", "\\l", "&", "&amp;", "&#60;", "#", "#35;", "#quot;", "#;", ";", ":", ":::a",
    "@{shape: x}", "%%", "%%{init: {}}%%", "%% c", "//", "/* c */", "---", "-->", "--", "->", "==>", "end",
    "subgraph x", "graph", "digraph {", "strict", "node", "edge", "click n0", "style n0 fill:#f9f;",
    "classDef a fill:#fff;", "class n0 a", "default", "direction LR", "`**bold**`", "1. list", "- list", "_a_", "$$x$$",
    "fa:fa-car", "n0", "n9;",
    "\ufb02°°60¶ß", "ß", "完成", "🚀", "e\u0301\u0302", "\u202e", "\u2028", "\x00", "\x1b[2J", "\b", "\r\n", "\n", "\t",
    "\x9b2J", "\u200d", "\ufeff", " ", "  ",
)  # fmt: skip
texts = st.lists(
    st.sampled_from(PIECES) | st.text(st.characters(exclude_categories=["Cs"]), max_size=4), max_size=6
).map("".join)
