"""Clients of the capture function, which come again as real ones do: typed refusals that say so, and lost connections.

Back-off with jitter, ``Retry-After`` heeded, a bounded number of tries; then the capture is put off, its conversation
rests, and it is brought again later, byte for byte. A client sends the next turns of a conversation when those before
were acknowledged.
"""

from __future__ import annotations

import http.client
import json
import random
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from tests.chaos.conversations import Capture, Talk, begun, new_id
from tests.chaos.ledger import Ledger

TRIES = 5
LONGEST_WAIT_S = 2.0
MOST_OPEN = 5
IDLE_S = 0.5
_CODES = {
    **dict.fromkeys((400, 401, 404, 405, 409, 413), ("VALIDATION_ERROR",)),
    429: ("RATE_LIMIT_EXCEEDED",),
    500: ("INTERNAL_ERROR",),
    502: ("RUVECTOR_CONNECTION_ERROR", "RUVECTOR_WRITE_ERROR"),
}
_COME_AGAIN = (429, 500, 502, 503)

Address = tuple[str, int]


class Tickets:
    """How many captures may still be begun: whoever takes one sends one."""

    def __init__(self) -> None:
        self._left = 0
        self._lock = threading.Lock()
        self.over = False

    def give(self, count: int) -> None:
        with self._lock:
            self._left += count

    def take(self) -> bool:
        with self._lock:
            taken = self._left > 0
            self._left -= taken
            return taken

    @property
    def left(self) -> int:
        with self._lock:
            return self._left


class Service(NamedTuple):
    """Where clients go. ``functions`` and ``stores`` give who may be asked now; a client waits ``timeout_s``."""

    functions: Callable[[], list[Address]]
    stores: Callable[[], list[Address]]
    timeout_s: float


class Answer(NamedTuple):
    """``status`` 0: none came, and ``lost`` says how."""

    status: int
    headers: dict[str, str]
    body: dict[str, Any]
    lost: str = ""

    @property
    def code(self) -> str:
        error = self.body.get("error")
        return str(error.get("error_code")) if isinstance(error, dict) else ""


@dataclass
class _PutOff:
    capture: Capture
    fault: str
    resent: bool


