"""The read side's surface under made-up queries and bodies, over events that anybody may have written to the store."""

from __future__ import annotations

import json
from collections.abc import Hashable
from functools import partial
from typing import Any

from agent.formats import WRITES
from agent.ruvector.client import RuvectorClient
from agent.ruvector.embedded import EmbeddedTransport
from schemas import recall_openapi_bytes
from store.server import create_app
from tests.fuzz.asked import USER, Answered, Names, answered, case_of, cursor_in, faults_of, made, seeds, with_cursor
from tests.fuzz.corpus import saved
from tests.fuzz.engine import Target
from tests.fuzz.store_target import Engines, seen_in
from tests.recall.http.site import Site
from tests.store.surface import CONVERSATION, SESSION, clock, ref_of, turn_id

_OF = f"/api/conversation/{SESSION}"
_MESSAGES = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]
ASKS = [
    ("GET", "/api/conversations", "", ""),
    ("GET", "/api/conversations", f"user_id={USER}&limit=1", ""),
    ("GET", "/api/conversations", "q=t1&cursor=@", ""),
    ("GET", "/api/stats", "", ""),
    ("GET", "/health", "", ""),
    ("GET", _OF, "", ""),
    ("GET", _OF, "limit=1&after_seq=0", ""),
    ("GET", _OF, f"conversation_id={CONVERSATION}", ""),
    ("GET", _OF, f"leaf={turn_id(2)}", ""),
    ("GET", f"{_OF}/state", "", ""),
    ("GET", f"{_OF}/summary", "", ""),
    ("GET", f"{_OF}/insights", "", ""),
    ("GET", f"{_OF}/stats", "", ""),
    ("GET", f"{_OF}/graph", "", ""),
    *(("GET", f"{_OF}/export", f"format={name}", "") for name in (*WRITES, "native", "markdown", "text")),
    ("GET", f"{_OF}/context", "max_tokens=100", ""),
    ("GET", f"{_OF}/context", "max_tokens=50&strategy=importance&query=t1&explain=true&format=anthropic", ""),
    ("POST", f"{_OF}/hydrate", "", json.dumps({"message": "yes", "max_history": 3})),
    ("POST", "/api/context", "", json.dumps({"messages": _MESSAGES, "max_tokens": 100})),
    ("GET", "/api/conversation/nobody", "", ""),
]
STATUSES = frozenset({200, 304, 400, 404, 405, 409, 413, 422})
_NO_JSON = ("text/", "application/x-ndjson")


def look(data: bytes, *, engines: Engines) -> Hashable:
    """Write to a store, and ask who reads it; the name is what was answered."""
    case = case_of(data)
    if case is None:
        return "no case"
    (store,) = engines.stores()
    numbers = iter(range(1, 1_000))
    app = create_app(store, clock=clock, new_id=lambda: ref_of(f"id {next(numbers)}"))
    transport = EmbeddedTransport(app, close_store=lambda: None)
    client = RuvectorClient(transport, base_url="http://embedded.invalid", api_key=None, kind="embedded")
    recall = Site(client).app
    answers = []
    for event in case.writes:
        answers.append((answered(app, "POST", "/v1/decision-events", body=json.dumps(event)).status, b""))
    cursor = None
    for method, path, query, body in case.asks:
        answer = _checked(recall, method, path, with_cursor(query, cursor), body)
        cursor = cursor_in(answer) if method == "GET" and path == "/api/conversations" else cursor
        # References and instants stand in front of what a refusal says.
        message = json.loads(answer.body)["error"]["message"] if answer.status >= 400 and answer.body else ""
        answers.append((answer.status, message.encode() or answer.body))
    return seen_in(case, answers)


def _checked(app: Any, method: str, path: str, query: str, body: str) -> Answered:
    with faults_of("agent", "store") as told:
        answer = answered(app, method, path, query, body)
    assert not told, told[0][-110:]
    assert answer.status in STATUSES, f"{answer.status} of {method} {path[:60]}"
    if answer.status == 304:
        return answer
    kind = answer.headers["Content-Type"]
    if method == "HEAD":
        assert answer.body == b""
    elif not kind.startswith(_NO_JSON):
        assert kind == "application/json"
        document = json.loads(answer.body)
        if answer.status >= 400:
            assert document["success"] is False
            assert len(answer.body) < 16 * 1024
    return answer


def recall() -> Target:
    """The read side over the embedded store."""
    engines = Engines()
    return Target(
        "recall",
        [*saved("recall"), *seeds(ASKS)],
        partial(made, asks=ASKS, names=Names(recall_openapi_bytes())),
        partial(look, engines=engines),
        share=3,
        close=engines.close,
    )
