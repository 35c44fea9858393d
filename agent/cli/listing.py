"""A list of any length, printed as it comes: memory holds one item, and what was printed is whole however it ends.

As JSON and YAML it is one document, ``{"<name>": [...], <members>}``; as JSON Lines the items alone, each on a line;
for people a line each. A failure in the middle still ends the document, with ``"complete": false``; one before the
first item leaves standard output empty.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Any, Final, Self

from agent.cli.columns import Column, Columns
from agent.cli.invocation import Invocation
from agent.cli.output_format import Format
from agent.cli.raw_json import one_line, value_of
from agent.cli.terminal import OutputError, uninterrupted

_BUFFERED: Final = 64 * 1024
# A piece of so many characters fits into the buffer of a stream (8 KiB) in any encoding. What Ctrl-C interrupts while
# it waits for a slow reader then stays there and is written later; of more, nobody would know how much was written.
_PIECE: Final = 2000


class Listing:
    """One list. Used as a context; ``members`` are what the document says beside the items, known at its end.

    ``columns`` are for people. ``follow``: a list without an end, for who waits for the next item. Each is printed at
    once, and Ctrl-C is how it ends: it is complete then.
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
        self._pieces: deque[str] = deque()
        self._size = 0
        self._started = False
        self.count = 0
        self.members: dict[str, Any] = {}

    def open(self) -> None:
        """Print what stands before the first item, where that is not sure to come."""
        if not self._started:
            self._keep(self._start())

    def add(self, document: str, row: Callable[[], Sequence[str]]) -> None:
        """Print one item: ``document`` is its JSON text, ``row`` makes its values for people where they are needed."""
        # Made whole before any of it is kept: a failure in an item leaves the list without it.
        item = self._item(document, row)
        self._keep(item if self._started else self._start() + item)
        self.count += 1

    def note(self, line: str) -> None:
        """A line between the rows for people; documents have none."""
        if self._columns is not None:
            self.open()
            self._keep(f"{line}\n")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if isinstance(error, OutputError):
            return
        if error is None or self._started:
            self.open()
            is_whole = error is None or (self._follow and isinstance(error, KeyboardInterrupt))
            self._keep(self._end({**self.members, "complete": is_whole}))
        self._flush()

    def _start(self) -> str:
        self._started = True
        if self._columns is not None:
            return f"{self._columns.header()}\n"
        if self._jsonl:
            return ""
        return f"{{{json.dumps(self._name)}:[" if self._format is Format.JSON else f"{self._name}:"

    def _item(self, document: str, row: Callable[[], Sequence[str]]) -> str:
        if self._columns is not None:
            return f"{self._columns.row(row())}\n"
        if self._jsonl:
            return f"{one_line(document)}\n"
        if self._format is Format.JSON:
            return f"{',' if self.count else ''}\n{one_line(document)}"
        return ("" if self.count else "\n") + self._yaml([value_of(document)])

    def _end(self, members: dict[str, Any]) -> str:
        if self._columns is not None or self._jsonl:
            return ""
        if self._format is Format.JSON:
            text = json.dumps(members, ensure_ascii=False)
            return f"{chr(10) if self.count else ''}],{text[1:]}\n"
        return ("" if self.count else " []\n") + self._yaml(members)

    def _yaml(self, value: Any) -> str:
        # Late: only YAML needs the library.
        from agent.cli.yaml_text import yaml_text

        return yaml_text(value, allow_unicode=self._terminal.is_unicode)

    def _keep(self, text: str) -> None:
        # A list first, so that Ctrl-C finds all of a text there or none of it.
        self._pieces.extend([text[start : start + _PIECE] for start in range(0, len(text), _PIECE)])
        self._size += len(text)
        if self._follow or self._size >= _BUFFERED:
            self._flush()

    def _flush(self) -> None:
        write = self._terminal.document if self._columns is None else self._terminal.plain
        self._size = 0
        while self._pieces:
            # A piece is here or with the stream: Ctrl-C between the two would lose it.
            with uninterrupted():
                write(self._pieces.popleft(), flush=False)
            self._terminal.flush()
