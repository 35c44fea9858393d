"""The store's own server in a process of its own, as an operator starts it; each test is a tenant with a key there."""

from __future__ import annotations

import atexit
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

import httpx

from tests.conftest import REPOSITORY
from tests.leak_watch import WATCH
from tests.live.host import free_port
from tests.store.cleanup import once_this_process_is_gone
from tests.store.surface import Surface

START_TIMEOUT_S = 60
_TENANTS = 500
# Nothing, where it was stopped and its folder removed as it should be.
_STOP = 'if [ -d "$1" ]; then kill -TERM "-$2"; sleep 2; rm -rf "$1"; fi'


@dataclass
class Served:
    """A running server on the database at ``store_url``; started by ``start``, ended by ``stop``."""

    store_url: str
    folder: Path
    port: int = field(default_factory=free_port)
    process: subprocess.Popen[bytes] | None = None
    taken: int = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def log(self) -> str:
        return (self.folder / "server.log").read_text(errors="replace")

    def start(self) -> None:
        """Run the server until it answers. The tenants are those of the first start."""
        keys = ",".join(f"tenant-{number}:{_key(number)}:admin" for number in range(_TENANTS))
        command = [sys.executable, "-m", "agent", "store", "serve", "--store", self.store_url, "--port", str(self.port)]
        with (self.folder / "server.log").open("ab") as log:
            self.process = subprocess.Popen(
                command,
                cwd=REPOSITORY,
                env={**os.environ, "RUVECTOR_KEYS": keys},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        once_this_process_is_gone(_STOP, str(self.folder), str(self.process.pid))
        end = time.monotonic() + START_TIMEOUT_S
        while not self._answers():
            assert self.process.poll() is None, self.log
            assert time.monotonic() < end, self.log
            time.sleep(0.05)

    @property
    def kind(self) -> str:
        return "embedded" if self.store_url.startswith("sqlite") else "postgresql"

    def tenant(self) -> Surface:
        """A tenant that nobody else is."""
        assert not self.is_used_up
        self.taken += 1
        return Surface.over_http(self.url, _key(self.taken - 1), kind=self.kind)

    @property
    def is_used_up(self) -> bool:
        return self.taken == _TENANTS

    def stop(self) -> None:
        """Ask the server to end, and wait for it."""
        process, self.process = self.process, None
        if process is not None and process.poll() is None:
            os.killpg(process.pid, signal.SIGTERM)
            process.wait(START_TIMEOUT_S)

    def _answers(self) -> bool:
        try:
            return httpx.get(f"{self.url}/ready").status_code == 200
        except httpx.TransportError:
            return False


def _key(number: int) -> str:
    return f"the-key-of-tenant-{number:04}"


def served(store_url: str | None) -> Served:
    """A server that ends with this process at the latest; without a URL it is on a file that goes with it."""
    folder = Path(tempfile.mkdtemp(prefix="store-served-"))
    server = Served(store_url or f"sqlite:///{folder}/store.db", folder)
    atexit.register(shutil.rmtree, folder)
    # The last that is registered comes first.
    atexit.register(server.stop)
    server.start()
    WATCH.follow(folder / "server.log")
    return server
