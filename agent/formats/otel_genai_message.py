"""One message of the OpenTelemetry GenAI conventions, and the turns that say it: one for what it says, and calls, and
one for each result of a tool that it carries.

``{role, parts}`` (gen-ai-input-messages.json, gen-ai-output-messages.json of the semantic conventions). What a turn's
own fields do not hold exactly stays in ``native``: ``parts`` by place, null where the turn's fields make the same, and
the message's other members on its first turn. Refuses roles that nobody knows, and wrong types.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from agent.errors import Problem
from agent.formats.content_parts import content_text, without_binaries
from agent.formats.conversation.message import Call, Message, Result
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
# ``of``: that a turn goes on in the message of the one before it, so that both are written into one again.
GOES_ON: Final = {"of": "before"}
# Members of a turn's ``native`` that are none of its message's.
OURS: Final = frozenset({"of", "parts", "places", "span", "is_message", "instructions", "content_is", "members"})
CALLS: Final = ("tool_call", "server_tool_call")
RESULTS: Final = ("tool_call_response", "server_tool_call_response")
_SILENT: Final = frozenset({"reasoning", "thinking"})


class _Part(NamedTuple):
    """``shown`` is its text, None where it shows none. ``place`` is where it stands in its message."""

    sent: Any
    shown: str | None
    call: Call | None
    result: tuple[Result, str] | None
    place: int = 0


def read_message(message: Any, path: str, arguments: ArgumentReader, problems: list[Problem]) -> list[Message]:
    """The turns of the message at ``path``; none where it is refused. Appends every finding to ``problems``."""
    if not isinstance(message, dict):
        problems.append(Problem(path, "type"))
        return []
    found = len(problems)
    role = message.get("role")
    if not isinstance(role, str) or role not in ROLES:
        rule = "required" if "role" not in message else "enum" if isinstance(role, str) else "type"
        problems.append(Problem(f"{path}.role", rule))
    sent = message.get("parts")
    # Some instrumentations have the text where chat APIs have it.
    name = "parts" if sent is not None or "content" not in message else "content"
    sent = message.get(name)
    listed = sent if isinstance(sent, list) else [sent] if isinstance(sent, str) else []
    if not isinstance(sent, list | str | None):
        problems.append(Problem(f"{path}.{name}", "type"))
    parts = [
        _part(part, f"{path}.{name}[{place}]", arguments, problems)._replace(place=place)
        for place, part in enumerate(listed)
    ]
    if len(problems) > found or not isinstance(role, str):
        return []
    turns = [_turn(ROLES[role], some) for some in _runs(ROLES[role], parts)]
    return list(_with_native(turns, message, role, name, plain=isinstance(sent, list)))


def read_instructions(parts: Any, path: str, problems: list[Problem]) -> list[Message]:
    """The turn of ``gen_ai.system_instructions``: a list of parts, or the text alone; none where there is none."""
    listed = [parts] if isinstance(parts, str) else [] if parts is None else parts
    if not isinstance(listed, list):
        problems.append(Problem(path, "type"))
        return []
    found = len(problems)
    read = [_part(part, f"{path}[{place}]", ArgumentReader(), problems) for place, part in enumerate(listed)]
    if len(problems) > found or not read:
        return []
    message, some = _turn("system", read)
    native: dict[str, Any] = {} if _is_standard(message, some) else {"parts": _kept(message, some)}
    if isinstance(parts, str):
        native["instructions"] = "text"
    return [message._replace(native=native or None)]


def _part(part: Any, path: str, arguments: ArgumentReader, problems: list[Problem]) -> _Part:
    if isinstance(part, str):
        return _Part(part, part, None, None)
    kind = part.get("type", "text" if "content" in part or "text" in part else "part") if isinstance(part, dict) else 0
    if not isinstance(part, dict) or not isinstance(kind, str):
        problems.append(Problem(f"{path}.type" if isinstance(part, dict) else path, "type"))
        return _Part(part, None, None, None)
    call, result, shown = None, None, None
    if kind in CALLS:
        call = _call(part, kind, path, arguments, problems)
    elif kind in RESULTS:
        result = _result(part, kind, path, problems)
    elif kind == "text":
        name = "content" if "content" in part else "text"
        text = part.get(name)
        if not isinstance(text, str | None):
            problems.append(Problem(f"{path}.{name}", "type"))
        shown = text if isinstance(text, str) else ""
    elif kind not in _SILENT:
        shown = _placeholder(part, kind)
    return _Part(part, shown, call, result)


def _placeholder(part: Mapping[str, Any], kind: str) -> str:
    """``[image: image/png]``: the modality where the part tells it, else its kind."""
    modality = part.get("modality")
    shown: dict[str, Any] = {"type": modality if isinstance(modality, str) and modality else kind}
    if isinstance(part.get("mime_type"), str):
        shown["mime_type"] = part["mime_type"]
    return content_text([shown], "$", [])


def _call(part: Mapping[str, Any], kind: str, path: str, arguments: ArgumentReader, problems: list[Problem]) -> Call:
    call_id = part.get("id")
    if not isinstance(call_id, str | None):
        problems.append(Problem(f"{path}.id", "type"))
    name = part.get("name")
    name = name if isinstance(name, str) and name else None
    # What a tool of the provider was called with is the whole of its details.
    member = "arguments" if kind == "tool_call" else kind
    sent = part.get(member, ...) if part.get(member) is not None else ...
    value = arguments.read(sent) if isinstance(sent, str) else sent
    return Call(name or UNKNOWN_TOOL, name if call_id is None else call_id, value)


def _result(part: Mapping[str, Any], kind: str, path: str, problems: list[Problem]) -> tuple[Result, str]:
    call_id = part.get("id")
    if not isinstance(call_id, str | None):
        problems.append(Problem(f"{path}.id", "type"))
    name = part.get("name")
    name = name if isinstance(name, str) and name else None
    sent = part.get("response", part.get("result")) if kind == "tool_call_response" else part.get(kind)
    shown = sent if isinstance(sent, str) else "" if sent is None else _response_text(sent)
    # The conventions have no word for an error; some instrumentations do.
    success = False if part.get("is_error") is True else None
    return Result(name if call_id is None else call_id, name, success), shown


def _response_text(sent: Any) -> str:
    """Content parts as such, anything else as JSON; binaries in neither."""
    if isinstance(sent, list) and sent and all(isinstance(each, dict) and "type" in each for each in sent):
        problems: list[Problem] = []
        text = content_text(sent, "$", problems)
        if not problems:
            return text
    return arguments_text(without_binaries("response", sent))


def _runs(role: str, parts: Sequence[_Part]) -> Iterator[Sequence[_Part]]:
    """What becomes a turn each. Results in what somebody sent come before what was said with them.

    In an answer they are of the provider's own tools, and stand after their calls.
    """
    if role != "assistant":
        rest = [part for part in parts if part.result is None]
        yield from ([part] for part in parts if part.result is not None)
        if rest or not parts:
            yield rest
        return
    run: list[_Part] = []
    for part in parts:
        if part.result is not None:
            if run:
                yield run
            yield [part]
            run = []
        else:
            run.append(part)
    if run or not parts:
        yield run


def _turn(role: str, parts: Sequence[_Part]) -> tuple[Message, Sequence[_Part]]:
    if len(parts) == 1 and parts[0].result is not None:
        result, shown = parts[0].result
        return Message("tool", shown, "0", results=[result]), parts
    text = "\n".join(part.shown for part in parts if part.shown is not None)
    calls = [part.call for part in parts if part.call is not None] if role == "assistant" else []
    return Message(role, text, "0", calls=calls), parts


def _with_native(
    turns: Sequence[tuple[Message, Sequence[_Part]]], message: Mapping[str, Any], role: str, name: str, *, plain: bool
) -> Iterator[Message]:
    sent = [part for _, parts in turns for part in parts]
    in_order = all(part is other for part, other in zip(sent, sorted(sent, key=lambda part: part.place), strict=True))
    for number, (turn, parts) in enumerate(turns):
        native: dict[str, Any] = dict(GOES_ON) if number else _members(turn, message, role, name, plain=plain)
        if name != "parts" or not _is_standard(turn, parts):
            native["parts"] = _kept(turn, parts)
        if not in_order:
            native["places"] = [part.place for part in parts]
        yield turn._replace(native=native or None)


def _members(turn: Message, message: Mapping[str, Any], role: str, name: str, *, plain: bool) -> dict[str, Any]:
    """The members of a message that its turns do not tell, under their own names but those that are taken."""
    native: dict[str, Any] = {} if role == turn.role else {"role": role}
    if name != "parts":
        native["content_is"] = "list" if plain else "text"
    rest = {key: value for key, value in message.items() if key not in ("role", name)}
    native |= {key: value for key, value in rest.items() if key not in OURS}
    taken = {key: value for key, value in rest.items() if key in OURS}
    return native | ({"members": taken} if taken else {})


def _is_standard(turn: Message, parts: Sequence[_Part]) -> bool:
    return [part.sent for part in parts] == parts_of(turn)


def _kept(turn: Message, parts: Sequence[_Part]) -> list[Any]:
    """``parts`` by place, null for those that stand in the turn's fields: a lone text before all calls, and calls."""
    standard = parts_of(turn)
    is_lone = sum(part.shown is not None for part in parts) == 1
    kept: list[Any] = []
    called = False
    for part in parts:
        said = part.sent in standard and (part.shown is None or (is_lone and not called))
        called = called or part.call is not None
        kept.append(None if said else part.sent if part.shown is None else _without_binary(part.sent))
    return kept


def _without_binary(part: Any) -> Any:
    if not isinstance(part, dict) or part.get("type") == "text":
        return part
    if part.get("type") == "blob" and isinstance(part.get("content"), str):
        # The conventions say that it is base64.
        return {**part, "content": without_binaries("file", {"data": part["content"], **_media_type(part)})["data"]}
    return without_binaries("part", part)


def _media_type(part: Mapping[str, Any]) -> dict[str, Any]:
    return {"mime_type": part["mime_type"]} if isinstance(part.get("mime_type"), str) else {}


def parts_of(turn: Message) -> list[dict[str, Any]]:
    """The parts that say ``turn`` by its fields alone."""
    if turn.results:
        return [{"type": "tool_call_response", "id": each.native_id, "response": turn.content} for each in turn.results]
    parts: list[dict[str, Any]] = [{"type": "text", "content": turn.content}] if turn.content else []
    for call in turn.calls:
        part: dict[str, Any] = {"type": "tool_call", "id": call.native_id, "name": call.name}
        if call.arguments is not ...:
            part["arguments"] = call.arguments
        parts.append(part)
    return parts


def shows(part: Any) -> bool:
    """Whether ``part``, whatever it is, makes text."""
    return _part(part, "$", ArgumentReader(), []).shown is not None
