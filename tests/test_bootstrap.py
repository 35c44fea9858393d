"""The parts are put together once, at start, and a setting that does not hold ends the start in one line."""

import io
import json
import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import flask
import functions_framework
import pytest
from werkzeug.test import create_environ, run_wsgi_app

from agent.bootstrap import (
    Once,
    capture_function,
    capture_service_on,
    event_function,
    peak_memory_bytes,
    recall_function,
    store_app,
    store_client,
    store_function,
)
from agent.capture.service import CaptureRequest
from agent.config import Settings
from agent.content.policy import FULL
from agent.observability.tracing import NoSpans
from tests.closed_clients import clients_closed  # noqa: F401 - a fixture of every test here
from tests.conftest import REPOSITORY
from tests.live.payloads import BASE_TEXT

EVENT = {"type": "note", "runId": "r-1", "timestamp": "2026-03-02T08:15:00Z", "payload": {"n": 1}}
HERE = {"REMOTE_ADDR": "127.0.0.1"}


@pytest.fixture
def hosted(monkeypatch, tmp_path):
    """The store as the function host runs it, with what loading a target changes put back; a client of it."""
    for name in ("FUNCTION_TARGET", "FUNCTION_SIGNATURE_TYPE"):
        monkeypatch.setenv(name, "store" if name == "FUNCTION_TARGET" else "http")
    for name in ("RUVECTOR_KEYS", "RUVECTOR_QUOTAS", "CORS_ORIGINS", "METRICS_KEY", "K_SERVICE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("RUVECTOR_STORE", f"sqlite:///{tmp_path / 'store.db'}")
    monkeypatch.setenv("CORS_ORIGINS", "https://pages.example")
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setitem(sys.modules, "main", None)
    application = functions_framework.create_app("store", str(REPOSITORY / "main.py"))
    return application.test_client()


def test_a_wrong_setting_ends_the_start_with_one_line_that_names_it(monkeypatch):
    written = io.StringIO()
    monkeypatch.setattr("sys.stderr", written)
    with pytest.raises(SystemExit) as ended:
        capture_function({"RUVECTOR_DEADLINE_S": "soon-CANARY"})
    assert ended.value.code == 1
    [line] = written.getvalue().splitlines()
    entry = json.loads(line)
    assert entry["severity"] == "CRITICAL"
    assert entry["message"].startswith("the function does not start: RUVECTOR_DEADLINE_S: ")
    assert "CANARY" not in line


def test_a_right_one_says_what_started(monkeypatch, tmp_path):
    written = io.StringIO()
    monkeypatch.setattr("sys.stderr", written)
    capture_function({"RUVECTOR_SERVICE_URL": f"embedded:{tmp_path / 'm.db'}"}, flask.Flask("handler"))
    entry = json.loads(written.getvalue())
    assert (entry["message"], entry["store"]) == ("capture function ready", "embedded")
    assert not (tmp_path / "m.db").exists()


@pytest.mark.parametrize("function", [capture_function, recall_function])
@pytest.mark.parametrize("keys", [None, "k-0123456789abcdef"])
def test_the_first_line_says_whether_callers_need_a_key(function, keys, monkeypatch, tmp_path):
    written = io.StringIO()
    monkeypatch.setattr("sys.stderr", written)
    variable = "CAPTURE_API_KEYS" if function is capture_function else "RECALL_API_KEYS"
    named = {} if keys is None else {variable: keys}
    function({"RUVECTOR_SERVICE_URL": f"embedded:{tmp_path / 'm.db'}", **named})
    entry = json.loads(written.getvalue())
    assert entry["keys"] is bool(keys)
    assert entry["message"].endswith(" function ready")
    assert "k-0123456789abcdef" not in written.getvalue()


def started_with(function, environ, monkeypatch, tmp_path):
    """The lines of a start that reads intents which name two parameters to redact."""
    written = io.StringIO()
    monkeypatch.setattr("sys.stderr", written)
    intents = tmp_path / "intents.yaml"
    intents.write_text("redaction: {params: [CANARY, pin]}", encoding="utf-8")
    function({"RUVECTOR_SERVICE_URL": f"embedded:{tmp_path / 'm.db'}", "INTENTS_CONFIG": str(intents), **environ})
    assert "CANARY" not in written.getvalue()
    return [json.loads(line) for line in written.getvalue().splitlines()]


@pytest.mark.parametrize("function", [capture_function, event_function])
def test_parameters_that_are_named_and_not_redacted_are_warned_about(function, monkeypatch, tmp_path):
    ready, warned = started_with(function, {}, monkeypatch, tmp_path)
    assert (ready["severity"], ready["content"], ready["redacted_params"]) == ("INFO", "full", 2)
    assert (warned["severity"], warned["redacted_params"]) == ("WARNING", 2)
    assert warned["message"].startswith("redaction.params names parameters that are stored as they are: only CAPTURE_")


@pytest.mark.parametrize("mode", ["redacted", "none"])
def test_where_they_are_not_stored_nobody_is_warned(mode, monkeypatch, tmp_path):
    [ready] = started_with(capture_function, {"CAPTURE_CONTENT": mode}, monkeypatch, tmp_path)
    assert (ready["content"], ready["redacted_params"]) == (mode, 2)


@pytest.mark.parametrize("mode", ["full", "redacted"])
def test_the_read_side_says_nothing_of_what_a_capture_stores(mode, monkeypatch, tmp_path):
    [ready] = started_with(recall_function, {"CAPTURE_CONTENT": mode}, monkeypatch, tmp_path)
    assert ready["message"] == "recall function ready"
    assert not {"content", "redacted_params"} & set(ready)


@pytest.mark.parametrize("function", [capture_function, recall_function])
def test_a_misspelt_variable_of_keys_starts_no_open_function(function, monkeypatch):
    written = io.StringIO()
    monkeypatch.setattr("sys.stderr", written)
    side = "CAPTURE" if function is capture_function else "RECALL"
    with pytest.raises(SystemExit):
        function({f"{side}_API_KEY": "CANARY-0123456789"})
    entry = json.loads(written.getvalue())
    assert entry["message"].startswith(f"the function does not start: {side}_API_KEYS: ")
    assert "CANARY" not in written.getvalue()


def test_the_service_captures_without_http_in_front(tmp_path):
    settings = Settings.from_env({"RUVECTOR_SERVICE_URL": f"embedded:{tmp_path / 'm.db'}"})
    with closing(store_client(settings)) as client:
        service = capture_service_on(lambda: client, FULL)
        answer = service.capture(CaptureRequest(BASE_TEXT.encode(), "native", None, "e" * 36), NoSpans())
    assert json.loads(answer.body)["receipt"]["turns"]["new"] == 2


@pytest.mark.parametrize(("url", "kind"), [("embedded::memory:", "embedded"), ("http://127.0.0.1:9", "http")])
def test_the_same_client_speaks_to_either_store(url, kind):
    client = store_client(Settings.from_env({"RUVECTOR_SERVICE_URL": url}))
    assert client.kind == kind
    client.close()


def test_threads_that_come_at_the_same_time_share_one_value():
    made = []
    waiting = threading.Barrier(8)

    def make():
        made.append(object())
        return made[-1]

    once = Once(make)

    def get(_number):
        waiting.wait()
        return once()

    with ThreadPoolExecutor(8) as pool:
        values = list(pool.map(get, range(8)))
    assert len(made) == 1
    assert set(values) == {made[0]}


def test_a_value_that_could_not_be_made_is_tried_again():
    outcomes = iter([ValueError("not yet"), "made"])

    def make():
        outcome = next(outcomes)
        if isinstance(outcome, ValueError):
            raise outcome
        return outcome

    once = Once(make)
    with pytest.raises(ValueError, match="not yet"):
        once()
    assert once() == "made"


def test_peak_memory_is_in_bytes():
    assert peak_memory_bytes() > 10 * 2**20


def started(target, environ):
    """What loading ``target`` comes to: None, or the line that ends the start."""
    script = (
        "import flask, os\n"
        "from agent.bootstrap import target_function\n"
        f"target_function(os.environ, flask.Flask({target!r}))\n"
    )
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("RUVECTOR", "CORS", "K_"))}
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=REPOSITORY,
        env={**kept, **environ},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    last = json.loads(done.stderr.splitlines()[-1])
    assert done.returncode == (1 if last["severity"] == "CRITICAL" else 0), done.stderr
    return last["message"]


