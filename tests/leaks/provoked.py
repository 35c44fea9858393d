"""Each failure that the product can answer with, provoked with canaries in all that its cause knows."""

from __future__ import annotations

import io
import json
import sqlite3
from collections.abc import Callable, Iterable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from werkzeug.test import Client, TestResponse

from agent import errors
from agent.ambient import utc_now
from agent.core.ids import session_uuid
from agent.ruvector.transport import KeepAliveTransport
from store import errors as faults
from store.engines.connection import fault_of
from store.engines.sqlite import SqliteStore
from store.http.access import Guard, Key
from store.http.quotas import Quota, Quotas
from store.server import create_app
from tests.leak_watch import SECRET
from tests.leaks.canaries import ALL
from tests.leaks.world import BESIDE, CAPTURE_KEY, STORE_KEY, World, bearer, here, planted, store_client
from tests.observability.peers import refusing_url
from tests.ruvector.peer import Peer, Step, answer
from tests.store.http.fake_store import FakeStore
from tests.store.http.site import capture as stored_capture

Answers = Iterable[TestResponse]
EVENT = {"type": "plan", "runId": SECRET, "timestamp": "2026-03-02T08:15:00Z", "payload": {SECRET: ALL}}


class Unforeseen(Exception):
    """What some library raises, with content in its message, in its arguments, in its notes and in its repr."""

    def __init__(self, content: str) -> None:
        super().__init__(content, {content: content})
        self.content = content
        self.add_note(content)

    def __repr__(self) -> str:
        return f"<Unforeseen of {self.content}>"


def unforeseen() -> Exception:
    """One with a cause, in a group, beside another."""
    try:
        try:
            raise KeyError(ALL)
        except KeyError as error:
            raise Unforeseen(ALL) from error
    except Unforeseen as error:
        return ExceptionGroup(ALL, [error, sqlite3.OperationalError(ALL)])


class Failing:
    """A part of the product that fails at whatever is asked of it."""

    def __getattr__(self, name: str) -> Any:
        def fail(*arguments: Any, **more: Any) -> Any:
            raise unforeseen()

        return fail


def of_a_fault_of_ours(world: World) -> Answers:
    failing: Any = Failing()
    recall = world.recall_on(failing)
    for web in (world.capture_on(failing), world.events_on(failing)):
        yield world.post(planted(), web=web)
    yield world.ask(here(), web=recall)


def of_a_peer(step: Step) -> Callable[[World], Answers]:
    """A store that is somebody else's, and says what it was told."""

    def provoke(world: World) -> Answers:
        with Peer(step) as peer, closing(store_client(KeepAliveTransport(), peer.url)) as client:
            yield world.post(planted(), web=world.capture_on(client))
            yield world.post(planted(), web=world.events_on(client))
            recall = world.recall_on(client)
            yield world.ask(here(), web=recall)

    return provoke


def of_a_store_without_a_list(world: World) -> Answers:
    with Peer(answer(404, ALL.encode())) as peer, closing(store_client(KeepAliveTransport(), peer.url)) as client:
        yield world.ask(f"/api/conversations?q={SECRET}", web=world.recall_on(client))


def of_nobody(world: World) -> Answers:
    with closing(store_client(KeepAliveTransport(), refusing_url())) as client:
        yield world.post(planted(), web=world.capture_on(client))


def of_a_body(body: bytes | dict[str, Any], *, query: str = "") -> Callable[[World], Answers]:
    return lambda world: [world.post(body, query), world.post(body, query, web=world.events)]


def announcing(length: int, body: bytes, web: Client, key: str, path: str = "/") -> TestResponse:
    """The answer to a body that is said to have another length."""
    there = {"CONTENT_LENGTH": str(length), "wsgi.input": io.BytesIO(body)}
    return web.post(path, headers={**bearer(key), **BESIDE}, environ_overrides=there)


def of_a_body_that_broke_off(world: World) -> Answers:
    head = json.dumps(planted()).encode()[:-100]
    for web in (world.capture, world.events):
        yield announcing(len(head) + 100, head, web, CAPTURE_KEY)


def of_a_read(path: str) -> Callable[[World], Answers]:
    return lambda world: [world.ask(path)]


