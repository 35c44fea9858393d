"""The recall function under the real function host: its answers are its own, whatever the host would have said."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from agent.core.ids import session_uuid
from tests.live.host import FunctionHost, function_host
from tests.live.raw import exchange
from tests.recall.http.described import check_described

pytestmark = pytest.mark.slow

KEY = "k-0123456789abcdef"
HELD = {"Authorization": f"Bearer {KEY}"}
SESSION = "a/state %2F ä"
QUOTED = "a%2Fstate%20%252F%20%C3%A4"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("surface")


@pytest.fixture(scope="module")
def recall(folder: Path) -> Iterator[FunctionHost]:
    """The function on a store file into which the capture function has captured."""
    store = f"embedded:{folder / 'memory.db'}"
    variables = {
        "RECALL_API_KEYS": KEY,
        "CORS_ORIGINS": "https://app.example",
        "CONVERSATION_MAX_HISTORY_MESSAGES": "2",
    }
    with (
        function_host(folder, store=store) as capture,
        function_host(folder, store=store, target="recall", **variables) as host,
    ):
        turns = [
            {"turn_id": f"m-{n}", "role": "user", "content": f"say {n}", "timestamp": "2026-03-02T08:15:00Z"}
            for n in range(4)
        ]
        said = {"session_id": SESSION, "conversation_id": "main", "turns": turns}
        answer = httpx.post(capture.url, json={**said, "capture_options": {"derive_ids": True}}, timeout=30)
        assert answer.status_code == 200, answer.text
        yield host


def ask(host: FunctionHost, path: str, method: str = "GET", **more: Any) -> httpx.Response:
    headers = {**HELD, **more.pop("headers", {})}
    answer = httpx.request(method, f"{host.url}{path}", headers=headers, timeout=30, **more)
    check_described(method, path, _Read(answer))
    return answer


class _Read:
    """An answer as ``check_described`` reads it."""

    def __init__(self, answer: httpx.Response) -> None:
        self.status_code = answer.status_code
        self.headers = answer.headers
        self.get_data = lambda: answer.content


def test_a_session_with_a_slash_in_its_id_is_found_through_the_server(recall: FunctionHost) -> None:
    answer = ask(recall, f"/api/conversation/{QUOTED}").json()
    assert answer["session_id"] == session_uuid(SESSION)
    assert [message["content"] for message in answer["messages"]] == [f"say {n}" for n in range(4)]
    for asked in ("state", "summary", "insights", "stats", "graph", "export"):
        assert ask(recall, f"/api/conversation/{QUOTED}/{asked}").json()["session_id"] == session_uuid(SESSION)
    hydrated = ask(recall, f"/api/conversation/{QUOTED}/hydrate", "POST", json={"user_message": "now"}).json()
    assert [message["content"] for message in hydrated["messages"]] == ["say 2", "say 3", "now"]


@pytest.mark.parametrize(
    "path", ["/robots.txt", "/favicon.ico", "/", "//api//stats", "/api/conversation/", "/error", "/api/stats/"]
)
def test_a_page_that_the_host_would_have_answered_is_typed_json(recall: FunctionHost, path: str) -> None:
    for method in ("GET", "POST"):
        answer = httpx.request(method, f"{recall.url}{path}", headers=HELD, timeout=30)
        assert (answer.status_code, answer.headers["Content-Type"]) == (404, "application/json")
        assert answer.json()["error"]["error_code"] == "VALIDATION_ERROR"
        assert answer.headers["X-Agent-Id"] == "conversation-memory-agent"


def test_tags_and_methods_come_through_the_host(recall: FunctionHost) -> None:
    path = f"/api/conversation/{QUOTED}"
    first = ask(recall, path)
    again = ask(recall, path, headers={"If-None-Match": first.headers["ETag"]})
    assert (again.status_code, again.content) == (304, b"")
    head = ask(recall, path, "HEAD")
    assert (head.status_code, head.headers["Content-Length"]) == (200, str(len(first.content)))
    assert ask(recall, path, "DELETE").headers["Allow"] == "GET, HEAD"
    export = ask(recall, f"{path}/export?format=markdown")
    assert export.headers["Content-Type"] == "text/markdown; charset=utf-8"


def test_keys_and_origins_hold_at_the_host(recall: FunctionHost) -> None:
    path = f"{recall.url}/api/conversations"
    assert httpx.get(path, timeout=30).status_code == 401
    page = {"Origin": "https://app.example", "Access-Control-Request-Method": "GET"}
    preflight = httpx.options(path, headers=page, timeout=30)
    assert (preflight.status_code, preflight.headers["Access-Control-Allow-Origin"]) == (204, "https://app.example")
    assert ask(recall, "/api/conversations", headers={"Origin": "https://app.example"}).headers["Vary"] == "Origin"


def test_health_asks_for_no_key_and_tells_what_this_side_does(recall: FunctionHost) -> None:
    health = httpx.get(f"{recall.url}/health", timeout=30)
    assert (health.status_code, health.json()["classification"]) == (200, "MEMORY_READ")
    assert health.json()["store"]["kind"] == "embedded"


def test_what_is_no_http_is_refused_without_a_word_of_it(recall: FunctionHost) -> None:
    status, headers, body = exchange(recall.port, b"CANARY nonsense\r\n\r\n")
    assert (status, headers["content-type"], headers["x-agent-id"]) == (
        400,
        "application/json",
        "conversation-memory-agent",
    )
    assert b"CANARY" not in body
    assert json.loads(body)["error"]["error_code"] == "VALIDATION_ERROR"


def test_a_chunked_body_that_is_too_large_is_refused_and_the_connection_survives(recall: FunctionHost) -> None:
    def pieces() -> Iterator[bytes]:
        yield b'{"user_message": "'
        for _ in range(12):
            yield b"x" * 1024 * 1024
        yield b'"}'

    with httpx.Client(headers=HELD, timeout=60) as client:
        answer = client.post(f"{recall.url}/api/conversation/x/hydrate", content=pieces())
        assert answer.status_code == 413
        assert client.get(f"{recall.url}/api/stats").status_code == 200


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("RECALL_API_KEYS", "CANARY"),
        ("CORS_ORIGINS", "app.CANARY"),
        ("CONVERSATION_MAX_HISTORY_MESSAGES", "CANARY"),
        ("RUVECTOR_SERVICE_URL", "CANARY://x"),
    ],
)
def test_a_setting_that_does_not_hold_stops_the_start_and_is_named(folder: Path, variable: str, value: str) -> None:
    is_store = variable == "RUVECTOR_SERVICE_URL"
    store, more = (value, {}) if is_store else ("embedded::memory:", {variable: value})
    with pytest.raises(RuntimeError) as ended, function_host(folder, store=store, target="recall", **more):
        pass
    assert f"the function does not start: {variable}: " in str(ended.value)
    assert "CANARY" not in str(ended.value)
