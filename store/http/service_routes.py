"""What a server says about itself over HTTP: health, readiness, its OpenAPI document, its figures. No key needed.

The figures are the guard's to show; a store that nobody measures has none, and no such path.
"""

from __future__ import annotations

from collections.abc import Callable
from http import HTTPStatus

from store.errors import DamagedDatabase, DatabaseUnreachable, Unavailable
from store.http.answer import Answer, answer, refusal
from store.http.edge import Metrics
from store.http.request import Request
from store.http.routing import Endpoint, Handler, Route
from store.port import Store


class ServiceRoutes:
    """``openapi`` gives the document's bytes."""

    def __init__(self, store: Store, *, metrics: Metrics | None, openapi: Callable[[], bytes]) -> None:
        self._store = store
        self._metrics = metrics
        self._openapi = openapi

    def routes(self) -> tuple[Route, ...]:
        always = (
            Route("/health", {"GET": Endpoint("open", self._probe("ok"))}),
            Route("/ready", {"GET": Endpoint("open", self._probe("ready"))}),
            Route("/openapi.json", {"GET": Endpoint("open", self._document)}),
        )
        if self._metrics is None:
            return always
        return (*always, Route("/metrics", {"GET": Endpoint("metrics", _exposing(self._metrics))}))

    def _probe(self, word: str) -> Handler:
        def probe(request: Request) -> Answer:
            request.query()
            try:
                self._store.ping(timeout_s=request.timeout_s)
            except Unavailable as fault:
                return self._down(fault)
            except DamagedDatabase as fault:
                # A health answer knows 200 and 503: whoever is sent elsewhere by it comes back when it is repaired.
                return self._down(DatabaseUnreachable(fault.message))
            return answer({"status": word, "kind": self._store.kind})

        return probe

    def _down(self, fault: Unavailable) -> Answer:
        return refusal(fault, status="unavailable", kind=self._store.kind)

    def _document(self, request: Request) -> Answer:
        request.query()
        return Answer(HTTPStatus.OK, self._openapi())


def _exposing(metrics: Metrics) -> Handler:
    def expose(request: Request) -> Answer:
        request.query()
        content_type, body = metrics.exposition()
        return Answer(HTTPStatus.OK, body, {"Content-Type": content_type})

    return expose
