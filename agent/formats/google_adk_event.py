"""One event of the Agent Development Kit: its turns, and what it says of them beside its content.

``{id, author, timestamp, invocation_id, content, actions, usage_metadata, model_version, ...}`` in either spelling. An
event without a content speaks where it is a transcription of speech, or an error. ``metadata.native`` of its first
turn holds under ``event`` what the turn's fields do not hold, under ``event_absent`` what they suggest and it lacked.

Source: google-adk, ``events.Event`` and ``models.LlmResponse``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from agent.core.timestamps import instant
from agent.errors import Problem
from agent.formats.conversation.message import Message
from agent.formats.conversation.payload import call_key
from agent.formats.conversation.times import from_epoch
from agent.formats.gemini_answer import usage_of
from agent.formats.gemini_native import messages_of
from agent.formats.gemini_pairs import OpenCalls
from agent.formats.gemini_parts import SNAKE, Turn, member, read_content, same_json

USER: Final = "user"
_SPOKEN: Final = {"inputTranscription": "user", "outputTranscription": "assistant"}


class Name(NamedTuple):
    """What an event's turns go by: ``native_id`` the first, ``place`` those after it, and that one without an id."""

    native_id: str | None
    place: str


class Told(NamedTuple):
    """What an event says of its turns; each None where it does not. ``timestamp`` is RFC 3339."""

    native_id: str | None
    agent: str | None
    timestamp: str | None
    model: str | None
    usage: Mapping[str, int] | None


def is_event(value: Any) -> bool:
    """An event as its runner writes it."""
    return (
        isinstance(value, dict)
        and isinstance(value.get("author"), str)
        and isinstance(member(value, "invocationId"), str)
        and (isinstance(value.get("content"), dict) or "actions" in value or "options" in value)
    )


def told_by(event: Mapping[str, Any]) -> Told:
    """What ``event`` says of its turns."""
    event_id, author, model = event.get("id"), event.get("author"), member(event, "modelVersion")
    return Told(
        event_id if isinstance(event_id, str) and event_id else None,
        author if isinstance(author, str) and author not in ("", USER) else None,
        from_epoch(event.get("timestamp")),
        model if isinstance(model, str) else None,
        usage_of(member(event, "usageMetadata")),
    )


def made_fields(role: str, told: Told) -> dict[str, Any]:
    """The event, but for its content, that a turn of ``role`` is when nothing else is known of it."""
    fields: dict[str, Any] = {"author": told.agent or (USER if role == USER else "")}
    if told.native_id is not None:
        fields["id"] = told.native_id
    if told.timestamp is not None:
        fields["timestamp"] = instant(told.timestamp) / 10**9
    if told.model is not None:
        fields["model_version"] = told.model
    if told.usage is not None:
        names = {"prompt_token_count": "prompt", "candidates_token_count": "completion", "total_token_count": "total"}
        fields["usage_metadata"] = {name: told.usage[f"{ours}_tokens"] for name, ours in names.items()}
    return fields


def event_turns(event: Mapping[str, Any], path: str, problems: list[Problem]) -> list[Turn]:
    """The turns of ``event``, whose content stands at ``path``; none where it says nothing. Appends to ``problems``."""
    content = event.get("content")
    if isinstance(content, dict):
        return read_content(content, path, USER if event.get("author") == USER else "assistant", problems)
    if content is not None:
        problems.append(Problem(path, "type"))
        return []
    for name, role in _SPOKEN.items():
        transcription = member(event, name)
        text = transcription.get("text") if isinstance(transcription, dict) else None
        if isinstance(text, str) and text:
            return [Turn(role, text)]
    failed = any(isinstance(member(event, name), str) for name in ("errorCode", "errorMessage"))
    return [Turn("assistant", "")] if failed else []


def event_messages(
    event: Mapping[str, Any], path: str, name: Name, calls: OpenCalls, problems: list[Problem]
) -> list[Message]:
    """The messages of ``event``, named as ``name`` has it; ``path`` is where its content stands."""
    found = len(problems)
    turns = event_turns(event, path, problems)
    if len(problems) > found or not turns:
        return []
    content = event.get("content")
    told = told_by(event)._replace(native_id=name.native_id)
    whole = content if isinstance(content, dict) else {"parts": []}
    messages = messages_of(calls.add(turns), whole, name.place, SNAKE)
    if not isinstance(content, dict):
        messages = [messages[0]._replace(native=None, absent=[])]
    native = {**(messages[0].native or {}), **_kept(event, messages[0].role, told)}
    first = messages[0]._replace(native_id=told.native_id, model=told.model, usage=told.usage, native=native or None)
    metadata = None if told.agent is None else {"agent": told.agent}
    return [message._replace(timestamp=told.timestamp, metadata=metadata) for message in (first, *messages[1:])]


def _kept(event: Mapping[str, Any], role: str, told: Told) -> dict[str, Any]:
    # Whatever turn is written goes by an id, a UUID in lower case: where the event had none, that has to be said.
    made = made_fields(role, told if told.native_id is None else told._replace(native_id=call_key(told.native_id)))
    kept = {
        name: value
        for name, value in event.items()
        if name != "content" and not (name in made and same_json(made[name], value))
    }
    absent = [name for name in {"id": None, **made} if name not in event]
    if "content" not in event:
        absent.append("content")
    elif event["content"] is None:
        kept["content"] = None
    return {name: value for name, value in (("event", kept), ("event_absent", absent)) if value}
