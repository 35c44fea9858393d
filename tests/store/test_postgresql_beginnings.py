"""How a store on PostgreSQL begins: in a process that forks, beside a call that prepares the database, or cut short."""

from __future__ import annotations

import itertools
import socket
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from store.engines.postgres import PostgresStore
from store.errors import DatabaseLocked, Unavailable
from tests.chaos.act import Act
from tests.chaos.proxy import FaultProxy, proxies, tcp_relay
from tests.conftest import REPOSITORY
from tests.store.availability import well
from tests.store.postgres_server import name_in, server
from tests.store.surface import Surface, payload, turn
from tests.store.test_many_writers import FORKING


@pytest.fixture
def url() -> Iterator[str]:
    """An empty database of its own."""
    with server().database() as name:
        yield name.replace("+psycopg", "")


@pytest.fixture
def proxy() -> Iterator[FaultProxy]:
    """What stands between a store and the server."""
    with proxies() as thread:
        yield thread.proxy(tcp_relay, [Path(server().sockets) / ".s.PGSQL.5432"])


@pytest.mark.slow
@pytest.mark.parametrize(("when", "code"), [("before use", "0"), ("after use", "7")])
def test_a_store_may_be_used_on_both_sides_of_a_fork_only_if_it_was_not_used_before(
    when: str, code: str, url: str
) -> None:
    script = FORKING.replace("sqlite", "postgres").replace("SqliteStore", "PostgresStore")
    # An ordinary end, so that what the child ran is measured.
    script = script.replace("os._exit", "sys.exit")
    command = [sys.executable, "-c", script, url, when]
    ran = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, timeout=60, check=True)
    assert ran.stdout.strip() == code


def test_who_cannot_wait_for_the_call_that_prepares_the_database_is_told() -> None:
    with socket.create_server(("127.0.0.1", 0)) as mute, ThreadPoolExecutor(1) as threads:
        store = PostgresStore(f"postgresql://postgres@127.0.0.1:{mute.getsockname()[1]}/any", lock_timeout_s=30)
        preparing = threads.submit(store.ping, timeout_s=30)
        connected, _ = mute.accept()
        with pytest.raises(DatabaseLocked, match="another call prepares the database"):
            store.ping(timeout_s=0.01)
        connected.close()
        mute.close()
        with pytest.raises(Unavailable):
            preparing.result(60)
        store.close()


def test_a_connection_that_is_cut_while_it_is_made_is_none_and_the_next_one_is_made(
    url: str, proxy: FaultProxy
) -> None:
    through = f"postgresql://postgres@127.0.0.1:{proxy.port}/{name_in(url)}"
    first = Surface(PostgresStore(through, lock_timeout_s=5.0))
    first.capture(payload(turn(1)))
    first.close()
    failed = 0
    for place in range(4):
        counted = itertools.count()
        proxy.act = lambda place=place, counted=counted: Act(answer="lost") if next(counted) == place else Act()
        surface = Surface(PostgresStore(through, lock_timeout_s=5.0))
        failed += surface.client.get("/health").status_code == 503
        proxy.act = None
        assert surface.client.get("/health").status_code == 200
        surface.close()
    assert failed
    last = Surface(PostgresStore(through, lock_timeout_s=5.0))
    well(last, 1)
    last.close()
