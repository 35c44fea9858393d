"""The values that redacted parameters have in a capture, before any is replaced (``redaction.params``, CONTRACT 8).

They stand by a parameter's name: as members, and in JSON that stands in a text, at every level of escapes. Of a text
only what is a value of JSON is taken, or digits: in ``{"password": password}`` of a program no value stands.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from itertools import islice
from typing import Any, Final

from agent.content.param_values import text_of
from agent.content.params_in_text import named_in
from agent.content.unescaped import OF_AN_ESCAPE, levels

# As json.loads tells them from a name or an expression.
_BEGINS_JSON: Final = ('"', "{", "[")
_DIGITS: Final = re.compile(r"\+?[0-9][0-9 ().\-/]*")
# Names are written in characters that stay as they are, or in escapes like this one, at any level of them.
_ESCAPED_ASCII: Final = re.compile(r"\\u00[0-7]")
_PLAIN_NAME: Final = re.compile(r"[\x20-\x7e]+")
_ESCAPED_ELSE: Final = frozenset('"\\/')
# Of one text; what a value takes, as so many characters of a text in which nothing is found.
_MOST_OF_A_TEXT: Final = 100_000
_OF_A_VALUE: Final = 60
_SCHEMA_TYPES: Final = frozenset({"string", "number", "integer", "boolean", "object", "array", "null"})


class Gathering:
    """A rule that leaves everything as it is; ``values`` are those of ``params``, in the order in which they stand.

    ``effort`` is what the look took. With more than ``most_effort`` nothing more is looked for: there is none left to
    look at a text of this capture again.
    """

    def __init__(self, params: frozenset[str], *, most_effort: int) -> None:
        self._params = params
        self._most_effort = most_effort
        self._plain = all(_PLAIN_NAME.fullmatch(name) and _ESCAPED_ELSE.isdisjoint(name) for name in params)
        self.values: dict[str, None] = {}
        self.effort = 0

    def text(self, content: str) -> str:
        """``content``, as it is."""
        if self._may_name(content) and self.effort <= self._most_effort:
            read = levels(content)
            self.effort += OF_AN_ESCAPE * (len(content) - len(read[-1]))
            for each in read:
                for _, start, end in islice(named_in(each, self._params), _MOST_OF_A_TEXT):
                    self.effort += _OF_A_VALUE
                    self._keep(_read(each[start:end]))
        return content

    def arguments(self, value: Any) -> Any:
        """``value``, as it is."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, dict):
            for name, of_name in value.items():
                self.member(name, of_name)
        elif isinstance(value, list):
            for item in value:
                self.arguments(item)
        return value

    def member(self, name: str, value: Any) -> Any:
        """``value``, as it is."""
        if name in self._params:
            self._keep(value)
            return value
        return self.arguments(value)

    def _keep(self, value: Any) -> None:
        self.values.update(dict.fromkeys(_texts_of(value)))

    def _may_name(self, text: str) -> bool:
        """Whether the name of a parameter can stand in ``text``, at whatever level of escapes."""
        if any(name in text for name in self._params):
            return True
        return "\\" in text and (not self._plain or _ESCAPED_ASCII.search(text) is not None)


def _read(spelled: str) -> Any:
    """The value that is spelled so in JSON; None where it is none."""
    if not spelled.startswith(_BEGINS_JSON):
        return spelled if _DIGITS.fullmatch(spelled) else None
    try:
        return json.loads(spelled)
    except (ValueError, RecursionError):
        return None


def _texts_of(value: Any) -> Iterator[str]:
    """The texts and numbers in ``value``. Where a JSON Schema describes a parameter there is no value of it."""
    pending = [value]
    while pending:
        each = pending.pop()
        if isinstance(each, str):
            yield each
        elif isinstance(each, dict):
            pending += () if _is_schema(each) else reversed(each.values())
        elif isinstance(each, list):
            pending += reversed(each)
        elif each is not None and not isinstance(each, bool) and _is_finite(each):
            yield text_of(each)


def _is_finite(number: float) -> bool:
    # An integer may be larger than any float.
    return isinstance(number, int) or math.isfinite(number)


def _is_schema(value: dict[str, Any]) -> bool:
    types = value.get("type")
    named = types if isinstance(types, list) else [types]
    return bool(named) and all(isinstance(each, str) and each in _SCHEMA_TYPES for each in named)
