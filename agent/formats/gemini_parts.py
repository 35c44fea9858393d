"""A Gemini ``Content`` (``{role, parts}``) as the turns that it is, for every format that is made of such.

Reads both spellings of every name, the API's (``functionCall``) and the Python SDK's (``function_call``); null is
absent, as that SDK writes it. Refuses parts that are no objects, and texts, calls, names and ids of the wrong type.

Sources: the Gemini API reference, ``Content`` and ``Part``; google-genai, ``types.Content``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from agent.core.canonical import encode
from agent.errors import Problem
from agent.formats.content_parts import content_text, without_binaries
from agent.formats.conversation.message import Call, Result
from agent.formats.tool_calls import ArgumentReader

# What a content's role is among ours; without one it is the API's default, the user's.
ROLES: Final = {"user": "user", "model": "assistant", "function": "tool", "tool": "tool", "system": "system"}

# Members of a part that say something of it, and are not what it holds.
_BESIDE: Final = frozenset(
    {"thought", "thoughtSignature", "videoMetadata", "mediaResolution", "partMetadata", "speechMetadata"}
    | {"audioTranscription", "mediaProcessing"}
)
# What a part with several members is read as, and the type that this must have.
_FIRST: Final[Mapping[str, type]] = {"functionCall": dict, "functionResponse": dict, "text": str}
_BLOBS: Final = ("inlineData", "fileData")
_MEDIA: Final = frozenset({"image", "audio", "video"})
# What the API runs itself, and where its text stands.
_RUN: Final = {"executableCode": "code", "codeExecutionResult": "output"}
_HUMP: Final = re.compile(r"_([a-z])")
_URL_SAFE: Final = str.maketrans("-_", "+/")


class Names(NamedTuple):
    """How the members of a part are spelled in what is written."""

    call: str
    response: str


CAMEL: Final = Names("functionCall", "functionResponse")
SNAKE: Final = Names("function_call", "function_response")


class Turn(NamedTuple):
    """One turn of a content. ``parts`` are its own, ``at`` their places in the content.

    The ids of ``results`` are those that the parts name, None where they name none, until ``OpenCalls`` tells.
    """

    role: str
    content: str
    calls: tuple[Call, ...] = ()
    results: tuple[Result, ...] = ()
    parts: tuple[Mapping[str, Any], ...] = ()
    at: tuple[int, ...] = ()


class _Part(NamedTuple):
    """A part: ``value`` without large binaries, ``kind`` in the API's spelling, None where it holds nothing."""

    value: dict[str, Any]
    kind: str | None
    path: str


def member(value: Mapping[str, Any], name: str) -> Any:
    """The member ``name`` (in the API's spelling) of ``value``, in either spelling; None where it is not there."""
    found = value.get(name)
    return value.get(snake_case(name)) if found is None else found


def snake_case(name: str) -> str:
    """``functionCall`` as ``function_call``."""
    return re.sub(r"[A-Z]", lambda letter: f"_{letter[0].lower()}", name)


def same_json(one: Any, other: Any) -> bool:
    """Whether two values are one JSON document: the order of members aside, 1 and 1.0 and true are three."""
    return bool(one == other) and json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def read_content(content: Mapping[str, Any], path: str, default: str, problems: list[Problem]) -> list[Turn]:
    """The turns of ``content``: each function response is one of the tool's, what is left is the speaker's.

    ``default`` is our role where it names none. Appends to ``problems``; then the answer does not count.
    """
    listed = content.get("parts")
    if listed is not None and not isinstance(listed, list):
        problems.append(Problem(f"{path}.parts", "type"))
        return []
    parts = [_part(part, f"{path}.parts[{place}]", problems) for place, part in enumerate(listed or ())]
    role = _role(content, parts, f"{path}.role", default, problems)
    turns, rest = [], []
    for place, part in enumerate(parts):
        if part.kind == "functionResponse":
            turns.append(_answer(part, place, problems))
        else:
            rest.append((place, part))
    if turns and role == "tool":
        role = "user"
    if rest or not turns:
        turns.append(_speech(role, rest, problems))
    return turns


def _role(content: Mapping[str, Any], parts: Sequence[_Part], path: str, default: str, problems: list[Problem]) -> str:
    role = content.get("role")
    if role is None or role == "":
        return "assistant" if any(part.kind == "functionCall" for part in parts) else default
    if isinstance(role, str) and role in ROLES:
        return ROLES[role]
    problems.append(Problem(path, "enum" if isinstance(role, str) else "type"))
    return default


def _part(part: Any, path: str, problems: list[Problem]) -> _Part:
    if not isinstance(part, dict):
        problems.append(Problem(path, "type"))
        return _Part({}, None, path)
    kind = kind_of(part)
    if kind is not None and not isinstance(member(part, kind), _FIRST.get(kind, object)):
        problems.append(Problem(f"{path}.{kind}", "type"))
        return _Part({}, None, path)
    return _Part(_compact(part), kind, path)


def kind_of(part: Mapping[str, Any]) -> str | None:
    """What ``part`` holds, in the API's spelling; None where it holds nothing."""
    names = (_camel_case(name) for name, value in part.items() if value is not None)
    kinds = [name for name in names if name not in _BESIDE]
    return next((name for name in _FIRST if name in kinds), kinds[0] if kinds else None)


