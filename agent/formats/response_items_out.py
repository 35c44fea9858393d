"""Turns as items of the Responses API: what came as an item is that item again, any other turn the items that say it.

A text and each call of a turn are items of their own. What an item cannot say is counted, and so is what the provider
refuses: nothing is made up to please it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from agent.core.canonical import canonical
from agent.formats.content_parts import digests_in
from agent.formats.conversation.message import Call, Message, Result
from agent.formats.conversation.payload import call_key
from agent.formats.conversation.said import Said
from agent.formats.response_item_kept import BEFORE, default_kind, members_of, text_field
from agent.formats.response_item_kinds import CUSTOM_CALL, CUSTOM_OUTPUT, FUNCTION_OUTPUT
from agent.formats.response_items import read_item
from agent.formats.tool_calls import UNKNOWN_TOOL, ArgumentReader

# What the Responses reference allows a function to be called.
_FUNCTION_NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,64}\Z", re.ASCII)
_DIGEST: Final = frozenset({"sha256", "bytes"})


def items_of(found: Sequence[Said], lost: Counter[str]) -> list[dict[str, Any]]:
    """The items that say ``found``, in order. Adds to ``lost`` what they do not say, by kind."""
    return _Items(lost).of(found)


class _Items:
    """The list while it grows; ``_names`` are the tools that its calls name, by the ids that they go by."""

    def __init__(self, lost: Counter[str]) -> None:
        self._lost = lost
        self._names: dict[str, str] = {}
        self._custom: set[str] = set()

    def of(self, found: Sequence[Said]) -> list[dict[str, Any]]:
        items: list[dict[str, Any]] = []
        place = 0
        while place < len(found):
            said = found[place]
            item, count = _given_back(found[place : place + 2])
            for each in found[place : place + count]:
                self._lost["times"] += each.timestamp is not None
            place += count
            if item is not None:
                self._lost["binaries"] += digests_in(item)
                self._note(said, [item] if said.calls else [])
                items.append(item)
                continue
            made = list(self._results(said) if said.role == "tool" else self._says(said))
            items += made
            self._note(said, [each for each in made if "call_id" in each])
        return items

    def _note(self, said: Said, items: Sequence[Mapping[str, Any]]) -> None:
        for call, item in zip(said.calls, items, strict=False):
            self._names[call.id] = call.name
            if item.get("type") == CUSTOM_CALL:
                self._custom.add(call.id)

    def _says(self, said: Said) -> Iterator[dict[str, Any]]:
        self._lost["split_turns"] += len(said.calls) + bool(said.content) > 1
        if said.content or not said.calls:
            yield members_of(Message(said.role, said.content, ""), "message")
        for each in said.calls:
            self._lost["odd_tool_names"] += _FUNCTION_NAME.match(each.name) is None
            self._lost["calls_without_arguments"] += each.arguments is ...
            call = Message(said.role, "", "", calls=(Call(each.name, each.id, each.arguments),))
            yield members_of(call, default_kind(call))

    def _results(self, said: Said) -> Iterator[dict[str, Any]]:
        """An item for each call that the turn answers, each with the whole text: a provider wants all answered."""
        self._lost["several_results"] += len(said.results) > 1
        for each in said.results:
            self._lost["success"] += each.success is not None
            kind = CUSTOM_OUTPUT if each.id in self._custom else FUNCTION_OUTPUT
            item = {"type": kind, "call_id": each.id, "output": said.content}
            if each.name not in (UNKNOWN_TOOL, self._names.get(each.id)):
                item["name"] = each.name
            yield item
        if not said.results:
            yield {"type": FUNCTION_OUTPUT, "call_id": said.turn.turn_id, "output": said.content}


def _given_back(found: Sequence[Said]) -> tuple[dict[str, Any] | None, int]:
    """The item that the first of ``found`` came as, and how many of them it was; None where it is no longer whole.

    What it kept counts only as long as the reader would make the same of it as the turn says.
    """
    first = found[0]
    item = _rebuilt(first)
    if item is None:
        return None, 1
    result = _members(found[1]) if len(found) > 1 and _is_of_before(found[1]) else None
    if result is not None and _is_said_by({**item, **result}, found):
        return {**item, **result}, 2
    return (item, 1) if _is_said_by(item, found[:1]) else (None, 1)


def _is_of_before(said: Said) -> bool:
    return said.role == "tool" and said.native is not None and said.native.get("of") == BEFORE


def _members(said: Said) -> dict[str, Any] | None:
    members = {} if said.native is None else said.native.get("item", {})
    return members if isinstance(members, dict) else None


def _rebuilt(said: Said) -> dict[str, Any] | None:
    members = _members(said)
    if said.native is None or members is None or _is_of_before(said):
        return None
    message = _message(said)
    named = members.get("type")
    kind = named if isinstance(named, str) else default_kind(message)
    item = {**members_of(message, kind), **members}
    part = said.native.get("part")
    if isinstance(part, dict):
        field = text_field(part)
        if field is None:
            return None
        item["output" if said.role == "tool" else "content"] = [{**part, field: said.content}]
    return {name: value for name, value in item.items() if name not in said.absent}


def _is_said_by(item: dict[str, Any], found: Sequence[Said]) -> bool:
    read = read_item(_with_data(item), "0", "$", ArgumentReader(), [])
    return len(read) == len(found) and all(_agrees(one, other, item) for one, other in zip(read, found, strict=True))


def _agrees(read: Message, said: Said, item: Mapping[str, Any]) -> bool:
    if (read.role, read.content) != (said.role, said.content):
        return False
    if len(read.calls) != len(said.calls) or len(read.results) != len(said.results):
        return False
    calls = zip(read.calls, said.calls, strict=True)
    results = zip(read.results, said.results, strict=True)
    return all(
        one.name == other.name and _is_same_id(one.native_id, other.id) and _is_same(one.arguments, other, item)
        for one, other in calls
    ) and all(
        # An item without an id answers nobody: it is not what came of a result whose call is there.
        (one.native_id is not None or not other.has_call)
        # One without a name has that of the call it answers.
        and one.name in (None, other.name)
        and _is_same_id(one.native_id, other.id)
        and one.success == other.success
        for one, other in results
    )


def _is_same_id(native_id: str | None, written: str) -> bool:
    # Without an id and a name, a call goes by what was derived for it.
    return native_id is None or call_key(native_id) == call_key(written)


def _is_same(read: Any, said: Any, item: Mapping[str, Any]) -> bool:
    if read is ... or said.arguments is ...:
        return read is said.arguments
    # Beyond the bounds of a document, arguments stay the text that they are.
    return bool(said.arguments == item.get("arguments") and isinstance(said.arguments, str)) or (
        canonical(read) == canonical(said.arguments)
    )


def _message(said: Said) -> Message:
    return Message(
        said.role,
        said.content,
        "",
        calls=[Call(call.name, call.id, call.arguments) for call in said.calls],
        results=[Result(result.id, result.name, result.success) for result in said.results],
    )


def _with_data(value: Any) -> Any:
    """``value`` with a data URL for each digest, so that it reads as what the digest stands for."""
    if isinstance(value, list):
        return [_with_data(each) for each in value]
    if not isinstance(value, dict):
        return value
    if value.keys() >= _DIGEST and value.keys() <= {*_DIGEST, "media_type"}:
        return f"data:{value.get('media_type', '')},"
    return {name: _with_data(member) for name, member in value.items()}
