"""``store serve`` as a process: real sockets, real signals, real workers."""

import json
import os
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest

from agent.cli.store.gunicorn_server import GRACEFUL_TIMEOUT_S
from tests.cli.store.server import StoreServer, store_server
from tests.cli.streams import EXAMPLE, PREFIX, process_environment, run_process
from tests.conftest import REPOSITORY

KEY = "key-of-acme-0123456789"
READER = "key-of-a-reader-0123456789"
EVENT = {"type": "note", "runId": "r-1", "timestamp": "2026-03-02T08:15:00Z", "payload": {"text": "hello"}}

pytestmark = pytest.mark.slow


def refused(folder: Path, *arguments: str, **variables: str) -> str:
    """What a server that does not start says; it is exit code 2 and one line."""
    done = run_process(folder, "store", "serve", *arguments, **variables)
    assert (done.code, done.out) == (2, b"")
    assert done.err.count("\n") == 1
    return done.err


def begun(server: StoreServer, body: bytes) -> socket.socket:
    """A connection on which a write has begun and stops before the last byte of its body."""
    connection = socket.create_connection(("127.0.0.1", server.port), timeout=30)
    head = f"POST /v1/decision-events HTTP/1.1\r\nHost: s\r\nContent-Length: {len(body)}\r\n\r\n"
    connection.sendall(head.encode() + body[:-1])
    # Connections are accepted in their order: when another is answered, this one is being read.
    assert httpx.get(f"{server.url}/health", timeout=60).status_code == 200
    return connection


def answer(connection: socket.socket) -> bytes:
    received = b""
    while piece := connection.recv(65536):
        received += piece
    return received


def test_it_says_where_it_is_what_it_is_and_who_may_call_in_one_line_without_a_key(tmp_path):
    with store_server(tmp_path, RUVECTOR_KEYS=f"acme:{KEY},acme:{READER}:read") as server:
        done = run_process(
            tmp_path,
            *(*PREFIX, "capture", "--input", str(EXAMPLE), "--store", server.url),
            RUVECTOR_API_KEY=KEY,
        )
        assert (done.code, done.err) == (0, "")
        bearer = {"Authorization": f"Bearer {READER}"}
        assert httpx.get(f"{server.url}/v1/stats", headers=bearer, timeout=60).json()["events"] == 1
        assert httpx.post(f"{server.url}/v1/decision-events", headers=bearer, json=EVENT, timeout=60).status_code == 403
        assert httpx.get(f"{server.url}/v1/stats", timeout=60).status_code == 401
        assert server.end() == 0
    [line] = server.err.splitlines()
    assert line.startswith(f"memory-graph: store on {server.url} (embedded, ./memory-graph.db), keys: acme-")
    assert line.count("acme-") == 2
    assert "(read, write)" in line
    assert KEY not in line
    assert READER not in line
    assert (tmp_path / "memory-graph.db").exists()
    assert (tmp_path / "server.out").read_bytes() == b""


def test_without_keys_it_serves_this_host_and_says_so(tmp_path):
    with store_server(tmp_path, "--store", "own.db") as server:
        assert httpx.post(f"{server.url}/v1/decision-events", json=EVENT, timeout=60).status_code == 201
        forwarded = {"X-Forwarded-For": "192.0.2.1"}
        assert httpx.get(f"{server.url}/v1/stats", headers=forwarded, timeout=60).status_code == 403
    assert server.err.endswith(" (embedded, own.db), no keys: programs on this host alone may call it\n")
    assert (tmp_path / "own.db").exists()


