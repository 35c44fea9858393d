"""Callers at the real host: 401, a limit whose Retry-After holds, and keys that are changed while requests run."""

from __future__ import annotations

import threading
import time
import uuid
from collections import Counter

import httpx
import pytest

from tests.live.host import function_host
from tests.live.payloads import base
from tests.published import check_answer

OLD, NEW, OTHER = "the-old-key-0123456789", "the-new-key-0123456789", "another-key-0123456789"


def body():
    """A capture of a session of its own."""
    payload = base()
    payload["session_id"] = str(uuid.uuid4())
    return payload


def by(key):
    return {"Authorization": f"Bearer {key}"}


def put(path, text):
    """A new file in the place of the old one, at once."""
    beside = path.with_suffix(".new")
    beside.write_text(text)
    beside.replace(path)


def typed(answer, status, code):
    error = answer.json()["error"]
    check_answer(answer.json())
    assert (answer.status_code, error["error_code"]) == (status, code)
    return error


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "keys"
    path.write_text(f"{OLD}\n{OTHER}\n")
    return path


def until(condition):
    """Wait for what comes within a second or two; an assertion where it does not come at all."""
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_the_keys_of_a_file_are_changed_while_requests_run_and_no_valid_one_is_refused(tmp_path, path):
    database = f"embedded:{tmp_path / 'm.db'}"
    with function_host(tmp_path, store=database, CAPTURE_API_KEYS_FILE=str(path)) as function:
        answers: Counter[int] = Counter()
        done = threading.Event()

        def call():
            with httpx.Client(base_url=function.url, timeout=60) as client:
                while not done.is_set():
                    answers[client.post("/", json=body(), headers=by(OTHER)).status_code] += 1

        callers = [threading.Thread(target=call) for _ in range(4)]
        for each in callers:
            each.start()
        with httpx.Client(base_url=function.url, timeout=60) as client:

            def status(key):
                return client.post("/", json=body(), headers=by(key)).status_code

            assert [status(OLD), status(NEW), client.get("/health").status_code] == [200, 401, 200]
            # First both, then the new one alone: the callers move in between.
            put(path, f"{NEW}\n{OLD}\n{OTHER}\n")
            until(lambda: status(NEW) == 200)
            assert status(OLD) == 200
            put(path, f"{NEW},{OTHER}")
            until(lambda: status(OLD) == 401)
            # And what goes wrong with a file takes nobody's key away, and lets nobody in.
            for text in ("", "short", f"{NEW}\n{NEW}"):
                put(path, text)
                time.sleep(1.1)
                assert [status(NEW), status(OLD)] == [200, 401]
            typed(client.post("/", json=body()), 401, "VALIDATION_ERROR")
        done.set()
        for each in callers:
            each.join(60)
        assert set(answers) == {200}
        told = [line for line in function.log_lines() if line["message"].startswith("callers' keys")]
        assert [line["severity"] for line in told] == ["INFO", "INFO", "WARNING", "WARNING", "WARNING"]
        assert [line.get("entry") for line in told[2:]] == [None, 1, 2]
        assert {line["variable"] for line in told} == {"CAPTURE_API_KEYS_FILE"}
        assert not any(key in function.log for key in (OLD, NEW, OTHER, "short"))


def test_a_request_too_many_is_429_and_who_waits_as_told_is_let_in(tmp_path, path):
    settings = {"CAPTURE_API_KEYS_FILE": str(path), "RATE_LIMIT": "5/2 seconds;1000/hour"}
    with (
        function_host(tmp_path, store=f"embedded:{tmp_path / 'm.db'}", **settings) as function,
        httpx.Client(base_url=function.url, timeout=60) as client,
    ):
        assert {
            client.post("/", content=b"{", headers=by("unknown-key-0123456789")).status_code for _ in range(20)
        } == {401}
        answers = [client.post("/", content=b"{", headers=by(OLD)) for _ in range(6)]
        assert [answer.status_code for answer in answers] == [400] * 5 + [429]
        error = typed(answers[5], 429, "RATE_LIMIT_EXCEEDED")
        assert error["details"] == {"limit": "rate"}
        wait_s = int(answers[5].headers["Retry-After"])
        assert wait_s in (1, 2)
        # Another key has its own, and health has none.
        assert client.post("/", json=body(), headers=by(OTHER)).status_code == 200
        assert {client.get("/health").status_code for _ in range(9)} == {200}
        time.sleep(wait_s)
        assert client.post("/", json=body(), headers=by(OLD)).status_code == 200
        refused = [line for line in function.log_lines() if line.get("error_code") == "RATE_LIMIT_EXCEEDED"]
        assert [(line["status"], line["limit"]) for line in refused] == [(429, "rate")]


def test_recall_has_its_own_file_and_limit(tmp_path, path):
    settings = {"RECALL_API_KEYS_FILE": str(path), "RATE_LIMIT": "3/minute"}
    with (
        function_host(tmp_path, store=f"embedded:{tmp_path / 'm.db'}", target="recall", **settings) as function,
        httpx.Client(base_url=function.url, timeout=60) as client,
    ):
        answers = [client.get("/api/conversations", headers=by(OLD)) for _ in range(4)]
        assert [answer.status_code for answer in answers] == [200, 200, 200, 429]
        typed(answers[3], 429, "RATE_LIMIT_EXCEEDED")
        assert 1 <= int(answers[3].headers["Retry-After"]) <= 60
        typed(client.get("/api/conversations"), 401, "VALIDATION_ERROR")
        assert client.get("/openapi.json").status_code == 200


@pytest.mark.parametrize(
    ("target", "settings", "variable"),
    [
        ("handler", {"CAPTURE_API_KEYS_FILE": "/nowhere/keys"}, "CAPTURE_API_KEYS_FILE"),
        ("recall", {"RECALL_API_KEYS_FILE": "/nowhere/keys"}, "RECALL_API_KEYS_FILE"),
        ("handler", {"RATE_LIMIT": "CANARY"}, "RATE_LIMIT"),
        ("capture_event", {"RATE_LIMIT": "0/second"}, "RATE_LIMIT"),
        ("capture_event", {"CAPTURE_API_KEYS_FILE": "/nowhere/keys"}, "CAPTURE_API_KEYS_FILE"),
    ],
)
def test_a_setting_that_does_not_hold_stops_the_start_and_is_named(tmp_path, target, settings, variable):
    with (
        pytest.raises(RuntimeError) as ended,
        function_host(tmp_path, store="embedded::memory:", target=target, **settings),
    ):
        pass
    assert f'"message":"the function does not start: {variable}: ' in str(ended.value)
    assert "CANARY" not in str(ended.value)
    assert "/nowhere" not in str(ended.value)
