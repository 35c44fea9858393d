"""The store's HTTP surface (CONTRACT 10) as one plain WSGI function: routes, answers, errors. All of it is JSON.

What later releases bring (lists of sessions, the feed, erasure, keys) is not there yet: 404 for a path, 400 for a
query name. A framework would cost more than the append itself, so there is none.
"""

from __future__ import annotations

import logging
import traceback
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final

import orjson

from store.capture import read_capture
from store.cursor import read_cursor, write_cursor
from store.envelope import read_envelope
from store.errors import BadRequest, MethodNotAllowed, NotFound, StoreAnswerError, Unavailable
from store.event_body import lay_out
from store.identifiers import packed, unpacked
from store.port import EventsQuery, Store, Submission, TurnsQuery
from store.request import Request, identifier, page_limit, whole_number

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication

_EVENTS: Final = "/v1/decision-events"
_EVENT: Final = "/v1/decision-events/"
_SESSION: Final = "/v1/sessions/"
_TURNS: Final = "/turns"
_TURNS_DEPTH: Final = 4
_WRITE_ALIASES: Final = ("/events/decisions", "/api/v1/decision-events")
_HEALTH: Final = "/health"

_log = logging.getLogger("store")


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer; ``body`` is JSON."""

    status: int
    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict)


Handler = Callable[[Request], Answer]


def create_app(store: Store, *, clock: Callable[[], datetime], new_id: Callable[[], str]) -> WSGIApplication:
    """The WSGI application over ``store``.

    ``clock`` gives aware datetimes, ``new_id`` a fresh event id. Nothing is opened before the first request.
    """
    return _App(store, clock, new_id)


class _App:
    def __init__(self, store: Store, clock: Callable[[], datetime], new_id: Callable[[], str]) -> None:
        self._store = store
        self._clock = clock
        self._new_id = new_id
        write: dict[str, Handler] = {"POST": self._append}
        self._fixed: dict[str, dict[str, Handler]] = {
            _EVENTS: {"GET": self._events, **write},
            _HEALTH: {"GET": self._health},
            **dict.fromkeys(_WRITE_ALIASES, write),
        }

    def __call__(self, environ: dict[str, Any], start_response: StartResponse) -> Iterable[bytes]:
        try:
            request = Request(environ)
            answer = self._handler(request)(request)
        except StoreAnswerError as fault:
            if fault.status >= HTTPStatus.INTERNAL_SERVER_ERROR:
                _log.warning(f"a request failed: {type(fault).__name__}")
            answer = _refusal(fault)
        except Exception as error:  # noqa: BLE001 - the edge: a client gets typed JSON whatever happens
            _log_unforeseen(error)
            answer = _refusal(StoreAnswerError("the request failed in a way that was not foreseen"))
        headers = {"Content-Type": "application/json", "Content-Length": str(len(answer.body)), **answer.headers}
        start_response(f"{answer.status} {HTTPStatus(answer.status).phrase}", list(headers.items()))
        return [] if environ["REQUEST_METHOD"] == "HEAD" else [answer.body]

    def _handler(self, request: Request) -> Handler:
        methods = self._methods(request.path)
        # RFC 9110 9.3.2: HEAD is GET without the content.
        handler = methods.get("GET" if request.method == "HEAD" else request.method)
        if handler is None:
            raise MethodNotAllowed(", ".join([*methods, "HEAD"] if "GET" in methods else methods))
        return handler

    def _methods(self, path: str) -> Mapping[str, Handler]:
        fixed = self._fixed.get(path)
        if fixed is not None:
            return fixed
        if len(path) > len(_EVENT) and path.startswith(_EVENT):
            return {"GET": self._event}
        if path.startswith(_SESSION) and path.endswith(_TURNS) and path.count("/") == _TURNS_DEPTH:
            return {"GET": self._turns}
        raise NotFound("there is no such path")

    def _append(self, request: Request) -> Answer:
        request.query()
        envelope = read_envelope(request.body())
        capture = read_capture(envelope)
        appended = self._store.append(
            Submission(
                envelope=envelope,
                capture=capture,
                body=lay_out(envelope, capture),
                caller_key=request.caller_key(envelope.inputs_hash),
                event_id=self._new_id(),
                received_at=self._clock(),
            ),
            timeout_s=request.timeout_s,
        )
        receipt = {
            "status": "duplicate" if appended.duplicate else "accepted",
            "eventId": appended.event_id,
            "executionRef": appended.execution_ref,
            "timestamp": appended.timestamp,
            "position": appended.position,
            "turns": appended.turns.as_dict(),
        }
        return Answer(HTTPStatus.OK if appended.duplicate else HTTPStatus.CREATED, orjson.dumps(receipt))

    def _event(self, request: Request) -> Answer:
        request.query()
        return Answer(HTTPStatus.OK, self._store.event(request.path[len(_EVENT) :], timeout_s=request.timeout_s))

    def _events(self, request: Request) -> Answer:
        query = request.query("session_id", "limit", "cursor", "order")
        order = query.get("order", "asc")
        if order not in ("asc", "desc"):
            raise BadRequest("order must be asc or desc")
        session_id = identifier(query, "session_id")
        binding = f"{order}:{'' if session_id is None else unpacked(session_id)}"
        cursor = query.get("cursor")
        page = self._store.events(
            EventsQuery(
                session_id=session_id,
                limit=page_limit(query),
                after=None if cursor is None else read_cursor(cursor, binding),
                descending=order == "desc",
            ),
            timeout_s=request.timeout_s,
        )
        next_cursor = None if page.last is None else write_cursor(page.last, binding)
        body = b'{"events":[' + b",".join(page.events) + b'],"next_cursor":' + orjson.dumps(next_cursor) + b"}"
        return Answer(HTTPStatus.OK, body)

    def _turns(self, request: Request) -> Answer:
        session_id = packed(request.path[len(_SESSION) : -len(_TURNS)])
        query = request.query("conversation_id", "after_seq", "before_seq", "at_seq", "changed_after", "last", "limit")
        last = None if "last" not in query else page_limit(query, "last")
        limit = page_limit(query) if last is None else page_limit(query, default=last)
        conversation_id = identifier(query, "conversation_id")
        numbers = {name: whole_number(query, name) for name in ("after_seq", "before_seq", "at_seq", "changed_after")}
        if session_id is None:
            raise NotFound("no session has this id")
        records = self._store.turns(
            TurnsQuery(session_id, limit=limit, last=last, conversation_id=conversation_id, **numbers),
            timeout_s=request.timeout_s,
        )
        head = b'{"session_id":"%b","turns":[' % unpacked(session_id).encode()
        return Answer(HTTPStatus.OK, head + b",".join(records) + b"]}")

    def _health(self, request: Request) -> Answer:
        request.query()
        try:
            self._store.ping(timeout_s=request.timeout_s)
        except Unavailable as fault:
            return _refusal(fault, status="unavailable", kind=self._store.kind)
        return Answer(HTTPStatus.OK, orjson.dumps({"status": "ok", "kind": self._store.kind}))


def _refusal(fault: StoreAnswerError, **more: str) -> Answer:
    return Answer(fault.status, orjson.dumps({"error": fault.error, "message": fault.message, **more}), fault.headers)


def _log_unforeseen(error: Exception) -> None:
    """Type and frames; a message could hold what the caller sent."""
    frames = [f"{frame.name}:{frame.lineno}" for frame in traceback.extract_tb(error.__traceback__)]
    _log.error(f"a request failed: {type(error).__name__} at {' > '.join(frames)}")
