"""Recorded calls of a provider: ``{request, response}``, with their bodies as they went over the wire.

A body may stand in ``body`` beside a status and an address, as proxies and test recorders write them, may be JSON in a
string, or a stream of server-sent events in one string (WHATWG HTML 9.2). What the events mean is the format's to say.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

import jiter

from agent.core.json_bounds import MAX_VALUES, has_too_many_values
from agent.errors import PayloadTooLarge, Problem

# Where the calls of a recording are listed.
INTERACTIONS: Final = "interactions"
# The stream's own: str.splitlines would end a line at U+2028 too, which JSON has inside strings.
_LINE_BREAK: Final = re.compile(r"\r\n|\n|\r")
_EVENT_END: Final = re.compile(r"(?:\r\n|\n|\r){2}")


class Recorded(NamedTuple):
    """One call: the request's body, and the response's, or the events that it was streamed as.

    None is what is not there. ``status`` is the HTTP status, None where nobody wrote it down.
    """

    request: Any
    response: Any
    events: tuple[Any, ...] | None
    status: int | None


def recorded_call(document: Any) -> Recorded | None:
    """``document`` as a recorded call; None where it is none."""
    if not isinstance(document, dict) or not ("request" in document and "response" in document):
        return None
    request, _ = _body(document["request"])
    response, status = _body(document["response"])
    events = None
    if isinstance(response, str):
        events = tuple(sse_events(response)) or None
        response = None if events else response
    return Recorded(request, response, events, status)


def recorded_calls(document: Any) -> tuple[Recorded, ...] | None:
    """All calls of ``{interactions: [{request, response}]}``, or of one recorded call; None where it is neither."""
    one = recorded_call(document)
    if one is not None:
        return (one,)
    listed = document.get(INTERACTIONS) if isinstance(document, dict) else None
    if not isinstance(listed, list):
        return None
    calls = tuple(recorded_call(each) for each in listed)
    return tuple(call for call in calls if call is not None) if calls and None not in calls else None


def refuse_too_many_values(document: Any) -> None:
    """Raise PayloadTooLarge where a body of a recording is text that has more values than a body of ours may have.

    Text is small, and what is built of it is not.
    """
    if not isinstance(document, dict):
        return
    listed = document.get(INTERACTIONS)
    for call in (document, *(listed if isinstance(listed, list) else ())):
        if isinstance(call, dict) and "request" in call and "response" in call:
            for name in ("request", "response"):
                side, _ = _held(call[name])
                if isinstance(side, str) and any(map(has_too_many_values, _documents_in(side))):
                    problem = Problem(f"$.{name}", "values")
                    raise PayloadTooLarge(f"a recorded body has more than {MAX_VALUES} JSON values", [problem])


def _documents_in(text: str) -> Iterator[bytes]:
    """What is parsed of the body ``text`` at once: all of it, or each event of the stream that it is."""
    start = 0
    ends = () if _is_json(text) else (found.start() for found in _EVENT_END.finditer(text))
    for end in (*ends, len(text)):
        if end - start > MAX_VALUES:
            yield text[start:end].encode("utf-8", "surrogatepass")
        start = end


def _body(side: Any) -> tuple[Any, int | None]:
    held, status = _held(side)
    return (body_of(held) if isinstance(held, str) else held), status


def _held(side: Any) -> tuple[Any, int | None]:
    """The body of one side of a call, as it stands there, and its status."""
    if not isinstance(side, dict) or "body" not in side:
        return side, None
    return side["body"], side.get("status") if isinstance(side.get("status"), int) else None


def body_of(text: str) -> Any:
    """The object or the list that ``text`` is as JSON; ``text`` itself where it is neither."""
    if not _is_json(text):
        return text
    try:
        return jiter.from_json(text.encode(), catch_duplicate_keys=True, allow_inf_nan=False)
    except ValueError:
        return text


def _is_json(text: str) -> bool:
    return text.lstrip().startswith(("{", "["))


def sse_events(text: str) -> Iterator[Any]:
    """The JSON objects and arrays in the ``data`` of the events of ``text``, in order; ``[DONE]`` is none."""
    data: list[str] = []
    for line in (*_LINE_BREAK.split(text.removeprefix("\ufeff")), ""):
        if line.startswith("data:"):
            data.append(line[5:].removeprefix(" "))
        elif not line and data:
            document = body_of("\n".join(data))
            data = []
            if not isinstance(document, str):
                yield document
