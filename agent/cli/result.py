"""How a command prints what it did: one document, or a line for each fact."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from agent.cli.invocation import Invocation
from agent.cli.output_format import Format
from agent.cli.terminal_text import escape

if TYPE_CHECKING:
    from rich.table import Table


def print_result(
    invocation: Invocation, document: Mapping[str, Any], facts: Iterable[tuple[str, str]] | None = None
) -> None:
    """Print ``document``, or for people ``facts``, by default the document's own members."""
    if invocation.format is not Format.TABLE:
        # Not orjson: a store's count may have more than 64 bits. Half a surrogate pair, of a file's name that is no
        # text in this system's encoding, is written as the escape that JSON has for it.
        text = json.dumps(document, ensure_ascii=False, separators=(",", ":"))
        invocation.print_json(text.encode(errors="backslashreplace"))
        return
    shown = _own_members(document) if facts is None else facts
    invocation.terminal.show(facts_table(shown, encoding=invocation.terminal.encoding))


def facts_table(facts: Iterable[tuple[str, str]], *, encoding: str) -> Table:
    """A line for each fact, name and value made safe for a stream of this ``encoding``."""
    # Late: a script that asks for JSON does not wait for Rich.
    from rich.table import Table
    from rich.text import Text

    table = Table.grid(padding=(0, 2))
    table.add_column(style="bold", no_wrap=True)
    # An id or a path is folded rather than cut: a part of one finds nothing.
    table.add_column(overflow="fold")
    for name, value in facts:
        table.add_row(Text(escape(name, encoding)), Text(escape(value, encoding)))
    return table


def _own_members(document: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
    return ((name.replace("_", " "), str(value)) for name, value in document.items())
