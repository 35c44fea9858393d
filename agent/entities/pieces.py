"""A text in pieces of bounded length, so that no rule ever sees more than one of them.

This is what makes the whole linear: whatever a pattern does with a piece, its cost has a ceiling, and a text of ten
million characters is so many pieces. Between two pieces other threads of the process get their turn.
A piece ends behind a line break, else behind white space. A run of characters without either that is longer than a
piece is data and no text: what touches such a cut is told by nobody (``is_torn``).
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator
from typing import Final, NamedTuple

LONGEST: Final = 4096
# How far back from its end a piece looks for a better end than the middle of a word.
_BACK: Final = 1024

# In place of what nobody tells: no name goes over it.
BLANK: Final = "\n"
_PLACEHOLDER: Final = re.compile(r"\[(?:redacted|omitted):[^\]\s]{1,200}\]")
_SPACE: Final = re.compile(r"\s(?=\S*\Z)")


class Piece(NamedTuple):
    """``text`` begins at ``offset`` of the whole. ``torn_start`` and ``torn_end``: the cut there is inside a word."""

    offset: int
    text: str
    torn_start: bool = False
    torn_end: bool = False

    def is_torn(self, start: int, end: int) -> bool:
        """Whether what stands from ``start`` to ``end`` of the piece may go on in the next or the last one."""
        return (self.torn_start and start == 0) or (self.torn_end and end == len(self.text))


def pieces(text: str, longest: int = LONGEST) -> Iterator[Piece]:
    """The whole of ``text``, without its placeholders: line breaks, which no name crosses, stand in for them."""
    shown = without_placeholders(text)
    start, torn = 0, False
    while start < len(shown):
        end, torn_end = _end(shown, start, longest)
        yield Piece(start, shown[start:end], torn, torn_end)
        start, torn = end, torn_end


def without_placeholders(text: str) -> str:
    """``text`` with as many line breaks in the place of what the content policy took out (CONTRACT 8)."""
    if "[redacted:" not in text and "[omitted:" not in text:
        return text
    return _PLACEHOLDER.sub(blank, text)


def blank(found: re.Match[str]) -> str:
    """Line breaks in the place of a match, so that all else keeps its place."""
    return BLANK * (found.end() - found.start())


def within(piece: Piece, spans: deque[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """The parts of ``spans`` that lie in ``piece``, as places of it; what ends in it is taken from ``spans``.

    They are places of the whole, in order and without overlaps; the pieces come in order, too, and each of them.
    """
    end = piece.offset + len(piece.text)
    while spans and spans[0][0] < end:
        first, last = spans[0]
        yield max(0, first - piece.offset), min(last, end) - piece.offset
        if last > end:
            return
        spans.popleft()


def _end(text: str, start: int, longest: int) -> tuple[int, bool]:
    """Where the piece from ``start`` ends, and whether that is inside a word."""
    end = start + longest
    if end >= len(text):
        return len(text), False
    earliest = max(start, end - min(_BACK, longest // 2))
    line = text.rfind("\n", earliest, end)
    if line >= 0:
        return line + 1, False
    space = _SPACE.search(text, earliest, end)
    return (end, True) if space is None else (space.end(), False)