@dataclass
class Client:
    """One client. ``shared`` are the ids of a session that one other client writes to as well."""

    service: Service
    ledger: Ledger
    tickets: Tickets
    chance: random.Random
    shared: Callable[[random.Random], tuple[str, str, bool]]
    talks: list[Talk] = field(default_factory=list)
    put_off: deque[_PutOff] = field(default_factory=deque)
    ends_by: float = float("inf")
    _acknowledged: deque[Capture] = field(default_factory=lambda: deque(maxlen=20))
    _connections: dict[Address, tuple[http.client.HTTPConnection, float]] = field(default_factory=dict)

    def run(self) -> None:
        """Send until all is said and nothing is put off."""
        try:
            while not (self.tickets.over and not self.put_off) and time.monotonic() < self.ends_by:
                if self.put_off and (self.tickets.left == 0 or self.chance.random() < 0.3):
                    waiting = self.put_off.popleft()
                    self._bring(waiting.capture, waiting.fault, resent=waiting.resent)
                elif self.tickets.take():
                    self._next()
                else:
                    time.sleep(0.01)
        finally:
            for connection, _ in self._connections.values():
                connection.close()

    def _next(self) -> None:
        kind = self.chance.random()
        if kind < 0.08 and self._acknowledged:
            self._bring(self.chance.choice(self._acknowledged), None, resent=True)
        elif kind < 0.09:
            self._bring(self._invalid(), None)
        elif kind < 0.10 and any(each.key for each in self._acknowledged):
            self._bring(self._conflicting(), None)
        else:
            key = f"key-{new_id(self.chance)}" if self.chance.random() < 0.2 else None
            self._bring(self._talk().grown(self.chance.randint(1, 2), key), None)

    def _talk(self) -> Talk:
        resting = {each.capture.talk.name for each in self.put_off if each.capture.talk}
        self.talks = [talk for talk in self.talks if not talk.is_over]
        free = [talk for talk in self.talks if talk.name not in resting]
        if free and (len(self.talks) >= MOST_OPEN or self.chance.random() < 0.8):
            return self.chance.choice(free)
        if self.chance.random() < 0.3:
            session, conversation, mirrored = self.shared(self.chance)
            known = any(talk.name == (session, conversation) for talk in self.talks)
            if not known and (session, conversation) not in resting:
                # What both hold is the same on both sides: its turns are chosen by its name.
                told = random.Random(session) if mirrored else self.chance
                talk = begun(told, "snapshot", session=session, conversation=conversation)
                self.talks.append(talk)
                return talk
        mode = self.chance.choice(("snapshot", "delta", "delta", "chat"))
        talk = begun(self.chance, mode, session=new_id(self.chance), conversation=new_id(self.chance))
        self.talks.append(talk)
        return talk

    def _invalid(self) -> Capture:
        talk = begun(self.chance, "snapshot", session=new_id(self.chance), conversation=new_id(self.chance))
        capture = talk.grown(1, None)
        return capture._replace(body=capture.body.replace(b'"role"', b'"rule"', 1), talk=None, refused=400)

    def _conflicting(self) -> Capture:
        used = self.chance.choice([each.key for each in self._acknowledged if each.key])
        talk = begun(self.chance, "snapshot", session=new_id(self.chance), conversation=new_id(self.chance))
        return talk.grown(1, used)._replace(talk=None, refused=409)

    def _bring(self, capture: Capture, fault: str | None, *, resent: bool = False) -> None:
        """Send a capture until it is settled or the tries are spent; ``fault`` is what it was put off under."""
        self.ledger.will_send(capture)
        met: str | None = fault
        for number in range(TRIES):
            since = time.monotonic()
            answer = self._post(capture)
            met = met or self.ledger.fault_between(since, time.monotonic())
            if answer.status == 200 and capture.refused is None:
                self._taken(capture, answer, resent=resent)
                how = "later" if fault is not None else "after_retries" if number else "at_first"
                self.ledger.settled(met, how)
                return
            if answer.status not in (0, *_COME_AGAIN):
                if answer.status != capture.refused:
                    self.ledger.is_wrong(f"{answer.status} {answer.code} under {met}")
                self.ledger.settled(met, "refused")
                return
            time.sleep(self._wait_s(answer, number))
        self.put_off.append(_PutOff(capture, met or "", resent))

    def _wait_s(self, answer: Answer, number: int) -> float:
        asked = answer.headers.get("retry-after", "")
        back_off = self.chance.uniform(0, min(LONGEST_WAIT_S, 0.05 * 2**number))
        return min(LONGEST_WAIT_S, float(asked)) if asked.isdigit() else back_off

    def _taken(self, capture: Capture, answer: Answer, *, resent: bool) -> None:
        self.ledger.was_acknowledged(capture, answer.body, resent=resent)
        if answer.headers.get("x-execution-ref") != answer.body["decision_event"]["execution_ref"]:
            self.ledger.is_wrong("X-Execution-Ref is not the event's")
        if not resent:
            self._acknowledged.append(capture)
        if capture.talk is not None:
            capture.talk.place = max(capture.talk.place, capture.reaches)
            if self.chance.random() < 0.05:
                self._read_back(capture.talk)

    def _read_back(self, talk: Talk) -> None:
        """What was acknowledged is there at once, whoever is asked. A store that is down says nothing."""
        wanted = [turn["content"] for turn in talk.turns[: talk.place]]
        stores = self.service.stores()
        connection = http.client.HTTPConnection(*self.chance.choice(stores), timeout=self.service.timeout_s)
        try:
            asked = f"/v1/sessions/{talk.session_id}/turns?conversation_id={talk.conversation_id}&limit=1000"
            connection.request("GET", asked)
            answer = connection.getresponse()
            body = json.loads(answer.read())
        except (OSError, http.client.HTTPException, ValueError):
            return
        finally:
            connection.close()
        if answer.status == 503:
            return
        found = [turn["content"] for turn in body.get("turns", ())]
        if answer.status != 200 or found[: len(wanted)] != wanted:
            self.ledger.is_wrong(f"a session read back: {answer.status}, {len(found)} turns of {len(wanted)}")
        self.ledger.was_read_back()

    def _post(self, capture: Capture) -> Answer:
        functions = self.service.functions()
        address = self.chance.choice(functions)
        since = time.monotonic()
        answer = self._exchanged(address, capture)
        until = time.monotonic()
        if answer.status == 0:
            self.ledger.was_lost(since, until, answer.lost)
        elif answer.status == 200:
            self.ledger.asked(since, until, "")
        else:
            self.ledger.asked(since, until, f"{answer.status} {answer.code}")
            if answer.code not in _CODES.get(answer.status, ()):
                self.ledger.is_wrong(f"an answer without a code of the contract: {answer.status} {answer.code!r}")
            if answer.status == 429 and not answer.headers.get("retry-after", "").isdigit():
                self.ledger.is_wrong("429 without Retry-After")
        if until - since >= self.service.timeout_s:
            self.ledger.is_wrong(f"no answer within {self.service.timeout_s} s")
        return answer

    def _connection(self, address: Address) -> http.client.HTTPConnection:
        """One that was used just now, or a new one: the host closes those that are idle."""
        now = time.monotonic()
        kept, used = self._connections.get(address, (None, 0.0))
        if kept is None or now - used > IDLE_S:
            if kept is not None:
                kept.close()
            kept = http.client.HTTPConnection(*address, timeout=self.service.timeout_s)
        self._connections[address] = (kept, now)
        return kept

    def _exchanged(self, address: Address, capture: Capture) -> Answer:
        connection = self._connection(address)
        kind = "a new connection" if connection.sock is None else "one used before"
        headers = {"Content-Type": "application/json"}
        if capture.key is not None:
            headers["Idempotency-Key"] = capture.key
        try:
            connection.request("POST", capture.path, capture.body, headers)
            answer = connection.getresponse()
            body = json.loads(answer.read())
        except (OSError, http.client.HTTPException) as error:
            connection.close()
            return Answer(0, {}, {}, f"{type(error).__name__} on {kind}")
        except ValueError:
            connection.close()
            return Answer(answer.status, {}, {})
        return Answer(answer.status, {name.lower(): value for name, value in answer.getheaders()}, body)