@pytest.mark.parametrize("host", ["0.0.0.0", "::"])
def test_without_keys_an_address_that_others_reach_is_refused(tmp_path, host):
    assert refused(tmp_path, "--host", host).startswith("memory-graph: RUVECTOR_KEYS: is missing")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "variables", "line"),
    [
        (("--host", "no.such.name.invalid"), {}, "--host: is no address and no name that is known here"),
        (("--store", "http://127.0.0.1:1"), {}, "--store: is the address of a server"),
        (("--store", ":memory:", "--workers", "2"), {}, "--workers: must be 1 for a store in memory"),
        (("--store", "mysql://h/n"), {}, "--store, in place of RUVECTOR_STORE: must be sqlite:///PATH"),
        ((), {"RUVECTOR_KEYS": "acme:short"}, "RUVECTOR_KEYS: the 1st entry"),
        ((), {"CORS_ORIGINS": "nonsense"}, "CORS_ORIGINS: the 1st entry"),
        (("--threads", "0"), {}, "Invalid value for '--threads'"),
    ],
)
def test_a_setting_that_does_not_hold_is_named(tmp_path, arguments, variables, line):
    assert line in refused(tmp_path, "--port", "0", *arguments, **variables)
    assert list(tmp_path.iterdir()) == []


def test_a_port_that_is_taken_is_told(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        assert (
            refused(tmp_path, "--port", port)
            == f"memory-graph: --port: cannot listen on {port}: Address already in use\n"
        )


def test_a_database_that_cannot_be_opened_is_1(tmp_path):
    (tmp_path / "text.db").write_text("not a database, and longer than a header is")
    done = run_process(tmp_path, "store", "serve", "--port", "0", "--store", "text.db")
    assert (done.code, done.out) == (1, b"")
    assert done.err == "memory-graph: the embedded store text.db cannot be opened: it is a file of another kind\n"


@pytest.mark.parametrize(("how", "code"), [(signal.SIGTERM, 0), (signal.SIGINT, 130)])
@pytest.mark.parametrize("whom", ["the server", "all its processes"])
def test_a_request_in_flight_is_answered_before_it_ends(tmp_path, how, code, whom):
    body = json.dumps(EVENT).encode()
    with store_server(tmp_path, "--workers", "2") as server, begun(server, body) as connection:
        # A terminal's Ctrl-C and some supervisors signal the workers too.
        (os.kill if whom == "the server" else os.killpg)(server.process.pid, how)
        # Long enough for the signal to arrive; were it not, the test would only be the easier.
        time.sleep(0.3)
        connection.sendall(body[-1:])
        head, _, content = answer(connection).partition(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 201 ")
        assert json.loads(content)["status"] == "accepted"
        assert server.process.wait(30) == code
    assert len(server.err.splitlines()) == (1 if code == 0 else 2)


def test_a_request_that_does_not_end_does_not_keep_it(tmp_path):
    # What the command line runs, with less patience than its half a minute.
    script = """
import sys
from agent.bootstrap import store_app
from agent.cli.store.gunicorn_server import Serving, serve
from agent.cli.store.listening import address_of, listening_socket
bound = listening_socket("127.0.0.1", 0, keyless=True)
url = address_of(bound)
sys.exit(serve(Serving(bound, 2, 1, lambda: store_app({}), lambda: print(url, flush=True), grace_s=1)))
"""
    with subprocess.Popen(
        [sys.executable, "-c", script],
        cwd=tmp_path,
        env=process_environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        server = StoreServer(process, tmp_path / "none", process.stdout.readline().decode().strip())
        with begun(server, b"{}"):
            assert server.end() == 0
    assert GRACEFUL_TIMEOUT_S == 30


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT, signal.SIGQUIT])
def test_a_signal_that_comes_while_its_workers_start_ends_it_at_once(tmp_path, how):
    with store_server(tmp_path, "--workers", "3") as server:
        server.process.send_signal(how)
        # A worker that missed it would be waited for.
        server.process.wait(GRACEFUL_TIMEOUT_S - 5)


def test_ctrl_c_is_130_and_one_more_line(tmp_path):
    with store_server(tmp_path) as server:
        httpx.get(f"{server.url}/health", timeout=60)
        assert server.end(signal.SIGINT) == 130
    assert server.err.splitlines()[1:] == [
        "memory-graph: interrupted: the server has ended; what was acknowledged is stored"
    ]


def test_two_workers_on_one_file_count_every_event_once(tmp_path):
    with store_server(tmp_path, "--workers", "2") as server:
        for number in range(40):
            # A connection each, so that either worker takes its share.
            event = {**EVENT, "runId": f"r-{number}", "payload": {"n": number}}
            assert httpx.post(f"{server.url}/v1/decision-events", json=event, timeout=60).status_code == 201
        assert len(server.workers()) == 2
        assert httpx.get(f"{server.url}/v1/stats", timeout=60).json()["events"] == 40


def test_a_worker_that_dies_is_replaced(tmp_path):
    with store_server(tmp_path) as server:
        httpx.get(f"{server.url}/health", timeout=60)
        [worker] = server.workers()
        os.kill(worker, signal.SIGKILL)
        # The socket stays open meanwhile: the request waits for the next worker.
        assert httpx.post(f"{server.url}/v1/decision-events", json=EVENT, timeout=30).status_code == 201
        assert worker not in server.workers()
        lines = [json.loads(line) for line in server.err.splitlines()[1:]]
    assert {line["severity"] for line in lines} == {"ERROR"}


def test_what_is_no_http_is_answered_as_json_without_a_word_of_it(tmp_path):
    with store_server(tmp_path) as server:
        with socket.create_connection(("127.0.0.1", server.port), timeout=30) as connection:
            connection.sendall(b"SECRET-71b\r\n\r\n")
            head, _, content = answer(connection).partition(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 400 ")
        assert json.loads(content)["error"] == "bad_request"
        assert b"SECRET" not in content
    assert "SECRET" not in server.err


def test_it_leaves_no_file_but_the_database(tmp_path):
    home = tmp_path / "home"
    home.mkdir()
    with store_server(
        tmp_path, HOME=str(home), XDG_RUNTIME_DIR=str(home), GUNICORN_CMD_ARGS="--bind 0.0.0.0:1"
    ) as server:
        assert httpx.post(f"{server.url}/v1/decision-events", json=EVENT, timeout=60).status_code == 201
        assert list(home.iterdir()) == []
        assert server.end() == 0
    left = {path.name for path in tmp_path.iterdir()} - {"home", "server.err", "server.out"}
    assert left == {"memory-graph.db"}


def test_the_database_is_the_one_that_captures_from_here_go_to(tmp_path):
    with store_server(tmp_path, RUVECTOR_SERVICE_URL="embedded:mine.db"):
        assert (tmp_path / "mine.db").exists()


def test_what_it_imports_stands_in_no_command_that_only_says_help(tmp_path):
    script = (
        "import sys\nfrom agent.cli.app import main\nmain(['store', 'serve', '--help'])\n"
        "loaded = {name.partition('.')[0] for name in sys.modules}\n"
        "assert not loaded & {'gunicorn', 'store', 'httpx', 'rich', 'orjson'}, loaded\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=REPOSITORY, capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_what_waited_longer_than_its_caller_is_not_done_and_a_caller_who_reads_on_is_answered(tmp_path):
    event = json.dumps(EVENT).encode()

    def sent(ref: str) -> socket.socket:
        connection = socket.create_connection(("127.0.0.1", server.port), timeout=30)
        body = event.replace(b"r-1", ref.encode())
        head = f"POST /v1/decision-events HTTP/1.1\r\nHost: s\r\nContent-Length: {len(body)}\r\n\r\n"
        connection.sendall(head.encode() + body)
        return connection

    with store_server(tmp_path, "--threads", "1") as server:
        assert httpx.post(f"{server.url}/v1/decision-events", content=event, timeout=60).status_code == 201
        prompt = sent("r-half-closed")
        prompt.shutdown(socket.SHUT_WR)
        assert b"201" in answer(prompt).split(b"\r\n")[0]
        held = sqlite3.connect(next(tmp_path.glob("*.db")), isolation_level=None)
        held.execute("BEGIN IMMEDIATE")
        first, waiting = sent("r-first"), sent("r-waits")
        sent("r-gone").close()
        time.sleep(2)
        held.execute("ROLLBACK")
        held.close()
        assert {connection.recv(12) for connection in (first, waiting)} == {b"HTTP/1.1 201"}
        page = httpx.get(f"{server.url}/events/decisions", timeout=60).json()
        assert [found["runId"] for found in page["events"]] == ["r-1", "r-half-closed", "r-first", "r-waits"]
        for connection in (prompt, first, waiting):
            connection.close()