def _camel_case(name: str) -> str:
    return _HUMP.sub(lambda hump: hump[1].upper(), name) if "_" in name else name


def _compact(part: dict[str, Any]) -> dict[str, Any]:
    """``part`` with large binaries as digests; what is signed or encrypted stays to the letter."""
    if not any(isinstance(value, dict) for value in part.values()):
        return part
    compact = {name: _without_binaries(name, value) for name, value in part.items()}
    return compact if any(compact[name] is not value for name, value in part.items()) else part


def _without_binaries(name: str, value: Any) -> Any:
    if not isinstance(value, dict) or member({name: value}, "functionCall") is not None:
        return value
    data = value.get("data")
    if isinstance(data, str) and member({name: value}, "inlineData") is not None:
        # The Python SDK writes bytes in the alphabet for addresses (RFC 4648 5).
        holder = {**value, "data": data.translate(_URL_SAFE)}
        if not any(isinstance(value.get(each), str) for each in ("mimeType", "mime_type")):
            holder["mimeType"] = "application/octet-stream"
        digest = without_binaries("", holder)["data"]
        return value if isinstance(digest, str) else {**value, "data": digest}
    nested = value.get("parts")
    compact = without_binaries("", value)
    if isinstance(nested, list) and member({name: value}, "functionResponse") is not None:
        inner = [_compact(each) if isinstance(each, dict) else each for each in nested]
        if any(new is not old for new, old in zip(inner, nested, strict=True)):
            return {**compact, "parts": inner}
    return compact


def _speech(role: str, parts: Sequence[tuple[int, _Part]], problems: list[Problem]) -> Turn:
    calls, texts = [], []
    for _, part in parts:
        if part.kind == "functionCall" and role == "assistant":
            calls.append(_call(part, problems))
        else:
            texts.append(shown(part.value, part.kind))
    content = "\n".join(text for text in texts if text)
    return Turn(
        role,
        content,
        tuple(calls),
        parts=tuple(part.value for _, part in parts),
        at=tuple(place for place, _ in parts),
    )


def _call(part: _Part, problems: list[Problem]) -> Call:
    value = member(part.value, "functionCall")
    name, call_id = _name(value, f"{part.path}.functionCall", problems)
    return Call(name, call_id or name or None, value.get("args", ...))


def _name(value: Mapping[str, Any], path: str, problems: list[Problem]) -> tuple[str, str | None]:
    name, call_id = value.get("name"), value.get("id")
    for key, found in (("name", name), ("id", call_id)):
        if found is not None and not isinstance(found, str):
            problems.append(Problem(f"{path}.{key}", "type"))
    return (name if isinstance(name, str) else ""), (call_id if isinstance(call_id, str) and call_id else None)


def _answer(part: _Part, place: int, problems: list[Problem]) -> Turn:
    value = member(part.value, "functionResponse")
    name, call_id = _name(value, f"{part.path}.functionResponse", problems)
    content, success = response_text(value.get("response"))
    nested = value.get("parts")
    more = [_media(each) for each in nested if isinstance(each, dict)] if isinstance(nested, list) else []
    content = "\n".join(text for text in (content, *more) if text)
    return Turn("tool", content, results=(Result(call_id, name or None, success),), parts=(part.value,), at=(place,))


def response_text(response: Any) -> tuple[str, bool | None]:
    """The text of what a function answered, and False if that was an error (``FunctionResponse.response``).

    ``{"output": text}`` and ``{"error": text}`` are that text, any other object is its JSON.
    """
    if isinstance(response, dict):
        if response.keys() == {"output"} and isinstance(response["output"], str):
            return response["output"], None
        if response.keys() == {"error"} and isinstance(response["error"], str):
            return response["error"], False
        return encode(response).decode(), False if response.get("error") else None
    if response is None or isinstance(response, str):
        return response or "", None
    return encode(response).decode(), None


def response_of(content: str, *, failed: bool) -> dict[str, Any]:
    """The response that ``response_text`` shows as ``content``, and as an error if it ``failed``."""
    told = (content, False if failed else None)
    if content.startswith("{"):
        value = ArgumentReader().read(content)
        if isinstance(value, dict) and response_text(value) == told:
            return value
    return {"error" if failed else "output": content}


def shown(part: Mapping[str, Any], kind: str | None) -> str:
    """The text that stands for a part that is no call and no response; empty for thoughts and mere signatures."""
    if kind is None or part.get("thought") is True:
        return ""
    value = member(part, kind)
    if kind == "text":
        return str(value)
    if kind in _BLOBS:
        return _media(part)
    if kind in _RUN:
        told = value.get(_RUN[kind]) if isinstance(value, dict) else None
        return told if isinstance(told, str) else ""
    return content_text([{"type": kind}], "", [])


def _media(part: Mapping[str, Any]) -> str:
    for kind in _BLOBS:
        blob = member(part, kind)
        if blob is not None:
            named = member(blob, "mimeType") if isinstance(blob, dict) else None
            label = named.partition("/")[0].lower() if isinstance(named, str) else ""
            placeholder = {"type": label if label in _MEDIA else "file", "media_type": named}
            return content_text([placeholder], "", [])
    return ""