def of_a_key_used_again(world: World) -> Answers:
    key = {"Idempotency-Key": SECRET}
    return [world.post(planted(), **key), world.post({**planted(), "more": ALL}, **key)]


def of_an_unknown_key(world: World) -> Answers:
    wrong = bearer(f"{SECRET}-key-of-nobody") | BESIDE
    return [
        world.capture.post("/", data=ALL.encode(), headers=wrong),
        world.recall.get(here(), headers=wrong),
        world.store.get(f"/v1/sessions?q={SECRET}", headers=wrong),
    ]


def of_a_newer_contract(world: World) -> Answers:
    envelope = stored_capture("00000000-0000-4000-8000-00000000900d")
    inputs = envelope["payload"]["inputs"]
    inputs["session_id"] = session_uuid(f"{SECRET} newer")
    inputs["turns"][0]["content"] = ALL
    envelope["payload"]["agent_version"] = f"2.0.0-{SECRET}"
    world.client.append(json.dumps(envelope).encode(), idempotency_key=envelope["runId"])
    return [world.ask(f"/api/conversation/{inputs['session_id']}")]


def of_too_many(world: World) -> Answers:
    from agent.bootstrap import capture_app

    app = capture_app({"RATE_LIMIT": "1/minute", "CAPTURE_API_KEYS": CAPTURE_KEY}, lambda: world.client)
    web = Client(lambda environ, start: app.handle(environ)(environ, start))
    yield from (world.post(planted(), web=web) for _ in range(2))
    app._telemetry.close()


def of_the_database(code: int) -> Callable[[World], Answers]:
    """An error of SQLite's with this code, whose message tells content, as the store words it."""

    def provoke(world: World) -> Answers:
        error = sqlite3.OperationalError(ALL)
        error.sqlite_errorcode = code
        store = FakeStore()
        for name in ("append", "events", "sessions", "ping"):
            try:
                raise fault_of(error) from error
            except faults.StoreAnswerError as fault:
                store.faults[name] = fault
        yield from asked_of(Client(create_app(store, clock=utc_now, new_id=lambda: "id")))

    return provoke


def of_a_file(spoil: Callable[[Path, SqliteStore], object]) -> Callable[[World], Answers]:
    """A database with content in it that is no longer one that this process may use."""

    def provoke(world: World) -> Answers:
        path = world.database.with_name(f"{spoil.__name__}.db")
        store = SqliteStore(path)
        web = Client(create_app(store, clock=utc_now, new_id=lambda: "id"))
        with closing(store):
            web.post("/v1/decision-events", json=EVENT)
            again = spoil(path, store)
            yield from asked_of(web)
            if callable(again):
                again()

    return provoke


def newer(path: Path, store: SqliteStore) -> None:
    store.close()
    with closing(sqlite3.connect(path)) as raw:
        raw.execute("PRAGMA user_version = 99")


def no_database(path: Path, store: SqliteStore) -> None:
    store.close()
    path.write_text(ALL * 100)


def damaged(path: Path, store: SqliteStore) -> None:
    with store.engine.writing() as connection:
        connection.execute("UPDATE events SET body = ?", (ALL.encode(),))


def lost(path: Path, store: SqliteStore) -> None:
    with store.engine.writing() as connection:
        connection.execute("DELETE FROM events")


def forked(path: Path, store: SqliteStore) -> Callable[[], None]:
    engine: Any = store.engine
    ours = engine._owner
    engine._owner = ours + 1

    def ours_again() -> None:
        engine._owner = ours

    return ours_again


def asked_of(web: Client) -> Answers:
    return [
        web.post("/v1/decision-events", json=EVENT, headers=BESIDE),
        web.get(f"/v1/sessions?q={SECRET}"),
        web.get("/health"),
    ]


def guarded(world: World, *requests: tuple[str, str, Any]) -> Answers:
    """A store with a key that may only read, and read once a second."""
    key = f"{SECRET}-key-of-a-reader"
    quotas = Quotas([Quota("shop", milli_per_second=1000)], monotonic_ns=lambda: 0, clock=utc_now)
    guard = Guard((Key.of("shop", key, "read"),), quotas=quotas)
    web = Client(create_app(FakeStore(), clock=utc_now, new_id=lambda: "id", guard=guard))
    return [web.open(path, method=method, json=body, headers=bearer(key)) for method, path, body in requests]


