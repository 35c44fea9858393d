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
    """A server that gives the same answer to each method, and the headers that it was sent."""
    seen: list[dict[str, str]] = []

    class Handler(BaseHTTPRequestHandler):
        def answer(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            seen.append(dict(self.headers))
            status, headers, document = respond[self.command]
            body = json.dumps(document).encode()
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def do_GET(self) -> None:
            self.answer()

        def do_POST(self) -> None:
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


def test_one_that_takes_everything_and_keeps_nothing_does_not_pass() -> None:
    output = {"session_id": "5f0c7a52-1d0e-4a53-9d44-3b0f6f1c2a10"}
    captured = {"success": True, "output": output, "receipt": {"duplicate": False}}
    headers = {"X-Execution-Ref": "0e9d8c7b-6a54-4321-9fed-cba987654321"}
    with answering({"GET": (200, {}, {"status": "ok"}), "POST": (200, headers, captured)}) as (url, _):
        code, lines = smoke(url, url)
    assert code == 1
    assert said(lines) == {
        "health": "ok", "capture": "ok", "duplicate": "FAIL", "bad input": "FAIL", "read back": "FAIL",
        "clean up": "note",
    }  # fmt: skip


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
        smoke(url, url, SMOKE_TOKEN="a-token-of-somebody", PATH=f"{tmp_path}:{os.environ['PATH']}")
    assert len(seen) == 5
    assert {headers.get("Authorization") for headers in seen} == {"Bearer a-token-of-somebody"}
    assert "a-token-of-somebody" not in (tmp_path / "arguments").read_text()


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


@pytest.mark.parametrize("addresses", [(), ("http://a", "http://b", "http://c")])
def test_called_wrongly_it_says_how(addresses: tuple[str, ...]) -> None:
    assert smoke(*addresses) == (2, ["usage: smoke_test.sh URL [RECALL_URL]"])
