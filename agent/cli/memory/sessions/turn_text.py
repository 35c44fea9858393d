"""A turn of a session for people: as a row of a table, or whole.

Whole, it is a head line and what it says below, each line indented: no text can pass for the head of another turn,
whatever it holds, nor for a call or a note, which are indented less. Only the line breaks of the text are line breaks;
all else that would move a cursor is escaped.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from agent.cli.columns import Column
from agent.cli.memory.sessions.turn_notes import successes, turn_notes
from agent.cli.terminal_text import escape
from agent.core.turn import SessionTurn
from agent.recall.drawings.shown_turn import ShownTurn

# Wide enough for a time with an offset; a role of another writer is cut.
COLUMNS: Final = (Column("seq", 6, right=True), Column("time", 25), Column("role", 9), Column("text", 0))

_FRACTION: Final = re.compile(r"\.\d+", re.ASCII)
_ERASED: Final = "[erased]"
_INDENT: Final = "    "
_CALL: Final = "  > "
_RESULT: Final = "  < "
_NOTE: Final = "  "
# So much of a line is shown however narrow the terminal is.
_LEAST: Final = 20


def row(turn: SessionTurn) -> list[str]:
    """The values of ``COLUMNS``, not yet safe: the time to the second, and of a turn that calls its calls too."""
    return [str(turn.seq), _FRACTION.sub("", turn.timestamp or ""), turn.role, _words(turn)]


@dataclass(frozen=True, slots=True)
class Page:
    """What whole turns are printed on. ``width`` in cells: longer lines are folded; None folds none.

    ``names_conversations``: the turns are of several. ``speakers`` are the agents of the turns, as far as known.
    """

    encoding: str
    width: int | None
    names_conversations: bool
    speakers: Mapping[str, str] = field(default_factory=dict)

    def text(self, turn: SessionTurn) -> str:
        """``turn`` whole, safe to print, each line with its line break."""
        lines = [*self._folded("", _head(turn, names_conversation=self.names_conversations)), *self._body(turn)]
        return "".join(f"{line.rstrip()}\n" for line in lines)

    def _body(self, turn: SessionTurn) -> Iterator[str]:
        if turn.erased:
            yield f"{_INDENT}{_ERASED}"
            return
        if turn.content:
            for line in turn.content.replace("\r\n", "\n").split("\n"):
                yield from self._folded(_INDENT, line)
        told = successes(turn)
        for invocation_id, call in ShownTurn.of(turn.fields).calls.items():
            if turn.role == "tool":
                yield from self._folded(_RESULT, call.tool_name or "")
            else:
                yield from self._folded(_CALL, call.text())
            if invocation_id in told:
                yield from self._folded(_NOTE, told[invocation_id])
        for note in turn_notes(turn, self.speakers.get(turn.turn_id)):
            yield from self._folded(_NOTE, note)

    def _folded(self, start: str, text: str) -> Iterator[str]:
        """``text`` behind ``start``, safe; what does not fit on the line goes on below, indented."""
        line = escape(text, self.encoding)
        parts = [line] if self.width is None else _chopped(line, self.width - len(_INDENT))
        for place, part in enumerate(parts):
            yield f"{_INDENT if place else start}{part}"


def _chopped(line: str, width: int) -> list[str]:
    # Late: a script that asks for JSON does not wait for Rich.
    from rich.cells import chop_cells

    return chop_cells(line, max(width, _LEAST)) or [""]


def _head(turn: SessionTurn, *, names_conversation: bool) -> str:
    revisions = turn.fields.get("revisions", 1)
    notes = [
        turn.timestamp or "",
        turn.turn_id,
        f"conversation {turn.conversation_id}" if names_conversation else "",
        f"revision {revisions}" if revisions != 1 else "",
    ]
    return "  ".join([f"#{turn.seq} {turn.role}".rstrip(), *filter(None, notes)])


def _words(turn: SessionTurn) -> str:
    if turn.erased:
        return _ERASED
    # On a tool turn the calls are those whose result it is.
    calls = () if turn.role == "tool" else ShownTurn.of(turn.fields).calls.values()
    return " ".join(filter(None, [turn.content, *(call.text() for call in calls)]))
