"""Where callers have keys, each line of a request says which: by the first digits of its digest, and nothing of it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from hashlib import sha256
from typing import Any

import pytest
from werkzeug.test import Client

from agent.bootstrap import capture_app, recall_app, store_client
from agent.config import RecallSettings, Settings
from agent.errors import StoreConnectionError
from agent.observability.logs import configure_logging
from agent.recall.http.routing import OF_A_SESSION
from agent.recall.source import Source
from tests.live.payloads import BASE_TEXT, base
from tests.observability.conftest import RecordedLog

# Hexadecimal themselves, so that a piece of one would look like a name.
OLD, NEW = "0123456789abcdef0123456789abcdef", "fedcba9876543210fedcba9876543210"
CAPTURE_KEYS = {"CAPTURE_API_KEYS": f"{OLD},{NEW}"}
RECALL_KEYS = {"RECALL_API_KEYS": f"{OLD},{NEW}"}
SESSION = base()["session_id"]
Recall = Callable[..., Client]


def name(key: str) -> str:
    return sha256(key.encode()).hexdigest()[:8]


def bearer(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"}


@pytest.fixture
def opened() -> Iterator[ExitStack]:
    with ExitStack() as opened:
        yield opened


@pytest.fixture
def store(opened: ExitStack) -> Any:
    client = store_client(Settings.from_env({"RUVECTOR_SERVICE_URL": "embedded::memory:"}))
    opened.callback(client.close)
    return client


@pytest.fixture
def captures(log: RecordedLog, store: Any) -> Callable[..., Client]:
    """Makes the capture function of an environment, on ``store`` unless on another."""

    def made(environ: Mapping[str, str], store: Callable[[], Any] = lambda: store) -> Client:
        app = capture_app(environ, store)
        configure_logging(log, level="DEBUG")
        log.writes.clear()
        return Client(lambda environ, start: app.handle(environ)(environ, start))

    return made


@pytest.fixture
def recalls(log: RecordedLog, store: Any) -> Callable[[Mapping[str, str]], Client]:
    """Makes the recall function of an environment, with a session to read."""

    def made(environ: Mapping[str, str]) -> Client:
        capture = capture_app({}, lambda: store)
        Client(lambda environ, start: capture.handle(environ)(environ, start)).post("/", data=BASE_TEXT)
        app = recall_app(environ, RecallSettings.from_env(environ))
        app._source = lambda: Source.of(store.reads)
        configure_logging(log, level="DEBUG")
        log.writes.clear()
        return Client(app)

    return made


def named(log: RecordedLog) -> list[tuple[str, str | None]]:
    """The lines so far: the message of each, and the name of the key."""
    return [(entry["message"], entry.get("key_name")) for entry in log.entries()]


def test_the_line_of_a_capture_names_the_key_whether_it_is_stored_or_refused(captures, log) -> None:
    function = captures(CAPTURE_KEYS)
    for key in (OLD, NEW):
        assert function.post("/", data=BASE_TEXT, headers=bearer(key)).status_code == 200
    assert function.post("/", data=b"{", headers=bearer(NEW)).status_code == 400
    acknowledged, refused = "capture acknowledged", "request refused"
    assert named(log) == [(acknowledged, name(OLD)), (acknowledged, name(NEW)), (refused, name(NEW))]


def test_who_meets_the_limit_is_named_too(captures, log) -> None:
    function = captures({**CAPTURE_KEYS, "RATE_LIMIT": "1/hour"})
    answers = [function.post("/", data=BASE_TEXT, headers=bearer(OLD)).status_code for _ in range(2)]
    assert answers == [200, 429]
    assert named(log) == [("capture acknowledged", name(OLD)), ("request refused", name(OLD))]


def test_a_failure_names_the_key(captures, log) -> None:
    def gone() -> Any:
        raise StoreConnectionError("the store is gone")

    function = captures(CAPTURE_KEYS, gone)
    assert function.post("/", data=BASE_TEXT, headers=bearer(OLD)).status_code == 502
    assert named(log) == [("request failed", name(OLD))]


@pytest.mark.parametrize(
    ("headers", "reason"),
    [
        ({}, "missing"),
        ({"Authorization": ""}, "missing"),
        ({"Authorization": f"Basic {OLD}"}, "missing"),
        ({"Authorization": OLD}, "missing"),
        (bearer(f"{OLD}x"), "unknown"),
        (bearer(OLD.upper()), "unknown"),
    ],
)
def test_a_401_says_whether_there_was_no_key_or_another_and_names_none(
    captures, recalls, log, headers: dict[str, str], reason: str
) -> None:
    told = {"message": "request refused", "status": 401, "reason": reason}
    for ask in (
        lambda: captures(CAPTURE_KEYS).post("/", data=BASE_TEXT, headers=headers),
        lambda: recalls(RECALL_KEYS).get("/api/conversations", headers=headers),
    ):
        assert ask().status_code == 401
        (line,) = log.entries()
        assert line.items() >= told.items()
        assert "key_name" not in line
        # The digests of what was sent stay out as well: an unknown key may be one of somewhere else.
        assert not re.search(r"\b[0-9a-f]{8}\b", re.sub(r'"(?:execution_ref|time)":"[^"]*"', "", log.text))


def test_no_other_refusal_has_a_reason(captures, log) -> None:
    captures({}).post("/", data=b"{")
    captures({}).post("/nowhere", data=b"{")
    assert ["reason" in entry for entry in log.entries()] == [False]


@pytest.mark.parametrize("asked", OF_A_SESSION)
def test_every_line_of_a_recall_of_a_session_names_the_key(recalls, log, asked: str) -> None:
    method, sent = ("POST", '{"user_message": "a"}') if asked == "hydrate" else ("GET", None)
    path = f"/api/conversation/{SESSION}/{asked}".rstrip("/")
    assert recalls(RECALL_KEYS).open(path, method=method, data=sent, headers=bearer(OLD)).status_code == 200
    assert {key for _, key in named(log)} == {name(OLD)}


@pytest.mark.parametrize(
    ("method", "path", "body", "operation"),
    [
        ("GET", "/api/conversations", None, "conversations"),
        ("GET", "/api/stats", None, "store_stats"),
        ("POST", "/api/context", {"messages": [{"role": "user", "content": "a"}]}, "posted_context"),
    ],
)
def test_a_recall_that_concerns_no_session_is_told_with_its_key_and_without_keys_as_before_not_at_all(
    recalls, log, method: str, path: str, body: Any, operation: str
) -> None:
    sent = None if body is None else json.dumps(body)
    assert recalls(RECALL_KEYS).open(path, method=method, data=sent, headers=bearer(NEW)).status_code == 200
    (line,) = log.entries()
    told = {"message": "recall answered", "severity": "INFO", "operation": operation, "status": 200}
    assert line.items() >= {**told, "key_name": name(NEW)}.items()
    assert recalls({}).open(path, method=method, data=sent, headers=bearer(NEW)).status_code == 200
    assert log.entries() == []


def test_a_recall_that_is_refused_or_finds_nothing_names_the_key(recalls, log) -> None:
    function = recalls(RECALL_KEYS)
    assert function.get(f"/api/conversation/{SESSION}?limit=0", headers=bearer(OLD)).status_code == 400
    assert function.get("/api/conversation/nobody", headers=bearer(NEW)).status_code == 404
    assert named(log) == [("request refused", name(OLD)), ("request refused", name(NEW))]


def test_without_keys_no_line_has_one_whatever_is_sent(captures, recalls, log) -> None:
    for environ in ({}, {"RATE_LIMIT": "9/hour"}):
        assert captures(environ).post("/", data=BASE_TEXT, headers=bearer(OLD)).status_code == 200
        assert named(log) == [("capture acknowledged", None)]
        assert recalls(environ).get(f"/api/conversation/{SESSION}", headers=bearer(OLD)).status_code == 200
        assert {key for _, key in named(log)} == {None}


def test_what_asks_for_no_key_says_nothing_of_the_one_that_is_sent(captures, recalls, log) -> None:
    for function in (captures(CAPTURE_KEYS), recalls(RECALL_KEYS)):
        for path in ("/health", "/openapi.json"):
            assert function.get(path, headers=bearer(OLD)).status_code == 200
        assert log.entries() == []


def test_a_name_is_no_piece_of_the_key_and_nothing_else_is_told_of_it(captures, log) -> None:
    captures(CAPTURE_KEYS).post("/", data=BASE_TEXT, headers=bearer(OLD))
    (line,) = log.entries()
    assert re.fullmatch("[0-9a-f]{8}", line["key_name"])
    assert line["key_name"] not in OLD
    assert not [start for start in range(len(OLD) - 7) if f'"{OLD[start : start + 8]}' in log.text]
    assert sha256(OLD.encode()).hexdigest()[:9] not in log.text
