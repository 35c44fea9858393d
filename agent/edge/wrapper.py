"""The exact text of the payload in ``{"payload": {...}}`` (CONTRACT 7): ``inputs`` is the text as sent.

Reads only text that was parsed before, and so looks at nothing but strings and brackets. Imported only when a wrapper
comes.
"""

from __future__ import annotations

import re
from typing import Final

import jiter

from agent.edge.json_text import BLANK, STRING, WHITE

_START: Final = re.compile(WHITE + rb"\{" + WHITE)
_KEY: Final = re.compile(STRING, re.DOTALL)
_COLON: Final = re.compile(WHITE + rb":" + WHITE)
_COMMA: Final = re.compile(WHITE + rb"," + WHITE)
_NEXT_BRACKET: Final = re.compile(rb'(?:[^"{}\[\]]++|' + STRING + rb")*+([{}\[\]])", re.DOTALL)
_SCALAR: Final = re.compile(STRING + rb"|[^,\]} \t\n\r]++", re.DOTALL)


def only_member(text: bytes) -> bytes:
    """The text of the one value in ``text``, an object with one member."""
    start = _value_start(text, _end(_START, text, 0))
    return text[start : text.rindex(b"}")].rstrip(BLANK)


def member(text: bytes, name: str) -> bytes:
    """The text of the value of ``name`` in ``text``, an object that has such a member at its first level."""
    at = _end(_START, text, 0)
    while True:
        key = text[at : _end(_KEY, text, at)]
        start = _value_start(text, at)
        end = _value_end(text, start)
        if jiter.from_json(key) == name:
            return text[start:end]
        at = _end(_COMMA, text, end)


def _value_start(text: bytes, at: int) -> int:
    return _end(_COLON, text, _end(_KEY, text, at))


def _value_end(text: bytes, at: int) -> int:
    if text[at : at + 1] not in (b"{", b"["):
        return _end(_SCALAR, text, at)
    depth = 0
    while True:
        at = _end(_NEXT_BRACKET, text, at)
        depth += 1 if text[at - 1] in b"{[" else -1
        if not depth:
            return at


def _end(token: re.Pattern[bytes], text: bytes, at: int) -> int:
    """Where the token at ``at`` ends."""
    match = token.match(text, at)
    if match is None:
        raise RuntimeError("the text is not the one that was parsed")
    return match.end()
