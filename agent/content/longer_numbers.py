"""Whether digits are a part of a longer number or of an id: 8566 of 48.8566 says nothing of a pin 8566 (CONTRACT 8).

A comma is in a number where it is the only one of a row (48,8566); more of them, or brackets around, are of a list.
"""

from __future__ import annotations

import re
from typing import Final

_NUMERAL: Final = re.compile(r"[-+ (]*[0-9][0-9 ().,/-]*")
_DIGIT_AND_DOT: Final = re.compile(r"[0-9]\.")
# 4711.0 is 4711.
_FRACTION: Final = re.compile(r"\.(?!0+(?!\.?[0-9]))[0-9]")
# These on either side, what stands before the digits read backwards.
_COMMA_AND_DIGIT: Final = re.compile(r",[0-9]")
_BRACKET: Final = re.compile(r"\s{0,8}[\[\]]")
_COMMA_TO_BRACKET: Final = re.compile(r",[0-9.eE+-]++\s{0,8}[\[\]]")
# What a row of values is written in without a space, JSON too, so far as it is looked at.
_ROW: Final = re.compile(r"[\w.,\"'\[\]{}:+-]*+")
_LONGEST_ROW: Final = 40
_UUID: Final = re.compile(r"(?<![0-9A-Za-z])[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}(?![0-9A-Za-z])")
_OF_A_UUID: Final = 37


def is_in_longer(text: str, start: int, end: int) -> bool:
    """Whether a numeral stands from ``start`` to before ``end`` that goes on there, or is a piece of a UUID."""
    if _NUMERAL.fullmatch(text, start, end) is None:
        return False
    if _DIGIT_AND_DOT.match(text, max(0, start - 2), start) is not None or _FRACTION.match(text, end) is not None:
        return True
    return (text[start:end].isdigit() and _has_comma(text, start, end)) or _is_in_uuid(text, start, end)


def _has_comma(text: str, start: int, end: int) -> bool:
    sides = text[max(0, start - _LONGEST_ROW) : start][::-1], text[end : end + _LONGEST_ROW]
    if not any(map(_COMMA_AND_DIGIT.match, sides)):
        return False
    if any(_BRACKET.match(side) or _COMMA_TO_BRACKET.match(side) for side in sides):
        return False
    rows = (row[0] for row in map(_ROW.match, sides) if row is not None)
    return sum(row.rstrip(".,:").count(",") for row in rows) == 1


def _is_in_uuid(text: str, start: int, end: int) -> bool:
    if "-" not in (text[start - 1 : start], text[end : end + 1]):
        return False
    ids = (found.span() for found in _UUID.finditer(text, max(0, start - _OF_A_UUID), end + _OF_A_UUID))
    return any(first < end and start < last for first, last in ids)
