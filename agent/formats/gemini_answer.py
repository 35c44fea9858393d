"""What a ``generateContent`` call came back with: a ``GenerateContentResponse``, or the chunks that it was streamed as.

The chunks of a candidate are one content: their parts stand after each other, and a text goes on with the text of the
same kind before it (Gemini API reference, ``streamGenerateContent``).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from agent.formats.conversation.recording import Recorded
from agent.formats.conversation.times import stated
from agent.formats.conversation.usage import token_usage
from agent.formats.gemini_parts import member, snake_case

_OF_CANDIDATE = frozenset({"content"})
_HISTORY = "automaticFunctionCallingHistory"
_HTTP = "sdkHttpResponse"
_TEXT_ONLY = frozenset({"text", "thought", "thoughtSignature", "thought_signature"})


class Answer(NamedTuple):
    """One candidate: its content, what the candidate and the response say beside it, and what counts of that."""

    content: Any
    candidate: Mapping[str, Any]
    response: Mapping[str, Any]
    model: str | None
    usage: Mapping[str, int] | None
    timestamp: str | None


def is_response(document: Any) -> bool:
    """A ``GenerateContentResponse``: candidates with a content or a reason to have none, or a blocked prompt."""
    if not isinstance(document, dict):
        return False
    candidates = document.get("candidates")
    if not candidates:
        return isinstance(member(document, "promptFeedback"), dict) and candidates in (None, [])
    if not isinstance(candidates, list):
        return False
    return all(
        isinstance(each, dict) and (_is_content(each.get("content")) or isinstance(member(each, "finishReason"), str))
        for each in candidates
    )


def _is_content(content: Any) -> bool:
    return isinstance(content, dict) and (isinstance(content.get("parts"), list) or content.keys() <= {"role"})


def is_stream(document: Any) -> bool:
    """A list of chunks, as ``streamGenerateContent`` answers without ``alt=sse``."""
    return isinstance(document, list) and bool(document) and all(_is_chunk(each) for each in document)


def _is_chunk(chunk: Any) -> bool:
    # The last one may have nothing but the usage.
    return is_response(chunk) or (
        isinstance(chunk, dict)
        and "candidates" not in chunk
        and isinstance(member(chunk, "usageMetadata"), dict)
        and isinstance(member(chunk, "modelVersion"), str)
    )


def response_of_call(call: Recorded) -> Mapping[str, Any] | None:
    """The response that ``call`` came back with, its chunks joined; None where it failed or is no such call."""
    if call.events is not None:
        chunks = [chunk for chunk in call.events if _is_chunk(chunk)]
        return joined(chunks) if chunks else None
    if is_stream(call.response):
        return joined(call.response)
    return call.response if is_response(call.response) else None


def answers_of(response: Mapping[str, Any]) -> list[Answer]:
    """The candidates of ``response``, in their order."""
    listed = response.get("candidates")
    beside = _beside(response)
    model = member(response, "modelVersion")
    return [
        Answer(
            candidate.get("content"),
            {name: value for name, value in candidate.items() if name not in _OF_CANDIDATE},
            # What is the call's is kept once, also where it came back with several candidates.
            beside if place == 0 else {},
            model if isinstance(model, str) else None,
            usage_of(member(response, "usageMetadata")) if place == 0 else None,
            stated(member(response, "createTime")),
        )
        for place, candidate in enumerate(_objects(listed))
    ]


def _beside(response: Mapping[str, Any]) -> dict[str, Any]:
    """What ``response`` says beside its candidates, and beside what the Python SDK says once more: ``said_again``."""
    kept = {name: value for name, value in response.items() if name not in ("candidates", *_spelled(_HISTORY))}
    for name in _spelled(_HTTP):
        if isinstance(kept.get(name), dict):
            kept[name] = {key: value for key, value in kept[name].items() if key != "body"}
    return kept


def said_again(response: Mapping[str, Any]) -> Iterator[str]:
    """What ``response`` holds of other turns, by kind: the history that its call went on from, and itself as text."""
    if member(response, _HISTORY):
        yield "histories said again"
    http = member(response, _HTTP)
    if isinstance(http, dict) and http.get("body"):
        yield "responses said again"


def _spelled(name: str) -> tuple[str, str]:
    return name, snake_case(name)


def usage_of(counts: Any) -> dict[str, int] | None:
    """``usageMetadata`` as CONTRACT 1 has it: thoughts are completion, and a count that is 0 is left out."""
    if not isinstance(counts, dict) or member(counts, "promptTokenCount") is None:
        return None
    parts = [member(counts, name) for name in ("candidatesTokenCount", "thoughtsTokenCount")]
    whole = [0 if part is None else part for part in parts]
    if not all(type(part) is int and part >= 0 for part in whole):
        return None
    told = {
        "prompt": member(counts, "promptTokenCount"),
        "completion": sum(whole),
        "total": member(counts, "totalTokenCount"),
    }
    return token_usage(told, "prompt", "completion", "total")


def _objects(listed: Any) -> Iterator[dict[str, Any]]:
    yield from (each for each in listed if isinstance(each, dict)) if isinstance(listed, list) else ()


def joined(chunks: Iterable[Any]) -> dict[str, Any]:
    """The response that ``chunks`` make."""
    whole: dict[str, Any] = {}
    candidates: dict[int, dict[str, Any]] = {}
    for chunk in chunks:
        if not isinstance(chunk, dict):
            continue
        whole |= {name: value for name, value in chunk.items() if name != "candidates" and value is not None}
        for place, candidate in enumerate(_objects(chunk.get("candidates"))):
            index = candidate.get("index")
            _add(candidates.setdefault(index if type(index) is int else place, {}), candidate)
    if candidates:
        whole["candidates"] = list(candidates.values())
    return whole


def joined_content(contents: Iterable[Any]) -> dict[str, Any]:
    """The content that those of a candidate's chunks make; what is no content is left out."""
    candidate: dict[str, Any] = {"content": {"parts": []}}
    for content in contents:
        _add(candidate, {"content": content})
    return dict(candidate["content"])


def _add(candidate: dict[str, Any], more: Mapping[str, Any]) -> None:
    candidate |= {name: value for name, value in more.items() if name != "content" and value is not None}
    content = more.get("content")
    if not isinstance(content, dict):
        return
    parts = content.get("parts")
    known = candidate.setdefault("content", {"parts": []})
    known |= {name: value for name, value in content.items() if name != "parts" and value is not None}
    for part in parts if isinstance(parts, list) else ():
        _add_part(known["parts"], part)


def _add_part(parts: list[Any], part: Any) -> None:
    if parts and _goes_on(parts[-1], part):
        parts[-1] = {**parts[-1], **part, "text": parts[-1]["text"] + part["text"]}
    else:
        parts.append(part)


def _goes_on(last: Any, part: Any) -> bool:
    if not (_is_text(last) and _is_text(part)):
        return False
    # A signature ends its part: what comes after it was not signed.
    return bool(last.get("thought")) is bool(part.get("thought")) and member(last, "thoughtSignature") is None


def _is_text(part: Any) -> bool:
    if not isinstance(part, dict) or not isinstance(part.get("text"), str):
        return False
    return all(name in _TEXT_ONLY or value is None for name, value in part.items())
