"""A window over a list of messages, as messages of the form that the list was given in.

What is kept is the very object that was given. Only a message that a window changes is another one: its text cut, its
calls without results left out, or a marker's text before its own where the form has no system messages in its list.
Nothing that was given is changed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from agent.core.turn import SessionTurn
from agent.core.window.marker import is_marker
from agent.sdk.foreign import document_of
from agent.sdk.listed import Listed
from agent.sdk.message import Message

# Forms whose lists hold no system messages.
_WITHOUT_SYSTEM: Final = frozenset({"anthropic", "bedrock-converse", "gemini"})
_CALLS: Final = ("tool_calls", "function_call", "toolCalls", "invalid_tool_calls")
# How the forms name a part of a message that is a call.
_CALL_PARTS: Final = ("toolUse", "functionCall", "function_call", "tool_use")


def handed_back(listed: Listed, window: Sequence[SessionTurn]) -> list[Any]:
    """The messages of ``window``, which was cut from ``listed.turns``."""
    places = {turn.turn_id: place for place, turn in enumerate(listed.turns)}
    in_user = listed.form in _WITHOUT_SYSTEM
    messages: list[Any] = []
    waiting: list[str] = []
    for number, turn in enumerate(window):
        if is_marker(turn):
            text = turn.content or ""
            if not in_user:
                messages.append(_marker(listed, turn))
            elif any(each.role == "user" for each in window[number + 1 :]) and not _opens(window, number):
                waiting.append(text)
            else:
                messages.append(_user(listed.form, text))
            continue
        place = places[turn.turn_id]
        given = listed.given[listed.places[place].start : listed.places[place].stop]
        kept = [_as_kept(message, turn, listed.turns[place]) for message in given]
        if waiting and turn.role == "user":
            kept[0] = _with_text(kept[0], "\n\n".join([*waiting, ""]), joined=True)
            waiting = []
        messages += kept
    return messages


def _opens(window: Sequence[SessionTurn], number: int) -> bool:
    """Whether the marker at ``number`` is what a list begins with that would begin with no user."""
    is_first = all(turn.role == "system" for turn in window[:number])
    return is_first and window[number + 1].role != "user"


def _marker(listed: Listed, turn: SessionTurn) -> Any:
    text = turn.content or ""
    if listed.given and all(isinstance(message, Message) for message in listed.given):
        return Message("system", text, metadata={"marker": turn.fields["metadata"]["marker"]})
    if listed.form == "pydantic-ai":
        return {"kind": "request", "parts": [{"part_kind": "system-prompt", "content": text}]}
    if listed.form == "google-adk":
        return {"author": "user", "content": {"role": "user", "parts": [{"text": text}]}}
    return {"role": "system", "content": text}


def _user(form: str | None, text: str) -> dict[str, Any]:
    if form == "gemini":
        return {"role": "user", "parts": [{"text": text}]}
    return {"role": "user", "content": [{"text": text}] if form == "bedrock-converse" else text}


def _as_kept(message: object, turn: SessionTurn, before: SessionTurn) -> Any:
    """``message``, or where ``turn`` is no longer what it was ``before`` another that says the same."""
    if turn.content != before.content:
        message = _with_text(message, turn.content or "", joined=False)
    if before.invocations and not turn.invocations:
        message = _without_calls(message)
    return message


def _with_text(message: Any, text: str, *, joined: bool) -> Any:
    """``message`` with ``text`` for its own, or ``joined``, before its own."""
    if isinstance(message, Message):
        return message._replace(text=text + message.text if joined else text)
    if type(message) is tuple:
        return (message[0], text + message[1] if joined else text)
    if not isinstance(message, Mapping):
        copied = getattr(message, "model_copy", None)
        content = getattr(message, "content", None)
        if callable(copied) and isinstance(content, str):
            return copied(update={"content": text + content if joined else text})
        message = document_of(message)
    return {**message, **_said(message, text, joined=joined)}


def _said(message: Mapping[str, Any], text: str, *, joined: bool) -> dict[str, Any]:
    """The member of ``message`` that holds its text, with ``text``."""
    name = next((name for name in ("content", "parts", "text") if name in message), "content")
    own = message.get(name)
    if not isinstance(own, list):
        return {name: text + own if joined and isinstance(own, str) else text}
    first = next((part for part in own if isinstance(part, Mapping) and isinstance(part.get("text"), str)), None)
    if not joined:
        return {name: [{**(first or {}), "text": text}]}
    # Where parts say what they are, one that does not is refused.
    kind = {"type": "text"} if any(isinstance(part, Mapping) and "type" in part for part in own) else {}
    return {name: [{**kind, "text": text.rstrip()}, *own]}


def _without_calls(message: Any) -> Any:
    if isinstance(message, Message):
        return message._replace(tool_calls=())
    if not isinstance(message, Mapping):
        copied = getattr(message, "model_copy", None)
        if callable(copied) and isinstance(getattr(message, "tool_calls", None), list):
            return copied(update={"tool_calls": []})
        message = document_of(message)
    left = {name: value for name, value in message.items() if name not in _CALLS}
    for name in ("content", "parts"):
        if isinstance(left.get(name), list):
            left[name] = [part for part in left[name] if not _is_call(part)]
    return left


def _is_call(part: Any) -> bool:
    if not isinstance(part, Mapping):
        return False
    return part.get("type") in _CALL_PARTS or any(part.get(name) for name in _CALL_PARTS)
