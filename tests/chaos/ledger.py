"""What clients sent and what they were told, and when each fault held: the side that the store is judged by.

In the memory of the run, which is not killed. Used by many threads.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from tests.chaos.conversations import Capture, Talk

CALM = "no fault"
CONNECTION = "connection"
# Faults under which a client may be left without an answer.
ENDS_FUNCTIONS = ("function: ", "roll: ")


class Acknowledged(NamedTuple):
    """What an answer said of an event."""

    execution_ref: str
    event_id: str
    position: int


@dataclass
class Row:
    """What happened under one fault. ``answers`` counts those that were no acknowledgement, by status and error_code.

    ``at_first``, ``after_retries`` and ``later`` (put off by its client, and brought again) are captures that were
    acknowledged, ``refused`` those that were not to be taken, and were not. ``slowest`` is one request in seconds,
    ``recovered`` how long after the end of the fault the first capture was acknowledged that began after it.
    """

    times: int = 0
    captures: int = 0
    at_first: int = 0
    after_retries: int = 0
    later: int = 0
    refused: int = 0
    requests: int = 0
    answers: Counter[str] = field(default_factory=Counter)
    slowest: float = 0.0
    recovered: float = 0.0


class _Span(NamedTuple):
    fault: str
    since: float
    until: float


@dataclass
class Ledger:
    """``acknowledged`` by ``inputs_hash``; ``sent`` holds the hash of every payload that may be in the store.

    ``reached``: how many turns of a conversation were acknowledged, by session and conversation. ``wrong`` are answers
    that no fault excuses.
    """

    rows: dict[str, Row] = field(default_factory=dict)
    acknowledged: dict[str, Acknowledged] = field(default_factory=dict)
    sent: set[str] = field(default_factory=set)
    reached: dict[tuple[str, str], tuple[Talk, int]] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)
    acknowledgements: int = 0
    duplicates: int = 0
    read_back: int = 0
    _spans: list[_Span] = field(default_factory=list)
    _now: tuple[str, float] | None = None
    _unrecovered: tuple[str, float] | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @contextmanager
    def under(self, fault: str) -> Iterator[None]:
        """``fault`` holds for the length of the block."""
        with self._lock:
            self._row(fault).times += 1
            self._now = (fault, time.monotonic())
        try:
            yield
        finally:
            with self._lock:
                self._spans.append(_Span(*self._now, time.monotonic()))
                self._now = None

    def fault_is_over(self) -> None:
        """Nothing is injected any more; what holds on until the block ends is what it left behind."""
        with self._lock:
            self._unrecovered = (self._now[0], time.monotonic()) if self._now else None

    def fault_between(self, since: float, until: float) -> str:
        """The first fault that held in this time."""
        with self._lock:
            return self._faults_between(since, until)[0]

    def _faults_between(self, since: float, until: float) -> list[str]:
        """The faults that held in this time, in order; none is one of them."""
        found: list[str] = []
        for span in reversed(self._spans):
            if span.until < since:
                break
            if span.since <= until:
                found.insert(0, span.fault)
        if self._now is not None and self._now[1] <= until:
            found.append(self._now[0])
        return found or [CALM]

    def asked(self, since: float, until: float, answer: str) -> None:
        """One request came to this: an empty ``answer`` is what was hoped for."""
        with self._lock:
            row = self._row(self._faults_between(since, until)[0])
            row.requests += 1
            row.slowest = max(row.slowest, until - since)
            if answer:
                row.answers[answer] += 1
            elif self._unrecovered is not None and since >= self._unrecovered[1]:
                fault, ended = self._unrecovered
                self._row(fault).recovered = max(self._row(fault).recovered, until - ended)
                self._unrecovered = None

    def was_lost(self, since: float, until: float, how: str) -> None:
        """A request had no answer: right where a function was ended meanwhile, and nowhere else."""
        self.asked(since, until, CONNECTION)
        with self._lock:
            faults = self._faults_between(since, until)
        if not any(fault.startswith(ENDS_FUNCTIONS) for fault in faults):
            self.is_wrong(f"no answer of the function ({how}) after {until - since:.2f} s under {faults[0]}")

    def will_send(self, capture: Capture) -> None:
        with self._lock:
            if capture.refused is None:
                self.sent.add(capture.sent_hash)

    def was_acknowledged(self, capture: Capture, answer: dict[str, Any], *, resent: bool) -> None:
        """``resent``: this client had an acknowledgement of the same payload before."""
        event, receipt = answer["decision_event"], answer["receipt"]
        told = Acknowledged(event["execution_ref"], receipt["event_id"], receipt["position"])
        with self._lock:
            self.acknowledgements += 1
            self.duplicates += receipt["duplicate"]
            first = self.acknowledged.setdefault(capture.sent_hash, told)
            if first != told or event["inputs_hash"] != capture.sent_hash:
                self.wrong.append(f"one payload was acknowledged as {first} and as {told}")
            if resent and not receipt["duplicate"]:
                self.wrong.append(f"{told} was there, and was not called a duplicate")
            if capture.talk is not None:
                name = capture.talk.name
                _, before = self.reached.get(name, (capture.talk, 0))
                self.reached[name] = (capture.talk, max(before, capture.reaches))

    def is_wrong(self, what: str) -> None:
        with self._lock:
            self.wrong.append(what)

    def was_read_back(self) -> None:
        with self._lock:
            self.read_back += 1

    def settled(self, fault: str, how: str) -> None:
        """A capture whose first request met ``fault`` came to its end; ``how`` is a count of Row."""
        with self._lock:
            row = self._row(fault)
            row.captures += 1
            setattr(row, how, getattr(row, how) + 1)

    def count(self) -> int:
        with self._lock:
            return sum(row.captures for row in self.rows.values())

    def _row(self, fault: str) -> Row:
        return self.rows.setdefault(fault, Row())
