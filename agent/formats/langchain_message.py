"""One serialised LangChain message, read into its turn: a constructor (``lc: 1``), ``{type, data}``, a ``model_dump``.

A turn keeps the members that differ from those of the message that is made from it, and what they stood in (``as``),
null in their place, where that is not ``{type, data}`` of its role. Refuses wrong types where a turn depends on them.
Source: ``langchain_core.messages`` (ai, tool, utils) and ``langchain_core.load`` of its API reference.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from agent.errors import Problem
from agent.formats.content_parts import content_text, without_binaries
from agent.formats.conversation import times
from agent.formats.conversation.message import Call, Message, Result
from agent.formats.conversation.usage import token_usage
from agent.formats.tool_calls import UNKNOWN_TOOL, ArgumentReader, arguments_text, read_function_call, read_tool_calls

ROLES: Final = {
    "human": "user",
    "ai": "assistant",
    "system": "system",
    "tool": "tool",
    "function": "tool",
}
# Of a chat message, which names its role itself. Whoever else speaks there is somebody that the model answers.
_CHAT_ROLES: Final = ROLES | {
    "user": "user",
    "assistant": "assistant",
    "model": "assistant",
    "developer": "system",
}
_TYPE_OF: Final = {"user": "human", "assistant": "ai", "system": "system", "tool": "tool"}
_CLASS_OF: Final = {"AI": "ai"} | {name.capitalize(): name for name in (*ROLES, "chat", "remove") if name != "ai"}
_TYPES: Final = {
    spelled: kind for name, kind in _CLASS_OF.items() for spelled in (kind, f"{name}Message", f"{name}MessageChunk")
}
# Kept to the letter: what they hold is text for a tool, also where it looks like binary.
_CALL_FIELDS: Final = frozenset({"tool_calls", "invalid_tool_calls", "tool_call_chunks", "additional_kwargs"})
# Blocks of content that are nothing said; their calls stand in tool_calls too.
_SILENT: Final = frozenset(
    {"thinking", "redacted_thinking", "reasoning", "reasoning_content", "compaction", "non_standard"}
    | {"tool_use", "tool_call", "tool_call_chunk", "function_call", "invalid_tool_call", "input_json_delta"}
    | {"server_tool_use", "server_tool_call", "server_tool_call_chunk"}
)
_SILENT_BLOCK: Final[Mapping[str, Any]] = {"type": "text", "text": None}


class Serialised(NamedTuple):
    """A message as it stands in a document: ``fields`` are its members, ``path`` theirs.

    ``kind`` is its type without ``Message`` and ``Chunk``; ``around`` is what its members stood in, null for them.
    """

    kind: str
    is_chunk: bool
    fields: Mapping[str, Any]
    around: Mapping[str, Any]
    path: str

    @property
    def id(self) -> str | None:
        """Its own id; None where it has none."""
        named = self.fields.get("id")
        return named if isinstance(named, str) and named else None


def serialised(value: Any, path: str = "$") -> Serialised | None:
    """``value`` as a message; None where it is none."""
    if not isinstance(value, dict):
        return None
    if "lc" in value:
        names, fields = value.get("id"), value.get("kwargs")
        named = names[-1] if isinstance(names, list) and names else None
        if value.get("type") != "constructor":
            return None
        member = "kwargs"
    else:
        named, fields = value.get("type"), value.get("data")
        member = "data"
        if fields is None and "content" in value:
            fields, member = value, ""
    kind = _TYPES.get(named) if isinstance(named, str) else None
    if kind is None or not isinstance(fields, dict):
        return None
    is_chunk = str(named).endswith("Chunk")
    if not member:
        fields = {name: each for name, each in value.items() if name != "type"}
        return Serialised(kind, is_chunk, fields, {"type": named}, path)
    return Serialised(kind, is_chunk, fields, {**value, member: None}, f"{path}.{member}")


def not_a_message(value: Any, path: str) -> Problem:
    """Why ``value`` is no message that ``serialised`` knows."""
    if not isinstance(value, dict):
        return Problem(path, "type")
    for name in ("kwargs",) if "lc" in value else ("data", "content"):
        if name in value and not isinstance(value[name], dict) and name != "content":
            return Problem(f"{path}.{name}", "type")
    if isinstance(value.get("type"), str):
        return Problem(f"{path}.type", "enum")
    return Problem(f"{path}.type", "type" if "type" in value else "required")


def read_message(
    found: Serialised, place: str, problems: list[Problem], *, arguments: ArgumentReader, agent: str | None = None
) -> Message | None:
    """The turn of ``found``; None where it is refused. Appends to ``problems``.

    ``agent`` is who spoke if the message does not say it itself.
    """
    before = len(problems)
    fields, path = found.fields, found.path
    content = _content(fields.get("content"), f"{path}.content", problems)
    role = _role(found, problems)
    calls = tuple(_calls(fields, path, arguments, problems)) if role == "assistant" else ()
    results = (_result(fields, path, problems),) if role == "tool" else ()
    if role is None or len(problems) > before:
        return None
    turn = Message(role, content, place, calls=calls, results=results)
    if role == "assistant":
        turn = _answer(turn, fields, agent)
    made = made_fields(turn)
    if "data" not in found.around:
        del made["type"]
    native = {name: _kept(name, value) for name, value in fields.items() if name not in made or made[name] != value}
    if found.around != {"type": _TYPE_OF[role], "data": None}:
        native["as"] = dict(found.around)
    # The turn of a result names the tool, whether the result does or not.
    suggested = made.keys() | ({"name"} if role == "tool" else set())
    return turn._replace(native=native or None, absent=sorted(suggested - fields.keys()))


def _kept(name: str, value: Any) -> Any:
    return value if name in _CALL_FIELDS else without_binaries(name, value)


def _content(content: Any, path: str, problems: list[Problem]) -> str:
    if isinstance(content, list):
        content = [_SILENT_BLOCK if _is_silent(block) else block for block in content]
    return content_text(content, path, problems)


def _is_silent(block: Any) -> bool:
    kind = block.get("type") if isinstance(block, dict) else None
    return isinstance(kind, str) and kind in _SILENT


def _role(found: Serialised, problems: list[Problem]) -> str | None:
    if found.kind != "chat":
        if found.kind not in ROLES:
            problems.append(Problem(found.path, "enum"))
        return ROLES.get(found.kind)
    named = found.fields.get("role")
    if isinstance(named, str):
        return _CHAT_ROLES.get(named, "user")
    problems.append(Problem(f"{found.path}.role", "type" if "role" in found.fields else "required"))
    return None


def _calls(fields: Mapping[str, Any], path: str, arguments: ArgumentReader, problems: list[Problem]) -> Iterator[Call]:
    """``tool_calls``, then those whose arguments were no JSON; else what the provider's own fields say."""
    count = 0
    for name in ("tool_calls", "invalid_tool_calls"):
        listed = fields.get(name)
        if listed is not None and not isinstance(listed, list):
            problems.append(Problem(f"{path}.{name}", "type"))
            continue
        for place, call in enumerate(listed or ()):
            at = f"{path}.{name}[{place}]"
            wrong = list(_wrong_call(call, at))
            problems.extend(wrong)
            count += 1
            if not wrong:
                args = call.get("args", ...)
                if name == "invalid_tool_calls":
                    # Text that was no object: it may be other JSON. Null is none.
                    args = ... if args is None else arguments.read(args) if isinstance(args, str) else args
                yield _call(call.get("name"), call.get("id"), args)
    if not count:
        yield from _calls_of_provider(fields, path, arguments, problems)


