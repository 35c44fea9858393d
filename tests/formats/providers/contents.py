"""Contents of parts: Gemini's ``generateContent``, and the events that the Agent Development Kit sends as such."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from tests.formats.providers.spoken import Spoken, digests, exchanges, is_blank, users_first

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.:-]{0,127}", re.ASCII)


def gemini(document: Any) -> list[str]:
    """Gemini API reference, ``models.generateContent``, Content, Part; guide "Function calling".

    Refused with 400: "Please use a valid role: user, model.", "Please ensure that multiturn requests alternate between
    user and model", "Please ensure that function call turn comes immediately after a user turn or after a function
    response turn", "... function response turn comes immediately after a function call turn", "... the number of
    function response parts is equal to the number of function call parts of the function call turn"; contents without
    parts, and parts without data. Instructions stand beside the contents.
    """
    contents = document["contents"]
    if not isinstance(contents, list) or not all(isinstance(each, dict) for each in contents):
        return ["contents that only an SDK takes"]
    found = [*digests(contents)]
    if not contents or contents[0].get("role") != "user":
        found.append("the first content is no user's")
    calls: list[tuple[Any, Any]] = []
    for place, content in enumerate(contents):
        found += (f"{place}: {each}" for each in _content(content))
        if place and content.get("role") == contents[place - 1].get("role"):
            found.append(f"{place}: two contents of one role")
        responses = _ids(content, "functionResponse")
        left, unknown = _unanswered(calls, responses)
        if unknown:
            found.append(f"{place}: a response to no call of the content before")
        if left and not (place == len(contents) - 1 and responses):
            found.append(f"{place}: calls without responses")
        calls = _ids(content, "functionCall")
    instruction = document.get("systemInstruction")
    if instruction is not None and not isinstance(instruction, str):
        found += ["blank instructions"] if all(is_blank(part.get("text")) for part in instruction["parts"]) else []
    return found


def google_adk(document: Any) -> list[str]:
    """Agent Development Kit, ``Session``, ``Event``, ``flows/llm_flows/contents.py``.

    The contents of the events become those of a request to Gemini. The kit raises "No function call event found for
    function responses ids", brings the responses of a call together right behind it, and leaves roles as they are:
    Gemini knows ``user`` and ``model``. It merges no other events, so two of one role may stand beside each other.
    """
    events = document["session"]["events"]
    found = [*digests(events)] if events else ["no events"]
    ids = [event["id"] for event in events if event.get("id")]
    if len(set(ids)) < len(ids):
        found.append("an id of two events")
    spoken = []
    called: set[Any] = set()
    for place, event in enumerate(events):
        content = event.get("content")
        if not isinstance(event.get("author"), str):
            found.append(f"{place}: an event of nobody")
        if content is None:
            continue
        found += (f"{place}: {each}" for each in _content(content))
        calls, results = _ids(content, "functionCall"), _ids(content, "functionResponse")
        found += (f"{place}: an id of two calls" for each in calls if each[1] is not None and each in called)
        called |= set(calls)
        role = "tool" if results else "assistant" if content.get("role") == "model" else "user"
        if spoken and spoken[-1].calls and calls and not results:
            # Calls of several events in a row are answered behind the last.
            spoken[-1].calls += calls
        else:
            spoken.append(Spoken(role, calls, results))
    return [*found, *exchanges(spoken), *users_first(spoken)]


def _content(content: dict[str, Any]) -> Iterator[str]:
    role, parts = content.get("role"), content.get("parts")
    if role not in ("user", "model"):
        yield "a role that no content has"
    if not isinstance(parts, list) or not parts:
        yield "no parts"
        return
    kinds = [bool(_member(part, "functionResponse")) for part in parts]
    if kinds != sorted(kinds, reverse=True):
        yield "a response behind something else"
    if not any(_has_data(part) for part in parts):
        yield "no part with data"
    for part in parts:
        call, response = _member(part, "functionCall"), _member(part, "functionResponse")
        if call is not None:
            if role != "model":
                yield "a call of a user"
            if not _NAME.fullmatch(str(call.get("name"))):
                yield "an odd name"
            if not isinstance(call.get("args", {}), dict | None):
                yield "arguments that are no object"
        if response is not None and (role != "user" or not isinstance(response.get("response"), dict)):
            yield "a response that is none"


def _has_data(part: dict[str, Any]) -> bool:
    return bool(part) and not ("text" in part and is_blank(part["text"]) and _member(part, "thoughtSignature") is None)


def _ids(content: dict[str, Any], kind: str) -> list[tuple[Any, Any]]:
    return [_named(part, kind) for part in _with(content, kind)]


def _unanswered(
    calls: list[tuple[Any, Any]], responses: list[tuple[Any, Any]]
) -> tuple[list[tuple[Any, Any]], list[tuple[Any, Any]]]:
    """The calls without a response, the responses without a call. A call without an id goes by its name."""
    left, unknown = list(calls), []
    for name, named in responses:
        match = next((call for call in left if call[0] == name and (named is None or call[1] in (None, named))), None)
        if match is None:
            unknown.append((name, named))
        else:
            left.remove(match)
    return left, unknown


def _with(content: dict[str, Any], kind: str) -> Sequence[dict[str, Any]]:
    parts = content.get("parts")
    return [part for part in parts if _member(part, kind) is not None] if isinstance(parts, list) else []


def _named(part: dict[str, Any], kind: str) -> tuple[Any, Any]:
    held = _member(part, kind)
    return held.get("name"), held.get("id")


def _member(part: dict[str, Any], name: str) -> Any:
    snake = re.sub(r"[A-Z]", lambda found: f"_{found[0].lower()}", name)
    return part.get(name, part.get(snake))
