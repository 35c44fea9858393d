"""The order of the faults of a run, and the run: every fault in turn, calm in between, clients at work all along."""

from __future__ import annotations

import random
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

from tests.chaos.clients import Client, Service, Tickets
from tests.chaos.faults import DATABASE_FAULTS, STORE_FAULTS, NetworkFault
from tests.chaos.ledger import Ledger
from tests.chaos.system import System, shared_ids
from tests.chaos.upheavals import ROLLS, UPHEAVALS, Upheaval

Fault = NetworkFault | Upheaval
CLIENTS = 16
# How much longer than the function's deadline a client waits before it gives up on an answer.
PATIENCE_S = 15.0
SETTLE_S = 180.0


def planned(chance: random.Random, rounds: int, most: int | None, *, has_old: bool) -> list[Fault]:
    """The rolls, then upheavals, so that the processes of the end have lived through all faults of the network.

    ``most`` of each of the groups behind the rolls, where given: for a short run.
    """
    plan: list[Fault] = list(ROLLS if has_old else ())
    for group in (UPHEAVALS, STORE_FAULTS, DATABASE_FAULTS):
        if most is not None:
            plan += chance.sample(list(group), min(most, len(group)))
            continue
        several = [each for _ in range(rounds) for each in group]
        chance.shuffle(several)
        plan += several
    return plan


class Run:
    """Sends ``captures`` under the faults of ``plan``; ``hold_s`` is about how long each is held."""

    def __init__(self, system: System, chance: random.Random, plan: Sequence[Fault], captures: int, hold_s: float):
        self._system = system
        self._chance = chance
        self._plan = plan
        self._captures = captures
        self._hold_s = hold_s
        self._tickets = Tickets()
        self.ledger = Ledger()
        service = Service(system.function_addresses, system.store_addresses, system.deadline_s + PATIENCE_S)
        shared = shared_ids(CLIENTS)
        self._clients = [
            Client(service, self.ledger, self._tickets, random.Random(chance.getrandbits(64)), shared(number))
            for number in range(CLIENTS)
        ]

    def __call__(self) -> None:
        """Run it; returns when every capture is settled."""
        with ThreadPoolExecutor(CLIENTS) as pool:
            running = [pool.submit(client.run) for client in self._clients]
            try:
                self._faults_in_turn()
                self._settle()
            finally:
                self._tickets.over = True
                for client in self._clients:
                    client.ends_by = time.monotonic() + SETTLE_S
            for each in running:
                each.result()
        self._system.measure()

    def _faults_in_turn(self) -> None:
        parts = 2 * len(self._plan) + 2
        share, more = divmod(self._captures, parts)
        began = time.monotonic()
        self._send(share + more)
        self._system.measure()
        for number, fault in enumerate(self._plan, 1):
            self._tickets.give(share)
            hold_s = self._hold_s * self._chance.uniform(0.7, 1.4)
            with self.ledger.under(fault.name):
                self._hold(fault, hold_s)
                self.ledger.fault_is_over()
                self._system.wait_until_ready()
            self._send(share)
            self._system.measure()
            seconds = time.monotonic() - began
            print(
                f"[{number}/{len(self._plan)}] {seconds:.0f} s, {fault.name}: {self.ledger.count()} settled", flush=True
            )
        self._send(share)

    def _hold(self, fault: Fault, hold_s: float) -> None:
        if isinstance(fault, Upheaval):
            fault.work(self._system, self._chance, hold_s)
            return
        way = self._system.store_way if fault.way == "store" else self._system.database_way
        with ExitStack() as over:
            if fault.refuses:
                way.refuse()
                over.callback(way.accept)
            else:
                way.act = fault.plan(self._chance, self._system.deadline_s)
                over.callback(setattr, way, "act", None)
            began = time.monotonic()
            while (held := time.monotonic() - began) < hold_s and (self._tickets.left or held < hold_s / 2):
                time.sleep(0.01)

    def _send(self, count: int) -> None:
        """So many captures more, and all that were to be begun are."""
        self._tickets.give(count)
        end = time.monotonic() + SETTLE_S
        while self._tickets.left:
            assert time.monotonic() < end, "captures come to no end: clients are stuck"
            time.sleep(0.01)

    def _settle(self) -> None:
        end = time.monotonic() + SETTLE_S
        while self.ledger.count() < self._captures:
            assert time.monotonic() < end, f"{self._captures - self.ledger.count()} captures are never settled"
            time.sleep(0.01)
