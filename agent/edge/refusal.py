"""Why a body was refused: which rule of CONTRACT 2, and where (line and column).

Runs only after the parser, or the walk over what it built, has said no. A tokenizer of its own, so that the rule
comes from the text and never from another library's message. Reports the first fault in reading order; a message
names the rule and the place, for a duplicate also the key, never a value. Linear in time, constant in memory but for
the keys of the objects that are open.
"""

from __future__ import annotations

import json
import re
from math import isinf
from typing import Final, NamedTuple, NoReturn, cast

from agent.core.json_path import cut, quoted
from agent.edge.json_text import BLANK, MAX_DEPTH, MAX_INTEGER_DIGITS, WHITE
from agent.errors import Problem, ValidationError

_WHITE: Final = re.compile(WHITE)
# The longest run of legal characters and escapes (RFC 8259 7); a high surrogate only with its low one.
_CHARACTERS: Final = re.compile(
    rb'(?:[^"\\\x00-\x1f]++|\\(?:["\\/bfnrt]|u(?:[0-9a-cefA-CEF][0-9a-fA-F]{3}'
    rb"|[dD](?:[0-7][0-9a-fA-F]{2}|[89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}))))*+"
)
_SURROGATE: Final = re.compile(rb"\\u[dD][89a-fA-F][0-9a-fA-F]{2}")
_NUMBER: Final = re.compile(rb"-?+(0|[1-9][0-9]*+)((?:\.[0-9]++)?+(?:[eE][+-]?+[0-9]++)?+)")
_LITERAL: Final = re.compile(rb"true|false|null")


class Fault(NamedTuple):
    """The first thing in a text that CONTRACT 2 forbids: its rule, its place in bytes, and what to say."""

    rule: str
    offset: int
    message: str


def explain(text: bytes) -> ValidationError:
    """The error to raise for ``text``, a body without its byte order mark that was refused."""
    # A property test holds the parser and this tokenizer together; should they ever differ, the refusal stands.
    fault = find(text) or Fault("json", 0, "the body is not JSON")
    line, column = _place(text, fault.offset)
    return ValidationError(f"{fault.message}, at line {line}, column {column}", [Problem("$", fault.rule)])


def find(text: bytes) -> Fault | None:
    """The first fault of ``text`` in reading order, bad UTF-8 before all others; None where CONTRACT 2 has none."""
    try:
        if not text.isascii():
            text.decode()
        _Tokenizer(text).read()
    except UnicodeDecodeError as error:
        return Fault("utf8", error.start, "the body is not UTF-8")
    except _FaultError as error:
        return error.fault
    return None


def _end(run: re.Pattern[bytes], text: bytes, at: int) -> int:
    """Where the run that starts at ``at`` ends; the pattern matches nothing at all, too, so it always matches."""
    return cast("re.Match[bytes]", run.match(text, at)).end()


def _place(text: bytes, offset: int) -> tuple[int, int]:
    """Line and column, both from 1; a column is a character."""
    start = text.rfind(b"\n", 0, offset) + 1
    return text.count(b"\n", 0, offset) + 1, len(text[start:offset].decode(errors="replace")) + 1


class _FaultError(Exception):
    """Carries the fault out of the tokenizer."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(fault.rule)
        self.fault = fault


class _Tokenizer:
    """Reads one JSON text; ``_FaultError`` at its first fault."""

    def __init__(self, text: bytes) -> None:
        self._text = text
        self._at = 0
        # The keys of each open object, None for an open array.
        self._open: list[set[str] | None] = []
        self._just_opened = False

    def read(self) -> None:
        self._skip_white()
        self._value()
        while self._open:
            self._member()
        if self._next():
            self._fail("json", "the body is not JSON: something follows its end")

    def _member(self) -> None:
        """A comma and a member of the innermost container, or its end."""
        keys = self._open[-1]
        following = self._next()
        if following == (b"]" if keys is None else b"}"):
            self._at += 1
            self._open.pop()
            self._just_opened = False
            return
        if not self._just_opened:
            if following != b",":
                self._not_json("a comma or a closing bracket is missing")
            self._at += 1
            self._skip_white()
        self._just_opened = False
        if keys is not None:
            self._key(keys)
        self._value()

    def _key(self, keys: set[str]) -> None:
        start = self._at
        if self._text[start : start + 1] != b'"':
            self._not_json("a key is not a string")
        self._string()
        token = self._text[start : self._at]
        key: str = json.loads(token) if b"\\" in token else token[1:-1].decode()
        if key in keys:
            self._at = start
            self._fail("duplicate_key", f"the key {quoted(cut(key))} stands twice in one object")
        keys.add(key)
        if self._next() != b":":
            self._not_json("a colon is missing")
        self._at += 1
        self._skip_white()

    def _value(self) -> None:
        first = self._text[self._at : self._at + 1]
        if first == b'"':
            self._string()
        elif first in (b"{", b"["):
            if len(self._open) == MAX_DEPTH:
                self._fail("depth", f"the body is nested deeper than {MAX_DEPTH} levels")
            self._open.append(set() if first == b"{" else None)
            self._just_opened = True
            self._at += 1
        elif number := _NUMBER.match(self._text, self._at):
            self._number(number)
        elif literal := _LITERAL.match(self._text, self._at):
            self._at = literal.end()
        else:
            self._not_json("no value starts here")

    def _string(self) -> None:
        """A string, from its opening quote to behind its closing one."""
        self._at = _end(_CHARACTERS, self._text, self._at + 1)
        if self._text[self._at : self._at + 1] == b'"':
            self._at += 1
        elif _SURROGATE.match(self._text, self._at):
            self._fail("surrogate", "half of a surrogate pair stands alone")
        else:
            self._not_json("a string holds a character or an escape that JSON does not have")

    def _number(self, number: re.Match[bytes]) -> None:
        # The parser counts the digits before a fraction, too.
        if len(number[1]) > MAX_INTEGER_DIGITS:
            self._fail("number_range", f"a number has more than {MAX_INTEGER_DIGITS} integer digits")
        if number[2] and isinf(float(number[0])):
            self._fail("number_range", "a number overflows a double")
        self._at = number.end()

    def _next(self) -> bytes:
        """The next byte that is no white space; empty at the end."""
        self._skip_white()
        return self._text[self._at : self._at + 1]

    def _skip_white(self) -> None:
        # A look at one byte is cheaper than a match that finds nothing, and most tokens follow one another directly.
        if self._text[self._at : self._at + 1] in BLANK:
            self._at = _end(_WHITE, self._text, self._at)

    def _not_json(self, what: str) -> NoReturn:
        if self._at >= len(self._text):
            what = "it ends too early"
        self._fail("json", f"the body is not JSON: {what}")

    def _fail(self, rule: str, message: str) -> NoReturn:
        raise _FaultError(Fault(rule, self._at, message))
