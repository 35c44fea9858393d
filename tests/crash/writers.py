"""Writers over HTTP: one capture after another, and what had no answer again, under the same reference."""

import random
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import httpx

from tests.crash.ledger import Ledger
from tests.crash.traffic import Traffic
from tests.live.payloads import encoded
from tests.store.surface import ref_of

WRITERS = 6
PAUSE_S = 0.02


class Writer:
    """One writer. ``pending`` is the capture that it has no answer for, which it sends before any other."""

    def __init__(self, client: httpx.Client, ledger: Ledger, rng: random.Random) -> None:
        self._client = client
        self._ledger = ledger
        self._traffic = Traffic(rng)
        self.pending: dict[str, Any] | None = None

    def write(self, url: str, shared: str, over: threading.Event) -> None:
        """Write to the store at ``url`` until it is ``over``."""
        while not over.is_set():
            if not self.step(url, shared):
                time.sleep(PAUSE_S)

    def step(self, url: str, shared: str) -> bool:
        """Send what is pending, or else the next capture; whether it was acknowledged."""
        if self.pending is not None:
            return self._send(url, self.pending, again=True)
        body = self._traffic.next(shared)
        self._ledger.will_send(body)
        answered = self._send(url, body, again=False)
        if not answered:
            self.pending = body
            self._ledger.was_not_answered()
        return answered

    def settle(self, url: str) -> None:
        """Send what is pending; it is answered now."""
        if self.pending is not None:
            assert self._send(url, self.pending, again=True)

    def _send(self, url: str, body: dict[str, Any], *, again: bool) -> bool:
        """Whether ``body`` was acknowledged. No answer and a 503 say nothing about what became of it."""
        headers = {"Idempotency-Key": body["payload"]["inputs_hash"]}
        try:
            answer = self._client.post(f"{url}/v1/decision-events", content=encoded(body), headers=headers)
        except httpx.TransportError:
            return False
        if answer.status_code == 503:
            return False
        receipt = answer.json()
        assert (answer.status_code, receipt.get("status")) in {(201, "accepted"), (200, "duplicate")}, answer.text
        self._ledger.was_answered(receipt, again=again)
        self.pending = None
        self._traffic.acknowledged(body)
        return True


class Writers:
    """All writers of one run, each with chances of its own that ``seed`` decides."""

    def __init__(self, client: httpx.Client, ledger: Ledger, seed: int) -> None:
        self.each = [Writer(client, ledger, random.Random(f"{seed} {number}")) for number in range(WRITERS)]
        self._seed = seed
        self._round = 0

    @contextmanager
    def at_work(self, url: str) -> Iterator[threading.Event]:
        """They write while the block runs, part of it to one session of them all. The event that is yielded ends it."""
        self._round += 1
        shared = ref_of(f"{self._seed} {self._round}")
        over = threading.Event()
        with ThreadPoolExecutor(WRITERS) as pool:
            writing = [pool.submit(writer.write, url, shared, over) for writer in self.each]
            try:
                yield over
            finally:
                over.set()
            for written in writing:
                written.result()

    def settle(self, url: str) -> None:
        for writer in self.each:
            writer.settle(url)

    def pending(self) -> list[dict[str, Any]]:
        return [writer.pending for writer in self.each if writer.pending is not None]
