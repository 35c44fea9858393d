"""The values of a file of JSON, one text after the other: memory holds one of them, however long the file.

A file is one value a line (JSON Lines), an array whose elements are the values, or values that spread over lines. What
is split is not yet parsed: a value ends where its brackets close, and whether it is JSON is for the parser to say.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import StrEnum
from typing import Final, NamedTuple, Protocol

from agent.edge.json_text import BLANK, MAX_DEPTH, STRING

# What nobody's single conversation is as large as; without a bound, a file without line breaks would be read whole.
MAX_PIECE_BYTES: Final = 256 * 1024 * 1024
BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"
_CHUNK: Final = 256 * 1024
# An array that ends within so many bytes may be the first of several lines; nobody has a longer one on a line.
_MAX_ARRAY_LINE: Final = 16 * 1024 * 1024
# A value that is too deep is passed, for the parser to refuse; one with so many brackets down there is given up.
_MAX_DEEP_BRACKETS: Final = 250_000
_WIDE_MARKS: Final = (b"\xff\xfe", b"\xfe\xff")
_WIDEST: Final = 4
_NEXT_BRACKET: Final = re.compile(rb'(?:[^"{}\[\]]++|' + STRING + rb")*+([{}\[\]])", re.DOTALL)
_NEXT_BRACKET_OR_LINE: Final = re.compile(rb'(?:[^"{}\[\]\n]++|' + STRING + rb")*+([{}\[\]\n])", re.DOTALL)
_SCALAR: Final = re.compile(STRING + rb"|[^\",\[\]{} \t\n\r]++", re.DOTALL)


class Bytes(Protocol):
    """What is read from: fewer bytes than were asked for are the last ones."""

    def read(self, size: int = -1, /) -> bytes: ...

    def readline(self, size: int = -1, /) -> bytes: ...


class Shape(StrEnum):
    """How the values of a file stand in it; the value is what a person calls it."""

    LINES = "JSON lines"
    ARRAY = "a JSON array"
    VALUES = "a JSON object"
    EMPTY = "empty"
    WIDE = "UTF-16 or UTF-32, and JSON is UTF-8"


class Fault(StrEnum):
    """Why the text of a value is not whole."""

    CUT_OFF = "cut off"
    TOO_LARGE = "too large"
    TOO_DEEP = f"nested deeper than {MAX_DEPTH}"
    BEHIND_THE_END = "behind the end of the array"


class Piece(NamedTuple):
    """The text of one value, which stands between two offsets of the stream; the next may begin where it ends.

    ``is_ended``: something followed that ends it, so that it is not the last line of a file that is still written.
    With a ``fault`` the text counts for nothing.
    """

    text: bytes
    start: int
    end: int
    is_ended: bool = True
    fault: Fault | None = None


def shape_of(stream: Bytes) -> Shape:
    """What ``stream``, read from its beginning, holds. Of an array without line breaks it may read 16 MiB."""
    scanner = _Scanner(stream, 0)
    head = scanner.ahead(_WIDEST)
    if head.startswith(_WIDE_MARKS) or b"\0" in head:
        return Shape.WIDE
    scanner.skip_mark()
    first = scanner.skip(BLANK)
    if first is None or first not in b"[{":
        return Shape.EMPTY if first is None else Shape.LINES
    whole = Shape.ARRAY if first in b"[" else Shape.VALUES
    if scanner.closes_on_its_line():
        return whole if scanner.skip(BLANK) is None else Shape.LINES
    # An object over several lines, or a line that was cut off before others.
    is_whole = whole is Shape.ARRAY or (scanner.closes() and scanner.is_alone_or_spread())
    return whole if is_whole else Shape.LINES


def pieces_of(stream: Bytes, shape: Shape, *, start: int = 0) -> Iterator[Piece]:
    """The values of ``stream``, which has this shape and stands at ``start``: 0, or the end of an earlier piece."""
    if shape is Shape.LINES:
        yield from _lines(stream, start)
        return
    scanner = _Scanner(stream, start)
    if not start:
        scanner.skip_mark()
    if shape is Shape.ARRAY:
        yield from _elements(scanner, is_open=start > 0)
    elif shape is Shape.VALUES:
        while scanner.skip(BLANK) is not None:
            piece = scanner.value()
            yield piece
            if piece.fault is not None:
                return


def _lines(stream: Bytes, offset: int) -> Iterator[Piece]:
    while line := stream.readline(MAX_PIECE_BYTES + 1):
        begins, start = offset == 0, offset
        offset += len(line)
        if len(line) > MAX_PIECE_BYTES and not line.endswith(b"\n"):
            while line and not line.endswith(b"\n"):
                line = stream.readline(_CHUNK)
                offset += len(line)
            yield Piece(b"", start, offset, fault=Fault.TOO_LARGE)
            continue
        text = (line.removeprefix(BYTE_ORDER_MARK) if begins else line).strip(BLANK)
        if text:
            yield Piece(text, start, offset, line.endswith(b"\n"))


def _elements(scanner: _Scanner, *, is_open: bool) -> Iterator[Piece]:
    if not is_open:
        scanner.skip(BLANK)
        scanner.take()
    while True:
        first = scanner.skip(BLANK + b",")
        if first is None:
            yield Piece(b"", scanner.offset, scanner.offset, is_ended=False, fault=Fault.CUT_OFF)
            return
        if first in b"]":
            scanner.take()
            if scanner.skip(BLANK) is not None:
                yield Piece(b"", scanner.offset, scanner.offset, fault=Fault.BEHIND_THE_END)
            return
        piece = scanner.value()
        yield piece
        if piece.fault is not None:
            return


class _Scanner:
    """Bytes of a stream, looked at from ``offset`` on; what was passed is let go."""

    def __init__(self, stream: Bytes, offset: int) -> None:
        self._stream = stream
        self._buffer = b""
        self._at = 0
        self._base = offset

    @property
    def offset(self) -> int:
        """Where in the stream the next byte stands."""
        return self._base + self._at

    def ahead(self, count: int) -> bytes:
        while len(self._buffer) - self._at < count and self._fill():
            pass
        return self._buffer[self._at : self._at + count]

    def skip_mark(self) -> None:
        if self.ahead(len(BYTE_ORDER_MARK)) == BYTE_ORDER_MARK:
            self.take(len(BYTE_ORDER_MARK))

    def take(self, count: int = 1) -> None:
        self._at += count

    def skip(self, blank: bytes) -> bytes | None:
        """Pass all bytes of ``blank``; the one that follows, None at the end."""
        while True:
            rest = self._buffer[self._at : self._at + _CHUNK]
            left = rest.lstrip(blank)
            self._at += len(rest) - len(left)
            if left:
                return left[:1]
            self._let_go()
            if self._at >= len(self._buffer) and not self._fill():
                return None

    def value(self) -> Piece:
        """The value that begins at the next byte."""
        self._let_go()
        start, begins = self._at, self.offset
        has_brackets = self._buffer[start : start + 1] in (b"{", b"[")
        fault = self._close(is_let_go=False) if has_brackets else self._scalar()
        text = b"" if fault else self._buffer[start : self._at]
        return Piece(text, begins, self.offset, is_ended=fault is not Fault.CUT_OFF, fault=fault)

    def closes(self) -> bool:
        """Pass the brackets that open here; whether they close. What is passed is let go."""
        return self._close(is_let_go=True) is None

    def closes_on_its_line(self) -> bool:
        """Whether the brackets that open here close before the first line break, and soon enough for a line."""
        depth, at, deep = 0, self._at, 0
        while True:
            found = _NEXT_BRACKET_OR_LINE.match(self._buffer, at)
            if found is None:
                if len(self._buffer) - self._at > _MAX_ARRAY_LINE or not self._fill():
                    return False
                continue
            at = found.end()
            mark = self._buffer[at - 1 : at]
            depth += 1 if mark in b"{[" else -1
            deep += depth > MAX_DEPTH
            if mark == b"\n" or deep > _MAX_DEEP_BRACKETS:
                return False
            if depth <= 0:
                self._at = at
                return True

    def is_alone_or_spread(self) -> bool:
        """Whether what follows a value is nothing, or begins on the next line as another value."""
        following = self.skip(BLANK)
        return following is None or following in b"{"

    def _close(self, *, is_let_go: bool) -> Fault | None:
        start, at, depth, deep = self._at, self._at, 0, 0
        while True:
            found = _NEXT_BRACKET.match(self._buffer, at)
            if found is not None:
                at = found.end()
                depth += 1 if self._buffer[at - 1] in b"{[" else -1
                if depth <= 0:
                    self._at = at
                    return None
                deep += depth > MAX_DEPTH
                if deep > _MAX_DEEP_BRACKETS:
                    return Fault.TOO_DEEP
                continue
            if is_let_go:
                self._at = at
                self._let_go()
                start = at = self._at
            if len(self._buffer) - start > MAX_PIECE_BYTES:
                return Fault.TOO_LARGE
            if not self._fill():
                self._at = len(self._buffer)
                return Fault.CUT_OFF

    def _scalar(self) -> Fault | None:
        while True:
            found = _SCALAR.match(self._buffer, self._at)
            if found is not None and found.end() < len(self._buffer):
                self._at = found.end()
                return None
            if len(self._buffer) - self._at > MAX_PIECE_BYTES:
                return Fault.TOO_LARGE
            if self._fill():
                continue
            if found is not None:
                self._at = found.end()
                return None
            is_string = self._buffer[self._at : self._at + 1] == b'"'
            # A bracket or a comma that nothing opened: for the parser to refuse.
            self._at = len(self._buffer) if is_string else self._at + 1
            return Fault.CUT_OFF if is_string else None

    def _let_go(self) -> None:
        if self._at > _CHUNK:
            self._base += self._at
            self._buffer = self._buffer[self._at :]
            self._at = 0

    def _fill(self) -> bool:
        # As much again as there is: what is looked at twice stays in proportion to what is read.
        more = self._stream.read(max(_CHUNK, len(self._buffer)))
        self._buffer += more
        return bool(more)
