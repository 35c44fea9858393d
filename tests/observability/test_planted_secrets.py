"""A secret in every place that a caller can fill, through all that reads and writes: no log line and no span has it.

The whole run is watched as well (``tests/leak_watch.py``); here the places are filled on purpose, and what was told is
looked at to the last line.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from werkzeug.test import Client, TestResponse

from agent.bootstrap import capture_app, new_id, store_app, utc_now
from agent.callers.callers import Callers
from agent.core.api_keys import ApiKeys
from agent.core.ids import session_uuid
from agent.core.memory import Memory
from agent.errors import AgentError
from agent.observability.logs import configure_logging
from agent.observability.recall_telemetry import RecallTelemetry
from agent.recall.http.app import RecallApp
from agent.recall.source import Source
from agent.recall.windows import SessionWindows
from agent.ruvector.client import RuvectorClient
from agent.ruvector.embedded import EmbeddedTransport
from agent.sdk import ConversationMemory, Message
from agent.window_settings import ContextSettings
from tests.cli.streams import run_process
from tests.leak_watch import SECRET
from tests.observability.conftest import RecordedLog
from tests.observability.peers import SpanCollector
from tests.planted_capture import CONVERSATION, MEMORY, SESSION, payload, turn
from tests.ruvector.peer import Peer, answer
from tests.sdk.memories import INTENTS

STORE_KEY, CAPTURE_KEY, RECALL_KEY = (f"{SECRET}-key-of-the-{side}" for side in ("store", "capture", "recall"))
WRONG_KEY = f"{SECRET}-key-of-nobody"
TRACED = {
    "traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
    "tracestate": f"vendor={SECRET}",
    "baggage": f"user={SECRET}",
}
HERE = f"/api/conversation/{quote(SESSION, safe='')}"


class World:
    """A store behind a key, and both functions on it behind keys of their own, all of them telling what they do."""

    def __init__(self, database: Path, log: RecordedLog, collector: SpanCollector) -> None:
        self.log, self.collector, self.database = log, collector, database
        served = store_app({"RUVECTOR_STORE": f"sqlite:///{database}", "RUVECTOR_KEYS": f"default:{STORE_KEY}:admin"})
        self.store = Client(served.application)
        self.client = _client(EmbeddedTransport(served.application, close_store=served.close))
        environ = {"LLM_OBSERVATORY_URL": collector.url, "CAPTURE_API_KEYS": CAPTURE_KEY, "LOG_LEVEL": "DEBUG"}
        self.capture_app = capture_app(environ, lambda: self.client)
        self.capture = Client(_wsgi(self.capture_app.handle))
        self.telemetry = RecallTelemetry.from_env(environ)
        self.recall = Client(self.recall_on(self.client))
        configure_logging(log, level="DEBUG")

    def recall_on(self, client: RuvectorClient) -> RecallApp:
        return RecallApp(
            lambda: Source.of(client.reads),
            telemetry=self.telemetry,
            health=lambda: {"status": "ok", "latency_ms": 1, "kind": "http"},
            openapi=lambda: b"{}",
            clock=utc_now,
            new_id=new_id,
            release="1.2.3",
            callers=Callers(keys=ApiKeys.parse("RECALL_API_KEYS", RECALL_KEY)),
            settings=ContextSettings(),
            windows=SessionWindows(),
        )

    def post(self, body: Any, query: str = "", key: str = CAPTURE_KEY, **headers: str) -> TestResponse:
        """A capture."""
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        return self.capture.post(f"/?{query}", data=data, headers={**bearer(key), **TRACED, **headers})

    def ask(self, path: str, key: str = RECALL_KEY, web: Client | None = None, **more: Any) -> TestResponse:
        """A recall."""
        return (web or self.recall).open(path, headers={**bearer(key), **TRACED}, **more)

    def messages(self) -> list[str]:
        return self.log.messages()

    def spans(self) -> list[str]:
        return [span.name for span in self.collector.spans()]


def _client(transport: Any) -> RuvectorClient:
    return RuvectorClient(
        transport,
        base_url="http://store.invalid",
        api_key=STORE_KEY,
        kind="http",
        deadline_s=5,
        at_most_once=False,
    )


def _wsgi(handle: Callable[[Mapping[str, Any]], Any]) -> Callable[..., Any]:
    return lambda environ, start_response: handle(environ)(environ, start_response)


def bearer(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"}


@pytest.fixture
def world(tmp_path: Path, log: RecordedLog, collector: SpanCollector) -> Iterator[World]:
    world = World(tmp_path / "memory.db", log, collector)
    with closing(world.client), closing(world.telemetry), closing(world.capture_app._telemetry):
        yield world
    if collector.bodies:
        assert collector.points()  # the last of them when the functions were closed
    for told in (log.text, *(body.decode("latin-1") for body in (*collector.bodies, *collector.metrics))):
        assert SECRET not in told
        assert "ann@example" not in told


@pytest.fixture
def filled(world: World) -> World:
    assert world.post(payload()).status_code == 200
    return world


def test_a_capture_and_its_duplicate_tell_nothing(world: World) -> None:
    first, again = world.post(payload()), world.post(payload())
    assert (first.status_code, again.status_code) == (200, 200)
    assert SECRET in first.get_data(as_text=True)  # the warning that names the unknown field: the answer may, a log not
    assert world.messages() == ["capture acknowledged"] * 2
    assert world.spans() == ["validate", "build", "append", "capture"] * 2


@pytest.mark.parametrize("form", ["openai-chat", "anthropic", SECRET])
def test_a_capture_in_a_format_tells_nothing(form: str, world: World) -> None:
    call = {"id": SECRET, "type": "function", "function": {"name": "track", "arguments": f'{{"{SECRET}": 1}}'}}
    said = [{"role": "user", "content": SECRET}, {"role": "assistant", "content": None, "tool_calls": [call]}]
    status = world.post({"session_id": SECRET, "model": SECRET, "messages": said}, query=f"format={form}").status_code
    assert status in {200, 400}
    assert world.messages() == ["capture acknowledged" if status == 200 else "request refused"]


REFUSED = {
    "no JSON": f'{{"{SECRET}": {SECRET}'.encode(),
    "no UTF-8": SECRET.encode() + b"\xff",
    "a duplicate key": f'{{"{SECRET}": 1, "{SECRET}": 2}}'.encode(),
    "no object": json.dumps([SECRET]).encode(),
    "wrong types": {SECRET: 1, "session_id": SECRET, "conversation_id": [SECRET], "turns": {SECRET: SECRET}},
    "a wrong turn": {**payload(), "turns": [{**turn(1, SECRET, SECRET), "timestamp": SECRET, SECRET: SECRET}]},
    "an id twice": {**payload(), "turns": [turn(1, "user", SECRET), turn(1, "user", SECRET)]},
}


@pytest.mark.parametrize("body", REFUSED.values(), ids=REFUSED)
def test_a_capture_that_is_refused_tells_its_rules(body: Any, world: World) -> None:
    assert world.post(body).status_code == 400
    (entry,) = world.log.entries()
    assert (entry["message"], entry["error_code"]) == ("request refused", "VALIDATION_ERROR")
    assert entry["rules"]


def test_keys_tell_nothing(filled: World) -> None:
    filled.log.writes.clear()
    answers = [
        filled.post(payload(), key=WRONG_KEY),
        filled.capture.post("/", data=b"{}", headers={"X-API-Key": SECRET, "Authorization": SECRET, "Cookie": SECRET}),
        filled.ask(HERE, key=WRONG_KEY),
        filled.recall.get(f"{HERE}?api_key={SECRET}"),
    ]
    assert [response.status_code for response in answers] == [401] * 4
    assert [entry["status"] for entry in filled.log.entries()] == [401] * 4
    filled.log.writes.clear()
    for headers in ({}, bearer(WRONG_KEY)):
        assert filled.store.get(f"/v1/sessions?q={SECRET}", headers=headers).status_code == 401
    assert filled.post(payload(), **{"Idempotency-Key": SECRET}).status_code == 200
    assert filled.post({**payload(), "x": 1}, **{"Idempotency-Key": SECRET}).status_code == 409
    assert filled.post(payload(), **{"Idempotency-Key": f"{SECRET} é"}).status_code == 400


READS = ["", "/state", "/summary", "/insights", "/stats", "/graph", "/graph?format=dot", "/export?format=markdown"]


@pytest.mark.parametrize("read", READS)
def test_a_read_tells_its_stages(read: str, filled: World) -> None:
    filled.log.writes.clear()
    before = len(filled.spans())
    response = filled.ask(HERE + read)
    assert response.status_code == 200, response.get_data(as_text=True)
    entries = filled.log.entries()
    stages = [entry for entry in entries if "stage" in entry]
    assert [entry["message"] for entry in stages] == ["received", "respond"]
    for entry in stages:
        assert entry["session_id"] == session_uuid(SESSION)
        assert entry["memory"] == {"history_count": 5, "params_keys": ["order_id"], "params_others": 2}
        assert entry["waiting_for_param"] == MEMORY["waiting_for_param"]
    # Only what brings content takes a time of its own to respond.
    assert filled.spans()[before:] in (["load", "recall"], ["load", "respond", "recall"])


@pytest.mark.parametrize("read", ["", "?format=openai-chat", "?limit=2"])
def test_a_history_tells_how_much_was_loaded(read: str, filled: World) -> None:
    filled.log.writes.clear()
    assert filled.ask(HERE + read).status_code == 200
    (loaded,) = [entry for entry in filled.log.entries() if entry["message"] == "conversation_context_loaded"]
    assert loaded["total_messages_in_db"] == 5
    assert loaded["messages_loaded"] == 5 - loaded["messages_truncated"]
    assert loaded["trace_id"] == "0af7651916cd43dd8448eb211c80319c"


def test_a_hydration_tells_nothing_of_the_message(filled: World) -> None:
    body = {"user_message": f"Tomorrow, {SECRET}", "turn_id": SECRET}
    response = filled.ask(f"{HERE}/hydrate", method="POST", json=body)
    assert response.status_code == 200
    assert SECRET in response.get_data(as_text=True)
    assert filled.messages()[-3:] == ["received", "conversation_context_loaded", "respond"]


def test_a_list_of_sessions_tells_nothing_of_what_was_looked_for(filled: World) -> None:
    for name in ("q", "user_id", "tag"):
        response = filled.ask(f"/api/conversations?{name}={SECRET}")
        assert [each["session_id"] for each in response.get_json()["sessions"]] == [session_uuid(SESSION)]


RECALL_REFUSED = [
    f"{HERE}?format={SECRET}", f"{HERE}?limit={SECRET}", f"{HERE}?{SECRET}={SECRET}", f"{HERE}?leaf={SECRET}",
    f"{HERE}?conversation_id={SECRET}", f"{HERE}?at={SECRET}", f"{HERE}/{SECRET}", f"/{SECRET}",
    f"/api/conversation/{SECRET}", f"/api/conversation/{SECRET * 30}", f"/api/conversations?cursor={SECRET}",
]  # fmt: skip


@pytest.mark.parametrize("path", RECALL_REFUSED)
def test_a_read_that_is_refused_tells_its_rules(path: str, filled: World) -> None:
    filled.log.writes.clear()
    response = filled.ask(path)
    assert response.status_code in {400, 404}
    assert filled.messages()[-1] == "request refused"


@pytest.mark.parametrize(
    "body", [SECRET.encode(), f'{{"{SECRET}": 1}}'.encode(), json.dumps({"user_message": [SECRET]}).encode()]
)
def test_a_hydration_that_is_refused_tells_its_rules(body: bytes, filled: World) -> None:
    assert filled.ask(f"{HERE}/hydrate", method="POST", data=body).status_code == 400
    assert filled.messages()[-1] == "request refused"


STORES = {
    "a status": answer(500, SECRET.encode(), **{f"X-{SECRET}": SECRET}),
    "nonsense": answer(200, f'{{"{SECRET}": "{SECRET}"}}'.encode()),
    "no JSON": answer(201, SECRET.encode()),
    "a missing key": answer(401, json.dumps({"error": SECRET, "message": SECRET}).encode()),
}


@pytest.mark.parametrize("said", STORES.values(), ids=STORES)
def test_a_store_that_fails_is_told_without_a_word_of_it(said: Any, world: World) -> None:
    from agent.ruvector.transport import KeepAliveTransport

    with Peer(said) as peer:
        client = RuvectorClient(
            KeepAliveTransport(), base_url=peer.url, api_key=STORE_KEY, kind="http", deadline_s=5, at_most_once=False
        )
        with closing(client):
            capture = Client(_wsgi(capture_app({"CAPTURE_API_KEYS": CAPTURE_KEY}, lambda: client).handle))
            configure_logging(world.log, level="DEBUG")
            captured = capture.post("/", data=json.dumps(payload()), headers=bearer(CAPTURE_KEY))
            read = world.ask(HERE, web=Client(world.recall_on(client)))
    assert (captured.status_code, read.status_code) == (502, 502)
    assert world.messages() == ["request failed"] * 2


def test_a_fault_of_ours_is_told_by_types_and_frames(world: World) -> None:
    def broken() -> Any:
        raise KeyError(SECRET)

    app = world.recall_on(world.client)
    app._source = broken
    assert world.ask(HERE, web=Client(app)).status_code == 500
    (entry,) = world.log.entries()
    assert (entry["severity"], entry["exceptions"][1]["type"]) == ("ERROR", "KeyError")


def refused(call: Callable[[], object]) -> None:
    """``call`` ends in a failure of the product's own, which does not repeat what it was given."""
    with pytest.raises(AgentError) as caught:
        call()
    assert SECRET not in str(caught.value) + json.dumps(caught.value.details)


