"""What a turn keeps of the item of the Responses API that it came as, and the item that a turn's fields make.

``native`` is ``{item?, part?, of?}``: ``item`` has the members that the turn's fields do not hold, ``part`` the only
part of the text without that text, ``of`` is ``before`` where the turn belongs to the item before it, and
``instructions`` where it stood beside the list. Binary data over 4 KiB become digests (``content_parts``).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from agent.core.ids import is_uuid
from agent.formats.content_parts import without_binaries
from agent.formats.conversation.message import Message
from agent.formats.response_item_kinds import CUSTOM_CALL, CUSTOM_OUTPUT, FUNCTION_CALL, FUNCTION_OUTPUT, PART_TEXT
from agent.formats.tool_calls import arguments_text

INSTRUCTIONS: Final = "instructions"
BEFORE: Final = "before"
_IMAGES: Final = frozenset({"png", "webp", "jpeg", "gif"})


def default_kind(message: Message) -> str:
    """The type of the item that says ``message`` where nothing is known but its fields; a text for a tool is custom."""
    if message.role == "tool":
        return FUNCTION_OUTPUT
    if not message.calls:
        return "message"
    return CUSTOM_CALL if isinstance(message.calls[0].arguments, str) else FUNCTION_CALL


def members_of(message: Message, kind: str) -> dict[str, Any]:
    """What an item of the type ``kind`` has, as far as the fields of ``message`` tell: all of it for ``default_kind``.

    An id is None where there is none. Empty for a type that the fields say nothing of.
    """
    if kind == "message" and not message.calls and not message.results:
        return {"role": message.role, "content": message.content}
    if kind in (FUNCTION_OUTPUT, CUSTOM_OUTPUT) and len(message.results) == 1:
        return {"type": kind, "call_id": _written_id(message.results[0].native_id), "output": message.content}
    if kind in (FUNCTION_CALL, CUSTOM_CALL) and len(message.calls) == 1:
        call = message.calls[0]
        text = "{}" if call.arguments is ... else arguments_text(call.arguments)
        member = "arguments" if kind == FUNCTION_CALL else "input"
        return {"type": kind, "call_id": _written_id(call.native_id), "name": call.name, member: text}
    return {}


def _written_id(native_id: str | None) -> str | None:
    # UUIDs come back in lower case (CONTRACT 2).
    return native_id.lower() if native_id is not None and is_uuid(native_id) else native_id


def kept(message: Message, item: dict[str, Any], kind: str, shown: str | None) -> Message:
    """``message`` with what its fields do not hold of ``item``, of which it shows the member ``shown``."""
    held = members_of(message, kind)
    if kind != default_kind(message):
        held.pop("type", None)
    native = native_of(item, held, shown if held else None, message.content)
    return message._replace(native=native, absent=tuple(name for name in held if name not in item))


def native_of(
    item: dict[str, Any], held: Mapping[str, Any], shown: str | None = None, content: str = ""
) -> dict[str, Any] | None:
    """What a turn keeps of ``item``, of which it holds ``held`` and shows the member ``shown`` as ``content``."""
    native: dict[str, Any] = {}
    members = {}
    for name, value in item.items():
        part = _only_part(value, content) if name == shown else None
        if part is not None:
            native["part"] = part
        elif name not in held or held[name] is None or value != held[name]:
            members[name] = without_binaries("content" if name == shown else name, value)
    if members:
        native["item"] = members
    return native or None


def _only_part(parts: Any, content: str) -> dict[str, Any] | None:
    """The one part that a text came in, without the text; None where it came otherwise."""
    if not isinstance(parts, list) or len(parts) != 1 or not isinstance(parts[0], dict):
        return None
    part: dict[str, Any] = parts[0]
    field = text_field(part)
    if field is None or part.get(field) != content:
        return None
    return {name: value for name, value in part.items() if name != field}


def text_field(part: Mapping[str, Any]) -> str | None:
    """The member of a part that has its text; None where it is no part of text."""
    kind = part.get("type")
    return PART_TEXT.get(kind) if isinstance(kind, str) else None


def without_image(member: str, item: Mapping[str, Any]) -> Any:
    """A generated picture is base64 that nothing beside it says so of."""
    if member != "result" or not isinstance(item[member], str):
        return without_binaries(member, item[member])
    return without_binaries(member, {"data": item[member], "media_type": image_type(item)})["data"]


def image_type(item: Mapping[str, Any]) -> str:
    """The media type of a generated picture."""
    named = item.get("output_format")
    return f"image/{named if isinstance(named, str) and named in _IMAGES else 'png'}"
