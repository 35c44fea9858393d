"""A window over a list of messages, as messages of the form that the list was given in.

What is kept is the very object that was given. Only a message that a window changes is another one: its text cut, its
calls without results left out, or a marker's text beside its own where the form has no system messages in its list:
there two messages of the user that a marker brings together are one.
Nothing that was given is changed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal

from agent.core.turn import SessionTurn
from agent.core.window.marker import is_marker
from agent.sdk.foreign import document_of
from agent.sdk.listed import Listed
from agent.sdk.message import Message

# Forms whose lists hold no system messages.
_WITHOUT_SYSTEM: Final = frozenset({"anthropic", "bedrock-converse", "gemini"})
# Whose turns are the user's messages there.
_OF_USER: Final = frozenset({"user", "tool"})
_Where = Literal["before", "behind"] | None
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
            elif number + 1 < len(window) and window[number + 1].role == "user":
                waiting.append(text)
            elif number and window[number - 1].role in _OF_USER:
                # Two messages of the user would stand beside each other.
                messages[-1] = _with_text(messages[-1], f"\n\n{text}", where="behind")
            else:
                messages.append(user_message(listed.form, text))
            continue
        place = places[turn.turn_id]
        given = listed.given[listed.places[place].start : listed.places[place].stop]
        kept = [_as_kept(message, turn, listed.turns[place]) for message in given]
        if waiting and turn.role == "user":
            kept[0] = _with_text(kept[0], "\n\n".join([*waiting, ""]), where="before")
            waiting = []
            if number > 1 and window[number - 2].role in _OF_USER and _can_be_one(messages[-1], kept[0]):
                kept[0] = _as_one(messages.pop(), kept[0])
        messages += kept
    return messages


def _can_be_one(*messages: Any) -> bool:
    return all(isinstance(message, Mapping) for message in messages)


def _as_one(first: Mapping[str, Any], second: Mapping[str, Any]) -> dict[str, Any]:
    """Two messages of the user as one with all that both say, where two may not stand beside each other."""
    name = "parts" if "parts" in second else "content"
    own, more = first.get(name), second.get(name)
    if isinstance(own, str) and isinstance(more, str):
        return {**first, name: f"{own}\n\n{more}"}
    lists = [each if isinstance(each, list) else [{"type": "text", "text": each}] for each in (own, more)]
    return {**first, name: [*lists[0], *lists[1]]}


def _marker(listed: Listed, turn: SessionTurn) -> Any:
    text = turn.content or ""
    if listed.given and all(isinstance(message, Message) for message in listed.given):
        return Message("system", text, metadata={"marker": turn.fields["metadata"]["marker"]})
    if listed.form == "pydantic-ai":
        return {"kind": "request", "parts": [{"part_kind": "system-prompt", "content": text}]}
    if listed.form == "google-adk":
        # Without an invocation it would be no event to a reader; the kit's own default is the empty one.
        return {"author": "user", "invocation_id": "", "content": {"role": "user", "parts": [{"text": text}]}}
    if listed.form == "langchain" and all(isinstance(each, Mapping) and "data" in each for each in listed.given):
        # Whoever reads such a list takes no other.
        return {"type": "system", "data": {"content": text, "type": "system"}}
    return {"role": "system", "content": text}


def user_message(form: str | None, text: str) -> dict[str, Any]:
    """A user's message in the words of ``form``."""
    if form == "gemini":
        return {"role": "user", "parts": [{"text": text}]}
    return {"role": "user", "content": [{"text": text}] if form == "bedrock-converse" else text}


def _as_kept(message: object, turn: SessionTurn, before: SessionTurn) -> Any:
    """``message``, or where ``turn`` is no longer what it was ``before`` another that says the same."""
    if turn.content != before.content:
        message = _with_text(message, turn.content or "", where=None)
    if before.invocations and not turn.invocations:
        message = _without_calls(message)
    return message


def _with_text(message: Any, text: str, *, where: _Where) -> Any:
    """``message`` with ``text`` for its own (None), or with it before or behind its own."""
    if isinstance(message, Message):
        return message._replace(text=_beside(message.text, text, where))
    if type(message) is tuple:
        return (message[0], _beside(message[1], text, where))
    if not isinstance(message, Mapping):
        copied = getattr(message, "model_copy", None)
        content = getattr(message, "content", None)
        if callable(copied) and isinstance(content, str):
            return copied(update={"content": _beside(content, text, where)})
        message = document_of(message)
    if isinstance(inner := message.get("data"), Mapping):
        # As LangChain writes messages down.
        return {**message, "data": {**inner, **_said(inner, text, where)}}
    return {**message, **_said(message, text, where)}


def _beside(own: str, text: str, where: _Where) -> str:
    return text + own if where == "before" else own + text if where == "behind" else text


def _said(message: Mapping[str, Any], text: str, where: _Where) -> dict[str, Any]:
    """The member of ``message`` that holds its text, with ``text``."""
    name = next((name for name in ("content", "parts", "text") if name in message), "content")
    own = message.get(name)
    if not isinstance(own, list):
        return {name: _beside(own if isinstance(own, str) else "", text, where)}
    first = next((part for part in own if isinstance(part, Mapping) and isinstance(part.get("text"), str)), None)
    if where is None:
        return {name: [{**(first or {}), "text": text}]}
    # Where parts say what they are, one that does not is refused.
    kind = {"type": "text"} if any(isinstance(part, Mapping) and "type" in part for part in own) else {}
    part = {**kind, "text": text.strip()}
    return {name: [part, *own] if where == "before" else [*own, part]}


def _without_calls(message: Any) -> Any:
    if isinstance(message, Message):
        return message._replace(tool_calls=())
    if not isinstance(message, Mapping):
        copied = getattr(message, "model_copy", None)
        if callable(copied) and isinstance(getattr(message, "tool_calls", None), list):
            return copied(update={"tool_calls": []})
        message = document_of(message)
    if isinstance(inner := message.get("data"), Mapping):
        return {**message, "data": _without_calls(inner)}
    left = {name: value for name, value in message.items() if name not in _CALLS}
    for name in ("content", "parts"):
        if isinstance(left.get(name), list):
            left[name] = [part for part in left[name] if not _is_call(part)]
    return left


def _is_call(part: Any) -> bool:
    if not isinstance(part, Mapping):
        return False
    return part.get("type") in _CALL_PARTS or any(part.get(name) for name in _CALL_PARTS)
