"""``GET .../{session_id}/export``: a session to be kept as a file, or to be captured again elsewhere.

``json`` is the whole history with its state as one document. ``jsonl``, which the command line calls ``native``, are
the payloads that make the same session when they are captured in order, every branch included. Any other format is
what the command line's ``export`` writes. What a file cannot say is counted in its headers.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from agent.formats import MARKDOWN, NATIVE, TEXT, WRITES
from agent.formats.writers import writer
from agent.recall.conversation_document import conversation_document
from agent.recall.exported_session import exported_session
from agent.recall.http.answer import JSON, Answer, document
from agent.recall.http.request import FRESH, Request
from agent.recall.view import SeenSession


class _File(NamedTuple):
    """A format as a file: what its name ends in, what it holds, and the writer of it."""

    suffix: str
    content_type: str
    writer: str = ""


_OF_THEIR_OWN: Final = {
    "json": _File("json", JSON),
    MARKDOWN: _File("md", "text/markdown; charset=utf-8", MARKDOWN),
    TEXT: _File("txt", "text/plain; charset=utf-8", TEXT),
    "jsonl": _File("jsonl", "application/x-ndjson", NATIVE),
    NATIVE: _File("jsonl", "application/x-ndjson", NATIVE),
}
FILES: Final = (*_OF_THEIR_OWN, *WRITES)


def export(request: Request) -> Answer:
    """The session, or one conversation of it, as a file."""
    query = request.query("format", "conversation_id", FRESH)
    wanted = query.choice("format", FILES)
    file = _OF_THEIR_OWN.get(wanted) or _File(f"{wanted}.json", JSON, wanted)
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
    members = conversation_document(request.source, seen, turns)
    hidden = _not_shown(seen)
    headers = _counts(sum(turn.erased for turn in turns), {"not_in_history": hidden} if hidden else {})
    return document({**members, "state": seen.memory.document()})._replace(headers=headers)


def _written(request: Request, seen: SeenSession, wanted: str) -> Answer:
    every = seen.held.whole(seen.state.turns)
    whole = {turn.turn_id: turn for turn in every}
    shown = tuple(whole[turn.turn_id] for turn in seen.history)
    session = exported_session(
        request.source.reads, request.session_id, seen.view.conversation_id, shown=shown, turns=every
    )
    written = writer(wanted)(session)
    return Answer("".join(written.documents).encode(), headers=_counts(written.erased, written.lost))


def _not_shown(seen: SeenSession) -> int:
    """How many turns are on other branches, cleared, cut, or carry only state, as writers of formats count them."""
    shown, only = {turn.turn_id for turn in seen.history}, seen.view.conversation_id
    return sum(turn.turn_id not in shown and only in (None, turn.conversation_id) for turn in seen.state.turns)


def _counts(erased: int, lost: Mapping[str, int]) -> dict[str, str]:
    """What is gone, and what the file does not say; ``none`` too is said: an empty header may get lost on its way."""
    told = ", ".join(f"{kind}={count}" for kind, count in sorted(lost.items()))
    return {"X-Erased-Turns": str(erased), "X-Left-Out": told or "none"}
