"""All parts of a run and the two ways between them: clients, functions, the way, stores, the way, the database."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.chaos.conversations import new_id
from tests.chaos.old_release import OldRelease, old_release
from tests.chaos.parts import Life, Part, function_part, store_part
from tests.chaos.proxy import FaultProxy, http_relay, proxies, tcp_relay
from tests.store.postgres_server import Postgres, name_in

Address = tuple[str, int]
READY_S = 60.0


@dataclass
class System:
    """``functions`` are those that clients are sent to, ``stores`` those that the way to the store leads to.

    ``old_function`` and ``old_store`` are of the release before, where there is one; they do not run yet.
    """

    postgres: Postgres
    database: str
    deadline_s: float
    store_way: FaultProxy
    database_way: FaultProxy
    function: Part
    store: Part
    old: OldRelease | None
    old_function: Part | None
    old_store: Part | None
    functions: list[Part] = field(default_factory=list)
    stores: list[Part] = field(default_factory=list)

    def parts(self) -> list[Part]:
        found = [self.function, self.store, self.old_function, self.old_store]
        return [part for part in found if part is not None]

    def send_to_functions(self, *parts: Part) -> None:
        """Clients are sent to these from now on."""
        self.functions = list(parts)

    def send_to_stores(self, *parts: Part) -> None:
        """New connections of functions go to these from now on."""
        self.stores = list(parts)
        self.store_way.targets = [part.address for part in parts]

    def function_addresses(self) -> list[Address]:
        return [part.address for part in self.functions]

    def store_addresses(self) -> list[Address]:
        return [part.address for part in self.stores]

    def wait_until_ready(self) -> None:
        """Until every store has its database again, and a function answers: by itself, nobody helps it."""
        end = time.monotonic() + READY_S
        for part, asked in [
            *((part, "/ready") for part in self.stores),
            *((part, "/health") for part in self.functions),
        ]:
            while not part.answers(asked):
                assert time.monotonic() < end, f"{part.name} does not come back"
                time.sleep(0.05)

    def measure(self) -> None:
        for part in self.parts():
            if part.process is not None:
                part.measure()

    def lives(self) -> list[Life]:
        return [life for part in self.parts() for life in part.lives]


@contextmanager
def system(folder: Path, postgres: Postgres, deadline_s: float) -> Iterator[System]:
    """Everything at work, without a fault; ended by SIGTERM, whatever happened."""
    with proxies() as thread, postgres.database() as url:
        database_way = thread.proxy(tcp_relay, [Path(postgres.sockets) / ".s.PGSQL.5432"])
        over_way = f"postgresql+psycopg://postgres@127.0.0.1:{database_way.port}/{name_in(url)}"
        store = store_part("store", folder, over_way)
        store_way = thread.proxy(http_relay, [store.address])
        store_url = f"http://127.0.0.1:{store_way.port}"
        old = old_release(folder / "old")
        made = System(
            postgres=postgres,
            database=url,
            deadline_s=deadline_s,
            store_way=store_way,
            database_way=database_way,
            function=function_part("function", folder, store_url, deadline_s),
            store=store,
            old=old,
            old_function=old and function_part("old function", folder, store_url, deadline_s, old.folder),
            old_store=old and store_part("old store", folder, over_way, old.folder),
        )
        try:
            # Where there is an old release, it is what the run begins with, and the first faults roll it over.
            first_store, first_function = made.old_store or made.store, made.old_function or made.function
            first_store.start()
            first_function.start()
            made.send_to_functions(first_function)
            made.send_to_stores(first_store)
            yield made
        finally:
            for part in made.parts():
                if part.process is not None:
                    part.end()


def shared_ids(clients: int) -> Callable[[int], Callable[[random.Random], tuple[str, str, bool]]]:
    """For each client, what gives it the ids of a session that its neighbour writes to as well.

    Session, conversation, and whether both bring the same conversation; else each brings its own.
    """
    source = {pair: random.Random(f"shared {pair}") for pair in range(clients)}
    given: dict[int, list[tuple[str, str]]] = {pair: [] for pair in range(clients)}

    def of(number: int) -> Callable[[random.Random], tuple[str, str, bool]]:
        pair, side = divmod(number, 2)
        taken = 0

        def give(chance: random.Random) -> tuple[str, str, bool]:
            nonlocal taken
            while len(given[pair]) <= taken:
                given[pair].append((new_id(source[pair]), new_id(source[pair])))
            session, conversation = given[pair][taken]
            taken += 1
            mirrored = taken % 2 == 0
            return session, conversation if mirrored or side == 0 else new_id(chance), mirrored

        return give

    return of
