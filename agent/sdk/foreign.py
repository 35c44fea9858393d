"""Messages of other libraries: their objects as documents, and documents as turns, by the readers of ``agent.formats``.

No such library is imported: an object tells what it holds by the ways that the common ones have. A document is what
the library itself would send or write. Refuses, by ValidationError, what is no message that any format knows.
"""

from __future__ import annotations

import base64
import dataclasses
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from enum import Enum
from typing import Any, Final, NamedTuple
from uuid import UUID

from agent.core.capture_options import CAPTURE_OPTIONS
from agent.core.ids import conversation_uuid, turn_uuid
from agent.errors import Problem, ValidationError
from agent.formats import ReadName, format_named, reader
from agent.formats.asked import places
from agent.sdk.json_value import ALLOWED, MAX_DEPTH
from agent.sdk.message import A_MESSAGE, spelled_role
from agent.sdk.session_name import LONGEST_ID

# In the order in which a document is tried: openai-chat knows anything with a role.
_FORMATS: Final[tuple[ReadName, ...]] = (
    *("google-adk", "pydantic-ai", "openai-agents", "langchain", "bedrock-converse"),
    *("gemini", "openai-responses", "anthropic", "openai-chat"),
)
# What a program calls its way to say what an object holds.
_DUMPS: Final = ("model_dump", "to_dict", "dict", "_asdict")
# A member that every reader looks into, and that no format has itself.
_INNER: Final = "data"


class Translated(NamedTuple):
    """Turns as a capture carries them, and the format that they came in."""

    turns: list[dict[str, Any]]
    format: str


def document_of(value: object) -> Any:
    """What ``value`` holds as a JSON document. Raises ValidationError where it cannot be told."""
    try:
        return _document(value, 0)
    except ValidationError:
        raise
    except Exception as error:  # noqa: BLE001 - whatever the code of another library raises, with its words left out
        message = f"this is no message: what it holds cannot be read ({type(error).__name__})"
        raise ValidationError(message, [Problem("$", "type")]) from None


def _document(value: Any, depth: int) -> Any:
    if depth > MAX_DEPTH:
        raise ValidationError(f"a message {ALLOWED['depth']}", [Problem("$", "depth")])
    if isinstance(value, Enum):
        value = value.value
    if value is None or isinstance(value, str | bool | int | float):
        return value
    if isinstance(value, Mapping):
        return {name: _document(member, depth + 1) for name, member in value.items()}
    if isinstance(value, list) or type(value) is tuple:
        return [_document(member, depth + 1) for member in value]
    written = _written(value)
    return _document(_members(value), depth + 1) if written is None else written


def _written(value: Any) -> str | None:
    """How JSON has a value of Python's own that it has no form for; None for any other."""
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    return str(value) if isinstance(value, UUID) else None


def _members(value: Any) -> Any:
    for name in _DUMPS:
        dump = getattr(value, name, None)
        if callable(dump) and not isinstance(value, type):
            return _dumped(dump) if name == "model_dump" else dump()
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    members = getattr(value, "__dict__", None)
    if not members or isinstance(value, type):
        raise ValidationError(f"this is no message: {A_MESSAGE}", [Problem("$", "type")])
    return {name: member for name, member in members.items() if not name.startswith("_")}


def _dumped(dump: Any) -> Any:
    try:
        # Pydantic's own: without it, times and enumerations would come as they are, and warnings of values that
        # somebody put together without checking, as clients do with what a newer server answers.
        return dump(mode="json", warnings=False)
    except (TypeError, ValueError):
        # An older one, or bytes that are no text: as they are, they can be written.
        return dump()


