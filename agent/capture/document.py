"""From bytes to a JSON object, once, at the edge (CONTRACT 2).

Nothing after this may fail on what this accepted. Refuses, in this order: an empty body, too many values, what is not
I-JSON as CONTRACT 2 has it (``refusal`` says why), what is not an object.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from math import isinf
from typing import Any, Final

import jiter

from agent.capture.refusal import MAX_DEPTH, STRING, WHITE, explain, skip_value
from agent.core.canonical import is_plain
from agent.errors import PayloadTooLarge, Problem, ValidationError

MAX_VALUES: Final = 250_000
_BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"
# A value begins the text, or follows a comma, or an opening bracket that is not closed at once. Possessive, so that
# 10 MiB of anything are counted in constant memory and some tens of milliseconds.
_MORE_VALUES: Final = re.compile(
    rb'(?:(?:[^",\[{]++|"' + STRING + rb'"|\[' + WHITE + rb"\]|\{" + WHITE + rb"\})*+[,\[{]){%d}+" % MAX_VALUES
)
_WRAPPER_START: Final = re.compile(WHITE + rb"\{" + WHITE)
_COLON: Final = re.compile(WHITE + rb":" + WHITE)
_COMMA: Final = re.compile(WHITE + rb"," + WHITE)
_KEY: Final = re.compile(rb'"' + STRING + rb'"')
_BLANK: Final = b" \t\n\r"
_LARGEST_FAST_INTEGER: Final = 2**64 - 1
_SMALLEST_FAST_INTEGER: Final = -(2**63)


@dataclass(frozen=True, slots=True)
class Document:
    """A parsed body.

    ``value`` is the object, ``text`` its JSON text as sent (UTF-8, without a byte order mark), ``plain`` whether
    ``canonical(value)`` may take its fast path.
    """

    value: dict[str, Any]
    text: bytes
    plain: bool


def parse(body: bytes) -> Document:
    """Parse ``body``; raises ValidationError, or PayloadTooLarge for more than 250 000 values."""
    text = body.removeprefix(_BYTE_ORDER_MARK)
    if not text or text.isspace():
        raise _refused("the body is empty", "empty")
    # Every value but the first takes at least two bytes, so a short text need not be counted.
    if len(text) >= 2 * MAX_VALUES and _MORE_VALUES.match(text):
        # Before anything is built: small bodies of brackets take a function's whole memory.
        raise PayloadTooLarge(f"the body has more than {MAX_VALUES} JSON values", [Problem("$", "values")])
    value, plain = _build(text)
    if not isinstance(value, dict):
        raise _refused("the body is not a JSON object", "object")
    return Document(value, text, plain)


def open_wrapper(document: Document) -> Document:
    """The inner document of ``{"payload": {...}}`` without ``turns`` (CONTRACT 7); any other document as it is."""
    inner = document.value.get("payload")
    if not isinstance(inner, dict) or "turns" in document.value:
        return document
    text = _only_member(document.text) if len(document.value) == 1 else _member(document.text)
    return Document(inner, text, document.plain or is_plain(inner))


def _build(text: bytes) -> tuple[Any, bool]:
    try:
        value = jiter.from_json(text, allow_inf_nan=False, catch_duplicate_keys=True)
    except ValueError:
        # The parser's message may hold a key; the position and the rule are found again without it.
        raise explain(text) from None
    plain = _survey(value)
    if plain is None:
        del value  # a body of 10 MiB need not stand in memory twice
        raise explain(text)
    return value, plain


def _survey(value: Any) -> bool | None:
    """Walk ``value`` once, level by level: None if CONTRACT 2 forbids it, else whether ``is_plain(value)`` holds.

    The parser lets a number that overflows through as infinity, and nests deeper than the contract.
    """
    plain = True
    names: list[str] = []
    level = [value]
    depth = 0
    while level:
        depth += 1
        deeper: list[Any] = []
        for item in level:
            kind = type(item)
            if kind is dict:
                names += item
                members = item.values()
            elif kind is list:
                members = item
            else:
                if kind is float:
                    if isinf(item):
                        return None
                    plain = False
                elif kind is int and not _SMALLEST_FAST_INTEGER <= item <= _LARGEST_FAST_INTEGER:
                    plain = False
                continue
            if depth > MAX_DEPTH:
                return None
            # Most values are strings, and they are sound: the parser has seen to it.
            for member in members:
                if type(member) is not str:
                    deeper.append(member)  # noqa: PERF401 - a comprehension costs twice as much for a few members
        level = deeper
    return plain and _are_plain_keys(names)


def _are_plain_keys(names: list[str]) -> bool:
    """Whether no key leaves the Basic Multilingual Plane: beyond it RFC 8785 3.2.3 sorts otherwise than UTF-8."""
    return all(map(str.isascii, names)) or all(max(name) <= "\uffff" for name in names if name)


def _only_member(text: bytes) -> bytes:
    """The text of the one value in an object with one member."""
    start = _value_start(text, _start(_WRAPPER_START.match(text)))
    return text[start : text.rindex(b"}")].rstrip(_BLANK)


def _member(text: bytes) -> bytes:
    """The text of the member ``payload`` among others, in a text that was parsed before."""
    at = _start(_WRAPPER_START.match(text))
    while True:
        name = text[at : _start(_KEY.match(text, at))]
        start = _value_start(text, at)
        end = skip_value(text, start)
        if jiter.from_json(name) == "payload":
            return text[start:end]
        at = _start(_COMMA.match(text, end))


def _value_start(text: bytes, at: int) -> int:
    return _start(_COLON.match(text, _start(_KEY.match(text, at))))


def _start(match: re.Match[bytes] | None) -> int:
    """Where the next token starts."""
    if match is None:  # only parsed text comes here
        raise RuntimeError("the text is not the one that was parsed")
    return match.end()


def _refused(message: str, rule: str) -> ValidationError:
    return ValidationError(message, [Problem("$", rule)])