def test_a_program_in_python_tells_nothing(world: World) -> None:
    with ConversationMemory(
        world.database, agent_id=SECRET, user_id=SECRET, source_system=SECRET, intents=INTENTS, environ={}
    ) as memory:
        session = memory.for_session(SESSION, CONVERSATION)
        with session.batch():
            session.append({"role": "user", "content": SECRET, "metadata": {SECRET: SECRET}})
            session.merge({SECRET: SECRET, "order_id": SECRET})
            session.update(last_intent_id=SECRET, last_result={SECRET: SECRET}, plan_execution=[SECRET])
        session.ask(SECRET, f"{SECRET}?")
        session.set_waiting("order_id")
        assert session.answer(f"it is {SECRET}").reask is not None
        session.record_tool("track", SECRET, params={SECRET: 2}, result=[SECRET])
        session.prune(1)
        assert session.params()[SECRET] == 2
        assert SECRET in repr(session.history())
        assert SECRET in repr((session.state(), session.waiting(), session.resume()))
        assert [row.session_id for row in memory.sessions(q=SECRET)] == [session_uuid(SESSION)]
        session.summary(), session.stats(), session.clear(all=True)
        refused(lambda: session.append({"role": SECRET, "content": SECRET}))
        refused(lambda: session.append(Message("user", SECRET, timestamp=SECRET)))
        refused(lambda: session.merge({"order_id": {1, SECRET}}))
        refused(lambda: session.set_waiting(f"{SECRET}\ud800"))
    refused(lambda: ConversationMemory(f"http://{SECRET}@store.example/", environ={}))
    refused(lambda: ConversationMemory(world.database.parent / SECRET / "x.db", environ={}).for_session("s").history())


