"""A function host in a process of its own, and a store that does what a test tells it to."""

from __future__ import annotations

import itertools
import json
import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx

from tests.conftest import REPOSITORY
from tests.leak_watch import WATCH
from tests.published import check_event

START_TIMEOUT_S = 60
# Below what the kernel hands out by itself (ip_local_port_range of Linux); each xdist worker has ports of its own, and
# runs beside each other on one machine do not begin with the same one.
_PORTS = range(
    20_000 + int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")),
    32_768,
    int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1")),
)
_ports = itertools.cycle(random.SystemRandom().sample(_PORTS, len(_PORTS)))


def free_port() -> int:
    """A port of the loopback interface that nobody listens on now, nor is given before it is used.

    One that the kernel chose could be another socket's of this machine by the time that a server is to listen on it.
    """
    for port in itertools.islice(_ports, len(_PORTS)):
        with socket.socket() as probe, suppress(OSError):
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(("127.0.0.1", port))
            return port
    raise RuntimeError("no port of the loopback interface is free")


@dataclass
class FunctionHost:
    """A running function: its process, its address, and what it wrote to its standard error."""

    process: subprocess.Popen[bytes]
    port: int
    log_path: Path

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def log(self) -> str:
        return self.log_path.read_text(errors="replace")

    def log_lines(self) -> list[dict[str, Any]]:
        """The JSON log lines written so far."""
        return [json.loads(line) for line in self.log.splitlines() if line.startswith("{")]

    def workers(self) -> list[int]:
        """Process ids of the host's workers."""
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text()
        return [int(pid) for pid in children.split()]

    def kill(self) -> None:
        """End all of it at once, as a crash would: nothing is flushed, nobody is asked."""
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait(10)


@contextmanager
def function_host(
    folder: Path,
    *,
    store: str,
    target: str = "handler",
    source: Path = REPOSITORY / "main.py",
    python: str = sys.executable,
    **env: str,
) -> Iterator[FunctionHost]:
    """Run ``target`` under the function host until the block ends; ``folder`` is where it runs and logs."""
    port = free_port()
    log_path = folder / f"host-{port}.log"
    environ = {
        **{
            name: value for name, value in os.environ.items() if not name.startswith(("RUVECTOR", "OTEL", "LLM_", "K_"))
        },
        "RUVECTOR_SERVICE_URL": store,
        # All that it tells has been sent when it answers, on a busy machine too; who tests the bound gives another.
        "TELEMETRY_BUDGET_MS": "5000",
        **env,
    }
    command = [
        python,
        "-m",
        "functions_framework",
        "--target",
        target,
        "--source",
        str(source),
        "--host",
        "127.0.0.1",
        "--port",
        str(port),
    ]
    with log_path.open("wb") as log:
        process = subprocess.Popen(command, cwd=folder, env=environ, stdout=log, stderr=log, start_new_session=True)
    host = FunctionHost(process, port, log_path)
    WATCH.follow(log_path)
    try:
        _wait_until_listening(host)
        yield host
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGTERM)
            try:
                process.wait(15)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait(10)
        WATCH.leave(log_path)


def _wait_until_listening(host: FunctionHost) -> None:
    deadline = time.monotonic() + START_TIMEOUT_S
    while time.monotonic() < deadline:
        if host.process.poll() is not None:
            raise RuntimeError(f"the function host ended with {host.process.returncode}:\n{host.log}")
        try:
            # /openapi.json needs the worker, and no store.
            if httpx.get(f"{host.url}/openapi.json", timeout=5).status_code == 200:
                return
        except httpx.TransportError:
            threading.Event().wait(0.02)
    raise RuntimeError(f"the function host did not start in {START_TIMEOUT_S} s:\n{host.log}")


@dataclass
class Written:
    """One write that a stub store received."""

    path: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def envelope(self) -> dict[str, Any]:
        envelope: dict[str, Any] = json.loads(self.body)
        return envelope


@dataclass
class Reply:
    """What a stub store answers: a status, a body and headers."""

    status: int = 201
    body: bytes | None = None
    headers: Mapping[str, str] = field(default_factory=dict)


class StubStore:
    """A store that acknowledges every write as the deployed service does, or answers what ``reply`` says."""

    def __init__(self) -> None:
        self.writes: list[Written] = []
        self.reply: Callable[[int], Reply] = lambda _count: Reply()
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    def close(self) -> None:
        for write in self.writes:
            check_event(write.envelope["payload"])
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(5)

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        stub = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                self._send(Reply(200, b'{"status":"ok"}'))

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                with stub._lock:
                    stub.writes.append(Written(self.path, dict(self.headers), body))
                    reply = stub.reply(len(stub.writes))
                if reply.body is None:
                    reply = Reply(
                        reply.status,
                        json.dumps({"status": "accepted", "eventId": f"e-{len(stub.writes)}"}).encode(),
                        reply.headers,
                    )
                self._send(reply)

            def _send(self, reply: Reply) -> None:
                self.send_response(reply.status)
                for name, value in reply.headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(reply.body or b"")))
                self.end_headers()
                self.wfile.write(reply.body or b"")

            def log_message(self, *args: Any) -> None:
                """Say nothing: the tests read ``writes``."""

        return Handler


@contextmanager
def stub_store() -> Iterator[StubStore]:
    """A stub store for the length of a block."""
    store = StubStore()
    try:
        yield store
    finally:
        store.close()
