"""One message of OpenInference, and the turn that says it (openinference, semantic_conventions.md).

A message is the attributes under ``llm.input_messages.N.message`` or ``llm.output_messages.N.message``, by their names
from there on (``role``, ``content``, ``tool_calls.0.tool_call.function.name``). What the turn's own fields do not hold
stands in ``native.message``.

Refuses roles that nobody knows, and wrong types.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from agent.errors import Problem
from agent.formats.content_parts import content_text, without_binaries
from agent.formats.conversation.message import Call, Message, Result
from agent.formats.conversation.model_calls import said_key
from agent.formats.openinference_vercel import flat_members
from agent.formats.tool_calls import UNKNOWN_TOOL, ArgumentReader, arguments_text

ROLES: Final = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "human": "user",
    "assistant": "assistant",
    "model": "assistant",
    "ai": "assistant",
    "tool": "tool",
    "function": "tool",
}
Flat = Mapping[str, Any]
_SILENT: Final = frozenset({"reasoning", "thinking", "redacted_thinking", "tool_use", "tool_call"})


def read_message(message: Flat, path: str, arguments: ArgumentReader, problems: list[Problem]) -> Message | None:
    """The turn of the message at ``path``; None where it is refused. Appends every finding to ``problems``."""
    found = len(problems)
    role = message.get("role")
    if not isinstance(role, str) or role not in ROLES:
        rule = "required" if "role" not in message else "enum" if isinstance(role, str) else "type"
        problems.append(Problem(f"{path}.role", rule))
    texts = ("tool_call_id", "name", "function_call_name")
    problems.extend(
        Problem(f"{path}.{name}", "type") for name in texts if not isinstance(message.get(name), str | None)
    )
    content = _content(message, path, problems)
    calls = _calls(message, path, arguments, problems)
    if len(problems) > found or not isinstance(role, str):
        return None
    # Where providers carry results in what the user says, the id of the call says it.
    ours = "tool" if message.get("tool_call_id") is not None else ROLES[role]
    results = []
    if ours == "tool" and (message.get("tool_call_id") or message.get("name")):
        success = False if message.get("isError") is True else None
        results = [Result(message.get("tool_call_id") or message.get("name"), message.get("name"), success)]
    turn = Message(ours, content, "0", calls=calls if ours == "assistant" else (), results=results)
    standard = flat_of(turn)
    kept = {name: without_binaries(name, value) for name, value in message.items() if _differs(name, value, standard)}
    native = {"message": kept} if kept else None
    return turn._replace(native=native, absent=[name for name in standard if name not in message])


def _differs(name: str, value: Any, standard: Flat) -> bool:
    return name not in standard or type(value) is not type(standard[name]) or value != standard[name]


def _content(message: Flat, path: str, problems: list[Problem]) -> str:
    content = message.get("content")
    if isinstance(content, int | float):
        content = arguments_text(content)
    elif not isinstance(content, str | None):
        problems.append(Problem(f"{path}.content", "type"))
    shown = [text for part in grouped(message, "contents.") if (text := _shown(part)) is not None]
    return "\n".join(shown) if shown else content if isinstance(content, str) else ""


def _shown(part: Flat) -> str | None:
    kind = part.get("message_content.type", "text" if "message_content.text" in part else "part")
    if not isinstance(kind, str) or kind in _SILENT:
        return None
    if kind == "text":
        text = part.get("message_content.text")
        return text if isinstance(text, str) else None
    shown: dict[str, Any] = {"type": kind}
    for name, value in part.items():
        last = name.rpartition(".")[2]
        if last in ("url", "mime_type", "media_type", "data", "mediaType") and isinstance(value, str):
            shown["mime_type" if last == "mediaType" else last] = value
    return content_text([shown], "$", [])


def grouped(message: Flat, prefix: str) -> list[dict[str, Any]]:
    """The attributes under ``prefix``, by the number that follows it, in the order of the numbers."""
    found: dict[int, dict[str, Any]] = {}
    for name, value in message.items():
        number, _, rest = name.removeprefix(prefix).partition(".")
        if name.startswith(prefix) and number.isdecimal() and number.isascii() and len(number) <= 9 and rest:
            found.setdefault(int(number), {})[rest] = value
    return [found[number] for number in sorted(found)]


def _calls(message: Flat, path: str, arguments: ArgumentReader, problems: list[Problem]) -> list[Call]:
    calls = []
    for place, call in enumerate(grouped(message, "tool_calls.")):
        call_id, name = call.get("tool_call.id"), call.get("tool_call.function.name")
        if not isinstance(call_id, str | None):
            problems.append(Problem(f"{path}.tool_calls.{place}.tool_call.id", "type"))
        calls.append(_call(call_id, name, call.get("tool_call.function.arguments"), arguments))
    name = message.get("function_call_name")
    if isinstance(name, str) and name:
        calls.append(_call(None, name, message.get("function_call_arguments_json"), arguments))
    return calls


def _call(call_id: Any, name: Any, sent: Any, arguments: ArgumentReader) -> Call:
    name = name if isinstance(name, str) and name else None
    value = ... if sent is None else arguments.read(sent) if isinstance(sent, str) else sent
    return Call(name or UNKNOWN_TOOL, name if call_id is None else call_id, value)


def flat_of(turn: Message) -> dict[str, Any]:
    """The attributes that say ``turn`` by its fields alone."""
    flat: dict[str, Any] = {"role": turn.role}
    if turn.content or turn.results:
        flat["content"] = turn.content
    for place, call in enumerate(turn.calls):
        at = f"tool_calls.{place}.tool_call"
        flat |= {f"{at}.id": call.native_id, f"{at}.function.name": call.name}
        if call.arguments is not ...:
            flat[f"{at}.function.arguments"] = arguments_text(call.arguments)
    if turn.results:
        flat["tool_call_id"] = turn.results[0].native_id
    return flat


def flat_as_it_came(turn: Message) -> dict[str, Any] | None:
    """The attributes that ``turn`` came as, by what its ``native`` keeps; None where they do not say it (any more)."""
    kept = (turn.native or {}).get("message", {})
    if not isinstance(kept, dict):
        return None
    flat = {name: value for name, value in {**flat_of(turn), **kept}.items() if name not in turn.absent}
    # As whoever reads it finds it: all lists and objects flattened.
    again = read_message(dict(flat_members("", flat)), "$", ArgumentReader(), [])
    return flat if again is not None and said_key(again) == said_key(turn) else None
