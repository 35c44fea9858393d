"""A database with everything in it: the golden vectors and sessions, revisions, erasures, events of other writers.

Captures go through the function's own service, so that events are what it writes, hashes and graphs included.
"""

import itertools
import json
import random
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx

from agent.capture.service import CaptureRequest, CaptureService
from agent.observability.tracing import NoSpans
from agent.ruvector.client import RuvectorClient
from store.port import DEFAULT_TENANT, Actor, Store
from store.server import create_app
from tests.conftest import vectors
from tests.store.surface import SESSION, OfTenant, envelope, payload, ref_of, turn, turn_id

FIRST = datetime(2026, 3, 2, 8, 15, tzinfo=UTC)
ACTOR = Actor("tester", datetime(2026, 5, 1, tzinfo=UTC))
CALL = {"id": "call_7", "type": "function", "function": {"name": "track", "arguments": '{"n":4471}'}}
MESSAGES = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "Where is parcel 4471?"},
    {"role": "assistant", "content": None, "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "call_7", "content": "Bern"},
    {"role": "assistant", "content": "It is in Bern.", "timestamp": "2026-03-01T10:00:00+02:00"},
    {"role": "user", "content": "Und Zu\u0308rich? \u5b8c\u6210 \U0001f680"},
]


class Filling:
    """Writes to one tenant of ``store``; every capture is a minute after the one before."""

    def __init__(self, store: Store, tenant: str = DEFAULT_TENANT) -> None:
        minutes, ids = itertools.count(), itertools.count(1)
        self.store = store
        self.tenant = tenant
        self.clock = lambda: FIRST + timedelta(minutes=next(minutes))
        self._app = create_app(
            OfTenant(store, tenant),  # type: ignore[arg-type]  # a store by what it is asked
            clock=self.clock,
            new_id=lambda: f"00000000-0000-4000-9000-{next(ids):012x}",
        )
        self._http = httpx.Client(transport=httpx.WSGITransport(app=self._app), base_url="http://store.invalid")

    def post(self, body: Any, *, key: str | None = None) -> dict[str, Any]:
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        headers = {} if key is None else {"Idempotency-Key": key}
        answer = self._http.post("/v1/decision-events", content=content, headers=headers)
        assert answer.status_code in (200, 201), answer.text
        return dict(answer.json())

    def capture(self, sent: dict[str, Any], name: str = "native", **settings: Any) -> dict[str, Any]:
        """A capture through the function's service; its answer."""
        client = RuvectorClient(
            httpx.WSGITransport(app=self._app), base_url="http://store.invalid", api_key=None, kind="embedded"
        )
        service = CaptureService(
            lambda: client, clock=self.clock, elapsed=lambda: 0.0, peak_memory=lambda: 1, release="0.0.0", **settings
        )
        text = json.dumps(sent)
        answer = service.capture(CaptureRequest(text.encode(), name, None, ref_of(text + self.tenant)), NoSpans())
        return dict(json.loads(answer.body))

    def append(self, sent: dict[str, Any], **event: Any) -> dict[str, Any]:
        """A capture as a writer without graph or hash sends it."""
        return self.post(envelope(sent, timestamp=self.clock().isoformat(), **event))

    def get(self, path: str, **query: Any) -> Any:
        answer = self._http.get(path, params=query)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def erase(self, kind: str, name: str) -> dict[str, Any]:
        answer = self._http.delete(f"/v1/{kind}s/{name}")
        assert answer.status_code == 200, answer.text
        return dict(answer.json())


def fill(store: Store, tenant: str = DEFAULT_TENANT, *, with_golden: bool = True) -> Filling:
    """Write everything to ``tenant``; ``with_golden`` the golden vectors too, of which there are many."""
    filling = Filling(store, tenant)
    if with_golden:
        golden(filling)
    chats(filling)
    simple(filling)
    revised(filling)
    others(filling)
    large(filling)
    erased(filling)
    # A list by names writes the labels, which follow the log.
    filling.get("/v1/sessions", tag="none")
    return filling


def session(number: int) -> str:
    return f"5e550000-0000-4000-8000-{number:012x}"


def golden(filling: Filling) -> None:
    """The golden captures and sessions, each case in a session of its own."""
    for number, case in enumerate(vectors(), 500):
        filling.capture(json.loads(json.dumps(case["input"]).replace(SESSION, session(number))))
    for number, case in enumerate(vectors("session"), 1):
        for sent in case["captures"]:
            filling.capture(json.loads(json.dumps(sent).replace(SESSION, session(number))))


def chats(filling: Filling) -> None:
    context = {"user_id": "anna", "agent_id": "shop", "tags": ["parcels", "\u5b8c"]}
    for count in range(1, 7):
        filling.capture({"session_id": "chat-1", "messages": MESSAGES[:count], "context": context}, "openai-chat")
    delta = {"session_id": "chat-2", "mode": "delta", "request_id": "r-1", "messages": MESSAGES}
    filling.capture(delta, "openai-chat")
    turns = [turn(n, f"text {n} " * 40, metadata={"agent": f"a{n % 3}"}) for n in range(1, 13)]
    for count in range(1, 13):
        filling.capture(payload(*turns[:count], session=session(300)))


