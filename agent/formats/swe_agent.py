"""The format ``swe-agent``: the history of a SWE-agent run (``.traj`` files), ``{history: [...], trajectory?, info?}``.

The items are those of ``sweagent/types.py`` (HistoryItem, TrajectoryStep). What a run did is in ``tool_calls``, or in
older files only in ``action``, a text: then it is a call of the tool ``action``. What came of it is an observation: a
``tool`` turn, though older files give it to the user. A file that has only ``trajectory`` is read from that.
Demonstrations stay what they are, marked by ``is_demo``. Refuses, with every path that is wrong: a ``history`` that is
no list, items that are no objects, unknown roles and fields of the wrong type.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from agent.errors import MAX_PROBLEMS, Problem, ValidationError
from agent.formats.common_fields import POSTED, refusal_of
from agent.formats.content_parts import content_text, without_binaries
from agent.formats.conversation.message import Call, Conversation, Ignored, Message, Result
from agent.formats.tool_calls import ArgumentReader, read_tool_calls

ROLES: Final = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "assistant",
    "tool": "tool",
}
ACTION: Final = "action"
# Members that no other chat format's messages have.
_SIGNS: Final = frozenset({"action", "thought", "message_type", "is_demo", "tool_call_ids", "agent"})
_STEP: Final = frozenset({"action", "observation"})
_OBSERVATION: Final = "observation"
_BESIDE: Final = POSTED | {"history", "trajectory"}


def detect(document: Any) -> bool:
    """``history``, or a list, of messages of which some say what SWE-agent's do; or a ``trajectory`` of its steps."""
    if isinstance(document, list):
        return _is_history(document)
    if not isinstance(document, dict):
        return False
    return _is_history(document.get("history")) or ("history" not in document and _is_steps(document.get("trajectory")))


def _is_history(items: Any) -> bool:
    if not isinstance(items, list) or not items:
        return False
    if not all(isinstance(item, dict) and isinstance(item.get("role"), str) for item in items):
        return False
    return any(not _SIGNS.isdisjoint(item) for item in items)


def _is_steps(steps: Any) -> bool:
    return isinstance(steps, list) and bool(steps) and all(isinstance(s, dict) and s.keys() >= _STEP for s in steps)


def read(document: Any) -> Iterator[Conversation | ValidationError]:
    """The conversation of ``document``."""
    problems: list[Problem] = []
    ignored = Ignored()
    beside: Mapping[str, Any] = document if isinstance(document, dict) else {}
    history = beside.get("history") if isinstance(document, dict) else document
    steps = beside.get("trajectory")
    if "history" not in beside and isinstance(steps, list):
        items = list(_items_of(steps, problems))
    elif isinstance(history, list):
        path = "$.history" if isinstance(document, dict) else "$"
        items = [_Item(each, str(index), f"{path}[{index}]") for index, each in enumerate(history)]
        for index in range(len(steps) if isinstance(steps, list) else 0):
            # Each says again what the history says, with the state of the machine.
            ignored.add("steps", f"$.trajectory[{index}]")
    else:
        yield refusal_of([Problem("$.history", "required" if history is None else "type")])
        return
    messages = list(_messages(items, problems))
    if problems:
        yield refusal_of(problems)
        return
    native = {name: value for name, value in beside.items() if name not in _BESIDE}
    if steps is not None and not isinstance(steps, list):
        native["trajectory"] = steps
    yield Conversation(messages, native=native, ignored=ignored)


class _Item(NamedTuple):
    """An item of the history, or what stands for one; ``path`` is where it is in the document."""

    item: Any
    place: str
    path: str


def _items_of(steps: Sequence[Any], problems: list[Problem]) -> Iterator[_Item]:
    """What was said in ``steps``: what the first one was asked, then what each said and what came of it."""
    for index, step in enumerate(steps):
        path = f"$.trajectory[{index}]"
        if not isinstance(step, dict):
            problems.append(Problem(path, "type"))
            continue
        asked = step.get("query") if index == 0 else None
        for number, item in enumerate(asked if isinstance(asked, list) else ()):
            if isinstance(item, dict) and item:
                yield _Item(item, f"query.{number}", f"{path}.query[{number}]")
        answer = {name: value for name, value in step.items() if name not in ("response", "query", _OBSERVATION)}
        yield _Item({"role": "assistant", "content": step.get("response"), **answer}, str(index), path)
        observed = {"role": "tool", "content": step.get(_OBSERVATION)}
        yield _Item(observed, f"{index}.1", path)


