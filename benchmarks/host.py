"""The function host under measurement: ``functions-framework`` as a process of its own, started as it is deployed."""

from __future__ import annotations

import contextlib
import http.client
import os
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from benchmarks.process import keep_to, tree, tree_cpu_seconds
from benchmarks.runtime import Runtime

# What every side of a comparison runs with: a function that is deployed has eight threads and one worker.
DEPLOYED_THREADS = "8"
_POLL_S = 0.001
_START_LIMIT_S = 60.0


class FunctionHost:
    """A started host: ``started_at`` is ``time.perf_counter()`` just before its process was made."""

    def __init__(self, process: subprocess.Popen[bytes], port: int, started_at: float) -> None:
        self._process = process
        self.port = port
        self.started_at = started_at

    @property
    def worker_pid(self) -> int:
        """The process that serves: the host forks one from the process that loaded the function."""
        return tree(self._process.pid)[-1]

    @property
    def pids(self) -> list[int]:
        return tree(self._process.pid)

    def keep_to(self, cores: set[int]) -> None:
        """Let all threads of all its processes run on these cores only, as an instance with few processors does."""
        for pid in self.pids:
            keep_to(pid, cores)

    def cpu_seconds(self) -> float:
        return tree_cpu_seconds(self._process.pid)

    def request(
        self, method: str, path: str, body: bytes | None = None, headers: Mapping[str, str] | None = None
    ) -> tuple[int, bytes]:
        """One request on a connection of its own, tried again until the host listens."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        try:
            self._connect(connection)
            connection.request(method, path, body, dict(headers or {}))
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()

    def await_ready(self) -> None:
        """Return once the host listens."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port)
        self._connect(connection)
        connection.close()

    def _connect(self, connection: http.client.HTTPConnection) -> None:
        while True:
            try:
                connection.connect()
                return
            except ConnectionRefusedError:
                if self._process.poll() is not None or time.perf_counter() - self.started_at > _START_LIMIT_S:
                    raise RuntimeError(f"the host does not serve (exit code {self._process.returncode})") from None
                time.sleep(_POLL_S)


@contextlib.contextmanager
def function_host(
    runtime: Runtime, name: str, environment: Mapping[str, str] | None = None, *, target: str = "handler"
) -> Iterator[FunctionHost]:
    """Start the function ``target`` in the source folder ``name``, stop it when the block ends.

    The environment holds nothing but ``environment``, the threads of the deployment, and what a process needs to run.
    """
    port = _free_port()
    variables = {
        "PATH": os.defpath,
        "LANG": "C.UTF-8",
        "HOME": str(runtime.folder),
        "THREADS": DEPLOYED_THREADS,
        **(environment or {}),
    }
    command = [str(runtime.host_command), "--target", target, "--host", "127.0.0.1", "--port", str(port)]
    log = Path(runtime.folder / f"host-{name}.log")
    with log.open("ab") as output:
        started_at = time.perf_counter()
        process = subprocess.Popen(command, cwd=runtime.source(name), env=variables, stdout=output, stderr=output)
    try:
        yield FunctionHost(process, port, started_at)
    finally:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