def simple(filling: Filling) -> None:
    """A greeting, and a question with its answer: two sessions of one event each."""
    filling.capture(payload(turn(1, "Hello"), session=session(200)))
    filling.capture(payload(turn(1, "What?"), turn(2, "That."), session=session(201), context={"tags": ["a"]}))


def revised(filling: Filling) -> None:
    here = {"session": session(100)}
    usage = {"prompt_tokens": 12, "completion_tokens": 4, "total_tokens": 16}
    derived = {"metadata": {"derived": ["timestamp"]}}
    first = payload(turn(1), turn(2, "part", token_usage=usage, **derived), **here, context={"user_id": "anna"})
    filling.capture(first)
    again = envelope(first, execution_ref="another-invocation")
    filling.post(again, key="key-1")
    later = turn(2, "part and the rest", timestamp="2027-01-01T00:00:00Z", **derived)
    filling.capture(payload(later, turn(3, "ok"), **here, context={"user_id": "bert"}))
    filling.append(payload(turn(3, "[redacted:name]"), turn(4), **here), constraints_applied=["content_redacted"])
    filling.append(payload(turn(3, "[omitted:2]"), **here), constraints_applied=["content_omitted"])
    filling.append(payload(turn(1), **here), agent_id="another-agent")
    filling.capture(payload(turn(1, turn_id=turn_id(1).upper()), turn(4), note="in upper case", **here))
    filling.capture(payload(turn(5, "", role="system", metadata={"memory": {"leaf": turn_id(2)}}), **here))
    filling.capture(payload(turn(6), **here))
    filling.capture(payload(turn(7, parent_turn_id=turn_id(99)), turn(8, parent_turn_id=None), **here))


def others(filling: Filling) -> None:
    """Events without turns, of other writers and of other types."""
    filling.post(envelope(payload(turn(7), session=session(101)), inputs=None)["payload"])
    filling.post(envelope(payload(turn(8), session=session(100)), inputs=None)["payload"])
    text = "".join(map(chr, range(0x20))) + "\x7f\u2028\ufeff\ufffe \U0001f680 Zo\u00eb"
    plan = {
        "type": "plan_approved",
        "runId": "any string, even this / one",
        "timestamp": "2026-03-02T10:15:00+02:00",
        "payload": {"n": 1e-7, "big": 10**40, text: [text, None, True], "outputs": {"conversation_id": session(9)}},
        "extra": [1, {"a": None}],
    }
    filling.post(plan, key="key-4")
    filling.post(
        {"type": "x", "runId": "r", "timestamp": "2026-03-02T10:15:00Z", "payload": {"context": {"user_id": "u"}}}
    )
    edges = {"edges_created": [{"edge_id": "e", "edge_type": "after", "from_node_id": "a", "to_node_id": "b"}]}
    outputs = {"session_id": session(102), "nodes_created": [], **edges}
    filling.append(payload(turn(9, text, metadata={text: [text, 1.50, 10**30]}), session=session(102)), outputs=outputs)


def large(filling: Filling) -> None:
    """An event of more than one chunk (64 KiB), in part compressible."""
    source = random.Random(1)
    words = ["parcel", "Bern", "Z\u00fcrich", "\u5b8c\u6210", "delivered", "lost", "\U0001f680"]
    turns = [
        turn(
            20 + number,
            " ".join(source.choice(words) for _ in range(1500)),
            metadata={"id": source.randbytes(500).hex()},
        )
        for number in range(9)
    ]
    filling.capture(payload(*turns, session=session(104), note="x" * 3000, context={"user_id": "anna"}))


def erased(filling: Filling) -> None:
    """A session, a turn of a system and one of many snapshots, a user; and what comes after."""
    filling.capture(payload(turn(1, "mine"), turn(2, "yours"), session=session(400), context={"user_id": "carl"}))
    filling.capture(payload(turn(1, "mine"), turn(3, "ours"), session=session(400), context={"user_id": "dora"}))
    call = {"tool_name": "t", "invocation_id": turn_id(77), "arguments": {"n": 1}}
    state = turn(43, "", role="system", metadata={"memory": {"state_only": True}})
    turns = [turn(41, "hello", role="system"), state, turn(42, "called", tool_invocations=[call])]
    filling.capture(payload(*turns, session=session(401)))
    filling.capture(payload(*turns, turn(44, "on"), session=session(401), capture_options={"create_lineage": False}))
    filling.capture(payload(turn(51, "gone"), turn(52, "too"), session=session(402), context={"user_id": "anna"}))
    filling.erase("turn", turn_id(41))
    filling.erase("turn", turn_id(43))
    filling.erase("session", session(402))
    filling.erase("session", session(402))
    filling.erase("user", "carl")
    filling.erase("user", "u")
    filling.capture(payload(turn(51, "gone"), turn(52, "too"), turn(53, "after"), session=session(402)))
    filling.erase("session", session(401))


def folder_bytes(folder: Path) -> bytes:
    """All that stands in the files of ``folder``."""
    return b"".join(path.read_bytes() for path in sorted(folder.iterdir()))
