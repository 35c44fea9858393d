"""The real function host as a child process, on an embedded store, for the length of a block."""

from __future__ import annotations

import http.client
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Final, NamedTuple, Self, cast

from port import HOST

_START_LIMIT_S: Final = 30.0
_STOP_LIMIT_S: Final = 10.0
_POLL_S: Final = 0.05
_KEPT_LINES: Final = 100


class HostError(Exception):
    """The host did not start, or ended. ``log`` is the end of what it wrote."""

    def __init__(self, message: str, log: str) -> None:
        super().__init__(message)
        self.log = log


class Answer(NamedTuple):
    """What the host answered: the status, the JSON, and in how many seconds it says to come again, if at all."""

    status: int
    document: Any
    retry_after_s: int | None


class FunctionHost:
    """``functions-framework`` with a ``target`` of ``source``; stopped at the end of a ``with`` block."""

    def __init__(self, source: Path, port: int, environ: Mapping[str, str], *, target: str = "handler") -> None:
        self.port = port
        self._lines: deque[str] = deque(maxlen=_KEPT_LINES)
        self._forward_to: IO[str] | None = None
        command = [sys.executable, "-m", "functions_framework", "--target", target, "--source", str(source)]
        self._process = subprocess.Popen(  # noqa: S603 - this interpreter, and arguments of ours
            [*command, "--host", HOST, "--port", str(port)],
            env=dict(environ),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            errors="replace",
            # Ctrl-C on a terminal goes to a whole session: the host is to be stopped by us, in order.
            start_new_session=True,
        )
        self._output = cast("IO[str]", self._process.stdout)
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._stop()

    @property
    def url(self) -> str:
        return f"http://{HOST}:{self.port}"

    def wait_until_healthy(self) -> None:
        """Return once ``GET /health`` is 200. Raises HostError if the host ends or does not come up in time."""
        deadline = time.monotonic() + _START_LIMIT_S
        answered = "nothing"
        while time.monotonic() < deadline:
            if self._process.poll() is not None:
                raise self._ended()
            with suppress(OSError, http.client.HTTPException):
                status = self.request("GET", "/health").status
                if status == 200:
                    return
                answered = str(status)
            time.sleep(_POLL_S)
        raise HostError(
            f"the function host was not healthy within {_START_LIMIT_S:.0f} s, and answered {answered} last",
            self._log(),
        )

    def request(
        self, method: str, path: str, body: bytes | None = None, headers: Mapping[str, str] | None = None
    ) -> Answer:
        """One request. Raises OSError, HTTPException or ValueError for what is no answer in JSON."""
        connection = http.client.HTTPConnection(HOST, self.port, timeout=30)
        try:
            connection.request(method, path, body, dict(headers or {}))
            answer = connection.getresponse()
            later = answer.getheader("Retry-After", "")
            return Answer(answer.status, json.loads(answer.read()), int(later) if later.isdecimal() else None)
        finally:
            connection.close()

    def serve(self, log: IO[str]) -> None:
        """Let the host serve, with its log lines going to ``log``. Raises HostError when it ends by itself."""
        self._forward_to = log
        self._process.wait()
        raise self._ended()

    def _ended(self) -> HostError:
        self._reader.join(_STOP_LIMIT_S)
        return HostError(f"the function host ended with exit code {self._process.returncode}", self._log())

    def _log(self) -> str:
        return "\n".join(self._lines)

    def _read(self) -> None:
        for line in self._output:
            self._lines.append(line.rstrip("\n"))
            if self._forward_to is not None:
                # Whoever reads the log may go away; the host goes on.
                with suppress(OSError, ValueError):
                    self._forward_to.write(line)
                    self._forward_to.flush()

    def _stop(self) -> None:
        self._process.terminate()
        try:
            self._process.wait(_STOP_LIMIT_S)
        except (subprocess.TimeoutExpired, KeyboardInterrupt):
            # A second Ctrl-C is an order.
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
        self._reader.join(_STOP_LIMIT_S)
        self._output.close()
