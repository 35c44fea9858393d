"""The read side is put together at start: its settings are checked, and nothing is opened before it is asked."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import flask
import functions_framework
import pytest

from agent.bootstrap import recall_function
from tests.closed_clients import clients_closed  # noqa: F401 - a fixture of every test here
from tests.conftest import REPOSITORY
from tests.test_bootstrap import started

OURS = ("RUVECTOR_SERVICE_URL", "RECALL_API_KEYS", "CORS_ORIGINS", "K_SERVICE", "INTENTS_CONFIG")
PAGE = {"Origin": "https://pages.example"}


@pytest.fixture
def hosted(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Any]:
    """The read side as the function host runs it, with what loading a target changes put back; a client of it."""
    for name in ("FUNCTION_TARGET", "FUNCTION_SIGNATURE_TYPE"):
        monkeypatch.setenv(name, "recall" if name == "FUNCTION_TARGET" else "http")
    for name in OURS:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("RUVECTOR_SERVICE_URL", f"embedded:{tmp_path / 'm.db'}")
    monkeypatch.setenv("CORS_ORIGINS", PAGE["Origin"])
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setitem(sys.modules, "main", None)
    application = functions_framework.create_app("recall", str(REPOSITORY / "main.py"))
    assert not (tmp_path / "m.db").exists()
    return application.test_client()


def test_the_host_runs_the_read_side_under_its_target(hosted: Any) -> None:
    answer = hosted.get("/api/conversations")
    assert (answer.status_code, answer.get_json()["sessions"]) == (200, [])
    assert hosted.get("/health").get_json()["classification"] == "MEMORY_READ"
    hydrated = hosted.post("/api/conversation/a%2Fb/hydrate", json={"user_message": "x"})
    assert hydrated.get_json()["messages"] == [{"role": "user", "content": "x", "current": True}]
    assert hosted.get("/openapi.json").get_json()["info"]["title"] == "Conversation memory: the recall function"


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/robots.txt", 404),
        ("GET", "/favicon.ico", 404),
        ("GET", "//api//stats", 404),
        ("PUT", "/api/stats", 405),
        ("OPTIONS", "/api/stats", 405),
        ("PROPFIND", "/health", 405),
        ("GET", "/api/conversation/none", 404),
        ("POST", "/api/conversation/x/hydrate", 400),
    ],
)
def test_whatever_the_host_would_answer_by_itself_the_read_side_answers(
    hosted: Any, method: str, path: str, status: int
) -> None:
    answer = hosted.open(path, method=method)
    assert (answer.status_code, answer.content_type) == (status, "application/json")
    assert answer.get_json()["success"] is False
    assert answer.headers["X-Agent-Id"] == "conversation-memory-agent"


def test_pages_of_a_configured_origin_may_call(hosted: Any) -> None:
    preflight = hosted.options("/api/stats", headers={**PAGE, "Access-Control-Request-Method": "GET"})
    assert (preflight.status_code, preflight.headers["Access-Control-Allow-Origin"]) == (204, PAGE["Origin"])
    assert hosted.get("/nothing", headers=PAGE).headers["Vary"] == "Origin"


def test_a_function_without_a_host_answers(tmp_path: Path) -> None:
    function = recall_function({"RUVECTOR_SERVICE_URL": f"embedded:{tmp_path / 'm.db'}"})
    with flask.Flask("any").test_request_context("/api/stats"):
        answer = function(flask.request._get_current_object())
    assert (answer.status_code, answer.get_json()["sessions"]) == (200, 0)


def test_a_wrong_setting_ends_the_start_with_one_line_that_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    written = io.StringIO()
    monkeypatch.setattr("sys.stderr", written)
    with pytest.raises(SystemExit) as ended:
        recall_function({"RECALL_API_KEYS": "CANARY"})
    assert ended.value.code == 1
    (line,) = written.getvalue().splitlines()
    assert json.loads(line)["message"].startswith("the function does not start: RECALL_API_KEYS: ")
    assert "CANARY" not in line


@pytest.mark.slow
def test_it_checks_its_own_settings_and_no_others() -> None:
    assert started("recall", {"RUVECTOR_KEYS": "short", "CAPTURE_API_KEYS": "short"}) == "recall function ready"
    assert started("recall", {"RECALL_API_KEYS": "short"}).startswith("the function does not start: RECALL_API_KEYS: ")
    assert started("handler", {"RECALL_API_KEYS": "short"}) == "capture function ready"


@pytest.mark.slow
def test_it_needs_nothing_that_only_the_command_line_has(tmp_path: Path) -> None:
    script = (
        "import functions_framework, json, sys\n"
        # As where requirements.txt is installed and no more.
        "sys.modules['rich'] = sys.modules['typer'] = None\n"
        "web = functions_framework.create_app('recall', 'main.py').test_client()\n"
        "body = {'user_message': 'x'}\n"
        "assert web.post('/api/conversation/x/hydrate', json=body).status_code == 200\n"
        "import agent.recall.drawings.dot, agent.recall.drawings.label, agent.recall.drawings.mermaid\n"
        "import agent.formats.markdown, agent.formats.text, agent.formats.native_out\n"
        "print(json.dumps([name for name in sys.modules if name.startswith(('agent.cli', 'agent.sdk'))]))\n"
    )
    environ = {**os.environ, "RUVECTOR_SERVICE_URL": f"embedded:{tmp_path / 'm.db'}"}
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=REPOSITORY,
        env=environ,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert json.loads(done.stdout) == []