def _wrong_call(call: Any, path: str) -> Iterator[Problem]:
    if not isinstance(call, dict):
        yield Problem(path, "type")
    elif not isinstance(call.get("id"), str | None):
        yield Problem(f"{path}.id", "type")


def _call(name: Any, call_id: Any, args: Any) -> Call:
    name = name if isinstance(name, str) and name else None
    return Call(name or UNKNOWN_TOOL, call_id if isinstance(call_id, str) else name, args)


def _calls_of_provider(
    fields: Mapping[str, Any], path: str, arguments: ArgumentReader, problems: list[Problem]
) -> Iterator[Call]:
    """Calls of messages that have them nowhere but in ``additional_kwargs`` or in blocks of their content."""
    more = fields.get("additional_kwargs")
    more = more if isinstance(more, dict) else {}
    found = read_tool_calls(more.get("tool_calls"), f"{path}.additional_kwargs.tool_calls", arguments, problems)
    if not found and isinstance(more.get("function_call"), dict):
        found = [read_function_call(more["function_call"], arguments)]
    for each in found:
        yield Call(each.tool_name, each.native_id, each.arguments if each.has_arguments else ...)
    content = fields.get("content")
    blocks = content if isinstance(content, list) and not found else ()
    for block in blocks:
        kind = block.get("type") if isinstance(block, dict) else None
        if kind in ("tool_use", "tool_call"):
            yield _call(block.get("name"), block.get("id"), block.get("input", block.get("args", ...)))
        elif kind == "function_call":
            sent = block.get("arguments", ...)
            value = arguments.read(sent) if isinstance(sent, str) else sent
            yield _call(block.get("name"), block.get("call_id"), value)