def translated(
    documents: Sequence[Any],
    *,
    session: str,
    conversation: Callable[[], str],
    request_id: str,
    captured_at: str,
) -> Translated | None:
    """``documents`` as what is new in a conversation (CONTRACT 3a, ``delta``); None where no format knows them.

    They are JSON. ``session`` and what ``conversation`` gives are UUIDs. Raises ValidationError for what a format
    knows and refuses.
    """
    name, document = recognised(documents)
    if name is None:
        return None
    if any(next(places(each), None) for each in documents):
        # Here a message would be kept in full and the request with it, as something that it also said.
        message = "capture_options are no part of a message: CAPTURE_CONTENT says how much is stored"
        raise ValidationError(message, [Problem(f"$.{CAPTURE_OPTIONS}", "unsupported")])
    conversation_id = conversation()
    body = {
        "session_id": session,
        "conversation_id": conversation_id,
        "mode": "delta",
        "request_id": request_id,
        _INNER: document,
    }
    turns = reader(name).read(body, captured_at=captured_at).payload["turns"]
    if turns[0].get("parent_turn_id", "") is None:
        # An answer alone begins its own document; here it goes on from where the conversation is.
        del turns[0]["parent_turn_id"]
    named = {"google-adk": _named_as_event, "langchain": _named_as_message}.get(name)
    if named is not None:
        turns = named(turns, session, f"{conversation_uuid(conversation_id)}:{request_id}")
    return Translated([_with_native_ids(turn) for turn in turns], name)


def is_whole(document: Any) -> bool:
    """Whether ``document`` is an answer by itself, that says more than a message in a list can."""
    return isinstance(document, dict) and any(format_named(name).detect(document) for name in _FORMATS)


def _named_as_event(turns: list[dict[str, Any]], session: str, prefix: str) -> list[dict[str, Any]]:
    """The turns of an event behind its first, which has the event's id, named after that, to be known again."""
    found: list[dict[str, Any]] = []
    event, number = "", 0
    for turn in turns:
        if "native_id" in turn:
            event, number = turn["native_id"], 1
        elif turn["turn_id"] == turn_uuid(session, f"{prefix}:event:{event}.{number}"):
            found.append({**turn, "turn_id": turn_uuid(session, f"event:{event}.{number}")})
            number += 1
            continue
        found.append(turn)
    return found


def _named_as_message(turns: list[dict[str, Any]], session: str, prefix: str) -> list[dict[str, Any]]:
    """Turns of messages with an id of their own named by it, to be known again in their conversation."""
    conversation = prefix.partition(":")[0]
    found = []
    for turn in turns:
        native = turn.get("metadata", {}).get("native", {})
        own = native.get("id")
        # Chunks of one message share its id, and each says something else.
        is_named = isinstance(own, str) and own and "Chunk" not in str(native.get("as"))
        found.append(turn | ({"turn_id": turn_uuid(session, f"{conversation}:message:{own}")} if is_named else {}))
    return found


def _with_our_names(document: Any) -> Any:
    """``document`` with the names that formats know, where it has those that ``Message`` has."""
    role = document.get("role") if isinstance(document, dict) else None
    if not isinstance(role, str):
        return document
    document = {**document, "role": spelled_role(role)}
    if "text" in document and "content" not in document:
        document["content"] = document.pop("text")
    return document


def recognised(documents: Sequence[Any]) -> tuple[ReadName | None, Any]:
    """The format of ``documents``, and they as it reads them: one that is a whole answer stands alone."""
    documents = [_with_our_names(each) for each in documents]
    if len(documents) == 1 and isinstance(documents[0], dict):
        for name in _FORMATS:
            if format_named(name).detect(documents[0]):
                return name, documents[0]
    for name in _FORMATS:
        if format_named(name).detect(documents):
            return name, documents
    return None, documents


def _with_native_ids(turn: dict[str, Any]) -> dict[str, Any]:
    """``turn`` as it stands in a payload that derives its ids: by its own strings, where it has them."""
    sent = dict(turn)
    for name, native in (("turn_id", "native_id"), ("parent_turn_id", "native_parent_turn_id")):
        if native in sent:
            sent[name] = sent.pop(native)
    if "tool_invocations" in sent:
        sent["tool_invocations"] = [_invocation(entry) for entry in sent["tool_invocations"]]
    return sent


def _invocation(entry: dict[str, Any]) -> dict[str, Any]:
    entry = dict(entry)
    native = entry.pop("native_id", None)
    if native is None:
        return entry
    if 1 <= len(native) <= LONGEST_ID:
        return {**entry, "invocation_id": native}
    # No payload may carry it. A name made of it pairs the call and its result as well.
    return {**entry, "invocation_id": f"call:{turn_uuid('', native)}"}
