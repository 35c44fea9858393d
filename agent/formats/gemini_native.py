"""What the turns of a Gemini ``Content`` keep of it beside their own fields, and the content given back from them.

``metadata.native`` of a turn: ``parts``, null where the part is the one that the turn's fields make, else as it came;
``at``, the parts' places in the content where they are not simply those of one turn after those of the other; ``of``
``"before"`` on each turn of a content but its first; ``spelling`` ``"snake_case"`` where only so the fields make its
parts; and on its first turn ``fields``, the other members of the content as they came. What the fields suggest and the
content lacked is in ``metadata.native_absent``.

What is kept may be anything by the time it is written: a content is given back only if it says what the turns say.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from agent.errors import Problem
from agent.formats.conversation.message import Message
from agent.formats.conversation.payload import call_key
from agent.formats.conversation.said import Said
from agent.formats.gemini_pairs import OpenCalls
from agent.formats.gemini_parts import CAMEL, SNAKE, Names, Turn, kind_of, read_content, response_of, same_json, shown
from agent.formats.tool_calls import UNKNOWN_TOOL

BEFORE: Final = "before"
_SPELLINGS: Final = {"snake_case": SNAKE, "camelCase": CAMEL}
_ROLE_OUT: Final = {"assistant": "model", "user": "user", "tool": "user", "system": "system"}


def messages_of(turns: Sequence[Turn], content: Mapping[str, Any], place: str, names: Names) -> list[Message]:
    """The turns of ``content`` as messages, the first at ``place``, the others at ``place.1`` and so on."""
    whole = [at for turn in turns for at in turn.at]
    in_order = whole == list(range(len(whole)))
    found = []
    for number, turn in enumerate(turns):
        native = _kept_parts(turn, names)
        if not in_order:
            native["at"] = list(turn.at)
        if number:
            native["of"] = BEFORE
        absent: list[str] = []
        if number == 0:
            fields, absent = _kept_fields(turn, content)
            native |= {"fields": fields} if fields else {}
        message_place = f"{place}.{number}" if number else place
        found.append(
            Message(
                turn.role,
                turn.content,
                message_place,
                calls=turn.calls,
                results=turn.results,
                native=native or None,
                absent=absent,
            )
        )
    return found


def _kept_fields(first: Turn, content: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    fields = {name: value for name, value in content.items() if name != "parts"}
    if fields.get("role") == role_out(first):
        del fields["role"]
    absent = [name for name in ("role", "parts") if name not in content]
    if "parts" in content and content["parts"] is None:
        fields["parts"] = None
    return fields, absent


def role_out(turn: Turn | Said) -> str:
    """The role that a content of this turn has: ``function`` only where a tool says something that is no response."""
    return "function" if turn.role == "tool" and not turn.results else _ROLE_OUT[turn.role]


def _kept_parts(turn: Turn, names: Names) -> dict[str, Any]:
    best: dict[str, Any] | None = None
    for spelling, tried in ((None, names), *((name, each) for name, each in _SPELLINGS.items() if each != names)):
        made = list(_made(turn, tried))
        entries = list(_entries(turn, made))
        kept: dict[str, Any] = {} if spelling is None else {"spelling": spelling}
        if len(made) != len(entries) or any(entry is not None for entry in entries):
            kept["parts"] = entries
        if "parts" not in kept:
            return kept
        if best is None or entries.count(None) > best["parts"].count(None):
            best = kept
    return best or {}


def _entries(turn: Turn, made: Sequence[Mapping[str, Any]]) -> Iterator[Mapping[str, Any] | None]:
    cursor = _Cursor(turn, len(made))
    for part in turn.parts:
        entry = None if cursor.place < len(made) and same_json(part, made[cursor.place]) else part
        cursor.pass_by(entry, part)
        yield entry


class _Cursor:
    """Which of the parts that a turn's fields make a null stands for next: text first, then the calls in order."""

    def __init__(self, turn: Turn | Said, made: int) -> None:
        self.place = 0
        self._texts = made - len(turn.calls) if turn.role == "assistant" else made
        self._calls = 0

    def pass_by(self, entry: Mapping[str, Any] | None, part: Mapping[str, Any]) -> None:
        """Go on behind ``part``, which was kept as it is where ``entry`` is not None."""
        kind = kind_of(part)
        if kind == "functionCall":
            self._calls += 1
        if entry is None:
            self.place += 1
        elif kind == "functionCall":
            self.place = max(self.place, self._texts + self._calls)
        elif shown(part, kind):
            self.place = max(self.place, self._texts)


def _made(turn: Turn | Said, names: Names, *, with_ids: bool = False) -> Iterator[dict[str, Any]]:
    """The parts that a turn's own fields make. ``with_ids``: also where the id is only the function's name."""
    if turn.role == "tool" and turn.results:
        for result in turn.results:
            call_id, name = _id(result), result.name or UNKNOWN_TOOL
            response = response_of(turn.content, failed=result.success is False)
            yield {names.response: {**_named(call_id, name, with_ids=with_ids), "response": response}}
        return
    if turn.content or not turn.calls:
        yield {"text": turn.content}
    for call in turn.calls:
        name = call.name or UNKNOWN_TOOL
        arguments = {} if call.arguments is ... else {"args": call.arguments}
        yield {names.call: {**_named(_id(call), name, with_ids=with_ids), **arguments}}


