"""The JSON text of any value, whatever its depth: what a counter counts of arguments, and what tells two of them apart.

Refuses nothing: a lone surrogate, a number of any size, a type that is not JSON's, nesting beyond what recursion takes.
A value that holds itself has no JSON, and is none of those that a capture can hold.
"""

from __future__ import annotations

import json
from typing import Any

import orjson


def json_text(value: Any, *, sort_keys: bool = False) -> str:
    """``value`` as compact JSON, its members in their own order or, ``sort_keys``, by their names."""
    try:
        return orjson.dumps(value, option=orjson.OPT_SORT_KEYS if sort_keys else None).decode()
    except TypeError:
        # An integer beyond 64 bits, nesting beyond 254, a lone surrogate, a type of the reader's own.
        return _walked(value, sort_keys=sort_keys)


def _walked(value: Any, *, sort_keys: bool) -> str:
    out: list[str] = []
    # What is still to be written, the next one last: a value, or the text of a sign or a name.
    pending: list[tuple[bool, Any]] = [(False, value)]
    while pending:
        is_text, item = pending.pop()
        if is_text:
            out.append(item)
        elif isinstance(item, dict):
            members = [(_string(str(name)), member) for name, member in item.items()]
            if sort_keys:
                members.sort(key=lambda each: each[0])
            _open(pending, "{}", [(f"{name}:", member) for name, member in members])
        elif isinstance(item, list | tuple):
            _open(pending, "[]", [("", member) for member in item])
        else:
            out.append(_string(item) if isinstance(item, str) else _scalar(item))
    return "".join(out)


def _open(pending: list[tuple[bool, Any]], signs: str, members: list[tuple[str, Any]]) -> None:
    pending.append((True, signs[1]))
    for place in reversed(range(len(members))):
        before, member = members[place]
        pending.append((False, member))
        pending.append((True, f",{before}" if place else before))
    pending.append((True, signs[0]))


def _string(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _scalar(value: Any) -> str:
    try:
        return orjson.dumps(value).decode()
    except TypeError:
        pass
    try:
        return str(value)
    except (ValueError, RecursionError):
        # An integer of more digits than Python writes, or what is nested in a type of its own.
        return hex(value) if isinstance(value, int) else type(value).__name__
