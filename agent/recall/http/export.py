"""``GET .../{session_id}/export``: a session to be kept as a file, or to be captured again elsewhere.

``json`` is the whole history with its state as one document, ``jsonl`` the payloads that make the same session when
they are captured in order, every branch included. What a text cannot say is counted in a header.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from agent.formats import MARKDOWN, NATIVE, TEXT
from agent.formats.writers import writer
from agent.recall.conversation_document import conversation_document
from agent.recall.exported_session import exported_session
from agent.recall.http.answer import Answer, document
from agent.recall.http.request import FRESH, Request
from agent.recall.view import SeenSession


class _File(NamedTuple):
    """A format as a file: what its name ends in, what it holds, and the writer of it."""

    suffix: str
    content_type: str
    writer: str = ""


_FILES: Final = {
    "json": _File("json", "application/json"),
    "markdown": _File("md", "text/markdown; charset=utf-8", MARKDOWN),
    "text": _File("txt", "text/plain; charset=utf-8", TEXT),
    "jsonl": _File("jsonl", "application/x-ndjson", NATIVE),
}


def export(request: Request) -> Answer:
    """The session, or one conversation of it, as a file."""
    query = request.query("format", "conversation_id", FRESH)
    file = _FILES[query.choice("format", tuple(_FILES))]
    seen = request.see(query, request.view(query))
    # Of a UUID: safe in a header and on any disk.
    headers = {
        "Content-Type": file.content_type,
        "Content-Disposition": f'attachment; filename="session-{request.session_id}.{file.suffix}"',
    }
    with request.telemetry.spans.span("respond"):
        answer = _written(request, seen, file.writer) if file.writer else _document(request, seen)
        request.respond(seen)
    return answer._replace(headers={**headers, **answer.headers}, version=seen.held.version)


def _document(request: Request, seen: SeenSession) -> Answer:
    turns = seen.held.whole(seen.history)
    members = conversation_document(request.source, seen, request.row(), turns)
    return document({**members, "state": seen.memory.document()})


def _written(request: Request, seen: SeenSession, wanted: str) -> Answer:
    every = seen.held.whole(seen.state.turns)
    whole = {turn.turn_id: turn for turn in every}
    shown = tuple(whole[turn.turn_id] for turn in seen.history)
    session = exported_session(
        request.source.reads, request.session_id, seen.view.conversation_id, shown=shown, turns=every
    )
    written = writer(wanted)(session)
    headers = {"X-Erased-Turns": str(written.erased)}
    if written.lost:
        headers["X-Left-Out"] = ", ".join(f"{kind}={count}" for kind, count in sorted(written.lost.items()))
    return Answer("".join(written.documents).encode(), headers=headers)