def _result(fields: Mapping[str, Any], path: str, problems: list[Problem]) -> Result:
    answers, name, status = fields.get("tool_call_id"), fields.get("name"), fields.get("status")
    if answers is not None and not isinstance(answers, str):
        problems.append(Problem(f"{path}.tool_call_id", "type"))
    name = name if isinstance(name, str) and name else None
    success = status == "success" if status in ("success", "error") else None
    return Result(name if answers is None else answers, name, success)


def _answer(turn: Message, fields: Mapping[str, Any], agent: str | None) -> Message:
    """``turn`` with what an answer says of itself: who spoke, the model, what it used, and when it was made."""
    about = fields.get("response_metadata")
    about = about if isinstance(about, dict) else {}
    models = (about.get("model_name"), about.get("model"))
    made_at = about.get("created_at")
    timestamp = times.stated(made_at) or times.from_epoch(made_at)
    name = fields.get("name")
    speaker = name if isinstance(name, str) and name else agent
    return turn._replace(
        model=next((model for model in models if isinstance(model, str) and model), None),
        usage=_usage(fields.get("usage_metadata"), about),
        timestamp=timestamp,
        derived=() if timestamp is None else ("timestamp",),
        metadata=None if speaker is None else {"agent": speaker},
    )


def _usage(stated: Any, about: Mapping[str, Any]) -> dict[str, int] | None:
    found = token_usage(stated, "input_tokens", "output_tokens", "total_tokens")
    for name in ("token_usage", "tokenUsage", "usage"):
        counts = about.get(name)
        found = (
            found
            or token_usage(counts, "prompt_tokens", "completion_tokens", "total_tokens")
            or token_usage(counts, "promptTokens", "completionTokens", "totalTokens")
            or token_usage(counts, "input_tokens", "output_tokens", "total_tokens")
        )
    return found


def made_fields(turn: Message) -> dict[str, Any]:
    """The members of the message that is made of ``turn``, as ``message_to_dict`` has them in ``data``."""
    made: dict[str, Any] = {"content": turn.content, "type": _TYPE_OF[turn.role]}
    if turn.role == "tool":
        result = turn.results[0]
        made["tool_call_id"] = result.native_id
        made |= {} if result.name is None else {"name": result.name}
        made |= {} if result.success is None else {"status": "success" if result.success else "error"}
    elif turn.role == "assistant":
        made |= _made_calls(turn.calls)
        if turn.metadata is not None:
            made["name"] = turn.metadata["agent"]
        if turn.model is not None:
            made["response_metadata"] = {"model_name": turn.model}
        if turn.usage is not None:
            names = ("input_tokens", "output_tokens", "total_tokens")
            made["usage_metadata"] = dict(zip(names, turn.usage.values(), strict=True))
    return made


def _made_calls(calls: Sequence[Call]) -> dict[str, Any]:
    """The calls as the two lists that there are: arguments of ``tool_calls`` are objects."""
    valid, invalid = [], []
    for call in calls:
        named = {"name": call.name, "id": call.native_id}
        if call.arguments is ... or isinstance(call.arguments, dict):
            args = {} if call.arguments is ... else call.arguments
            valid.append({**named, "args": args, "type": "tool_call"})
        else:
            text = arguments_text(call.arguments)
            invalid.append({**named, "args": text, "error": None, "type": "invalid_tool_call"})
    listed = {"tool_calls": valid, "invalid_tool_calls": invalid}
    return {name: some for name, some in listed.items() if some}


def made_message(fields: Mapping[str, Any], around: Mapping[str, Any] | None, role: str) -> dict[str, Any]:
    """The message with these members: in ``around``, or as ``message_to_dict`` writes one of ``role``."""
    around = {"type": _TYPE_OF[role], "data": None} if around is None else around
    member = next((name for name in ("kwargs", "data") if name in around), None)
    return {**around, **fields} if member is None else {**around, member: dict(fields)}
