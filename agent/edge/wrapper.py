"""The exact text of the payload in ``{"payload": {...}}`` (CONTRACT 7), and what stands beside it.

``inputs`` is the text as sent. Reads only text that was parsed before, and so looks at nothing but strings and
brackets. Imported only when a wrapper comes.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

import jiter

from agent.core.capture_options import CAPTURE_OPTIONS, is_same, joined, passed_over, unknown_of
from agent.core.json_path import json_path
from agent.edge.json_text import BLANK, STRING, WHITE
from agent.errors import MAX_PROBLEMS, Problem

_PAYLOAD: Final = "payload"
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


def left_out(wrapper: Mapping[str, Any]) -> list[str]:
    """The members of ``wrapper`` that are no part of its payload, and that nobody reads."""
    return [name for name in wrapper if name not in (_PAYLOAD, CAPTURE_OPTIONS)]


def options_of(wrapper: Mapping[str, Any]) -> Any:
    """The ``capture_options`` of the payload, with those that stand beside it; None where there are none."""
    return joined(wrapper[_PAYLOAD].get(CAPTURE_OPTIONS), wrapper.get(CAPTURE_OPTIONS))


def warnings_of(wrapper: Mapping[str, Any]) -> tuple[Problem, ...]:
    """A warning for each option beside the payload that its own overrule, and for each member that is left out."""
    own, other = wrapper[_PAYLOAD].get(CAPTURE_OPTIONS), wrapper.get(CAPTURE_OPTIONS)
    at = f"$.{CAPTURE_OPTIONS}"
    unread = [Problem(json_path((name,)), "ignored") for name in left_out(wrapper)]
    # Where the payload's own do for both, nothing of the others is kept.
    unknown = unknown_of(own, other, at) if is_same(own, joined(own, other)) else []
    return (*passed_over(own, other, at), *unknown, *unread)[:MAX_PROBLEMS]


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
