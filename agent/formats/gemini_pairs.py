"""Which call a response of Gemini answers: calls and responses mostly have no ids, and go by their names, in order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from agent.formats.gemini_parts import Turn

# The ids of the open calls of one content, and what was open before it.
_Open = tuple[tuple[str, ...], Any]


class OpenCalls:
    """Which call a function response answers: by its id, else the next call of its name that nobody has answered.

    Calls of the latest content that has open ones come first (CONTRACT 3), those of one content in their order.
    """

    def __init__(self) -> None:
        self._open: dict[str, _Open | None] = {}
        self._names: dict[str, str] = {}

    def answered(self, turns: Sequence[Turn]) -> list[Turn]:
        """``turns`` of one content with the ids of the calls that they answer. What is open stays as it was."""
        return self._resolve(turns, {})

    def add(self, turns: Sequence[Turn]) -> list[Turn]:
        """The same, and from here on their calls are open and what they answer is not."""
        changed: dict[str, _Open | None] = {}
        resolved = self._resolve(turns, changed)
        for turn in turns:
            for name in dict.fromkeys(call.name for call in turn.calls):
                ids = tuple(call.native_id for call in turn.calls if call.name == name and call.native_id is not None)
                before = changed[name] if name in changed else self._open.get(name)
                changed[name] = (ids, before) if ids else before
                self._names.update(dict.fromkeys(ids, name))
        self._open.update(changed)
        return resolved

    def name_of(self, call_id: str) -> str | None:
        """The function that the latest call ``call_id`` was of."""
        return self._names.get(call_id)

    def _resolve(self, turns: Sequence[Turn], changed: dict[str, _Open | None]) -> list[Turn]:
        resolved = []
        for turn in turns:
            results = []
            for result in turn.results:
                name = result.name or ""
                is_open = changed[name] if name in changed else self._open.get(name)
                answered = _answered(result.native_id, name, is_open)
                changed[name] = _without(answered, is_open)
                results.append(result._replace(native_id=answered or None))
            resolved.append(turn._replace(results=tuple(results)))
        return resolved


def _answered(named: str | None, name: str, is_open: _Open | None) -> str:
    if named is None:
        return name if is_open is None else is_open[0][0]
    if _is_among(named, is_open):
        return named
    # A call that came without an id goes by its name; the client that answered it may have given it one.
    return name if _is_among(name, is_open) else named


def _is_among(call_id: str, is_open: _Open | None) -> bool:
    while is_open is not None:
        ids, is_open = is_open
        if call_id in ids:
            return True
    return False


def _without(answered: str, is_open: _Open | None) -> _Open | None:
    later: list[tuple[str, ...]] = []
    rest = is_open
    while rest is not None:
        ids, before = rest
        if answered in ids:
            at = ids.index(answered)
            left = ids[:at] + ids[at + 1 :]
            rest = (left, before) if left else before
            for each in reversed(later):
                rest = (each, rest)
            return rest
        later.append(ids)
        rest = before
    return is_open
