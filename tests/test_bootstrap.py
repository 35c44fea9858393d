"""The parts are put together once, at start, and a setting that does not hold ends the start in one line."""

import io
import json
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import flask
import pytest

from agent.bootstrap import Once, capture_function, capture_service_on, peak_memory_bytes, store_client
from agent.capture.service import CaptureRequest
from agent.config import Settings
from agent.observability.tracing import NoSpans
from tests.live.payloads import BASE_TEXT


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


def test_the_service_captures_without_http_in_front(tmp_path):
    settings = Settings.from_env({"RUVECTOR_SERVICE_URL": f"embedded:{tmp_path / 'm.db'}"})
    with closing(store_client(settings)) as client:
        service = capture_service_on(lambda: client)
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
