"""A list of any length, printed as it comes: memory holds one item, and what was printed is whole however it ends.

As JSON and YAML it is one document, ``{"<name>": [...], <members>}``; as JSON Lines the items alone, each on a line;
for people a line each. A failure in the middle still ends the document, with ``"complete": false``; one before the
first item leaves standard output empty.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Any, Final, Self

from agent.cli.columns import Column, Columns
from agent.cli.invocation import Invocation
from agent.cli.output_format import Format
from agent.cli.terminal import OutputError

_BUFFERED: Final = 64 * 1024


class Listing:
    """One list. Used as a context; ``members`` are what the document says beside the items, known at its end.

    ``columns`` are for people. ``follow``: each item is printed at once, for who waits for the next one.
    """

    def __init__(self, invocation: Invocation, name: str, columns: Sequence[Column], *, follow: bool = False) -> None:
        self._terminal = invocation.terminal
        self._format = invocation.format
        self._jsonl = invocation.jsonl
        self._name = name
        self._columns = (
            Columns(columns, width=self._terminal.width, encoding=self._terminal.encoding)
            if self._format is Format.TABLE
            else None
        )
        self._follow = follow
        self._kept: list[str] = []
        self._size = 0
        self._started = False
        self.count = 0
        self.members: dict[str, Any] = {}

    def add(self, document: str, row: Callable[[], list[str]]) -> None:
        """Print one item: ``document`` is its JSON text, ``row`` makes its values for people where they are needed."""
        self._open()
        # In JSON text a line break stands between tokens only.
        document = document.replace("\r", " ").replace("\n", " ")
        if self._columns is not None:
            self._keep(f"{self._columns.row(row())}\n")
        elif self._jsonl:
            self._keep(f"{document}\n")
        elif self._format is Format.JSON:
            self._keep(f"{',' if self.count else ''}\n{document}")
        else:
            self._keep(("" if self.count else "\n") + self._yaml([json.loads(document)]))
        self.count += 1

    def note(self, line: str) -> None:
        """A line between the rows for people; documents have none."""
        if self._format is Format.TABLE:
            self._open()
            self._keep(f"{line}\n")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if isinstance(error, OutputError):
            return
        if error is None or self._started:
            self._open()
            self._end({**self.members, "complete": error is None})
        self._flush()

    def _open(self) -> None:
        if self._started:
            return
        self._started = True
        if self._columns is not None:
            self._keep(f"{self._columns.header()}\n")
        elif self._format is Format.JSON and not self._jsonl:
            self._keep(f"{{{json.dumps(self._name)}:[")
        elif self._format is Format.YAML:
            self._keep(f"{self._name}:")

    def _end(self, members: dict[str, Any]) -> None:
        if self._format is Format.TABLE or self._jsonl:
            return
        if self._format is Format.JSON:
            text = json.dumps(members, ensure_ascii=False)
            self._keep(f"{chr(10) if self.count else ''}],{text[1:]}\n")
        else:
            self._keep(("" if self.count else " []\n") + self._yaml(members))

    def _yaml(self, value: Any) -> str:
        # Late: only YAML needs the library.
        from agent.cli.yaml_text import yaml_text

        return yaml_text(value, allow_unicode=self._terminal.is_unicode)

    def _keep(self, text: str) -> None:
        self._kept.append(text)
        self._size += len(text)
        if self._follow or self._size >= _BUFFERED:
            self._flush()

    def _flush(self) -> None:
        text = "".join(self._kept)
        self._kept.clear()
        self._size = 0
        if self._format is Format.TABLE:
            self._terminal.plain(text)
        else:
            self._terminal.document(text)
