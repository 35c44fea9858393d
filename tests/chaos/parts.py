"""The parts as processes: functions and stores on ports that they keep over restarts, each with a clock of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import httpx
import psutil

from tests.cli.streams import process_environment
from tests.conftest import REPOSITORY
from tests.leak_watch import WATCH
from tests.live.host import free_port

START_TIMEOUT_S = 120
STARTS = 3
END_TIMEOUT_S = 45
_LAUNCHER = REPOSITORY / "tests" / "chaos" / "shifted_clock.py"


class Use(NamedTuple):
    """What the processes of a part hold together: bytes of memory, threads, open files."""

    rss: int
    threads: int
    files: int


class Life(NamedTuple):
    """One process from a while after its start to the end: what it held, and for how long."""

    part: str
    seconds: float
    first: Use
    last: Use


@dataclass
class Part:
    """One function or store. ``command`` follows ``python -m``; ``tree`` is the release that it runs.

    ``asked`` is a path that answers 200 as soon as it is up.
    """

    name: str
    folder: Path
    command: Callable[[int], list[str]]
    variables: dict[str, str]
    asked: str
    tree: Path = REPOSITORY
    port: int = field(default_factory=free_port)
    lives: list[Life] = field(default_factory=list)
    failed_starts: int = 0
    process: subprocess.Popen[bytes] | None = None
    _measured: int = 0
    _first: tuple[float, Use] | None = None
    _last: tuple[float, Use] | None = None

    @property
    def address(self) -> tuple[str, int]:
        return ("127.0.0.1", self.port)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def log(self) -> Path:
        return self.folder / f"{self.name.replace(' ', '-')}.log"

    @property
    def _offset(self) -> Path:
        return self.folder / f"{self.name.replace(' ', '-')}.clock"

    def start(self) -> None:
        """Start it, and return when it answers. One that ends by itself is started again, as a platform does."""
        self.set_clock(0)
        for _ in range(STARTS):
            self.process = self._started()
            WATCH.follow(self.log)
            if self._is_up(self.process):
                return
            self.process.wait(END_TIMEOUT_S)
            self.failed_starts += 1
            print(f"{self.name} ended as it started: {self._log_end()}", flush=True)
        raise RuntimeError(f"{self.name} does not start")

    def _started(self) -> subprocess.Popen[bytes]:
        environment = process_environment(**self.variables, PYTHONPATH=str(self.tree))
        if self.tree != REPOSITORY:
            # Coverage is measured of this release, and not of files that are gone afterwards.
            environment = {name: value for name, value in environment.items() if not name.startswith("COVERAGE")}
        command = [sys.executable, str(_LAUNCHER), str(self._offset), *self.command(self.port)]
        with self.log.open("ab") as log:
            return subprocess.Popen(
                command,
                cwd=self.folder,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def _is_up(self, process: subprocess.Popen[bytes]) -> bool:
        """Whether it answers; False where it ended instead."""
        end = time.monotonic() + START_TIMEOUT_S
        while process.poll() is None:
            if self.answers(self.asked):
                return True
            if time.monotonic() > end:
                raise RuntimeError(f"{self.name} does not answer: {self._log_end()}")
            time.sleep(0.02)
        return False

    def _log_end(self) -> str:
        return self.log.read_text(errors="replace").rstrip().rpartition("\n")[2][-300:]

    def answers(self, path: str) -> bool:
        """Whether it answers ``path`` with 200."""
        try:
            return httpx.get(self.url + path, timeout=10, trust_env=False).status_code == 200
        except httpx.TransportError:
            return False

    def end(self, how: signal.Signals = signal.SIGTERM) -> float:
        """End it by this signal, all its processes where nothing can be done about it; the seconds that it took."""
        process, began = self.process, time.monotonic()
        assert process is not None
        self._end_life()
        try:
            if process.poll() is None:
                os.killpg(process.pid, how)
            process.wait(END_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait(10)
            raise RuntimeError(f"{self.name} did not end within {END_TIMEOUT_S} s of {how.name}") from None
        finally:
            self.process = None
            WATCH.leave(self.log)
        return time.monotonic() - began

    def signal(self, number: signal.Signals) -> None:
        assert self.process is not None
        os.killpg(self.process.pid, number)

    def set_clock(self, offset_s: float) -> None:
        """Have its wall clock off by so many seconds from now on."""
        self._offset.write_text(str(offset_s))

    def measure(self) -> None:
        """Remember what it holds. What later ones are beside is the second time since its start, when it has worked."""
        self._measured += 1
        self._last = (time.monotonic(), self._use())
        if self._measured <= 2:
            self._first = self._last

    def _use(self) -> Use:
        assert self.process is not None
        top = psutil.Process(self.process.pid)
        processes = [top, *top.children(recursive=True)]
        return Use(
            sum(each.memory_info().rss for each in processes),
            sum(each.num_threads() for each in processes),
            sum(each.num_fds() for each in processes),
        )

    def _end_life(self) -> None:
        if self._first and self._last and self._last[0] > self._first[0]:
            seconds = self._last[0] - self._first[0]
            self.lives.append(Life(self.name, seconds, self._first[1], self._last[1]))
        self._measured, self._first, self._last = 0, None, None


def function_part(name: str, folder: Path, store_url: str, deadline_s: float, tree: Path = REPOSITORY) -> Part:
    """The capture function on the host that it is deployed with: two workers of sixteen threads."""

    def command(port: int) -> list[str]:
        source = str(tree / "main.py")
        named = ["--target", "handler", "--source", source, "--host", "127.0.0.1", "--port", str(port)]
        return ["functions_framework", *named]

    variables = {
        "RUVECTOR_SERVICE_URL": store_url,
        "RUVECTOR_DEADLINE_S": f"{deadline_s:g}",
        "WORKERS": "2",
        "THREADS": "16",
        "LOG_LEVEL": "WARNING",
    }
    return Part(name, folder, command, variables, "/openapi.json", tree)


def store_part(name: str, folder: Path, database_url: str, tree: Path = REPOSITORY) -> Part:
    """``store serve``: two workers of eight threads."""

    def command(port: int) -> list[str]:
        return ["agent", "store", "serve", "--port", str(port), "--workers", "2"]

    return Part(name, folder, command, {"RUVECTOR_STORE": database_url}, "/health", tree)
