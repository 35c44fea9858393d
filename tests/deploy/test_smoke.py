"""The smoke test of a deployment: what it says where something is wrong (where all is well: test_as_deployed.py)."""

from __future__ import annotations

import json
import os
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import REPOSITORY
from tests.live.host import free_port, function_host

READ, WRITE = "r" * 24, "w" * 24
KEY = "caller-key-0123456789"


def smoke(*addresses: str, **variables: str) -> tuple[int, list[str]]:
    """The exit code of the script, and what it printed."""
    done = subprocess.run(
        ["sh", "deploy/smoke_test.sh", *addresses],
        cwd=REPOSITORY,
        env={"PATH": os.environ["PATH"], **variables},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, (done.stdout + done.stderr).splitlines()


def said(lines: list[str]) -> dict[str, str]:
    """What was said of each check: ok, FAIL or note."""
    return {line[6:].split(":")[0]: line[:6].strip() for line in lines}


@contextmanager
def answering(respond: dict[str, tuple[int, dict[str, str], Any]]) -> Iterator[tuple[str, list[dict[str, str]]]]:
    """A server that gives the same answer to each method, and the headers that it was sent.

    A text is answered as it is, anything else as JSON; ``{authorization}`` in a header is what the caller sent.
    """
    seen: list[dict[str, str]] = []

    class Handler(BaseHTTPRequestHandler):
        def answer(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            seen.append(dict(self.headers))
            status, headers, document = respond[self.command]
            body = document.encode() if isinstance(document, str) else json.dumps(document).encode()
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value.format(**{"authorization": "", **self.lower()}))
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def lower(self) -> dict[str, str]:
            return {name.lower(): value for name, value in self.headers.items()}

        def do_GET(self) -> None:
            self.answer()

        def do_POST(self) -> None:
            self.answer()

        def do_DELETE(self) -> None:
            self.answer()

        def log_message(self, *args: Any) -> None:
            """Say nothing: the tests read ``seen``."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", seen
    finally:
        server.shutdown()
        server.server_close()
        thread.join(5)


def test_nobody_there_fails_every_check_and_says_why() -> None:
    code, lines = smoke(f"http://127.0.0.1:{free_port()}")
    assert code == 1
    assert set(said(lines).items()) >= {
        ("health", "FAIL"),
        ("capture", "FAIL"),
        ("duplicate", "FAIL"),
        ("bad input", "FAIL"),
    }
    assert "no answer" in lines[0]


SOMEBODY = "0e9d8c7b-6a54-4321-9fed-cba987654321"
HEALTH = {"status": "ok", "agent_id": "conversation-memory-agent"}
CAPTURED = {"success": True, "output": {"session_id": SOMEBODY}, "receipt": {"duplicate": False}}
TURNS = "Smoke test: is anybody there? Smoke test: yes."
PAGE = "<!doctype html><html><title>Sign in</title></html>"


@pytest.mark.parametrize(
    ("read", "write", "passed"),
    [
        pytest.param((200, {}, PAGE), (200, {}, PAGE), set(), id="a page for everything"),
        pytest.param((404, {}, PAGE), (404, {}, PAGE), set(), id="a page that says 404"),
        pytest.param((302, {"Location": "/login"}, PAGE), (302, {"Location": "/login"}, PAGE), set(), id="a login"),
        pytest.param((200, {}, {}), (200, {}, {}), set(), id="200 for everything"),
        pytest.param((200, {}, HEALTH), (400, {}, {}), {"health"}, id="400 for every capture"),
        pytest.param(
            (200, {}, HEALTH), (200, {"X-Execution-Ref": SOMEBODY}, CAPTURED), {"health"}, id="somebody else's session"
        ),
        pytest.param(
            (200, {}, TURNS),
            (200, {"X-Execution-Ref": SOMEBODY, "Idempotency-Replayed": "true"}, CAPTURED),
            {"duplicate"},
            id="what an earlier run was answered",
        ),
    ],
)
def test_one_that_only_answers_does_not_pass(
    read: tuple[int, dict[str, str], Any], write: tuple[int, dict[str, str], Any], passed: set[str]
) -> None:
    with answering({"GET": read, "POST": write, "DELETE": (200, {}, {})}) as (url, _):
        code, lines = smoke(url, url, SMOKE_STORE_URL=url, SMOKE_STORE_KEY=READ)
    assert code == 1
    assert said(lines) == {
        name: "ok" if name in passed else "FAIL"
        for name in ("health", "capture", "duplicate", "bad input", "read back")
    }


def test_a_store_that_only_says_yes_has_erased_nothing(tmp_path: Path) -> None:
    """The capture is a real one, its answers to the clean-up are not."""
    with (
        function_host(tmp_path, store=f"embedded:{tmp_path / 'memory.db'}") as capture,
        answering({"GET": (200, {}, TURNS), "DELETE": (200, {}, {})}) as (store, _),
    ):
        code, lines = smoke(capture.url, SMOKE_STORE_URL=store, SMOKE_STORE_KEY=READ)
    assert code == 1
    assert said(lines) == {
        "health": "ok", "capture": "ok", "duplicate": "ok", "bad input": "ok", "read back": "FAIL", "clean up": "FAIL",
    }  # fmt: skip


def test_one_that_sends_the_token_back_does_not_get_it_printed() -> None:
    echo = {"X-Execution-Ref": "{authorization}", "Idempotency-Replayed": "{authorization}"}
    with answering(dict.fromkeys(("GET", "POST"), (200, echo, CAPTURED))) as (url, seen):
        code, lines = smoke(url, SMOKE_TOKEN=KEY)
    assert seen[0]["Authorization"] == f"Bearer {KEY}"
    assert code == 1
    assert KEY not in "".join(lines)


def test_a_caller_who_is_not_let_in_is_told_what_to_look_at() -> None:
    with answering(dict.fromkeys(("GET", "POST"), (403, {}, {"error": "Forbidden"}))) as (url, _):
        code, lines = smoke(url)
    assert code == 1
    assert "roles/run.invoker" in lines[0]


def test_the_token_goes_with_each_request_and_stands_in_no_argument(tmp_path: Path) -> None:
    spy = tmp_path / "curl"
    spy.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" >>{tmp_path}/arguments\nexec {curl()} "$@"\n')
    spy.chmod(0o755)
    with answering(dict.fromkeys(("GET", "POST"), (200, {}, {}))) as (url, seen):
        smoke(url, url, SMOKE_TOKEN='a-token-of"some\\body', PATH=f"{tmp_path}:{os.environ['PATH']}")
    assert len(seen) == 5
    assert {headers.get("Authorization") for headers in seen} == {'Bearer a-token-of"some\\body'}
    assert "a-token-of" not in (tmp_path / "arguments").read_text()


def curl() -> str:
    """Where curl is."""
    found = subprocess.run(["sh", "-c", "command -v curl"], capture_output=True, text=True, check=True)
    return found.stdout.strip()


@pytest.mark.slow
def test_with_a_key_that_may_only_read_the_session_is_read_from_the_store_and_stays(tmp_path: Path) -> None:
    keys = {"RUVECTOR_STORE": f"sqlite:///{tmp_path / 'memory.db'}", "RUVECTOR_KEYS": f"t:{WRITE}:write,t:{READ}:read"}
    with (
        function_host(tmp_path, store="embedded:unused.db", target="store", **keys) as store,
        function_host(tmp_path, store=store.url, RUVECTOR_API_KEY=WRITE, CAPTURE_API_KEYS=KEY) as capture,
    ):
        environ = {"SMOKE_TOKEN": KEY, "SMOKE_STORE_URL": store.url + "/", "SMOKE_STORE_KEY": READ}
        code, lines = smoke(capture.url + "/", **environ)
        assert (code, set(said(lines).values())) == (0, {"ok", "note"}), lines
        assert said(lines)["read back"] == "ok"
        assert "may not erase" in lines[-1]
        code, lines = smoke(capture.url, SMOKE_TOKEN=KEY)
        assert (code, said(lines)["read back"]) == (0, "note")
        store.kill()
        code, lines = smoke(capture.url, SMOKE_TOKEN=KEY)
    assert code == 1
    assert "cannot reach its store" in lines[0]
    assert said(lines)["capture"] == "FAIL"
    assert said(lines)["bad input"] == "ok"


@pytest.mark.slow
def test_a_wrong_token_is_let_in_nowhere_and_printed_nowhere(tmp_path: Path) -> None:
    with function_host(tmp_path, store=f"embedded:{tmp_path / 'memory.db'}", CAPTURE_API_KEYS=KEY) as capture:
        code, lines = smoke(capture.url, SMOKE_TOKEN="not-" + KEY)
    assert code == 1
    assert [line for line in lines if "401" in line] == [
        "FAIL  capture: 401 instead of 200",
        "FAIL  duplicate: 401 instead of 200",
        "FAIL  bad input: 401 instead of 400 with path and rule",
    ]
    assert KEY not in "".join(lines)


@pytest.mark.parametrize("addresses", [(), ("http://a", "http://b", "http://c")])
def test_called_wrongly_it_says_how(addresses: tuple[str, ...]) -> None:
    assert smoke(*addresses) == (2, ["usage: smoke_test.sh URL [RECALL_URL]"])


@pytest.mark.parametrize(
    ("address", "variables", "said"),
    [
        ("capture.example", {}, "URL is no address: http://... or https://... is one"),
        ("--output", {}, "URL is no address: http://... or https://... is one"),
        ("http://127.0.0.1:1", {"SMOKE_STORE_URL": "file:///x"}, "SMOKE_STORE_URL is no address"),
        ("http://127.0.0.1:1", {"SMOKE_TOKEN": f"{KEY}\nurl = x"}, "SMOKE_TOKEN has a blank or a line break in it"),
        ("http://capture.example", {"SMOKE_TOKEN": KEY}, "URL has no TLS (https://), and SMOKE_TOKEN would"),
        ("http://127.0.0.1@capture.example", {"SMOKE_TOKEN": KEY}, "URL has no TLS"),
        ("http://localhost.example/", {"SMOKE_TOKEN": KEY}, "URL has no TLS"),
        (
            "http://127.0.0.1:1",
            {"SMOKE_STORE_URL": "http://10.8.0.9", "SMOKE_STORE_KEY": KEY},
            "SMOKE_STORE_URL has no TLS",
        ),
    ],
)
def test_an_address_or_a_token_that_cannot_be_meant_is_refused_before_anything_is_sent(
    address: str, variables: dict[str, str], said: str
) -> None:
    code, (line,) = smoke(address, **variables)
    assert code == 2
    assert line.startswith(f"smoke_test.sh: {said}")
    assert KEY not in line
