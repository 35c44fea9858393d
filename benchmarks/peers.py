"""The processes around the host under measurement: store and collector that answer at once, and the load generator."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import subprocess
import sys
import urllib.request
from collections.abc import Iterator, Mapping
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
class Stub:
    """A running server that answers at once."""

    port: int
    pid: int

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def cpu_seconds(self) -> float:
        return cpu_seconds(self.pid)

    def counts(self) -> dict[str, int]:
        """What a collector counted."""
        with urllib.request.urlopen(f"{self.url}/counts", timeout=10) as answer:
            counted: dict[str, int] = json.loads(answer.read())
        return counted


class LoadGenerator:
    """A running load generator. Every answer must be 200: anything else would be a figure about errors."""

    def __init__(self, commands: IO[str], results: IO[str], pid: int) -> None:
        self._commands, self._results = commands, results
        self._seed = 0
        self.pid = pid

    def post(
        self,
        port: int,
        *,
        count: int,
        connections: int,
        path: str = "/",
        headers: Mapping[str, str] | None = None,
        per_second: float | None = None,
        writes: bool = False,
    ) -> Load:
        """Post ``count`` captures, each new, over ``connections`` connections: at a fixed rate, or as fast as it goes.

        With ``writes`` what is posted is what the function would write of them, to a store, which answers 201.
        """
        self._seed += 1
        command = {
            "port": port,
            "path": path,
            "connections": connections,
            "count": count,
            "seed": self._seed,
            "what": "write" if writes else "capture",
            "headers": dict(headers or {}),
            "per_second": per_second,
        }
        self._commands.write(json.dumps(command) + "\n")
        self._commands.flush()
        answer = json.loads(self._results.readline())
        load = Load(**{**answer, "statuses": {int(status): n for status, n in answer["statuses"].items()}})
        expected = 201 if writes else 200
        if set(load.statuses) != {expected}:
            raise RuntimeError(f"the host answered {load.statuses}, not {expected} alone")
        return load


@contextlib.contextmanager
def stub_store() -> Iterator[Stub]:
    """A store that answers at once, until the block ends."""
    with _stub("benchmarks.stub_store") as stub:
        yield stub


@contextlib.contextmanager
def stub_collector() -> Iterator[Stub]:
    """A collector of spans and metrics that answers at once, until the block ends."""
    with _stub("benchmarks.stub_collector") as stub:
        yield stub


@contextlib.contextmanager
def load_generator() -> Iterator[LoadGenerator]:
    """A load generator, until the block ends."""
    with _module("benchmarks.load_generator") as process:
        assert process.stdin is not None
        assert process.stdout is not None
        yield LoadGenerator(process.stdin, process.stdout, process.pid)


@contextlib.contextmanager
def _stub(module: str) -> Iterator[Stub]:
    with _module(module) as process:
        assert process.stdout is not None
        yield Stub(int(process.stdout.readline()), process.pid)


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
