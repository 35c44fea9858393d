"""Where the values of an object's members stand in a JSON text that nobody has parsed yet.

An envelope is opened without parsing what it holds: the payload goes to the one parser by itself, under its own bounds
(CONTRACT 2), and its text stays as sent. Looks at nothing but strings and brackets, in linear time; what it cannot read
as an object it gives up, for the parser to say why.
"""

from __future__ import annotations

import re
from collections.abc import Container, Mapping
from typing import Final, NamedTuple

import jiter

from agent.edge.json_text import MAX_VALUES, STRING, WHITE

_START: Final = re.compile(WHITE + rb"\{" + WHITE)
_KEY: Final = re.compile(STRING, re.DOTALL)
_COLON: Final = re.compile(WHITE + rb":" + WHITE)
_NEXT: Final = re.compile(WHITE + rb"([,}])" + WHITE)
_BRACKET: Final = re.compile(rb'(?:[^"{}\[\]]++|' + STRING + rb")*+([{}\[\]])", re.DOTALL)
_SCALAR: Final = re.compile(STRING + rb"|[^,\]} \t\n\r]++", re.DOTALL)


class Span(NamedTuple):
    """A value's place in a text, in bytes."""

    start: int
    end: int

    def of(self, text: bytes) -> bytes:
        return text[self.start : self.end]


def members(text: bytes, names: Container[str], within: Span | None = None) -> Mapping[str, Span] | None:
    """The values of the members called ``names`` in the object that ``text``, or its part ``within``, is.

    Of two members of one name the first. None where this is no object, or has more members and brackets than CONTRACT 2
    allows values.
    """
    try:
        return dict(_Reader(text, within or Span(0, len(text))).read(names))
    except _NoObjectError:
        return None


class _NoObjectError(Exception):
    """The text is not what a JSON object is made of."""


class _Reader:
    """Reads one object; ``_NoObjectError`` where it is none."""

    def __init__(self, text: bytes, within: Span) -> None:
        self._text = text
        self._at, self._end = within
        # Each member, and each bracket that opens inside one, is a value: beyond the bound the parser refuses the text.
        self._left = MAX_VALUES

    def read(self, names: Container[str]) -> dict[str, Span]:
        found: dict[str, Span] = {}
        self._pass(_START)
        following = b"}" if self._text[self._at : self._at + 1] == b"}" else b","
        if following == b"}":
            self._pass(_NEXT)
        while following == b",":
            name = self._name()
            self._pass(_COLON)
            span = Span(self._at, self._value_end())
            if name in names:
                found.setdefault(name, span)
            following = self._pass(_NEXT)[1]
        if self._at != self._end:
            raise _NoObjectError
        return found

    def _name(self) -> str:
        self._count()
        key = self._pass(_KEY)[0]
        try:
            name: str = jiter.from_json(key) if b"\\" in key else key[1:-1].decode()
        except ValueError:
            raise _NoObjectError from None
        return name

    def _value_end(self) -> int:
        """Pass the value that starts here."""
        if self._text[self._at : self._at + 1] not in (b"{", b"["):
            self._pass(_SCALAR)
            return self._at
        depth = 0
        while True:
            if self._pass(_BRACKET)[1] in b"}]":
                depth -= 1
                if not depth:
                    return self._at
            else:
                if depth:
                    self._count()
                depth += 1

    def _count(self) -> None:
        self._left -= 1
        if self._left < 0:
            raise _NoObjectError

    def _pass(self, token: re.Pattern[bytes]) -> re.Match[bytes]:
        match = token.match(self._text, self._at, self._end)
        if match is None:
            raise _NoObjectError
        self._at = match.end()
        return match
