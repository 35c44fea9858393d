"""kill -9 of the store's server, and of its database, while writers append over HTTP: nothing acknowledged is missing,
nothing is double, nothing is torn, and ``store verify`` finds nothing.

CRASH_ROUNDS (an engine) and CRASH_DATABASE_ROUNDS say how often: 3 and 1 in the suite, 200 and 20 in `make crash`.
Moments are counted in acknowledged captures, so that a slow machine kills no earlier, plus a chance within an append.
"""

import os
import random
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.cli.store.server import StoreServer, store_server
from tests.cli.streams import command_line, process_environment
from tests.crash.killed_database import kill_database, start_database
from tests.crash.ledger import Ledger
from tests.crash.readback import Readback
from tests.crash.writers import Writers
from tests.store.postgres_server import Postgres, start

ROUNDS = int(os.environ.get("CRASH_ROUNDS", "3"))
DATABASE_ROUNDS = int(os.environ.get("CRASH_DATABASE_ROUNDS", "1"))
MOST_ANSWERS = 40
LONGEST_CHANCE_S = 0.02
READY_S = 60
SEED = 4471

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def postgres() -> Iterator[Postgres]:
    """A server that flushes what it commits, which the one that other tests share does not."""
    running = start(fsync=True)
    with running.connect("postgres") as connection:
        for name in ("fsync", "full_page_writes", "synchronous_commit"):
            assert connection.execute(f"SHOW {name}").fetchone() == ("on",)
    yield running
    running.remove()


class Run:
    """One store, its writers, who reads it back, and what came of it."""

    def __init__(self, url: str, folder: Path, client: httpx.Client) -> None:
        self.url = url
        self.folder = folder
        self.chance = random.Random(SEED)
        self.ledger = Ledger()
        self.writers = Writers(client, self.ledger, SEED)
        self.readback = Readback(client, self.ledger)
        self._began = time.monotonic()

    def wait_for_a_moment(self, least: int = 0) -> None:
        """Some captures more, and a chance of the time that one takes."""
        self.ledger.wait_for_answers(self.chance.randint(least, MOST_ANSWERS))
        time.sleep(self.chance.uniform(0, LONGEST_CHANCE_S))

    def check(self, server: StoreServer) -> None:
        self.readback.check(server.url, self.writers.pending())

    def finish(self, server: StoreServer) -> None:
        """Everybody gets an answer, and everything is read once more."""
        self.check(server)
        self.writers.settle(server.url)
        self.check(server)
        self.readback.check_all(server.url)

    def verify(self) -> None:
        command = command_line("store", "verify", "--store", self.url)
        environment = process_environment()
        done = subprocess.run(command, cwd=self.folder, env=environment, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, ""), done.stdout

    def tell(self, what: str) -> None:
        ledger, found = self.ledger, self.readback.findings
        print(
            f"\n{what}: {len(ledger.acknowledged)} captures acknowledged by {ledger.answers} answers,"
            f" missing {len(found.missing)}, doubled {len(found.doubled)}, torn {len(found.torn + found.altered)},"
            f" gaps {len(found.gaps)}; {ledger.unanswered} unanswered, {ledger.late} of them had been written;"
            f" verify clean; {time.monotonic() - self._began:.0f} s"
        )


@pytest.fixture
def client() -> Iterator[httpx.Client]:
    with httpx.Client(timeout=60, trust_env=False) as client:
        yield client


def kill_server(server: StoreServer) -> None:
    """All its processes at once."""
    os.killpg(server.process.pid, signal.SIGKILL)
    assert server.process.wait(30) == -signal.SIGKILL


def wait_until_ready(client: httpx.Client, server: StoreServer) -> None:
    """Until the server, which nobody starts again, has found its database."""
    end = time.monotonic() + READY_S
    while client.get(f"{server.url}/ready").status_code != 200:
        assert time.monotonic() < end, server.err
        time.sleep(0.02)


def kill_in_rounds(run: Run) -> None:
    for number in range(ROUNDS):
        # Every other time two processes write, and die.
        with store_server(run.folder, "--workers", str(1 + number % 2), RUVECTOR_STORE=run.url) as server:
            run.check(server)
            with run.writers.at_work(server.url):
                run.wait_for_a_moment()
                kill_server(server)
    with store_server(run.folder, RUVECTOR_STORE=run.url) as server:
        run.finish(server)
    run.verify()
    assert run.ledger.unanswered, "no capture was in flight when the server was killed"


def test_a_server_that_is_killed_on_sqlite(tmp_path: Path, client: httpx.Client) -> None:
    run = Run(f"sqlite:///{tmp_path}/store.db", tmp_path, client)
    kill_in_rounds(run)
    run.tell(f"sqlite, server killed {ROUNDS} times")


def test_a_server_that_is_killed_on_postgresql(tmp_path: Path, client: httpx.Client, postgres: Postgres) -> None:
    with postgres.database() as url:
        run = Run(url, tmp_path, client)
        kill_in_rounds(run)
    run.tell(f"postgresql, server killed {ROUNDS} times")


def test_a_database_that_is_killed_under_a_server_that_stays(
    tmp_path: Path, client: httpx.Client, postgres: Postgres
) -> None:
    with postgres.database() as url:
        run = Run(url, tmp_path, client)
        with store_server(tmp_path, RUVECTOR_STORE=url) as server:
            for _ in range(DATABASE_ROUNDS):
                with run.writers.at_work(server.url) as over:
                    run.wait_for_a_moment(least=1)
                    kill_database(postgres)
                    # Who is in the middle of an append may still be answered, by a database that is there again.
                    over.set()
                    start_database(postgres)
                wait_until_ready(client, server)
                run.check(server)
            run.finish(server)
        run.verify()
    assert run.ledger.unanswered, "no capture was in flight when the database was killed"
    run.tell(f"postgresql, database killed {DATABASE_ROUNDS} times")
