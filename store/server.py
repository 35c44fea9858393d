"""The store's HTTP surface (CONTRACT 10, 10a) as one plain WSGI function: who calls, which route, which answer.

Every answer is JSON (figures for a scraper excepted), whatever happened. A framework would cost more than the append
itself, so there is none. A path that nobody takes is 404 before a key is asked for: it says nothing about the data.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from datetime import datetime
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from store.errors import StoreAnswerError
from store.http.answer import JSON, Answer, refusal
from store.http.edge import EMBEDDED, UNMATCHED, Caller, Guard, Metrics
from store.http.erasure_routes import ErasureRoutes
from store.http.event_routes import EventRoutes
from store.http.fault_log import log_fault
from store.http.request import Request
from store.http.routing import Access, Route, Router
from store.http.service_routes import ServiceRoutes
from store.http.session_routes import SessionRoutes
from store.port import Store

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication


def create_app(
    store: Store,
    *,
    clock: Callable[[], datetime],
    new_id: Callable[[], str],
    guard: Guard | None = None,
    metrics: Metrics | None = None,
    openapi: Callable[[], bytes] | None = None,
    monotonic: Callable[[], float] = time.monotonic,
) -> WSGIApplication:
    """The WSGI application over ``store``.

    ``clock`` gives aware datetimes, ``new_id`` a fresh event id. Without a ``guard`` everybody may do everything in the
    default tenant, without ``metrics`` nothing is measured and ``monotonic`` never asked. ``openapi`` gives another
    document than ``schemas`` has. Nothing is opened before the first request.
    """
    events = EventRoutes(store, clock=clock, new_id=new_id, metrics=metrics, monotonic=monotonic)
    service = ServiceRoutes(store, metrics=metrics, openapi=openapi or _document)
    sessions, erasure = SessionRoutes(store), ErasureRoutes(store, clock=clock)
    routes = (*events.routes(), *sessions.routes(), *erasure.routes(), *service.routes())
    return _App(routes, guard, metrics, monotonic)


def _document() -> bytes:
    # For the one request in many that asks for it.
    from schemas import ruvector_openapi_bytes

    return ruvector_openapi_bytes()


class _App:
    def __init__(
        self,
        routes: Iterable[Route],
        guard: Guard | None,
        metrics: Metrics | None,
        monotonic: Callable[[], float],
    ) -> None:
        self._router = Router(routes)
        self._guard = guard
        self._metrics = metrics
        self._monotonic = monotonic

    def __call__(self, environ: dict[str, Any], start_response: StartResponse) -> Iterable[bytes]:
        metrics, template = self._metrics, UNMATCHED
        started = 0.0 if metrics is None else self._monotonic()
        try:
            request = Request(environ)
            template, endpoint, request.variable = self._router.find(request.path, request.method)
            if self._guard is not None:
                request.caller = _caller(self._guard, environ, endpoint.access)
            answer = endpoint.handle(request)
        except Exception as fault:  # noqa: BLE001 - the edge: a client gets typed JSON whatever happens
            log_fault("a request failed", fault)
            answer = refusal(fault if isinstance(fault, StoreAnswerError) else _unforeseen())
        if metrics is not None:
            # Of an answer in pieces: until its first.
            metrics.observe(template, environ["REQUEST_METHOD"], answer.status, self._monotonic() - started)
        return _sent(answer, start_response, is_head=environ["REQUEST_METHOD"] == "HEAD")


def _caller(guard: Guard, environ: dict[str, Any], access: Access) -> Caller:
    if access == "open":
        return EMBEDDED
    if access == "metrics":
        guard.check_metrics(environ)
        return EMBEDDED
    return guard.check(environ, access)


def _unforeseen() -> StoreAnswerError:
    return StoreAnswerError("the request failed in a way that was not foreseen")


def _sent(answer: Answer, start_response: StartResponse, *, is_head: bool) -> Iterable[bytes]:
    """Start the response and return its body; a body in pieces has no length that is known."""
    body = answer.body
    length = {"Content-Length": str(len(body))} if isinstance(body, bytes) else {}
    headers = {"Content-Type": JSON, **length, **answer.headers}
    start_response(f"{answer.status} {HTTPStatus(answer.status).phrase}", list(headers.items()))
    if isinstance(body, bytes):
        return [] if is_head else [body]
    if is_head:
        body.close()
        return []
    return body
