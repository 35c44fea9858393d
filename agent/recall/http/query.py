"""The query of a request: its names and values, each read or refused by its name and what it takes.

Refuses with ValidationError what it would have to guess at: a name that the path does not take, one that stands twice,
what is not UTF-8. A filter that was misspelt and passed over would answer another question. Messages name names and
ranges, never what was sent.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final
from urllib.parse import parse_qsl

from agent.core.json_path import json_path
from agent.core.timestamps import is_date_time
from agent.errors import Problem, ValidationError

LARGEST: Final = 2**63 - 1
LONGEST_NAME: Final = 256
# Filters too are ids and names. All of them fit the address of the store, each character as twelve.
LONGEST_TEXT: Final = 1000
_LONGEST_QUERY: Final = 32 * 1024
_MOST_FIELDS: Final = 50
_DIGITS: Final = re.compile(r"0*([0-9]{1,19})\Z", re.ASCII)
_INTEGER: Final = re.compile(r"(-?)([0-9]+)\Z", re.ASCII)


class Query:
    """What a request's query says of the ``known`` names. Raises ValidationError with every name that is none."""

    def __init__(self, environ: Mapping[str, Any], *known: str) -> None:
        fields = _fields(environ.get("QUERY_STRING", ""))
        self._values = dict(fields)
        unknown = [name for name in self._values if name not in known]
        if unknown:
            takes = f"the query takes {', '.join(known)}" if known else "this path takes no query"
            raise ValidationError(takes, [Problem(json_path([name]), "additionalProperties") for name in unknown])
        if len(self._values) < len(fields):
            raise ValidationError("a query name stands twice", [Problem("$", "duplicate_key")])

    def __contains__(self, name: str) -> bool:
        return name in self._values

    def whole_number(self, name: str, *, lowest: int = 0, highest: int = LARGEST) -> int | None:
        """The value of ``name`` in ASCII digits; None where it is absent."""
        text = self._values.get(name)
        if text is None:
            return None
        digits = _DIGITS.match(text)
        number = -1 if digits is None else int(digits[1])
        if not lowest <= number <= highest:
            message = f"{name} must be a whole number from {lowest} to {highest}"
            raise ValidationError(message, [Problem(f"$.{name}", _rule(text, lowest))])
        return number

    def instant(self, name: str) -> str | None:
        """The date-time under ``name``; None where it is absent."""
        text = self._values.get(name)
        if text is not None and not is_date_time(text):
            message = f"{name} must be an RFC 3339 date-time with an offset, its plus sign written %2B"
            raise ValidationError(message, [Problem(f"$.{name}", "format")])
        return text

    def choice(self, name: str, options: Sequence[str]) -> str:
        """The value of ``name``, the first of ``options`` where it is absent."""
        text = self._values.get(name, options[0])
        if text not in options:
            raise ValidationError(f"{name} must be one of {', '.join(options)}", [Problem(f"$.{name}", "enum")])
        return text

    def text(self, name: str, *, longest: int = LONGEST_TEXT) -> str | None:
        """The text under ``name``, which is not empty; None where it is absent."""
        text = self._values.get(name)
        if text is None:
            return None
        if not text:
            raise ValidationError(f"{name} must not be empty", [Problem(f"$.{name}", "minLength")])
        if len(text) > longest:
            raise ValidationError(f"{name} must have 1 to {longest} characters", [Problem(f"$.{name}", "maxLength")])
        return text


def _rule(text: str, lowest: int) -> str:
    """Which rule a number breaks that is not in its range, or is none."""
    number = _INTEGER.match(text)
    if number is None:
        return "type"
    return "minimum" if number[1] or int(number[2].lstrip("0")[:20] or "0") < lowest else "maximum"


def _fields(query: str) -> list[tuple[str, str]]:
    try:
        # PEP 3333 hands bytes over as latin-1 text.
        text = query.encode("latin-1").decode()
        _check_size(text)
        return parse_qsl(text, keep_blank_values=True, errors="strict")
    except ValueError:
        raise ValidationError("the query cannot be read", [Problem("$", "utf8")]) from None


def _check_size(query: str) -> None:
    if len(query) > _LONGEST_QUERY:
        raise ValidationError(f"the query has at most {_LONGEST_QUERY} characters", [Problem("$", "maxLength")])
    if query.count("&") >= _MOST_FIELDS:
        raise ValidationError(f"the query has at most {_MOST_FIELDS} names", [Problem("$", "maxProperties")])
