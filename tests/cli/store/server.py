"""The store's server as a process of its own, started by the command line."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from tests.cli.streams import command_line, process_environment
from tests.leak_watch import WATCH

START_TIMEOUT_S = 30
_ADDRESS = re.compile(r"store on (http://\S+) ")


@dataclass
class StoreServer:
    """A running server: its process, its address, and where its standard error goes."""

    process: subprocess.Popen[bytes]
    errors: Path
    url: str = ""

    @property
    def port(self) -> int:
        return urlsplit(self.url).port or 0

    @property
    def err(self) -> str:
        return self.errors.read_text(errors="replace")

    def workers(self) -> list[int]:
        """Process ids of the server's workers."""
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text()
        return [int(pid) for pid in children.split()]

    def end(self, how: signal.Signals = signal.SIGTERM) -> int:
        """Send a signal, and wait for the exit code."""
        self.process.send_signal(how)
        return self.process.wait(START_TIMEOUT_S)


@contextmanager
def store_server(folder: Path, *arguments: str, **variables: str) -> Iterator[StoreServer]:
    """Run ``memory-graph store serve`` in ``folder`` on a free port until the block ends."""
    errors = folder / "server.err"
    with errors.open("wb") as stderr, (folder / "server.out").open("wb") as stdout:
        process = subprocess.Popen(
            command_line("store", "serve", "--port", "0", *arguments),
            cwd=folder,
            env=process_environment(**variables),
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=stderr,
            start_new_session=True,
        )
    server = StoreServer(process, errors)
    WATCH.follow(errors)
    try:
        server.url = _address(server)
        yield server
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGTERM)
            process.wait(START_TIMEOUT_S)
        WATCH.leave(errors)


def _address(server: StoreServer) -> str:
    end = time.monotonic() + START_TIMEOUT_S
    while (line := _ADDRESS.search(server.err)) is None:
        if server.process.poll() is not None or time.monotonic() > end:
            raise RuntimeError(f"the store did not start:\n{server.err}")
        time.sleep(0.02)
    return line[1]
