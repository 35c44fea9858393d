"""kill -9 of a PostgreSQL server: its first process and all that it started, none of which may end in peace."""

import os
import signal
import time
from pathlib import Path

from tests.store.postgres_server import Postgres

GONE_S = 30


def kill_database(postgres: Postgres) -> None:
    """Kill every process of the server, and return when none is left."""
    postmaster = int((postgres.folder / "postmaster.pid").read_text().split()[0])
    # It starts no other while they are listed and killed.
    os.kill(postmaster, signal.SIGSTOP)
    children = Path(f"/proc/{postmaster}/task/{postmaster}/children").read_text()
    processes = [postmaster, *map(int, children.split())]
    for process in processes:
        os.kill(process, signal.SIGKILL)
    end = time.monotonic() + GONE_S
    while any(Path(f"/proc/{process}").exists() for process in processes):
        assert time.monotonic() < end, "killed processes stay: nobody waits for them"
        time.sleep(0.005)


def start_database(postgres: Postgres) -> None:
    """Start it again on what the kill left: it recovers from its log before it takes a connection."""
    with postgres.halted():
        pass
