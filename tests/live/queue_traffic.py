"""A queue in front of the function, as Pub/Sub is one: conversations published in pieces, pushed until acknowledged."""

from __future__ import annotations

import heapq
import itertools
import random
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import httpx

from tests.capture.events.envelopes import Posted

_BACKOFF_S = (0.1, 2.0)
_MOST_REFUSALS = 5
_PUSHERS = 8


class Conversation(NamedTuple):
    """One conversation of a session of its own: its turns in order, and the captures that it was published in."""

    session_id: str
    turns: list[dict[str, Any]]
    captures: list[dict[str, Any]]


def conversation(rng: random.Random, *, captures: int) -> Conversation:
    """Two turns a capture; half of the captures are all that was said so far, half what is new.

    What is new names the turn that it continues, and who begins a conversation says so: nothing hangs on what came
    first.
    """
    session, talk = _uuid(rng), _uuid(rng)
    turns = [_turn(rng, place) for place in range(2 * captures)]
    snapshots = set(rng.sample(range(captures), captures // 2))
    payloads = []
    for place in range(captures):
        first = 0 if place in snapshots else 2 * place
        said = turns[first : 2 * place + 2]
        parent = turns[first - 1]["turn_id"] if first else None
        named = [{**said[0], "parent_turn_id": parent}, *said[1:]]
        payloads.append({"session_id": session, "conversation_id": talk, "turns": named})
    return Conversation(session, turns, payloads)


def _turn(rng: random.Random, place: int) -> dict[str, Any]:
    role = ("user", "assistant")[place % 2]
    # All at one instant: no order but the one of parents.
    return {
        "turn_id": _uuid(rng),
        "role": role,
        "content": f"{place}: {rng.random()}",
        "timestamp": "2026-03-02T08:15:00Z",
    }


def _uuid(rng: random.Random) -> str:
    return str(uuid.UUID(int=rng.getrandbits(128), version=4))


@dataclass
class Queue:
    """Pushes each delivery until it is acknowledged, with a bounded back-off; what is refused five times is dead.

    ``when`` is called once, by a pusher, as soon as ``after`` deliveries are acknowledged.
    """

    url: str
    deliveries: list[Posted]
    after: int
    when: Callable[[], None]
    acknowledged: int = 0
    duplicates: int = 0
    failures: int = 0
    dead: list[Posted] = field(default_factory=list)
    _due: list[tuple[float, int, int, Posted]] = field(default_factory=list)
    _out: int = 0
    _changed: threading.Condition = field(default_factory=threading.Condition)
    _numbers: Iterator[int] = field(default_factory=itertools.count)

    def run(self, *, timeout_s: float) -> None:
        """Push until nothing is left; AssertionError if that takes longer than ``timeout_s``."""
        self._end = time.monotonic() + timeout_s
        for posted in self.deliveries:
            heapq.heappush(self._due, (0.0, next(self._numbers), 0, posted))
        with ThreadPoolExecutor(_PUSHERS) as pool:
            for pusher in [pool.submit(self._push) for _ in range(_PUSHERS)]:
                pusher.result()

    def wait_for_failures(self, count: int, timeout_s: float) -> None:
        """Return when so many deliveries more were not acknowledged."""
        with self._changed:
            wanted = self.failures + count
            assert self._changed.wait_for(lambda: self.failures >= wanted, timeout_s), "nothing failed"

    def _push(self) -> None:
        with httpx.Client(timeout=60, trust_env=False) as client:
            while (taken := self._taken()) is not None:
                attempt, posted = taken
                try:
                    answer = client.post(self.url, content=posted.body, headers=posted.headers)
                except httpx.TransportError:
                    self._not_acknowledged(attempt, posted, refused=False)
                    continue
                if answer.status_code == 200:
                    self._acknowledged(duplicate=answer.json()["receipt"]["duplicate"])
                else:
                    self._not_acknowledged(attempt, posted, refused=answer.status_code < 500)

    def _taken(self) -> tuple[int, Posted] | None:
        """The next delivery that is due, waited for; None when none is left or out."""
        with self._changed:
            while self._due or self._out:
                assert time.monotonic() < self._end, f"{len(self._due)} deliveries are left"
                pause = self._due[0][0] - time.monotonic() if self._due else 1
                if pause <= 0:
                    _, _, attempt, posted = heapq.heappop(self._due)
                    self._out += 1
                    return attempt, posted
                self._changed.wait(min(pause, 1))
            return None

    def _acknowledged(self, *, duplicate: bool) -> None:
        with self._changed:
            self._out -= 1
            self.acknowledged += 1
            self.duplicates += duplicate
            is_time = self.acknowledged == self.after
            self._changed.notify_all()
        if is_time:
            self.when()

    def _not_acknowledged(self, attempt: int, posted: Posted, *, refused: bool) -> None:
        with self._changed:
            self._out -= 1
            self.failures += not refused
            if refused and attempt + 1 == _MOST_REFUSALS:
                self.dead.append(posted)
            else:
                due = time.monotonic() + min(_BACKOFF_S[0] * 2**attempt, _BACKOFF_S[1])
                heapq.heappush(self._due, (due, next(self._numbers), attempt + 1, posted))
            self._changed.notify_all()
