"""Ids and names of calls as a provider takes them: each id once, no character that it refuses, results by their calls'.

Chats reuse ids, and what came from one provider has ids and names that another refuses. An id is nobody's but the
list's, so another is as good; a name that a provider refuses was none of its tools', and stays as like as it can.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from agent.core.pairs import Call, Place, named_invocations, native_id
from agent.core.turn import SessionTurn
from agent.formats.prompt_rules import Rules
from agent.formats.prompt_turn import answered_place, prompt_turn, with_fields
from agent.formats.tool_calls import UNKNOWN_TOOL

_REFUSED: Final = re.compile(r"[^A-Za-z0-9_-]+", re.ASCII)


class _Named(NamedTuple):
    """What a call goes by: the id in the list, the tool's name, and the id of the invocation."""

    id: str
    name: str
    invocation_id: str


def with_names(
    turns: Sequence[SessionTurn], pairs: Mapping[Place, Call], rules: Rules, *, is_made: bool
) -> list[SessionTurn]:
    """``turns`` with ids and names that ``rules`` allow. ``is_made``: what changed is written from its fields."""
    return _Names(turns, rules).applied(turns, pairs, is_made=is_made)


class _Names:
    def __init__(self, turns: Sequence[SessionTurn], rules: Rules) -> None:
        self._rules = rules
        # No new id may be one that comes later.
        self._reserved = {
            native_id(entry) or invocation_id
            for turn in turns
            if turn.role == "assistant"
            for _, invocation_id, entry in named_invocations(turn)
        }
        self._taken: set[str] = set()
        self._calls: dict[Place, _Named] = {}

    def applied(self, turns: Sequence[SessionTurn], pairs: Mapping[Place, Call], *, is_made: bool) -> list[SessionTurn]:
        found: list[SessionTurn] = []
        for turn in turns:
            entries: list[Mapping[str, Any]] = list(turn.invocations)
            answers: dict[int, Place] = {}
            for place, invocation_id, entry in named_invocations(turn):
                if turn.role == "assistant":
                    entries[place.number] = self._call(place, invocation_id, entry)
                elif turn.role == "tool":
                    call = answered_place(turn, place, pairs)
                    if call is not None and call in self._calls:
                        entries[place.number] = self._result(self._calls[call], entry)
                        answers[place.number] = call
            is_same = all(one is other for one, other in zip(entries, turn.invocations, strict=True))
            named = turn if is_same else with_fields(turn, {"tool_invocations": entries}, is_made=is_made)
            found.append(prompt_turn(named, answers=answers) if turn.role == "tool" else named)
        return found

    def _call(self, place: Place, invocation_id: str, entry: Mapping[str, Any]) -> Mapping[str, Any]:
        own = native_id(entry) or invocation_id
        name = entry.get("tool_name")
        name = name if isinstance(name, str) and name else UNKNOWN_TOOL
        named = _Named(self._id(own), self._name(name), invocation_id)
        self._calls[place] = named
        changed: dict[str, Any] = {}
        if named.id != own:
            changed["native_id"] = named.id
        if named.name != name:
            changed["tool_name"] = named.name
        arguments = entry.get("arguments", {})
        if self._rules.objects and not isinstance(arguments, dict):
            changed["arguments"] = {} if arguments is None else {"arguments": arguments}
        return {**entry, **changed} if changed else entry

    def _result(self, call: _Named, entry: Mapping[str, Any]) -> Mapping[str, Any]:
        changed: dict[str, Any] = {}
        if (native_id(entry) or call.invocation_id) != call.id:
            changed["native_id"] = call.id
        if entry.get("tool_name") != call.name:
            changed["tool_name"] = call.name
        named = entry.get("invocation_id")
        if changed and isinstance(named, str) and named.lower() != call.invocation_id:
            # By its native string it would be another call's now.
            changed["invocation_id"] = call.invocation_id
        return {**entry, **changed} if changed else entry

    def _id(self, own: str) -> str:
        pattern, longest = self._rules.call_id, self._rules.longest_id
        fit = own if pattern is None or pattern.fullmatch(own) else _REFUSED.sub("_", own)[:longest] or "call"
        if not self._rules.unique_ids:
            return fit
        found, number = fit, 1
        while found in self._taken or (found != own and found in self._reserved):
            number += 1
            ending = f"-{number}"
            found = fit[: longest - len(ending)] + ending
        self._taken.add(found)
        return found

    def _name(self, name: str) -> str:
        pattern = self._rules.tool_name
        if pattern is None or pattern.fullmatch(name):
            return name
        fit = _REFUSED.sub("_", name)[: self._rules.longest_name]
        # Gemini's begin with a letter or an underscore.
        return fit if pattern.fullmatch(fit) else f"_{fit}"[: self._rules.longest_name]
