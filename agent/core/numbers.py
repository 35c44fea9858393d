"""Numbers of a document that was parsed by anybody: what whole number one is."""

from __future__ import annotations

from typing import Any


def whole_number(value: Any) -> int | None:
    """The whole number that ``value`` is; 1.0 counts as 1 (CONTRACT 1). None for what is none.

    A number with a fraction or an exponent may be of a type of the parser's own, of which ``float()`` makes a float.
    """
    if isinstance(value, int):
        return None if isinstance(value, bool) else value
    if value is None or isinstance(value, str | list | dict):
        return None
    try:
        number = float(value)
        return int(number) if number == int(number) else None
    except (TypeError, ValueError, OverflowError):
        return None
