"""One ModelMessage of pydantic-ai, a request or a response, read into the turns that it holds.

Each part of a request is a turn. The parts of a response are one, but for results of the provider's own tools: each is
a ``tool`` turn, and what follows it is said after it. Instructions that stand beside a request are a ``system`` turn
where they are others than before. Refuses wrong types where a turn depends on them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from agent.errors import Problem
from agent.formats.conversation import times
from agent.formats.conversation.message import Call, Message, Result
from agent.formats.conversation.usage import token_usage
from agent.formats.pydantic_ai_parts import (
    ANSWERS,
    CALLS,
    RETURNS,
    ROLES,
    call_part,
    kept,
    return_part,
    shown,
    text_part,
)
from agent.formats.tool_calls import ArgumentReader

KINDS: Final = ("request", "response")
# Marks in native: said in the same message as the turn before, or beside the message of the turn after.
BEFORE: Final = "before"
INSTRUCTIONS: Final = "instructions"

_TEXTS: Final = frozenset({"text", "file", "speech"})


class ModelMessage(NamedTuple):
    """The turns of one message, and the instructions that hold from there on."""

    turns: tuple[Message, ...]
    instructions: str | None


class _Group(NamedTuple):
    role: str
    parts: list[tuple[str, Mapping[str, Any]]]


def read_message(
    message: Any, index: int, path: str, problems: list[Problem], *, in_force: str | None, arguments: ArgumentReader
) -> ModelMessage | None:
    """The message at ``path``, ``index`` in its list; None where it is refused. Appends to ``problems``.

    ``in_force`` are the instructions of the requests before.
    """
    if not isinstance(message, dict):
        problems.append(Problem(path, "type"))
        return None
    kind = message.get("kind")
    if kind not in KINDS:
        rule = "required" if "kind" not in message else "enum" if isinstance(kind, str) else "type"
        problems.append(Problem(f"{path}.kind", rule))
        return None
    parts = list(_checked_parts(message, path, problems))
    if parts and None in parts:
        return None
    grouped = _groups(kind, [part for part in parts if part is not None])
    turns = [_turn(group, kind, message, arguments) for group in grouped]
    # What was used is counted once: with the first that the model says.
    usage_at = next((place for place, turn in enumerate(turns) if turn.role == "assistant"), None)
    if kind == "response" and usage_at is not None:
        turns[usage_at] = turns[usage_at]._replace(usage=_usage(message.get("usage")))
    kept_of_message, absent = _kept_of_message(message, kind, turns, in_force)
    turns[0] = turns[0]._replace(native={**(turns[0].native or {}), **kept_of_message} or None, absent=absent)
    turns = [turn._replace(place=str(index) if at == 0 else f"{index}.{at}") for at, turn in enumerate(turns)]
    said = message.get(INSTRUCTIONS) if kind == "request" else None
    if isinstance(said, str) and said and said != in_force:
        turns.insert(0, _instructions(said, index, message))
        in_force = said
    return ModelMessage(tuple(turns), in_force)


def _instructions(text: str, index: int, message: Mapping[str, Any]) -> Message:
    place = f"{index}.{INSTRUCTIONS}" if index else "system"
    stated = times.stated(message.get("timestamp"))
    return Message("system", text, place, timestamp=stated, native={"of": INSTRUCTIONS}, derived=_derived(stated))


def _derived(timestamp: str | None) -> Sequence[str]:
    return () if timestamp is None else ("timestamp",)


def _checked_parts(
    message: Mapping[str, Any], path: str, problems: list[Problem]
) -> Iterator[tuple[str, Mapping[str, Any]] | None]:
    parts = message.get("parts")
    if not isinstance(parts, list):
        problems.append(Problem(f"{path}.parts", "type" if "parts" in message else "required"))
        yield None
        return
    for place, part in enumerate(parts):
        found = list(_wrong(part, f"{path}.parts[{place}]"))
        problems.extend(found)
        yield None if found else (part["part_kind"], part)


def _wrong(part: Any, path: str) -> Iterator[Problem]:
    if not isinstance(part, dict):
        yield Problem(path, "type")
        return
    kind = part.get("part_kind")
    if not isinstance(kind, str):
        yield Problem(f"{path}.part_kind", "type" if "part_kind" in part else "required")
    elif kind in CALLS | RETURNS or kind == "retry-prompt":
        names = (name for name in ("tool_name", "tool_call_id") if not isinstance(part.get(name, ""), str | None))
        yield from (Problem(f"{path}.{name}", "type") for name in names)
    elif kind == "text" and not isinstance(part.get("content", ""), str | None):
        yield Problem(f"{path}.content", "type")


def _groups(kind: str, parts: Sequence[tuple[str, Mapping[str, Any]]]) -> list[_Group]:
    """The parts by the turns that they are; one that is nothing said goes with what is said before it, else after."""
    groups: list[_Group] = []
    silent: list[tuple[str, Mapping[str, Any]]] = []
    for part in parts:
        role = _role(kind, *part)
        if role is None and groups:
            groups[-1].parts.append(part)
        elif role is None:
            silent.append(part)
        elif role == "assistant" and groups and groups[-1].role == "assistant":
            groups[-1].parts.append(part)
        else:
            groups.append(_Group(role, [*silent, part]))
            silent = []
    if not groups:
        groups.append(_Group("assistant" if kind == "response" else "system", silent))
    return groups


def _role(message_kind: str, kind: str, part: Mapping[str, Any]) -> str | None:
    """Whose turn a part is; None where it is nothing that anyone said."""
    if kind in ANSWERS:
        return "assistant"
    if kind in RETURNS:
        return "tool"
    if message_kind == "response":
        return "assistant"
    if kind == "retry-prompt" and part.get("tool_name"):
        return "tool"
    if kind == "instruction-delta" and not isinstance(part.get("content"), str):
        return None
    return ROLES.get(kind)


def _turn(group: _Group, kind: str, message: Mapping[str, Any], arguments: ArgumentReader) -> Message:
    own = times.stated(message.get("timestamp"))
    if group.role == "assistant":
        turn, entries = _assistant(group, arguments)
        model = message.get("model_name")
        turn = turn._replace(timestamp=own, model=model if isinstance(model, str) and kind == "response" else None)
        if kind == "request":
            turn = turn._replace(derived=_derived(own))
    else:
        turn, entries = _of_request(group)
        if turn.timestamp is None and own is not None:
            turn = turn._replace(timestamp=own, derived=("timestamp",))
    return turn if entries == default_entries(turn) else turn._replace(native={"parts": entries})


def default_entries(turn: Message) -> list[Any]:
    """What is kept of the parts of a turn that came as they are made: nothing but their kinds."""
    if turn.role == "assistant":
        texts = [{"part_kind": "text"}] if turn.content else []
        return [*texts, *({"part_kind": "tool-call"} for _ in turn.calls)]
    return [{"part_kind": {"system": "system-prompt", "user": "user-prompt"}.get(turn.role, "tool-return")}]


def _assistant(group: _Group, arguments: ArgumentReader) -> tuple[Message, list[Any]]:
    texts = [text for kind, part in group.parts if (text := _answer_text(kind, part)) is not None]
    content = "\n".join(texts)
    calls: list[Call] = []
    entries: list[Any] = []
    for kind, part in group.parts:
        if kind in CALLS:
            call = _call(part, arguments)
            calls.append(call)
            made = call_part(kind, call.name, call.native_id, call.arguments)
            entries.append(kept(part, made, is_call=True))
        elif kind == "text" and len(texts) == 1:
            entries.append(kept(part, text_part(kind, content)))
        else:
            entries.append(kept(part, {"part_kind": kind}))
    return Message("assistant", content, "", calls=tuple(calls)), entries


def _answer_text(kind: str, part: Mapping[str, Any]) -> str | None:
    if kind not in _TEXTS:
        return None
    return _speech(part) if kind == "speech" else shown(part.get("content"))


def _speech(part: Mapping[str, Any]) -> str:
    transcript = part.get("transcript")
    return transcript if isinstance(transcript, str) and transcript else "[audio]"


def _call(part: Mapping[str, Any], arguments: ArgumentReader) -> Call:
    sent = part.get("args")
    value = ... if sent is None else arguments.read(sent) if isinstance(sent, str) else sent
    name = part.get("tool_name") or None
    native_id = part.get("tool_call_id")
    return Call(name or "unknown", name if native_id is None else native_id, value)


def _of_request(group: _Group) -> tuple[Message, list[Any]]:
    """The one part of a group that says something, with what goes with it."""
    turn, entries = Message(group.role, "", ""), []
    for kind, part in group.parts:
        if kind not in ROLES or (kind == "instruction-delta" and not isinstance(part.get("content"), str)):
            entries.append(kept(part, {"part_kind": kind}))
            continue
        content = _speech(part) if kind == "speech" else shown(part.get("content"))
        stated = times.stated(part.get("timestamp"))
        turn = turn._replace(content=content, timestamp=stated)
        if group.role == "tool":
            result = _result(kind, part)
            turn = turn._replace(results=(result,))
            made = return_part(kind, result.name, result.native_id, content, success=result.success, timestamp=stated)
        else:
            made = {"part_kind": kind} if kind == "speech" else text_part(kind, content, stated)
        entries.append(kept(part, made))
    return turn, entries


def _result(kind: str, part: Mapping[str, Any]) -> Result:
    name = part.get("tool_name") or None
    native_id = part.get("tool_call_id")
    outcome = part.get("outcome")
    success = outcome == "success" if isinstance(outcome, str) else None
    return Result(name if native_id is None else native_id, name, False if kind == "retry-prompt" else success)


def _usage(counts: Any) -> Mapping[str, int] | None:
    """What one request used; of nothing but zeros nobody knows (the default of ``RequestUsage``)."""
    found = token_usage(counts, "input_tokens", "output_tokens") or token_usage(
        counts, "request_tokens", "response_tokens", "total_tokens"
    )
    return found if found and any(found.values()) else None


def message_fields(kind: str, turns: Sequence[Message]) -> dict[str, Any]:
    """The members, but the parts, of the message that is made of ``turns``."""
    fields: dict[str, Any] = {"kind": "response" if any(turn.role == "assistant" for turn in turns) else "request"}
    answer = next((turn for turn in turns if turn.role == "assistant"), None)
    if kind == "response" and answer is not None:
        if answer.model is not None:
            fields["model_name"] = answer.model
        if answer.timestamp is not None and "timestamp" not in answer.derived:
            fields["timestamp"] = answer.timestamp
        if answer.usage is not None:
            fields["usage"] = {
                "input_tokens": answer.usage["prompt_tokens"],
                "output_tokens": answer.usage["completion_tokens"],
            }
    return fields


def _kept_of_message(
    message: Mapping[str, Any], kind: str, turns: list[Message], in_force: str | None
) -> tuple[dict[str, Any], Sequence[str]]:
    """What the first turn keeps of the message, by its own names, and the names that it lacks."""
    for at in range(1, len(turns)):
        turns[at] = turns[at]._replace(native={**(turns[at].native or {}), "of": BEFORE})
    held = message_fields(kind, turns)
    said = message.get(INSTRUCTIONS) if kind == "request" else None
    if isinstance(said, str) and said:
        held[INSTRUCTIONS] = said
    left = {
        name: value
        for name, value in message.items()
        if name not in {"parts", "of"} and not (name in held and value == held[name])
    }
    lacks = kind == "request" and in_force is not None and INSTRUCTIONS not in message
    return left, (INSTRUCTIONS,) if lacks else ()
