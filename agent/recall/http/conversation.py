"""``GET /api/conversation/{session_id}``: the history, page by page, or whole in the format of another program."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final

from agent.core.canonical import encode
from agent.core.exchanges import whole_exchanges
from agent.core.turn import SessionTurn
from agent.errors import Problem, ValidationError
from agent.formats import NATIVE, WRITES
from agent.formats.writers import writer
from agent.recall.conversation_document import conversation_document
from agent.recall.exported_session import exported_session
from agent.recall.history_page import Bounds, history_page
from agent.recall.http.answer import Answer, document
from agent.recall.http.query import Query
from agent.recall.http.request import FRESH, VIEW, Request
from agent.recall.hydration import Newest, at_least
from agent.recall.view import SeenSession

MAX_MESSAGES: Final = 1000
_PAGING: Final = ("limit", "before_seq", "after_seq")
FORMATS: Final = (NATIVE, *WRITES)


def conversation(request: Request) -> Answer:
    """The newest messages within the bounds, in their order, or what ``format`` makes of the history."""
    query = request.query(*_PAGING, *VIEW, "format", FRESH)
    limit = query.whole_number("limit", lowest=1, highest=MAX_MESSAGES)
    wanted = query.choice("format", FORMATS)
    if wanted != NATIVE:
        return _written(request, query, wanted, limit)
    bounds = Bounds(limit or MAX_MESSAGES, query.whole_number("before_seq", lowest=1), query.whole_number("after_seq"))
    seen = request.see(query, request.view(query))
    page = history_page(seen.history, bounds)
    with request.telemetry.spans.span("respond"):
        turns = seen.held.whole(page.turns)
        contents = (turn.content for turn in turns)
        request.telemetry.context_loaded(request.session_id, total_messages=len(seen.history), contents=contents)
        members = conversation_document(request.source, seen, turns)
        members["has_more"] = page.has_more
        if page.next_before_seq is not None:
            members["next_before_seq"] = page.next_before_seq
        if page.next_after_seq is not None:
            members["next_after_seq"] = page.next_after_seq
        request.respond(seen)
        return document(members, version=seen.held.version)


def _written(request: Request, query: Query, wanted: str, limit: int | None) -> Answer:
    """The document of the format, with members in front that say how the writing went."""
    for name in ("before_seq", "after_seq"):
        if name in query:
            # A page from the middle begins with results whose calls are not there, and no provider takes it.
            message = f"{name} pages through the native format; another takes limit alone"
            raise ValidationError(message, [Problem(f"$.{name}", "unsupported")])
    seen = request.see(query, request.view(query))
    with request.telemetry.spans.span("respond"):
        cut = None if limit is None else at_least(seen.history, lambda: seen.walked.pairs, count=limit)
        shown, erased, halves = _shown(seen, cut)
        contents = (turn.content for turn in shown)
        request.telemetry.context_loaded(request.session_id, total_messages=len(seen.history), contents=contents)
        session = exported_session(
            request.source.reads,
            request.session_id,
            seen.view.conversation_id,
            shown=shown,
            turns=seen.state.turns,
            brought=shown,
        )
        written = writer(wanted)(session)
        request.respond(seen)
    head = {
        "success": True,
        "format": wanted,
        "version": seen.held.version,
        "erased": erased + written.erased,
        "left_out": dict(Counter(written.lost) + halves),
    }
    (text,) = written.documents
    return Answer(encode(head)[:-1] + b"," + text.strip().encode()[1:], version=seen.held.version)


def _shown(seen: SeenSession, cut: Newest | None) -> tuple[Sequence[SessionTurn], int, Counter[str]]:
    """The turns to be written, whole, how many are erased beside them, and what is left out by kind.

    Who asks for the newest gives them to a model, and gets no half of an exchange; the whole history is shown as it is.
    """
    if cut is None:
        return seen.held.whole(seen.history), 0, Counter()
    there = [turn for turn in seen.held.whole(cut.turns) if not turn.erased]
    given = whole_exchanges(there, seen.pairs_for(there), open_end=True)
    erased = cut.erased + len(cut.turns) - len(there)
    lost = {"results_without_call": cut.results + given.results, "calls_without_result": cut.calls}
    return given.turns, erased, +Counter(lost)
