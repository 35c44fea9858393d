"""From bytes to a JSON object, once, at the edge (CONTRACT 2).

Nothing after this may fail on what this accepted. Refuses, in this order: an empty body, too many values, what is not
I-JSON as CONTRACT 2 has it (``refusal`` says why), what is not an object.
"""

from __future__ import annotations

from math import isinf
from typing import Any, Final, NamedTuple

import jiter

from agent.core.canonical import LARGEST_FAST_INTEGER, SMALLEST_FAST_INTEGER, encode, is_plain
from agent.core.capture_options import CAPTURE_OPTIONS, is_same
from agent.core.json_bounds import MAX_DEPTH, MAX_VALUES, has_too_many_values
from agent.errors import PayloadTooLarge, Problem, ValidationError

BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"
_PAYLOAD: Final = "payload"


class Document(NamedTuple):
    """A parsed body.

    ``value`` is the object, ``text`` its JSON text as sent (UTF-8, without a byte order mark), ``plain`` whether
    ``canonical(value)`` may take its fast path. ``warnings`` are about the wrapper that it stood in, at most 50.
    """

    value: dict[str, Any]
    text: bytes
    plain: bool
    warnings: tuple[Problem, ...] = ()


def parse(body: bytes) -> Document:
    """Parse ``body``; raises ValidationError, or PayloadTooLarge for more than 250 000 values."""
    text = body.removeprefix(BYTE_ORDER_MARK)
    if not text or text.isspace():
        raise _refused("the body is empty", "empty")
    if has_too_many_values(text):
        # Before anything is built: small bodies of brackets take a function's whole memory.
        raise PayloadTooLarge(f"the body has more than {MAX_VALUES} JSON values", [Problem("$", "values")])
    value, plain = _build(text)
    if not isinstance(value, dict):
        raise _refused("the body is not a JSON object", "object")
    return Document(value, text, plain)


def parse_value(text: bytes) -> tuple[Any, bool]:
    """Any JSON value of a file, by the rules of ``parse`` but for its bounds of size and number; and ``plain`` of it.

    Whoever reads a file of one's own chose it: only what came over the network is bounded. Raises ValidationError.
    """
    return _build(text)


def open_wrapper(document: Document) -> Document:
    """The inner document of ``{"payload": {...}}`` without ``turns`` (CONTRACT 7); any other document as it is.

    ``capture_options`` beside the payload are joined with its own, as if they stood in it, where that changes what is
    done. What else stands there is no part of a payload, whose hash is of itself alone (CONTRACT 5): it is not kept,
    and told.
    """
    inner = _wrapped(document)
    if inner is None:
        return document
    # Loaded late: most clients never wrap.
    from agent.edge.wrapper import member, only_member, options_of, warnings_of

    if len(document.value) == 1:
        return Document(inner, only_member(document.text), document.plain or is_plain(inner))
    options = options_of(document.value)
    text = member(document.text, _PAYLOAD)
    if not is_same(options, inner.get(CAPTURE_OPTIONS)):
        inner = {**inner, CAPTURE_OPTIONS: options}
        text = encode(inner)
    return Document(inner, text, document.plain or is_plain(inner), warnings_of(document.value))


def beside_payload(document: Document) -> list[str]:
    """The members that ``open_wrapper`` leaves out of ``document``."""
    if _wrapped(document) is None or len(document.value) == 1:
        return []
    from agent.edge.wrapper import left_out  # late, as above

    return left_out(document.value)


def _wrapped(document: Document) -> dict[str, Any] | None:
    """The payload that ``document`` is the wrapper of; None where it is none."""
    inner = document.value.get(_PAYLOAD)
    return inner if isinstance(inner, dict) and "turns" not in document.value else None


def _build(text: bytes) -> tuple[Any, bool]:
    try:
        value = jiter.from_json(text, allow_inf_nan=False, catch_duplicate_keys=True)
    except ValueError:
        # The parser's message may hold a key; the position and the rule are found again without it.
        raise _explained(text) from None
    plain = _survey(value)
    if plain is None:
        del value  # a body of 10 MiB need not stand in memory twice
        raise _explained(text)
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
                elif kind is int and not SMALLEST_FAST_INTEGER <= item <= LARGEST_FAST_INTEGER:
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


def _explained(text: bytes) -> ValidationError:
    from agent.edge.refusal import explain  # loaded late: an instance that refuses nothing never needs it

    return explain(text)


def _refused(message: str, rule: str) -> ValidationError:
    return ValidationError(message, [Problem("$", rule)])