@pytest.mark.slow
def test_each_target_checks_its_own_settings_and_no_others():
    wrong = {"RUVECTOR_DEADLINE_S": "soon", "RUVECTOR_KEYS": "short"}
    assert started("handler", wrong).startswith("the function does not start: RUVECTOR_DEADLINE_S: ")
    assert started("store", wrong).startswith("the function does not start: RUVECTOR_KEYS: ")
    assert started("handler", {"RUVECTOR_KEYS": "short"}) == "capture function ready"
    assert started("store", {"RUVECTOR_DEADLINE_S": "soon"}) == "store ready"


@pytest.mark.slow
def test_the_capture_function_loads_nothing_of_the_stores_server_nor_of_the_read_side():
    script = (
        "import functions_framework, json, sys\n"
        "functions_framework.create_app('handler', 'main.py')\n"
        "ours = ('store', 'agent.hosted_store', 'agent.edge.hosted', 'agent.recall', 'agent.cli', 'agent.sdk')\n"
        "ours += ('sqlalchemy', 'alembic', 'psycopg', 'prometheus_client')\n"
        "print(json.dumps([name for name in sys.modules if name.startswith(ours)]))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=REPOSITORY, capture_output=True, text=True, timeout=60, check=True
    )
    assert json.loads(done.stdout) == []