def _messages(items: Sequence[_Item], problems: list[Problem]) -> Iterator[Message]:
    reader = ArgumentReader()
    waiting: deque[str] = deque()
    before: Mapping[str, Any] = {}
    for each in items:
        if len(problems) >= MAX_PROBLEMS:
            return
        if not isinstance(each.item, dict):
            problems.append(Problem(each.path, "type"))
            continue
        role = _role(each, waiting, before, problems)
        found = len(problems)
        content = content_text(each.item.get("content"), f"{each.path}.content", problems)
        calls = _calls(each, reader, problems) if role == "assistant" else ()
        before = each.item
        if role is None or len(problems) > found:
            continue
        results: tuple[Result, ...] = ()
        if role == "tool":
            results = tuple(_results(each.item, waiting))
        elif role == "assistant":
            waiting = deque(call.native_id for call in calls if call.native_id is not None)
        yield Message(
            role,
            content,
            each.place,
            calls=calls,
            results=results,
            native=_native(each.item, role, content, calls) or None,
            absent=() if "content" in each.item else ("content",),
            metadata={"agent": each.item["agent"]} if _has_agent(each.item, role) else None,
        )


def _role(each: _Item, waiting: Collection[str], before: Mapping[str, Any], problems: list[Problem]) -> str | None:
    item = each.item
    role = item.get("role")
    if not isinstance(role, str) or role not in ROLES:
        rule = "required" if "role" not in item else "enum" if isinstance(role, str) else "type"
        problems.append(Problem(f"{each.path}.role", rule))
        return None
    if role == "user":
        # The first prompt is called an observation too: nothing was done before it.
        is_other = item.get("message_type", _OBSERVATION) != _OBSERVATION or "action" in item
        is_same_run = bool(item.get("is_demo")) == bool(before.get("is_demo"))
        if item.get("tool_call_ids") or (waiting and is_same_run and not is_other and _is_answer(before)):
            return "tool"
    return ROLES[role]


def _is_answer(item: Mapping[str, Any]) -> bool:
    return item.get("role") == "assistant"


def _calls(each: _Item, reader: ArgumentReader, problems: list[Problem]) -> tuple[Call, ...]:
    listed = read_tool_calls(each.item.get("tool_calls"), f"{each.path}.tool_calls", reader, problems)
    if listed:
        return tuple(Call(c.tool_name, c.native_id, c.arguments if c.has_arguments else ...) for c in listed)
    action = each.item.get("action")
    return (Call(ACTION, ACTION, action),) if isinstance(action, str) and action.strip() else ()


def _results(item: Mapping[str, Any], waiting: deque[str]) -> Iterator[Result]:
    """The calls that ``item`` names, else the first one that is open."""
    ids = item.get("tool_call_ids")
    named = [each for each in ids if isinstance(each, str) and each] if isinstance(ids, list) else []
    for each in named:
        if each in waiting:
            waiting.remove(each)
        yield Result(each)
    if not named:
        yield Result(waiting.popleft() if waiting else None)


def _has_agent(item: Mapping[str, Any], role: str) -> bool:
    return role == "assistant" and isinstance(item.get("agent"), str)


def _native(item: Mapping[str, Any], role: str, content: str, calls: Sequence[Call]) -> dict[str, Any]:
    """The members of ``item`` that its turn does not hold."""
    held: dict[str, Any] = {"role": role, "content": content}
    if _has_agent(item, role):
        held["agent"] = item["agent"]
    if calls and not item.get("tool_calls"):
        held["action"] = calls[0].arguments
    native = {}
    for name, value in item.items():
        if name == "tool_calls" and calls and value:
            exact = [call.exact for call in read_tool_calls(value, "$", ArgumentReader(), [])]
            if not all(exact):
                native[name] = [None if is_exact else sent for is_exact, sent in zip(exact, value, strict=True)]
        elif name not in held or value != held[name]:
            native[name] = without_binaries(name, value)
    return native
