"""The store's surface (CONTRACT 10) under made-up events and queries: no 5xx, typed JSON, all engines alike."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Hashable, Sequence
from functools import partial
from typing import Any

from schemas import ruvector_openapi_bytes
from store.port import Store
from store.server import create_app
from store.urls import open_store
from tests.fuzz.asked import (
    USER,
    Answered,
    Case,
    Names,
    answered,
    case_of,
    cursor_in,
    faults_of,
    made,
    seeds,
    with_cursor,
    writes,
)
from tests.fuzz.corpus import saved
from tests.fuzz.engine import Target
from tests.store.engines import postgresql
from tests.store.surface import SESSION, OfTenant, clock, ref_of, turn_id

_BODY = json.dumps(writes()[0])
_EVENT = f"/v1/decision-events/{writes()[0]['runId']}"
ASKS = [
    ("GET", "/v1/decision-events", "", ""),
    ("GET", "/v1/decision-events", f"session_id={SESSION}&limit=1", ""),
    ("GET", "/v1/decision-events", "limit=1&order=desc", ""),
    ("GET", "/v1/decision-events", "limit=1&cursor=@", ""),
    ("GET", _EVENT, "", ""),
    ("GET", "/events/decisions", "limit=1", ""),
    ("GET", "/events/decisions", "types=conversation_capture,other&after=@", ""),
    ("GET", "/v1/sessions", "total=true&limit=1", ""),
    ("GET", "/v1/sessions", "limit=1&cursor=@", ""),
    ("GET", "/v1/sessions", "q=t1", ""),
    ("GET", "/v1/sessions", f"user_id={USER}&tag=a&offset=0", ""),
    ("GET", f"/v1/sessions/{SESSION}", "", ""),
    ("GET", f"/v1/sessions/{SESSION}/turns", "", ""),
    ("GET", f"/v1/sessions/{SESSION}/turns", "last=2&at_seq=2", ""),
    ("GET", "/v1/stats", "", ""),
    ("GET", f"/v1/users/{USER}/export", "", ""),
    ("GET", "/v1/audit", "", ""),
    ("GET", "/health", "", ""),
    ("GET", "/ready", "", ""),
    ("DELETE", f"/v1/sessions/{SESSION}", "", ""),
    ("DELETE", f"/v1/turns/{turn_id(1)}", "", ""),
    ("DELETE", f"/v1/users/{USER}", "", ""),
    ("POST", "/v1/decision-events", "", _BODY),
    ("POST", "/events/decisions", "", _BODY),
    ("POST", "/api/v1/decision-events", "", json.dumps(writes()[0]["payload"])),
]
STATUSES = frozenset({200, 201, 400, 403, 404, 405, 409, 413})
# What they count is the engine's own.
_OF_AN_ENGINE = ("/v1/stats", "/health", "/ready")
_CURSOR_OF_SESSIONS = re.compile(rb'"next_cursor":"[^"]+"')
_CASES_A_STORE = 300


class Engines:
    """The stores that are asked, each case as a tenant that nobody was before.

    One in memory is opened anew now and then: it holds all that was written to it.
    """

    def __init__(self, *others: Callable[[], Store]) -> None:
        self._others = others
        self._cases = 0
        self._memory: Store | None = None

    def stores(self) -> list[Any]:
        if self._memory is not None and self._cases % _CASES_A_STORE == 0:
            self._memory.close()
            self._memory = None
        if self._memory is None:
            self._memory = open_store("sqlite:///:memory:")
        self._cases += 1
        tenant = f"fuzz {self._cases}"
        return [OfTenant(store, tenant) for store in (self._memory, *(opened() for opened in self._others))]

    def close(self) -> None:
        """The next case opens another."""
        if self._memory is not None:
            self._memory.close()
        self._memory = None


def look(data: bytes, *, engines: Engines) -> Hashable:
    """Write and ask on each engine; the name is what the requests were answered with."""
    case = case_of(data)
    if case is None:
        return "no case"
    told = []
    for store in engines.stores():
        numbers = iter(range(1, 1_000))
        new_id = partial(lambda ids: ref_of(f"id {next(ids)}"), numbers)
        told.append(_answers(create_app(store, clock=clock, new_id=new_id), case))
    for others in told[1:]:
        for number, (ours, theirs) in enumerate(zip(told[0], others, strict=True)):
            assert ours == theirs, f"two engines answer otherwise: {_ask_of(case, number)}"
    return seen_in(case, told[0])


def seen_in(case: Case, answers: Sequence[tuple[int, bytes]]) -> frozenset[Hashable]:
    """What is new about answers: a status of a path, a refusal's words, how long a page is."""
    asked = [*[("POST", "write", "", "")] * len(case.writes), *case.asks]
    return frozenset(
        (ask[0], ask[1].rpartition("/")[2][:12], status, body[:90] if status >= 400 else len(body).bit_length())
        for ask, (status, body) in zip(asked, answers, strict=True)
    )


def _ask_of(case: Case, number: int) -> str:
    return "a write" if number < len(case.writes) else case.asks[number - len(case.writes)][1][:60]


def _answers(app: Any, case: Case) -> list[tuple[int, bytes]]:
    """Status and body of each answer; the body is empty where each engine has its own."""
    answers, cursor = [], None
    for event in case.writes:
        body = json.dumps(event)
        answer = _checked(app, "POST", "/v1/decision-events", "", body)
        answers.append((answer.status, answer.body))
    for method, path, query, body in case.asks:
        answer = _checked(app, method, path, with_cursor(query, cursor), body)
        cursor = cursor_in(answer) or cursor
        answers.append((answer.status, _common(path, answer.body)))
    return answers


def _common(path: str, body: bytes) -> bytes:
    """What of an answer every engine gives alike."""
    if path.startswith(_OF_AN_ENGINE):
        return b""
    # A cursor of sessions holds the row's key, which all tenants of a database share out.
    return _CURSOR_OF_SESSIONS.sub(b'"next_cursor":"..."', body) if path == "/v1/sessions" else body


def _checked(app: Any, method: str, path: str, query: str, body: str) -> Answered:
    with faults_of("store") as told:
        answer = answered(app, method, path, query, body)
    assert not told, told[0][-110:]
    assert answer.status in STATUSES, f"{answer.status} of {method} {path[:40]}"
    # An export is a line an event.
    kinds = {"application/json", "application/x-ndjson"}
    assert answer.headers["Content-Type"] in kinds
    if method == "HEAD":
        assert answer.body == b""
    elif answer.headers["Content-Type"] == "application/json":
        document = json.loads(answer.body)
        if answer.status >= 400:
            assert document.keys() == {"error", "message"}
            assert len(document["message"]) < 600
    return answer


def store(*others: Callable[[], Store]) -> Target:
    """The store on SQLite in memory, and on ``others`` besides."""
    engines = Engines(*others)
    return Target(
        "engines" if others else "store",
        [*saved("store"), *seeds(ASKS)],
        partial(made, asks=ASKS, names=Names(ruvector_openapi_bytes())),
        partial(look, engines=engines),
        share=3,
        close=engines.close,
    )


def store_on_both() -> Target:
    """The same on SQLite and PostgreSQL: they answer alike."""
    return store(postgresql)