def test_a_function_without_a_host_answers_for_the_store(tmp_path):
    function = store_function({"RUVECTOR_STORE": f"sqlite:///{tmp_path / 's.db'}"})
    application = flask.Flask("any")
    with application.test_request_context("/health"):
        answer = function(flask.request._get_current_object())
    assert (answer.status_code, answer.get_json()) == (200, {"status": "ok", "kind": "embedded"})


def test_a_store_opens_nothing_before_its_first_request(tmp_path):
    served = store_app({"RUVECTOR_STORE": f"sqlite:///{tmp_path / 's.db'}"})
    assert served.kind == "embedded"
    served.close()
    assert list(tmp_path.iterdir()) == []


def test_the_host_runs_the_store_under_its_target(hosted):
    written = hosted.post("/v1/decision-events", json=EVENT, environ_base=HERE)
    assert (written.status_code, written.get_json()["status"]) == (201, "accepted")
    feed = hosted.get("/events/decisions", environ_base=HERE)
    assert [event["runId"] for event in feed.get_json()["events"]] == ["r-1"]
    assert hosted.get("/v1/stats", environ_base={"REMOTE_ADDR": "192.0.2.1"}).status_code == 403
    head = hosted.head("/v1/decision-events/r-1", environ_base=HERE)
    assert (head.status_code, head.data) == (200, b"")


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/robots.txt", 404),
        ("GET", "/favicon.ico", 404),
        ("GET", "/", 404),
        ("GET", "//v1//stats", 404),
        ("PUT", "/v1/decision-events", 405),
        ("PROPFIND", "/health", 405),
        ("OPTIONS", "/v1/stats", 405),
        ("GET", "/v1/decision-events/none", 404),
        ("POST", "/v1/decision-events", 400),
    ],
)
def test_whatever_the_host_would_answer_by_itself_the_store_answers(hosted, method, path, status):
    answer = hosted.open(path, method=method, environ_base=HERE)
    assert (answer.status_code, answer.content_type) == (status, "application/json")
    assert set(answer.get_json()) == {"error", "message"}


def test_what_is_no_json_reaches_its_reader_through_the_host(hosted):
    assert hosted.get("/metrics", environ_base=HERE).content_type.startswith("text/plain")
    page = {"Origin": "https://pages.example", "Access-Control-Request-Method": "DELETE"}
    preflight = hosted.options("/v1/sessions/x", headers=page)
    assert (preflight.status_code, preflight.headers["Access-Control-Allow-Origin"]) == (204, page["Origin"])


def test_a_body_that_is_too_large_is_refused_before_it_is_read(hosted):
    class Unread(io.RawIOBase):
        def readinto(self, buffer):
            raise AssertionError("the body was read")

    environ = create_environ("/v1/decision-events", method="POST", environ_base=HERE)
    environ.update({"CONTENT_LENGTH": str(2**40), "wsgi.input": Unread()})
    body, status, _ = run_wsgi_app(hosted.application, environ)
    assert status.startswith("413 ")
    assert json.loads(b"".join(body))["error"] == "payload_too_large"
