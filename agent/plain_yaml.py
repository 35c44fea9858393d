"""Reads YAML into plain values: text, whole and decimal numbers, true, false, null, lists and mappings.

It refuses what is not what it looks like: to YAML, 010 is eight, 12:30 is 750, 1.10 is 1.1 and "no" is false. Such a
value stands in quotes. It refuses tags too, a name that stands twice, more than one document, and what is nested
without end. A refusal names the place, and never a value. PyYAML is imported late, and only parses: it makes no value.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from agent.errors import ConfigurationError

if TYPE_CHECKING:
    import yaml

_DEEPEST: Final = 16
_LONGEST_NAME: Final = 64
_MOST_DIGITS: Final = 300
_NULLS: Final = frozenset({"", "~", "null", "Null", "NULL"})
_TRUTHS: Final = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
_NUMBER: Final = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?\Z")
# A number to other readers of YAML, and text to PyYAML.
_OTHERWISE_A_NUMBER: Final = re.compile(r"[-+]?(?:[0-9.]+[eE][-+]?[0-9]+|0o[0-7]+|0[0-9]+)\Z")
_TEXT: Final = "tag:yaml.org,2002:str"


def plain_values(text: bytes, variable: str, *, left: str | None = None) -> Any:
    """The values of ``text``; ``variable`` is what a ConfigurationError names.

    The member ``left`` of the document is somebody else's: what its values look like is not judged.
    """
    import yaml

    try:
        return _Building(yaml.parse(text, Loader=yaml.SafeLoader), variable, left).document()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        where = "" if mark is None else f" at line {mark.line + 1}, column {mark.column + 1}"
        raise ConfigurationError(variable, f"the file is no YAML{where}") from None
    except (yaml.YAMLError, ValueError):
        raise ConfigurationError(variable, "the file is no YAML of plain values") from None


def under(path: str, name: str) -> str:
    """The place of the member ``name``, which is cut where it is long."""
    return f"{path}.{name[:_LONGEST_NAME]}"


class _Building:
    """One walk over the events of a document, which ends where the document goes too deep."""

    def __init__(self, events: Iterator[yaml.Event], variable: str, left: str | None) -> None:
        from yaml.resolver import Resolver

        self._events = events
        self._variable = variable
        self._left = None if left is None else under("$", left)
        self._resolver = Resolver()
        self._anchored: dict[str, Any] = {}

    def document(self) -> Any:
        from yaml import DocumentStartEvent, StreamEndEvent

        next(self._events)
        if isinstance(next(self._events), StreamEndEvent):
            return None
        value = self._value(next(self._events), "$", 0)
        next(self._events)
        if isinstance(next(self._events), DocumentStartEvent):
            raise self._refused("$", "must be one document")
        return value

    def _value(self, event: yaml.Event, path: str, depth: int) -> Any:
        from yaml import AliasEvent, MappingStartEvent, ScalarEvent

        if depth > _DEEPEST:
            raise self._refused(path, f"is nested deeper than {_DEEPEST} levels")
        if isinstance(event, AliasEvent):
            if event.anchor not in self._anchored:
                raise self._refused(path, "refers to what is not there, or is not complete")
            return self._anchored[event.anchor]
        if isinstance(event, ScalarEvent):
            value = self._scalar(event, path)
        elif isinstance(event, MappingStartEvent):
            value = self._mapping(event, path, depth)
        else:
            value = self._list(event, path, depth)
        anchor = getattr(event, "anchor", None)
        if anchor is not None:
            self._anchored[anchor] = value
        return value

    def _list(self, start: yaml.Event, path: str, depth: int) -> list[Any]:
        from yaml import SequenceEndEvent

        self._refuse_tag(start, path)
        values: list[Any] = []
        while not isinstance(event := next(self._events), SequenceEndEvent):
            values.append(self._value(event, f"{path}[{len(values)}]", depth + 1))
        return values

    def _mapping(self, start: yaml.Event, path: str, depth: int) -> dict[Any, Any]:
        from yaml import MappingEndEvent, ScalarEvent

        self._refuse_tag(start, path)
        members: dict[Any, Any] = {}
        while not isinstance(event := next(self._events), MappingEndEvent):
            if not isinstance(event, ScalarEvent):
                raise self._refused(path, "must have names of text")
            name = self._value(event, path, depth + 1)
            place = under(path, str(name))
            if name in members:
                raise self._refused(place, "stands twice")
            members[name] = self._value(next(self._events), place, depth + 1)
        return members

    def _scalar(self, event: yaml.ScalarEvent, path: str) -> Any:
        self._refuse_tag(event, path)
        text = event.value
        if not _is_unicode(text):
            raise self._refused(path, "must be text of whole characters")
        if event.style is not None or event.tag is not None:
            return text
        if text in _NULLS:
            return None
        if text in _TRUTHS:
            return _TRUTHS[text]
        number = _number(text)
        if number is not None:
            return number
        if not self._is_text(text) and not self._is_left(path):
            raise self._refused(path, "is something else to YAML than it looks like: put quotes around it")
        return text

    def _is_text(self, text: str) -> bool:
        from yaml import ScalarNode

        # As YAML takes it where it stands without quotes and without a tag.
        taken = self._resolver.resolve(ScalarNode, text, (True, False))  # type: ignore[no-untyped-call]  # PyYAML's
        return taken == _TEXT and not _OTHERWISE_A_NUMBER.match(text)

    def _refuse_tag(self, event: Any, path: str) -> None:
        if event.tag not in {None, "!", _TEXT} and not self._is_left(path):
            raise self._refused(path, "has a tag: only plain values are taken")

    def _is_left(self, path: str) -> bool:
        return self._left is not None and (path == self._left or path.startswith((f"{self._left}.", f"{self._left}[")))

    def _refused(self, path: str, problem: str) -> ConfigurationError:
        return ConfigurationError(self._variable, f"{path}: {problem}")


def _number(text: str) -> int | float | None:
    """The number that ``text`` is, where it would be written in the same way: 1.10 may be no number, and -0 is 0."""
    if len(text) > _MOST_DIGITS or not _NUMBER.match(text):
        return None
    number = float(text) if "." in text else int(text)
    return number if str(number) == text else None


def _is_unicode(text: str) -> bool:
    """Whether ``text`` has no half of a character: the escape of one alone can be written in YAML."""
    return text.isascii() or not any("\ud800" <= character <= "\udfff" for character in text)
