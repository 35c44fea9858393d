"""Tool calls as Chat Completions clients hold them, read into what a turn's ``tool_invocations`` need.

Function calls, custom calls, calls that lack their id, type or name, and the old ``function_call`` object.
``arguments`` are parsed where they are strict JSON (CONTRACT 2, 3a), else they stay the text that they are.
Refuses calls that are no objects, ``function`` and ``custom`` that are none, and ids that are no strings.
"""

from __future__ import annotations

import math
from typing import Any, Final, NamedTuple

import jiter

from agent.core.canonical import encode
from agent.errors import Problem

UNKNOWN_TOOL: Final = "unknown"

# CONTRACT 2 bounds a document: 250 000 values, 128 levels. Arguments are documents inside one, five levels down.
MAX_ARGUMENT_VALUES: Final = 250_000
MAX_ARGUMENT_DEPTH: Final = 128 - 5

_STANDARD_CALL: Final = {"id", "type", "function"}
_STANDARD_FUNCTION: Final = {"name", "arguments"}


class ToolCall(NamedTuple):
    """One call. ``native_id`` is None where neither an id nor a name was given.

    ``arguments`` count only where ``has_arguments``. ``exact``: the call was nothing but
    ``{id, type: "function", function: {name, arguments: arguments_text(arguments)}}``.
    """

    tool_name: str
    native_id: str | None
    has_arguments: bool
    arguments: Any
    exact: bool


class ArgumentReader:
    """Parses ``arguments`` texts, all of one body within the bound of values that holds for a document.

    The bound is counted from the first message on, so a longer list reads its old messages as before.
    """

    def __init__(self, max_values: int = MAX_ARGUMENT_VALUES) -> None:
        self._max_values = max_values
        self._left = max_values

    def read(self, text: str) -> Any:
        """The JSON value of ``text``; ``text`` itself where it is not strict JSON, a string, or beyond the bounds.

        A JSON string stays text, quotes included, so that the value says which of the two it was.
        """
        # Each value but the first follows a bracket, a brace or a comma; those in strings only make the count larger.
        if text.count("[") + text.count("{") + text.count(",") >= self._max_values:
            return text
        try:
            value = jiter.from_json(text.encode(), catch_duplicate_keys=True, allow_inf_nan=False)
        except ValueError:
            return text
        values = None if isinstance(value, str) else _count_within_bounds(value)
        if values is None or values > self._left:
            return text
        self._left -= values
        return value


def _count_within_bounds(value: Any) -> int | None:
    """How many JSON values ``value`` is; None where a number is not finite or the nesting is too deep."""
    count, depth, level = 0, 0, [value]
    while level:
        deeper: list[Any] = []
        nested = False
        for item in level:
            if isinstance(item, dict | list):
                nested = True
                deeper.extend(item.values() if isinstance(item, dict) else item)
            elif isinstance(item, float) and not math.isfinite(item):
                return None
        count += len(level)
        depth += nested
        level = deeper
    return count if depth <= MAX_ARGUMENT_DEPTH else None


def arguments_text(arguments: Any) -> str:
    """The text that a client would hold for ``arguments``: compact JSON, or the string that they are."""
    return arguments if isinstance(arguments, str) else encode(arguments).decode()


def is_read_otherwise(arguments: Any) -> bool:
    """Whether the ``arguments_text`` of ``arguments`` is read as something else: a text that looks like JSON is."""
    return isinstance(arguments, str) and ArgumentReader().read(arguments) != arguments


def read_tool_calls(value: object, path: str, arguments: ArgumentReader, problems: list[Problem]) -> list[ToolCall]:
    """The calls of a message's ``tool_calls``, in order; null is none. Appends to ``problems``."""
    if value is None:
        return []
    if not isinstance(value, list):
        problems.append(Problem(path, "type"))
        return []
    calls = (_read_call(call, f"{path}[{place}]", arguments, problems) for place, call in enumerate(value))
    return [call for call in calls if call is not None]


def _read_call(call: object, path: str, arguments: ArgumentReader, problems: list[Problem]) -> ToolCall | None:
    if not isinstance(call, dict):
        problems.append(Problem(path, "type"))
        return None
    found = len(problems)
    native_id = call.get("id")
    if native_id is not None and not isinstance(native_id, str):
        problems.append(Problem(f"{path}.id", "type"))
    kind = "custom" if "custom" in call and "function" not in call else "function"
    # Some clients hold name and arguments on the call itself, and some have the name in place of the function.
    body = call.get(kind, call)
    if isinstance(body, str) and "arguments" in call:
        body = {"name": body, "arguments": call["arguments"]}
    if not isinstance(body, dict):
        problems.append(Problem(f"{path}.{kind}", "type"))
    if len(problems) > found:
        return None
    name = _name(body)
    if kind == "custom":
        # What a custom tool gets is free text by definition, also where it looks like JSON.
        return ToolCall(
            name or UNKNOWN_TOOL, _id(native_id, name), body.get("input") is not None, body.get("input"), exact=False
        )
    return _function(name, _id(native_id, name), body, arguments, standard=_is_standard(call))


def read_function_call(value: dict[str, Any], arguments: ArgumentReader) -> ToolCall:
    """The old ``function_call`` object: the function's name is its id (CONTRACT 3a)."""
    name = _name(value)
    return _function(name, name, value, arguments, standard=False)


def _function(
    name: str | None, native_id: str | None, body: dict[str, Any], arguments: ArgumentReader, *, standard: bool
) -> ToolCall:
    sent = body.get("arguments")
    value = arguments.read(sent) if isinstance(sent, str) else sent
    exact = standard and arguments_text(value) == sent
    return ToolCall(name or UNKNOWN_TOOL, native_id, sent is not None, value, exact)


def _name(body: dict[str, Any]) -> str | None:
    name = body.get("name")
    return name if isinstance(name, str) and name else None


def _id(native_id: str | None, name: str | None) -> str | None:
    # Where calls have no ids, results name the function: the rule of CONTRACT 3a for the old function_call.
    return name if native_id is None else native_id


def _is_standard(call: dict[str, Any]) -> bool:
    """Whether ``call`` has the members that ``ToolCall.exact`` names and no others; arguments are not compared."""
    function = call.get("function")
    return (
        call.keys() == _STANDARD_CALL
        and isinstance(call["id"], str)
        and call["type"] == "function"
        and isinstance(function, dict)
        and function.keys() == _STANDARD_FUNCTION
        and _name(function) is not None
        and isinstance(function["arguments"], str)
    )
