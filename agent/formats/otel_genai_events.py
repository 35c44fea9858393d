"""The message events of the GenAI conventions up to 1.36: what each says, as a message of the conventions since.

``gen_ai.system.message``, ``gen_ai.user.message``, ``gen_ai.assistant.message``, ``gen_ai.tool.message`` and
``gen_ai.choice``, as log records with a body, or as events of a span with attributes (semantic-conventions 1.36,
gen-ai-events.md).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from agent.formats.spans import structured

CHOICE: Final = "gen_ai.choice"
ROLES: Final = {
    "gen_ai.system.message": "system",
    "gen_ai.user.message": "user",
    "gen_ai.assistant.message": "assistant",
    "gen_ai.tool.message": "tool",
    CHOICE: "assistant",
}
# The whole body as JSON, where an event of a span has it.
_BODY: Final = "gen_ai.event.content"
_OF_THE_EVENT: Final = frozenset({"event.name", "gen_ai.system", "gen_ai.provider.name", _BODY})
_READ: Final = frozenset({"role", "content", "tool_calls", "id", "message"})


def body_of(body: Any, attributes: Mapping[str, Any]) -> Any:
    """What the event says: its body, else its attributes."""
    if body is not None:
        return structured(body)
    if _BODY in attributes:
        return structured(attributes[_BODY])
    return {name: value for name, value in attributes.items() if name not in _OF_THE_EVENT}


def message_of_event(name: str, body: Any) -> Any:
    """The message that the event ``name`` says; ``body`` itself where that is no object, for the reader to refuse."""
    if isinstance(body, str):
        body = {"content": body}
    if body is None:
        body = {}
    if not isinstance(body, dict):
        return body
    inner = structured(body.get("message")) if name == CHOICE else body
    if isinstance(inner, str):
        inner = {"content": inner}
    if not isinstance(inner, dict):
        inner = {}
    role = inner.get("role", ROLES[name])
    calls = structured(inner.get("tool_calls", body.get("tool_calls")))
    message: dict[str, Any] = {"role": role}
    if role == "tool":
        content = inner.get("content")
        # An empty result is left out of the body.
        result = {"type": "tool_call_response", "id": inner.get("id"), "response": "" if content is None else content}
        message["parts"] = [result]
    else:
        message["parts"] = [*_texts(inner.get("content")), *_calls(calls)]
    of_choice = {key: value for key, value in body.items() if key not in _READ} if name == CHOICE else {}
    rest = {key: value for key, value in inner.items() if key not in _READ}
    return message | rest | of_choice | ({"id": inner["id"]} if "id" in inner and role != "tool" else {})


def _texts(content: Any) -> list[Any]:
    if content is None or content == "":
        return []
    if isinstance(content, list):
        return [_text(each) for each in content]
    return [{"type": "text", "content": content if isinstance(content, str) else _text(content)}]


def _text(part: Any) -> Any:
    """Parts of chat APIs have their text in ``text``."""
    is_text = isinstance(part, dict) and part.get("type", "text") in ("text", "input_text", "output_text")
    if is_text and isinstance(part.get("text"), str) and part.keys() <= {"type", "text"}:
        return {"type": "text", "content": part["text"]}
    return part


def _calls(calls: Any) -> list[Any]:
    if not isinstance(calls, list):
        return [] if calls is None else [calls]
    return [_call(call) for call in calls]


def _call(call: Any) -> Any:
    if not isinstance(call, dict):
        return call
    function = call.get("function")
    body = function if isinstance(function, dict) else call
    part = {"type": "tool_call", "id": call.get("id"), "name": body.get("name")}
    if "arguments" in body:
        part["arguments"] = body["arguments"]
    rest = {key: value for key, value in call.items() if key not in ("id", "type", "function", "name", "arguments")}
    return part | rest