def _id(entry: Any) -> str | None:
    """The id of a call or of what answers it, as an id of either kind of turn is compared."""
    found = entry.native_id if hasattr(entry, "native_id") else entry.id
    return None if found is None else call_key(found)


def _named(call_id: str | None, name: str, *, with_ids: bool) -> dict[str, Any]:
    has_id = call_id is not None and (with_ids or call_id != name)
    return {"id": call_id, "name": name} if has_id else {"name": name}


def content_of(group: Sequence[Said], calls: OpenCalls, names: Names) -> tuple[dict[str, Any], list[Turn]] | None:
    """The content that the turns of ``group`` came as, and its turns; None where it no longer says what they say."""
    content = rebuilt(group, names)
    if content is None:
        return None
    problems: list[Problem] = []
    turns = read_content(content, "", "user", problems)
    return (content, turns) if not problems and say_the_same(turns, group, calls) else None


def made_content(group: Sequence[Said], calls: OpenCalls, names: Names) -> tuple[dict[str, Any], list[Turn]]:
    """The content that the own fields of ``group`` make, turns of one role, and its turns as it will be read."""
    made: tuple[dict[str, Any], list[Turn]] = ({}, [])
    for with_ids in (False, True):
        parts = [part for one in group for part in _made(one, names, with_ids=with_ids)]
        content = {"role": role_out(group[0]), "parts": parts}
        made = content, read_content(content, "", "user", [])
        if say_the_same(made[1], group, calls):
            break
    return made


def rebuilt(group: Sequence[Said], names: Names) -> dict[str, Any] | None:
    """The content that ``group`` came as, whatever it says by now; None where it cannot be made."""
    placed: list[tuple[int, dict[str, Any]]] = []
    for one in group:
        native = one.native or {}
        spelling = native.get("spelling")
        tried = _SPELLINGS.get(spelling, names) if isinstance(spelling, str) else names
        parts = _parts(one, native.get("parts", ...), list(_made(one, tried)))
        if parts is None:
            return None
        at = native.get("at")
        if at is None:
            at = range(len(placed), len(placed) + len(parts))
        elif not isinstance(at, list) or len(at) != len(parts) or not all(type(each) is int for each in at):
            return None
        placed += zip(at, parts, strict=True)
    fields = (group[0].native or {}).get("fields", {})
    if not isinstance(fields, dict):
        return None
    parts = [part for _, part in sorted(placed, key=lambda each: each[0])]
    content = {"role": role_out(group[0]), "parts": parts, **fields}
    return {name: value for name, value in content.items() if name not in group[0].absent}


def _parts(one: Said, entries: Any, made: list[dict[str, Any]]) -> list[dict[str, Any]] | None:
    if entries is ...:
        return made
    if not isinstance(entries, list):
        return None
    cursor = _Cursor(one, len(made))
    found = []
    for entry in entries:
        if entry is None and cursor.place >= len(made):
            return None
        part = made[cursor.place] if entry is None else entry
        if not isinstance(part, dict):
            return None
        cursor.pass_by(entry, part)
        found.append(part)
    return found


def say_the_same(turns: Sequence[Turn], group: Sequence[Said], calls: OpenCalls) -> bool:
    """Whether ``turns``, read after those that made ``calls``, say what ``group`` says."""
    resolved = calls.answered(turns)
    return len(turns) == len(group) and all(_agree(turn, one, calls) for turn, one in zip(resolved, group, strict=True))


def _agree(turn: Turn, one: Said, calls: OpenCalls) -> bool:
    if (turn.role, turn.content, len(turn.calls)) != (one.role, one.content, len(one.calls)):
        return False
    if len(turn.results) != len(one.results):
        return False
    for call, said in zip(turn.calls, one.calls, strict=True):
        has_id = call.native_id is None or call_key(call.native_id) == call_key(said.id)
        if not has_id or (call.name or UNKNOWN_TOOL) != said.name or not _same(call.arguments, said.arguments):
            return False
    for result, told in zip(turn.results, one.results, strict=True):
        named = result.name or calls.name_of(result.native_id or "") or UNKNOWN_TOOL
        has_id = result.native_id is None or call_key(result.native_id) == call_key(told.id)
        # That it was no error is not said.
        if not has_id or named != told.name or (result.success is False) != (told.success is False):
            return False
    return True


def _same(one: Any, other: Any) -> bool:
    return one is other if ... in (one, other) else same_json(one, other)


def has_digest(value: Any) -> Iterator[bool]:
    """True for each digest that stands for binary data (``formats.content_parts``)."""
    level = [value]
    while level:
        item = level.pop()
        if isinstance(item, dict) and item.keys() >= {"sha256", "bytes"}:
            yield True
        elif isinstance(item, dict | list):
            level.extend(item.values() if isinstance(item, dict) else item)
