"""Vendors' request types as pydantic checks them to the end.

SDKs say what a request may hold with TypedDicts. As they stand pydantic takes any iterable and looks at its items only
when somebody asks for them, takes keys that the type does not have, and takes answers in the place of requests. Here an
``Iterable`` is a list, a TypedDict has no other keys than its own (``exact``), and models of answers and open files,
which no JSON is, stand in no union.
"""

from __future__ import annotations

import collections.abc
import os
import types
import typing
from typing import Annotated, Any, Union, get_args, get_origin

import typing_extensions
from pydantic import BaseModel, ConfigDict, TypeAdapter

_REQUIRED = (typing.Required, typing_extensions.Required)
_QUALIFIERS = (*_REQUIRED, typing.NotRequired, typing_extensions.NotRequired)


class RequestTypes:
    """Makes adapters of types; ``exact``: a TypedDict has only its own keys."""

    def __init__(self, *, exact: bool) -> None:
        self._exact = exact
        self._made: dict[Any, Any] = {}

    def adapter(self, request: Any) -> TypeAdapter[Any]:
        """The adapter that checks ``request`` to the end."""
        return TypeAdapter(self._of(request))

    def _of(self, given: Any) -> Any:
        if typing_extensions.is_typeddict(given):
            return self._typed_dict(given)
        origin, arguments = get_origin(given), get_args(given)
        if origin in (*_QUALIFIERS, Annotated):
            return self._of(arguments[0])
        if origin in (Union, types.UnionType):
            return self._union(arguments)
        if origin in (list, collections.abc.Iterable, collections.abc.Sequence):
            return types.GenericAlias(list, (self._of(arguments[0]),))
        if origin is dict:
            return types.GenericAlias(dict, (arguments[0], self._of(arguments[1])))
        return given

    def _union(self, alternatives: tuple[Any, ...]) -> Any:
        requests = [self._of(each) for each in alternatives if not _is_of_python(each)]
        told = tuple(each for each in requests if each is not typing.Never)
        return Union[told] if told else typing.Never  # noqa: UP007  # of as many as there are

    def _typed_dict(self, given: Any) -> Any:
        if given not in self._made:
            hints = typing_extensions.get_type_hints(given, include_extras=True)
            # Types name themselves inside: the name stands before the type does.
            make: Any = typing_extensions.TypedDict
            made = self._made[given] = make(given.__name__, {})
            required = frozenset(name for name, hint in hints.items() if _is_required(given, name, hint))
            made.__annotations__ = {name: self._of(hint) for name, hint in hints.items()}
            made.__required_keys__ = required
            made.__optional_keys__ = hints.keys() - required
            made.__pydantic_config__ = ConfigDict(extra="forbid" if self._exact else "ignore")
        return self._made[given]


def _is_of_python(alternative: Any) -> bool:
    """Whether only an object of Python can be ``alternative``."""
    if get_origin(alternative) in (typing.IO, os.PathLike):
        return True
    return isinstance(alternative, type) and issubclass(alternative, (BaseModel, os.PathLike))


def _is_required(given: Any, name: str, hint: Any) -> bool:
    """Said by the hint itself: where annotations are text, ``__required_keys__`` knows only of ``total``."""
    return name in given.__required_keys__ if get_origin(hint) not in _QUALIFIERS else get_origin(hint) in _REQUIRED