# A name that somebody types may be repeated to them; what was captured may not.
COMMANDS: list[tuple[int, list[str]]] = [
    (0, ["history", "--session-id", SESSION]),
    (0, ["sessions", "--search", SECRET]),
    (0, ["prune", "--session-id", SESSION, "--keep", "1", "--yes"]),
    (2, ["capture", "--input", "bad.json"]),
    (1, ["health", "--store", "http://127.0.0.1:9/"]),
]


@pytest.mark.slow
def test_the_command_line_says_nothing_beside_its_results(filled: World) -> None:
    folder = filled.database.parent
    (folder / "bad.json").write_text(json.dumps(REFUSED["wrong types"]))
    for code, command in COMMANDS:
        done = run_process(
            folder,
            *("agent", "conversation-memory", *command),
            RUVECTOR_SERVICE_URL=f"embedded:{filled.database}",
            RUVECTOR_API_KEY=STORE_KEY,
        )
        assert (done.code, SECRET in done.err) == (code, False), (command, done.err)


def test_what_is_looked_for_would_be_found(log: RecordedLog) -> None:
    """The names of parameters are told: one that reads as a word, and is the secret itself, would show."""
    word = SECRET.partition("-")[0]
    RecallTelemetry.from_env({}).begin({}, new_id()).received(
        "state", SESSION, memory=Memory(params={word: 1}), history_count=0
    )
    assert word in log.text
