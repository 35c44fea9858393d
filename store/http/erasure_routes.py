"""Erasure, access and their audit over HTTP (CONTRACT 10a). All of it needs the right ``admin``.

An act names the key that did it and the time. Erasing twice is no fault: the second receipt says what came since.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from datetime import datetime
from http import HTTPStatus

from store.errors import NotFound
from store.http.answer import Answer, Pieces, answer, page
from store.http.query_values import page_limit, whole_number
from store.http.request import Request
from store.http.routing import Endpoint, Route
from store.log.identifiers import packed
from store.port import Actor, Erased, Store


class ErasureRoutes:
    """``clock`` gives aware datetimes."""

    def __init__(self, store: Store, *, clock: Callable[[], datetime]) -> None:
        self._store = store
        self._clock = clock

    def routes(self) -> tuple[Route, ...]:
        return (
            Route("/v1/sessions/{session_id}", {"DELETE": Endpoint("admin", self._erase_session)}),
            Route("/v1/turns/{turn_id}", {"DELETE": Endpoint("admin", self._erase_turn)}),
            Route("/v1/users/{user_id}", {"DELETE": Endpoint("admin", self._erase_user)}, any_text=True),
            Route("/v1/users/{user_id}/export", {"GET": Endpoint("admin", self._export_user)}, any_text=True),
            Route("/v1/audit", {"GET": Endpoint("admin", self._audit)}),
        )

    def _erase_session(self, request: Request) -> Answer:
        request.query()
        session_id = packed(request.variable)
        if session_id is None:
            raise NotFound("no session has this id")
        return _receipt(
            self._store.erase_session(
                session_id, self._actor(request), tenant=request.tenant, timeout_s=request.timeout_s
            )
        )

    def _erase_turn(self, request: Request) -> Answer:
        request.query()
        turn_id = packed(request.variable)
        if turn_id is None:
            raise NotFound("no turn has this id")
        return _receipt(
            self._store.erase_turn(turn_id, self._actor(request), tenant=request.tenant, timeout_s=request.timeout_s)
        )

    def _erase_user(self, request: Request) -> Answer:
        request.query()
        return _receipt(
            self._store.erase_user(
                request.variable, self._actor(request), tenant=request.tenant, timeout_s=request.timeout_s
            )
        )

    def _export_user(self, request: Request) -> Answer:
        request.query()
        pieces = self._store.export_user(
            request.variable, self._actor(request), tenant=request.tenant, timeout_s=request.timeout_s
        )
        return Answer(HTTPStatus.OK, Pieces(pieces))

    def _audit(self, request: Request) -> Answer:
        query = request.query("after", "limit")
        after, limit = whole_number(query, "after"), page_limit(query)
        rows, next_after = self._store.audit(
            after=after or 0, limit=limit, tenant=request.tenant, timeout_s=request.timeout_s
        )
        return page("audit", rows, next_after=next_after)

    def _actor(self, request: Request) -> Actor:
        return Actor(request.caller.key_name, self._clock())


def _receipt(erased: Erased) -> Answer:
    return answer({"status": "erased", **asdict(erased)})
