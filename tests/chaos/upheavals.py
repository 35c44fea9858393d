"""Faults of processes, clocks and releases. Each does what it is named for and returns when all is as it was."""

from __future__ import annotations

import os
import random
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from tests.chaos.parts import Part
from tests.chaos.system import System
from tests.crash.killed_database import GONE_S, kill_database, start_database
from tests.store.postgres_server import Postgres

HOUR_S = 3600.0
DAY_S = 24 * HOUR_S


class Upheaval(NamedTuple):
    """``work`` is given the system, the run's chances, and for how many seconds a state is to be held."""

    name: str
    work: Callable[[System, random.Random, float], None]


def _restarted(which: Callable[[System], Part], how: signal.Signals) -> Callable[[System, random.Random, float], None]:
    def work(system: System, chance: random.Random, hold_s: float) -> None:
        time.sleep(chance.uniform(0, hold_s / 4))
        which(system).end(how)
        which(system).start()

    return work


def _frozen(system: System, _chance: random.Random, hold_s: float) -> None:
    system.store.signal(signal.SIGSTOP)
    try:
        time.sleep(max(hold_s, system.deadline_s))
    finally:
        system.store.signal(signal.SIGCONT)


def _database_ended(how: signal.Signals) -> Callable[[System, random.Random, float], None]:
    """SIGINT is PostgreSQL's fast end, SIGQUIT the immediate one."""

    def work(system: System, chance: random.Random, hold_s: float) -> None:
        time.sleep(chance.uniform(0, hold_s / 4))
        postmaster = int((system.postgres.folder / "postmaster.pid").read_text().split()[0])
        os.kill(postmaster, how)
        _wait_until_gone(postmaster)
        start_database(system.postgres)

    return work


def _wait_until_gone(process: int) -> None:
    end = time.monotonic() + GONE_S
    while Path(f"/proc/{process}").exists():
        assert time.monotonic() < end, "the database does not end"
        time.sleep(0.01)


def _database_killed(system: System, chance: random.Random, hold_s: float) -> None:
    postgres: Postgres = system.postgres
    time.sleep(chance.uniform(0, hold_s / 4))
    kill_database(postgres)
    start_database(postgres)


def _clocks(function_s: float, store_s: float) -> Callable[[System, random.Random, float], None]:
    """They jump, go on from there, and jump back."""

    def work(system: System, _chance: random.Random, hold_s: float) -> None:
        system.function.set_clock(function_s)
        system.store.set_clock(store_s)
        time.sleep(hold_s)
        system.function.set_clock(0)
        system.store.set_clock(0)

    return work


def _function_renewed(system: System, _chance: random.Random, hold_s: float) -> None:
    """The new function beside the old one, then alone; the store is the old one."""
    old, new = system.old_function, system.function
    assert old is not None
    time.sleep(hold_s / 2)
    new.start()
    system.send_to_functions(old, new)
    time.sleep(hold_s)
    system.send_to_functions(new)
    old.end()
    time.sleep(hold_s)


def _store_renewed(system: System, _chance: random.Random, hold_s: float) -> None:
    """The new store beside the old one on one database, which it migrates, then alone."""
    old, new = system.old_store, system.store
    assert old is not None
    new.start()
    system.send_to_stores(old, new)
    time.sleep(hold_s)
    system.send_to_stores(new)
    old.end()
    time.sleep(hold_s / 2)


def _function_back(system: System, _chance: random.Random, hold_s: float) -> None:
    """The old function beside the new one, alone, and beside it again; the store is the new one."""
    old, new = system.old_function, system.function
    assert old is not None
    old.start()
    system.send_to_functions(old, new)
    time.sleep(hold_s / 2)
    system.send_to_functions(old)
    new.end()
    time.sleep(hold_s / 2)
    new.start()
    system.send_to_functions(old, new)
    system.send_to_functions(new)
    old.end()


# In this order, from a system that is the old release whole. No old store comes back: it refuses a database that a
# newer one has migrated, and says so.
ROLLS = (
    Upheaval("roll: old function and new, old store", _function_renewed),
    Upheaval("roll: new function, old store and new on one database", _store_renewed),
    Upheaval("roll: old function and new, new store", _function_back),
)
UPHEAVALS = (
    Upheaval("function: SIGTERM and start", _restarted(lambda system: system.function, signal.SIGTERM)),
    Upheaval("function: kill -9 and start", _restarted(lambda system: system.function, signal.SIGKILL)),
    Upheaval("store: SIGTERM and start", _restarted(lambda system: system.store, signal.SIGTERM)),
    Upheaval("store: kill -9 and start", _restarted(lambda system: system.store, signal.SIGKILL)),
    Upheaval("store: frozen beyond the deadline (SIGSTOP)", _frozen),
    Upheaval("database: restart, fast", _database_ended(signal.SIGINT)),
    Upheaval("database: restart, immediate", _database_ended(signal.SIGQUIT)),
    Upheaval("database: kill -9 and start", _database_killed),
    Upheaval("clock: function an hour forward", _clocks(HOUR_S, 0)),
    Upheaval("clock: function an hour back", _clocks(-HOUR_S, 0)),
    Upheaval("clock: store a day forward", _clocks(0, DAY_S)),
    Upheaval("clock: store a day back", _clocks(0, -DAY_S)),
    Upheaval("clock: both, a day apart", _clocks(-DAY_S / 2, DAY_S / 2)),
)