def of_a_store(method: str, path: str, body: bytes = b"", **headers: str) -> Callable[[World], Answers]:
    return lambda world: [
        world.store.open(path, method=method, data=body, headers={**bearer(STORE_KEY), **BESIDE, **headers})
    ]


def of_two_events(world: World) -> Answers:
    changed = {**EVENT, "payload": {"other": ALL}}
    for event in (EVENT, changed):
        yield from of_a_store("POST", "/v1/decision-events", json.dumps(event).encode())(world)


TOO_MANY_VALUES = f'{{"{SECRET}": ["{SECRET}", {"1, " * 250_000}1]}}'.encode()
DAMAGED = json.dumps(
    {"error": ALL, "message": ALL, "details": {"rule": "damaged_event", "next_cursor": ALL, SECRET: ALL}}
).encode()
PROVOKED: Mapping[type[Exception], Callable[[World], Answers]] = {
    errors.InternalError: of_a_fault_of_ours,
    errors.ValidationError: of_a_body({**planted(), "turns": [{SECRET: ALL, "role": ALL}]}),
    errors.Unauthorized: of_an_unknown_key,
    errors.BudgetTooSmall: of_a_read(here("/context?max_tokens=1")),
    errors.PayloadTooLarge: of_a_body(TOO_MANY_VALUES),
    errors.BodyBrokeOff: of_a_body_that_broke_off,
    errors.NotFound: lambda world: [world.ask(f"/{SECRET}"), world.capture.post(f"/{SECRET}", data=ALL.encode())],
    errors.MethodNotAllowed: lambda world: [world.capture.put("/", data=ALL.encode()), world.ask(here(), "PUT")],
    errors.IdempotencyConflict: of_a_key_used_again,
    errors.NotYetThere: of_a_read(here("?min_version=999999")),
    errors.StoreConnectionError: of_nobody,
    errors.StoreWriteError: of_a_peer(answer(409, json.dumps({"error": ALL, "message": ALL}).encode(), X_Said=SECRET)),
    errors.StoreDamaged: of_a_peer(answer(500, DAMAGED, X_Said=SECRET)),
    errors.StoreNotFound: of_a_store_without_a_list,
    errors.NewerContract: of_a_newer_contract,
    errors.RateLimitExceeded: of_too_many,
    faults.StoreAnswerError: of_the_database(sqlite3.SQLITE_ERROR),
    faults.BadRequest: of_a_store("POST", "/v1/decision-events", f'{{"{SECRET}": {ALL}'.encode()),
    faults.NotFound: of_a_store("GET", f"/v1/decision-events/{SECRET}"),
    faults.MethodNotAllowed: of_a_store("PUT", "/v1/decision-events", ALL.encode()),
    faults.Conflict: of_two_events,
    faults.TooLarge: lambda world: [announcing(1 << 26, ALL.encode(), world.store, STORE_KEY, "/v1/decision-events")],
    faults.DatabaseLocked: of_the_database(sqlite3.SQLITE_BUSY),
    faults.DiskFull: of_the_database(sqlite3.SQLITE_FULL),
    faults.ReadOnlyDatabase: of_the_database(sqlite3.SQLITE_READONLY),
    faults.DatabaseUnreachable: of_the_database(sqlite3.SQLITE_CANTOPEN),
    faults.DamagedDatabase: of_the_database(sqlite3.SQLITE_CORRUPT),
    faults.DamagedEvent: of_a_file(damaged),
    faults.LostEvent: of_a_file(lost),
    faults.NotADatabase: of_a_file(no_database),
    faults.NewerDatabase: of_a_file(newer),
    faults.ForkedDatabase: of_a_file(forked),
    faults.Unauthorized: of_an_unknown_key,
    faults.Forbidden: lambda world: guarded(world, ("POST", "/v1/decision-events", EVENT)),
    faults.TooManyRequests: lambda world: guarded(world, *[("GET", f"/v1/sessions?q={SECRET}", None)] * 2),
}
