"""``make run``'s demo as a process, on a free port, in a folder of its own."""

from __future__ import annotations

import http.client
import json
import re
import shlex
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from tests.cli.streams import process_environment
from tests.conftest import REPOSITORY
from tests.live.host import free_port

RUN = REPOSITORY / "examples" / "run.py"
BOOKING = REPOSITORY / "examples" / "data" / "tau-airline-booking.json"

pytestmark = pytest.mark.slow


def demo(folder: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run the demo in ``folder`` to its end."""
    return subprocess.run(
        [sys.executable, str(RUN), *arguments],
        cwd=folder,
        env=process_environment(**variables),
        capture_output=True,
        encoding="utf-8",
        timeout=90,
        check=False,
    )


def request(port: int, method: str, path: str, body: bytes | None = None) -> tuple[int, Any]:
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=30)) as connection:
        connection.request(method, path, body)
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())


def is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def test_once_shows_the_graph_its_event_and_a_retry_and_a_second_run_says_that_it_is_one(tmp_path: Path) -> None:
    port = free_port()
    first = demo(tmp_path, "--once", PORT=str(port))
    assert (first.returncode, first.stderr) == (0, "")
    assert first.stdout.startswith(
        f"Starting the capture function on http://127.0.0.1:{port}, its store in ./memory-graph.db"
    )
    messages = json.loads(BOOKING.read_bytes())["messages"]
    calls = sum(len(message.get("tool_calls") or ()) for message in messages)
    assert f"{len(messages)} messages, {calls} tool calls" in first.stdout
    assert len(re.findall(r"^[│├└ ─]+\[\d+\] +(?:system|user|assistant|tool)", first.stdout, re.MULTILINE)) == len(
        messages
    )
    assert first.stdout.count("── calls ") == calls
    assert '└── calls get_user_details(user_id="mia_li_3668")  (result in [7])' in first.stdout
    assert "captured       one new event" in first.stdout
    event = re.search(r"^event id +(\S+)$", first.stdout, re.MULTILINE)
    assert event is not None
    retried = f"Posted again, as a client that retries would: duplicate, event {event[1]}, 24 turns known."
    assert retried in first.stdout
    assert "\x1b" not in first.stdout
    assert "held this conversation already" not in first.stdout

    second = demo(tmp_path, "--once", PORT=str(port))
    assert (second.returncode, second.stderr) == (0, "")
    assert "captured       duplicate: nothing was added" in second.stdout
    assert "./memory-graph.db held this conversation already, from an earlier run: nothing was added." in second.stdout
    assert retried in second.stdout
    assert is_free(port)


@contextmanager
def serving(folder: Path, **variables: str) -> Iterator[tuple[subprocess.Popen[str], int, list[str]]]:
    """A demo that serves: its process, its port, and what it printed until then."""
    port = free_port()
    process = subprocess.Popen(
        [sys.executable, str(RUN)],
        cwd=folder,
        env=process_environment(PORT=str(port), PYTHONIOENCODING="cp1252", **variables),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="cp1252",
    )
    assert process.stdout is not None
    lines: list[str] = []
    try:
        for line in process.stdout:
            lines.append(line.rstrip("\n"))
            if line.startswith("Serving on"):
                break
        yield process, port, lines
    finally:
        process.kill()
        process.communicate()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_while_it_serves_ends_it_and_its_host_with_0(number: signal.Signals, tmp_path: Path) -> None:
    with serving(tmp_path) as (process, port, lines):
        assert lines[-1] == f"Serving on http://127.0.0.1:{port} until Ctrl-C; its log follows."
        assert request(port, "GET", "/health")[0] == 200
        process.send_signal(number)
        out, err = process.communicate(timeout=30)
        assert (process.returncode, out) == (0, "")
        assert err.endswith("\nStopped. What was captured stays in ./memory-graph.db.\n")
        assert "Traceback" not in err
        assert is_free(port)


def test_what_it_says_to_try_next_works_as_printed_from_the_same_folder(tmp_path: Path) -> None:
    with serving(tmp_path) as (process, _, lines):
        steps = [
            line.strip() for line in lines[lines.index("Try next, in another terminal:") + 1 :] if line.startswith("  ")
        ]
        assert [shlex.split(step)[0] == "curl" for step in steps] == [True, True, False, False]
        for step in steps:
            done = subprocess.run(
                ["bash", "-c", step],
                cwd=tmp_path,
                env=process_environment(),
                capture_output=True,
                timeout=60,
                check=False,
            )
            assert done.returncode == 0, done.stderr
            assert b'"error' not in done.stdout
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=30)
    # The host's log of the capture that curl made.
    assert '"message":"capture acknowledged"' in err


def test_a_port_that_our_own_function_holds_is_said_so(tmp_path: Path) -> None:
    with serving(tmp_path) as (process, port, _):
        second = demo(tmp_path, "--once", PORT=str(port))
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=30)
    assert (second.returncode, second.stdout) == (1, "")
    taken, advice = second.stderr.splitlines()
    assert taken == (
        f"Port {port} is taken by a capture function that is running already (make run in another terminal?)."
    )
    match = re.fullmatch(r"Choose another one: PORT=(\d+) make run", advice)
    assert match is not None
    assert int(match[1]) != port


class SomebodyElse(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"<html>hello</html>")

    def log_request(self, *_: Any) -> None:
        """Say nothing."""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells which process holds a port")
def test_a_port_that_another_program_holds_is_said_with_its_process(tmp_path: Path) -> None:
    server = ThreadingHTTPServer(("127.0.0.1", 0), SomebodyElse)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        done = demo(tmp_path, "--once", PORT=str(server.server_port))
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
    assert (done.returncode, done.stdout) == (1, "")
    assert re.match(rf"Port {server.server_port} is taken by process \d+ \(.+\)\.\n", done.stderr)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("port", ["0", "65536", "80x", "-1", "\u0664"])
def test_a_port_that_is_none_is_2_with_one_line(port: str, tmp_path: Path) -> None:
    done = demo(tmp_path, PORT=port)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", "PORT must be a number from 1 to 65535.\n")


def test_a_host_that_does_not_start_is_said_with_what_it_wrote(tmp_path: Path) -> None:
    done = demo(tmp_path, "--once", PORT=str(free_port()), CAPTURE_CONTENT="nothing")
    assert done.returncode == 1
    assert done.stderr.startswith("the function host ended with exit code ")
    assert "CAPTURE_CONTENT: must be one of full, redacted, none" in done.stderr


def test_a_store_that_cannot_be_opened_is_said_and_not_waited_for_in_vain(tmp_path: Path) -> None:
    (tmp_path / "memory-graph.db").mkdir()
    done = demo(tmp_path, "--once", PORT=str(free_port()))
    assert done.returncode == 1
    assert done.stderr == "the embedded store memory-graph.db cannot be opened: Is a directory\n"


def test_a_closed_pipe_stops_the_host_too(tmp_path: Path) -> None:
    port = free_port()
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", '"$@" | head -n 2', "bash", sys.executable, str(RUN)],
        cwd=tmp_path,
        env=process_environment(PORT=str(port)),
        capture_output=True,
        timeout=90,
        check=False,
    )
    assert done.returncode == 141
    assert b"Traceback" not in done.stderr
    assert is_free(port)
