"""Rows for people that are printed as they come: columns of fixed widths, so that no row has to wait for the next.

Every value is made safe and cut to its column in terminal cells: a wide character, a line break or an escape sequence
breaks no column. The last column takes what room is left.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from agent.cli.terminal_text import preview

_GAP: Final = "  "
# So much of the last column is shown even where the others leave no room.
_LEAST: Final = 20


class Column(NamedTuple):
    """A column: its title, and its width in cells. ``right``: its values end at the same place, as numbers should."""

    title: str
    width: int
    right: bool = False


class Columns:
    """The lines of a table on a stream of this ``encoding``.

    The last column is as wide as is left of ``width``, and never narrower than it says: where the others leave it too
    little room, a line is longer than ``width``.
    """

    def __init__(self, columns: Sequence[Column], *, width: int, encoding: str) -> None:
        fixed = sum(column.width + len(_GAP) for column in columns[:-1])
        last = columns[-1]
        self._columns = (*columns[:-1], last._replace(width=max(width - fixed, last.width, _LEAST)))
        self._encoding = encoding

    def header(self) -> str:
        """The line of titles."""
        return self.row([column.title for column in self._columns])

    def row(self, values: Sequence[str]) -> str:
        """One line, without its line break."""
        cells = [self._cell(column, value) for column, value in zip(self._columns, values, strict=True)]
        return _GAP.join(cells).rstrip()

    def _cell(self, column: Column, value: str) -> str:
        # Late: a script that asks for JSON does not wait for Rich.
        from rich.cells import cell_len

        shown = preview(value, column.width, self._encoding)
        padding = " " * (column.width - cell_len(shown))
        return padding + shown if column.right else shown + padding
