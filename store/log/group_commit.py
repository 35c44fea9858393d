"""Appends of many threads in few transactions: who comes while one is committed goes into the next, together.

A commit waits for the disk, and on PostgreSQL each statement for the network. One thread at a time leads: it appends
what waits, its own submission first, wakes the others with their answers and hands over to the next that came
meanwhile. A thread that comes alone pays for nothing: it leads at once, with a batch of one. Nobody waits without a
bound: not even for a transaction that it is part of and that does not end. What becomes of that is not known then, and
sending it again is safe (CONTRACT 10).
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from store.errors import DatabaseLocked, DatabaseUnreachable, StoreAnswerError, Unavailable
from store.log.append import Prepared
from store.port import Appended

# More turns than this in one transaction would only make the others wait.
_LARGEST_BATCH = 64
_MOST_TURNS = 2000
# In the queue, and once more in a transaction, for who does not say how long it has time.
_LONGEST_WAIT_S = 10.0

# Appends a batch of one tenant, within so many seconds of waiting: an answer or an error for each.
Commit = Callable[[str, Sequence[Prepared], float | None], "list[Appended | StoreAnswerError]"]


@dataclass(slots=True, eq=False)
class _Ticket:
    tenant: str
    prepared: Prepared
    # Monotonic seconds; None without a bound.
    end: float | None
    answer: Appended | Exception | None = None
    taken: bool = False
    # Released by the leader: with an answer, or to lead.
    gate: threading.Lock = field(default_factory=threading.Lock)


class GroupCommit:
    """Queues submissions for ``commit``, which one thread at a time calls."""

    def __init__(
        self, commit: Commit, *, longest_s: float = _LONGEST_WAIT_S, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._commit = commit
        self._longest_s = longest_s
        self._clock = clock
        self._mutex = threading.Lock()
        self._waiting: list[_Ticket] = []
        self._is_led = False

    def append(self, tenant: str, prepared: Prepared, timeout_s: float | None) -> Appended:
        """The answer for ``prepared``. Raises its error; DatabaseLocked where it waited for ``timeout_s`` in vain.

        Raises DatabaseUnreachable where a transaction that it is part of does not end.
        """
        end = None if timeout_s is None else self._clock() + timeout_s
        ticket = _Ticket(tenant, prepared, end)
        with self._mutex:
            follows = self._is_led
            self._is_led = True
            self._waiting.append(ticket)
            if follows:
                ticket.gate.acquire()
        if follows:
            self._wait(ticket, timeout_s)
        if ticket.answer is None:
            self._lead(ticket)
        answer = ticket.answer
        if isinstance(answer, Appended):
            return answer
        if answer is None:
            raise StoreAnswerError("an append ended without an answer")
        raise answer

    def _wait(self, ticket: _Ticket, timeout_s: float | None) -> None:
        if ticket.gate.acquire(timeout=self._longest_s if timeout_s is None else max(timeout_s, 0.0)):
            return
        with self._mutex:
            if not ticket.taken and ticket in self._waiting and ticket.gate.locked():
                self._waiting.remove(ticket)
                raise DatabaseLocked("other writers of this process hold the database")
        # Its transaction runs, or it is to lead: what comes of it is not to be lost.
        if ticket.gate.acquire(timeout=self._longest_s):
            return
        with self._mutex:
            # Under the mutex nobody is handed the lead.
            if not ticket.gate.acquire(blocking=False):
                raise DatabaseUnreachable("the database does not answer: send it again, it is stored once")

    def _lead(self, own: _Ticket) -> None:
        with self._mutex:
            batch = self._take(own)
        try:
            self._answer(batch)
        finally:
            with self._mutex:
                following = self._waiting[0] if self._waiting else None
                self._is_led = following is not None
                for ticket in batch:
                    if ticket is not own:
                        ticket.gate.release()
                if following is not None:
                    following.taken = True
                    following.gate.release()

    def _take(self, own: _Ticket) -> list[_Ticket]:
        """``own`` and what waits beside it of the same tenant and has nothing in common with the rest of the batch."""
        batch: list[_Ticket] = []
        left: list[_Ticket] = []
        met: set[bytes] = set()
        turns = 0
        for ticket in (own, *(ticket for ticket in self._waiting if ticket is not own)):
            capture = ticket.prepared.submission.capture
            count = 0 if capture is None else len(capture.turns)
            meets = ticket.prepared.meets()
            fits = len(batch) < _LARGEST_BATCH and turns + count <= _MOST_TURNS
            if not batch or (ticket.tenant == own.tenant and fits and met.isdisjoint(meets)):
                ticket.taken = True
                batch.append(ticket)
                turns += count
            else:
                left.append(ticket)
            # Also of those that are left: who comes later must not overtake them in their session.
            met |= meets
        self._waiting = left
        return batch

    def _answer(self, batch: list[_Ticket]) -> None:
        ends = [ticket.end for ticket in batch if ticket.end is not None]
        timeout_s = max(0.0, min(ends) - self._clock()) if ends else None
        try:
            answers = self._commit(batch[0].tenant, [ticket.prepared for ticket in batch], timeout_s)
        except DatabaseLocked as error:
            # Those who have no time left; the others wait on.
            left = [ticket for ticket in batch if ticket.end is not None and ticket.end > self._clock()]
            for ticket in batch:
                ticket.answer = error
            if left and len(left) < len(batch):
                self._answer(left)
            return
        except Unavailable as error:
            # Nothing was written, and would not be for any of them.
            answers = [error] * len(batch)
        except Exception as error:  # noqa: BLE001 - raised again by the thread that it belongs to
            if len(batch) == 1:
                batch[0].answer = error
                return
            # One of them is the reason: each alone, so that the others do not share its fate.
            for ticket in batch:
                self._answer([ticket])
            return
        for ticket, answer in zip(batch, answers, strict=True):
            ticket.answer = answer
