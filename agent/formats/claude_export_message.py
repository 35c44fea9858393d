"""One message of a Claude.ai export, as the turns that it is.

A message of the assistant holds what it called and what came of it, in the order of its blocks. Where ``content`` says
something, ``text`` says the same once more, with notes to the reader for blocks that it has no words for; older exports
have only ``text``. A file that a person added stands as a placeholder, its text in ``metadata.native``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from agent.errors import Problem
from agent.formats.claude_export_blocks import Segment, kept_parts, segments
from agent.formats.content_parts import content_text, without_binaries
from agent.formats.conversation.message import Ignored
from agent.formats.conversation.times import stated

ROLES: Final = {"human": "user", "user": "user", "assistant": "assistant", "system": "system"}
_SENDERS: Final = {"user": "human", "assistant": "assistant", "system": "system"}


class Draft(NamedTuple):
    """A message without its place: its turns, and for each what is kept of it."""

    turns: tuple[Segment, ...]
    natives: tuple[dict[str, Any], ...]
    timestamp: str | None
    model: str | None
    absent: tuple[str, ...]


def read_message(message: Any, path: str, ignored: Ignored, problems: list[Problem]) -> Draft | None:
    """The message at ``path``; None where it is refused, with its problems in ``problems``."""
    if not isinstance(message, dict):
        problems.append(Problem(path, "type"))
        return None
    sender = message.get("sender")
    if not isinstance(sender, str) or sender not in ROLES:
        rule = "required" if sender is None else "enum" if isinstance(sender, str) else "type"
        problems.append(Problem(f"{path}.sender", rule))
        return None
    text, content = message.get("text"), message.get("content")
    text = text if isinstance(text, str) else ""
    blocks: list[Any] = content if isinstance(content, list) else [content] if isinstance(content, str) else []
    turns = segments(blocks, ROLES[sender])
    if not any(turn.content for turn in turns) and text:
        turns[-1] = turns[-1]._replace(content=text) if turns[-1].role != "tool" else turns[-1]
    turns[0] = _with_files(turns[0], message)
    is_told = isinstance(content, list)
    natives = [kept_parts(turn) if is_told else {} for turn in turns]
    for native in natives[1:]:
        native["of"] = "before"
    natives[0] |= _beside(message, turns, sender, ignored, path)
    model = message.get("model")
    return Draft(
        tuple(turns),
        tuple(natives),
        stated(message.get("created_at")),
        model if isinstance(model, str) and model else None,
        tuple(name for name in ("text", "content", "uuid") if name not in message),
    )


def _with_files(turn: Segment, message: Mapping[str, Any]) -> Segment:
    """``turn`` with a placeholder for each file that came with the message."""
    names = [*_objects(message.get("attachments")), *_objects(message.get("files_v2") or message.get("files"))]
    shown = [content_text([_part_of(each)], "$", []) for each in names]
    return turn._replace(content="\n".join(filter(None, (turn.content, *shown)))) if shown else turn


def _part_of(file: Mapping[str, Any]) -> dict[str, Any]:
    kind = "image_url" if file.get("file_kind") == "image" else "input_file"
    return {"type": kind, "media_type": file.get("file_type")}


def _objects(values: Any) -> Sequence[Mapping[str, Any]]:
    return [value for value in values if isinstance(value, dict)] if isinstance(values, list) else []


def _beside(
    message: Mapping[str, Any], turns: Sequence[Segment], sender: str, ignored: Ignored, path: str
) -> dict[str, Any]:
    """The members of the message that its turns' own fields do not hold."""
    native: dict[str, Any] = {}
    for name, value in message.items():
        if name == "content":
            if not isinstance(value, list):
                native[name] = without_binaries(name, value)
        elif name == "text" and isinstance(value, str):
            if len(turns) > 1:
                # It holds what the other turns say: erased there, it must not stand here.
                ignored.add("doubled texts", f"{path}.text")
            elif value != turns[0].content:
                native[name] = value
        elif name == "sender":
            if value != _SENDERS[ROLES[sender]]:
                native[name] = value
        elif name != "uuid" and not (name == "created_at" and stated(value)):
            native[name] = without_binaries(name, value)
    return native
