"""The places that everything told goes through, each given a look at what passes, by ``tests/leak_watch.py``.

What a caller asked for is not looked at: captures that went well, and what was read. A refusal may name a key of what
was sent: as a part of a path, and where a key stands twice in one object (CONTRACT 2). To its sender alone.
"""

from __future__ import annotations

import json
import re
import sys
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from http import HTTPStatus
from typing import Any

Look = Callable[[str, str], None]

# The types of the failures that were answered by any door, of the function and of the store, in order.
ANSWERED: deque[type[Exception]] = deque(maxlen=100)


def watch_doors(look: Look) -> None:
    """Have ``look(where, text)`` called with all that is told in this process, from now on."""
    _watch_spans(look)
    _watch_metrics(look)
    _watch_capture(look)
    _watch_recall(look)
    _watch_store(look)
    _watch_terminal(look)
    _watch_warnings(look)
    _watch_failures()


# As agent/edge/refusal.py words it: the key as JSON, cut at 64 characters.
_TWICE = re.compile(r'the key ".*" stands twice', re.DOTALL)


def without_paths(body: bytes) -> str:
    """The text of an answer, without the paths of what was refused and without a key that stands twice."""
    try:
        document = json.loads(body)
        for problem in document["error"]["details"]["errors"]:
            del problem["path"]
        document["error"]["message"] = _TWICE.sub("the key stands twice", document["error"]["message"])
    except (ValueError, KeyError, TypeError):
        return body.decode(errors="replace")
    return json.dumps(document, ensure_ascii=False)


def _watch_spans(look: Look) -> None:
    from agent.observability.tracing import RecordedSpans

    close = RecordedSpans.close

    def close_and_look(spans: RecordedSpans, span: Any) -> None:
        close(spans, span)
        # What is not recorded, or is a test's own stand-in, has no JSON.
        look("a span", span.to_json() if hasattr(span, "to_json") else "")

    # The one place that every span of ours ends in, whoever it goes to.
    RecordedSpans.close = close_and_look


def _watch_metrics(look: Look) -> None:
    from agent.observability.measures import Measures
    from store.http.metrics import Metrics

    for owner, names in ((Measures, ("add", "record")), (Metrics, ("observe",))):
        for name in names:
            _look_at_arguments(owner, name, look)


def _look_at_arguments(owner: type, name: str, look: Look) -> None:
    """Look at what the method ``name`` of ``owner`` is called with: a metric's name, its value, its labels."""
    method = getattr(owner, name)

    def look_and_call(self: Any, *arguments: Any, **more: Any) -> Any:
        look("a metric", repr((arguments, more)))
        return method(self, *arguments, **more)

    setattr(owner, name, look_and_call)


def _watch_capture(look: Look) -> None:
    """Both doors of the write side make their answers in one function; what went well begins in one way."""
    from agent.capture import answering

    made = answering.json_answer

    def look_and_make(status: int, body: bytes, headers: Mapping[str, str] | None = None) -> Any:
        look_at_answer(look, "the capture", status, body, headers or {}, went_well=body.startswith(b'{"success":true'))
        return made(status, body, headers)

    _put_everywhere("json_answer", made, look_and_make)


def _watch_recall(look: Look) -> None:
    from agent.edge import answers
    from agent.recall.http.app import RecallApp

    answer, refused = RecallApp.answer, RecallApp.refused_by_host
    document = answers.health_document

    def answer_and_look(app: RecallApp, environ: Mapping[str, Any]) -> Any:
        given = answer(app, environ)
        look_at_answer(look, "the recall", given.status, given.body, given.headers, went_well=given.status < 400)
        return given

    def refuse_and_look(app: RecallApp, status: int) -> Any:
        given = refused(app, status)
        look_at_answer(look, "the recall", status, given.get_data(), given.headers, went_well=False)
        return given

    def document_and_look(*arguments: Any, **more: Any) -> Any:
        given = document(*arguments, **more)
        look("health", json.dumps(given, default=str))
        return given

    RecallApp.answer = answer_and_look
    RecallApp.refused_by_host = refuse_and_look
    _put_everywhere("health_document", document, document_and_look)


def _watch_store(look: Look) -> None:
    from store import server

    sent = server._sent

    def look_and_send(answer: Any, start_response: Any, *, is_head: bool) -> Iterable[bytes]:
        body = answer.body if isinstance(answer.body, bytes) else b""
        is_read = answer.status < 400 and "text/plain" not in answer.headers.get("Content-Type", "")
        look_at_answer(look, "the store", answer.status, body, answer.headers, went_well=is_read)
        return sent(answer, start_response, is_head=is_head)

    server._sent = look_and_send


def _watch_terminal(look: Look) -> None:
    """Standard error of commands that run in this process; the traceback that ``--debug`` asks for may hold content."""
    from agent.cli.terminal import Terminal

    explain, document = Terminal.explain, Terminal.failure_document

    def look_and_explain(terminal: Terminal, *lines: str) -> None:
        look("standard error", "\n".join(lines))
        explain(terminal, *lines)

    def look_and_document(terminal: Terminal, text: str) -> None:
        look("standard error", without_paths(text.encode()))
        document(terminal, text)

    Terminal.explain = look_and_explain
    Terminal.failure_document = look_and_document


def _watch_warnings(look: Look) -> None:
    """What Python prints on standard error where nobody has asked for anything else."""
    warn = warnings.warn

    def look_and_warn(message: Any, category: Any = None, stacklevel: int = 1, source: Any = None, **more: Any) -> None:
        look("a warning", str(message))
        warn(message, category, stacklevel + 1, source, **more)

    warnings.warn = look_and_warn


def _watch_failures() -> None:
    """Remember what is answered: all failures of the functions become one document, and those of the store another."""
    from agent.edge import answers
    from store.http import answer

    failure, refusal = answers.failure_document, answer.refusal

    def remember_failure(error: Any, **more: Any) -> Any:
        ANSWERED.append(type(error))
        return failure(error, **more)

    def remember_refusal(fault: Any, **more: Any) -> Any:
        ANSWERED.append(type(fault))
        return refusal(fault, **more)

    _put_everywhere("failure_document", failure, remember_failure)
    _put_everywhere("refusal", refusal, remember_refusal)


def look_at_answer(
    look: Look, who: str, status: int, body: bytes, headers: Mapping[str, str], *, went_well: bool
) -> None:
    """Look at the headers, and at the body unless what was asked for is in it."""
    look(f"a header of {who}", repr(dict(headers)))
    if not went_well:
        look(f"an answer of {who}, {HTTPStatus(status).value}", without_paths(body))


def _put_everywhere(name: str, old: Any, new: Any) -> None:
    """Put ``new`` in the place of the function ``old``, also where it was imported by its name already."""
    for module in list(sys.modules.values()):
        if getattr(module, name, None) is old:
            setattr(module, name, new)
