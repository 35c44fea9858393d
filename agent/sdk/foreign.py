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

from agent.errors import Problem, ValidationError
from agent.formats import ReadName, format_named, reader
from agent.sdk.json_value import ALLOWED, MAX_DEPTH, json_copy
from agent.sdk.message import A_MESSAGE, spelled_role

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
    return _document(value, 0)


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
    except TypeError:
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

    ``session`` and what ``conversation`` gives are UUIDs. Raises ValidationError for what a format knows and refuses.
    """
    # A reader takes what may have come over the edge, and nothing else.
    name, document = _recognised([_with_our_names(each) for each in json_copy(documents)])
    if name is None:
        return None
    body = {
        "session_id": session,
        "conversation_id": conversation(),
        "mode": "delta",
        "request_id": request_id,
        _INNER: document,
    }
    turns = reader(name).read(body, captured_at=captured_at).payload["turns"]
    if turns[0].get("parent_turn_id", "") is None:
        # An answer alone begins its own document; here it goes on from where the conversation is.
        del turns[0]["parent_turn_id"]
    return Translated([_with_native_ids(turn) for turn in turns], name)


def _with_our_names(document: Any) -> Any:
    """``document`` with the names that formats know, where it has those that ``Message`` has."""
    role = document.get("role") if isinstance(document, dict) else None
    if not isinstance(role, str):
        return document
    document = {**document, "role": spelled_role(role)}
    if "text" in document and "content" not in document:
        document["content"] = document.pop("text")
    return document


def _recognised(documents: list[Any]) -> tuple[ReadName | None, Any]:
    """The format of ``documents``, and they as it reads them: one that is a whole answer stands alone."""
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
    return entry if native is None else {**entry, "invocation_id": native}
