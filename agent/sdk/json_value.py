"""JSON values that come from a program, checked and copied: what it changes later changes nothing here.

Mappings and sequences of Python become objects and arrays. Refuses, by ValidationError with the path, what JSON has no
form for: other types, keys that are no strings, numbers that are not finite, half surrogate pairs, and what is nested
deeper than the contract allows (CONTRACT 2), itself included. What more than one reader gets is for reading: it
refuses, by TypeError, to be changed.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final, NoReturn

from agent.core.json_path import json_path
from agent.errors import Problem, ValidationError

# CONTRACT 2 allows 128 in a payload; what is given here stands in one, at most six levels down.
MAX_DEPTH: Final = 122
# What is allowed, by the rule that was broken.
ALLOWED: Final[Mapping[str, str]] = {
    "type": "must be a JSON value: a mapping with names of text, a list, text, a number, true, false or None",
    "number_range": "must be a finite number",
    "surrogate": "must be text without half surrogate pairs",
    "depth": f"must be nested at most {MAX_DEPTH} deep, and not hold itself",
}


def json_copy(value: object, path: str = "$") -> Any:
    """``value`` as JSON would give it back, sharing nothing with it. Raises ValidationError, with ``path`` before."""
    return _copy(value, (), path)


def unshared(value: Any) -> Any:
    """A copy of a JSON value that was read from the store, and so needs no check."""
    if isinstance(value, dict):
        return {name: unshared(member) for name, member in value.items()}
    if isinstance(value, list):
        return [unshared(member) for member in value]
    return value


def read_only(value: Any) -> Any:
    """A copy of a sound JSON value that nobody can change. A copy of that, by ``copy`` or ``pickle``, can be again."""
    if isinstance(value, dict):
        return _Object({name: read_only(member) for name, member in value.items()})
    if isinstance(value, list):
        return _Array([read_only(member) for member in value])
    return value


def _refuse(*_: object, **__: object) -> NoReturn:
    raise TypeError("this is for reading: what is to be changed is a copy of it, by copy.deepcopy")


class _Object(dict[str, Any]):
    """An object for reading; a dictionary, so that whatever writes JSON takes it."""

    __slots__ = ()
    __setitem__ = __delitem__ = __ior__ = _refuse
    clear = pop = popitem = setdefault = update = _refuse

    def __reduce__(self) -> tuple[Any, ...]:
        return unshared, (dict(self),)

    def __deepcopy__(self, _: object) -> dict[str, Any]:
        copied: dict[str, Any] = unshared(self)
        return copied


class _Array(list[Any]):
    """An array for reading; a list, so that whatever writes JSON takes it."""

    __slots__ = ()
    __setitem__ = __delitem__ = __iadd__ = __imul__ = _refuse
    append = clear = extend = insert = pop = remove = reverse = sort = _refuse

    def __reduce__(self) -> tuple[Any, ...]:
        return unshared, (list(self),)

    def __deepcopy__(self, _: object) -> list[Any]:
        copied: list[Any] = unshared(self)
        return copied


def _copy(value: object, at: tuple[str | int, ...], path: str) -> Any:
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return _text(value, at, path)
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise _refused(at, path, "number_range")
        return float(value)
    if len(at) >= MAX_DEPTH:
        raise _refused(at, path, "depth")
    if isinstance(value, Mapping):
        return {_key(name, at, path): _copy(member, (*at, name), path) for name, member in value.items()}
    if isinstance(value, list | tuple):
        return [_copy(member, (*at, place), path) for place, member in enumerate(value)]
    raise _refused(at, path, "type")


def _key(name: object, at: tuple[str | int, ...], path: str) -> str:
    if not isinstance(name, str):
        raise _refused(at, path, "type")
    return _text(name, at, path)


def _text(text: str, at: tuple[str | int, ...], path: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise _refused(at, path, "surrogate") from None
    # Of a kind of string the string itself: an enumeration's member would be printed by its name.
    return str.__str__(text)


def _refused(at: tuple[str | int, ...], path: str, rule: str) -> ValidationError:
    where = path + json_path(at).removeprefix("$") if at else path
    return ValidationError(f"{where.removeprefix('$.')} {ALLOWED[rule]}", [Problem(where, rule)])
