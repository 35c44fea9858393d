"""The processes around the host under measurement: the store that answers at once, and the load generator."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from benchmarks.process import cpu_seconds

_REPOSITORY = Path(__file__).resolve().parents[1]


@dataclasses.dataclass(frozen=True, slots=True)
class Load:
    """What the generator saw: seconds, and how many answers came with each status."""

    elapsed_s: float
    cpu_s: float
    statuses: dict[int, int]
    p50_s: float
    p99_s: float
    reconnects: int

    @property
    def per_second(self) -> float:
        return sum(self.statuses.values()) / self.elapsed_s


@dataclasses.dataclass(frozen=True, slots=True)
class StubStore:
    """A running stub store."""

    port: int
    pid: int

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def cpu_seconds(self) -> float:
        return cpu_seconds(self.pid)


class LoadGenerator:
    """A running load generator. Every answer must be 200: anything else would be a figure about errors."""

    def __init__(self, commands: IO[str], results: IO[str]) -> None:
        self._commands, self._results = commands, results
        self._seed = 0

    def post(self, port: int, *, count: int, connections: int, path: str = "/") -> Load:
        """Post ``count`` captures, each new, over ``connections`` connections."""
        self._seed += 1
        command = {"port": port, "path": path, "connections": connections, "count": count, "seed": self._seed}
        self._commands.write(json.dumps(command) + "\n")
        self._commands.flush()
        answer = json.loads(self._results.readline())
        load = Load(**{**answer, "statuses": {int(status): n for status, n in answer["statuses"].items()}})
        if set(load.statuses) != {200}:
            raise RuntimeError(f"the host answered {load.statuses}, not 200 alone")
        return load


@contextlib.contextmanager
def stub_store() -> Iterator[StubStore]:
    """A store that answers at once, until the block ends."""
    with _module("benchmarks.stub_store") as process:
        assert process.stdout is not None
        yield StubStore(int(process.stdout.readline()), process.pid)


@contextlib.contextmanager
def load_generator() -> Iterator[LoadGenerator]:
    """A load generator, until the block ends."""
    with _module("benchmarks.load_generator") as process:
        assert process.stdin is not None
        assert process.stdout is not None
        yield LoadGenerator(process.stdin, process.stdout)


@contextlib.contextmanager
def _module(name: str) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-m", name]
    with subprocess.Popen(
        command, cwd=_REPOSITORY, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        try:
            yield process
        finally:
            process.terminate()
