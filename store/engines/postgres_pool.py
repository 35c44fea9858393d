"""Connections that threads take and give back: at most so many, made when they are wanted, each in a thread of its own.

Who wants one waits no longer than it has time, whatever a connection that is being made hangs at (a name that does not
resolve, a server that does not answer). A server that refuses is told to who waits at once, and asked anew by the next.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Final

import psycopg
from psycopg.pq import TransactionStatus

from store.engines.watched_connection import WatchedConnection
from store.errors import DatabaseUnreachable, StoreAnswerError

# One that nobody needed for so long is closed; one that is so old is made anew, for what servers and names become.
_MAX_IDLE_S: Final = 300.0
_MAX_AGE_S: Final = 3600.0


class _Place:
    """Of one who waits. ``gate`` is released by who has a connection for it, or an error; ``is_tried``: one is made."""

    __slots__ = ("error", "gate", "is_tried", "raw")

    def __init__(self) -> None:
        self.gate = threading.Lock()
        self.gate.acquire()
        self.raw: WatchedConnection | None = None
        self.error: Exception | None = None
        self.is_tried = False


class PostgresPool:
    """At most ``size`` connections that ``connect`` makes."""

    def __init__(
        self, connect: Callable[[], WatchedConnection], *, size: int, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._connect = connect
        self._size = size
        self._clock = clock
        self._mutex = threading.Lock()
        # The last one given back is the next one taken, so that the others grow old.
        self._idle: deque[WatchedConnection] = deque()
        self._in_use = 0
        self._being_made = 0
        self._waiting: deque[_Place] = deque()
        self._is_closed = False

    def take(self, timeout_s: float) -> WatchedConnection:
        """A connection, which is to be given back. Raises DatabaseUnreachable where there is none in time."""
        with self._mutex:
            if self._is_closed:
                raise DatabaseUnreachable("the store was closed")
            if self._idle:
                self._in_use += 1
                return self._idle.pop()
            place = _Place()
            self._waiting.append(place)
            self._make_what_is_missing()
        if not place.gate.acquire(timeout=max(timeout_s, 0.0)):
            with self._mutex:
                if place in self._waiting:
                    self._waiting.remove(place)
                    raise DatabaseUnreachable("no connection to the database is free")
        if place.raw is not None:
            return place.raw
        if isinstance(place.error, psycopg.Error):
            raise DatabaseUnreachable("the database cannot be reached, or does not let this user in") from place.error
        raise place.error or StoreAnswerError("a wait for a connection ended without one")

    def give_back(self, raw: WatchedConnection) -> None:
        """Let the next one have it, where it is still good."""
        now = self._clock()
        is_good = raw.pgconn.transaction_status == TransactionStatus.IDLE and now - raw.made_at < _MAX_AGE_S
        too_many: list[WatchedConnection] = [] if is_good else [raw]
        with self._mutex:
            self._in_use -= 1
            if self._is_closed:
                too_many = [raw]
            elif is_good:
                self._hand_over(raw, now)
            else:
                # Who was to wait for this one looks for itself.
                for place in self._waiting:
                    place.is_tried = False
            while self._idle and now - self._idle[0].idle_since > _MAX_IDLE_S:
                too_many.append(self._idle.popleft())
            self._make_what_is_missing()
        for each in too_many:
            each.close()

    def drop_idle(self) -> None:
        """Close those that nobody has taken: what one suffered, they may."""
        with self._mutex:
            dropped = list(self._idle)
            self._idle.clear()
        for each in dropped:
            each.close()

    def counts(self) -> tuple[int, int]:
        """How many are in use, and how many are open and idle."""
        with self._mutex:
            return self._in_use, len(self._idle)

    def close(self) -> None:
        """Close what is idle now, and what is in use when it is given back; who waits is told."""
        with self._mutex:
            self._is_closed = True
            waiting = list(self._waiting)
            self._waiting.clear()
            for place in waiting:
                place.error = DatabaseUnreachable("the store was closed")
                place.gate.release()
        self.drop_idle()

    def _make_what_is_missing(self) -> None:
        """Under the mutex: a connection for each who waits, as far as there may be more.

        For each its own: one that is being made already may hang at what is over by now.
        """
        room = self._size - self._in_use - len(self._idle) - self._being_made
        for place in [place for place in self._waiting if not place.is_tried][: max(room, 0)]:
            place.is_tried = True
            self._being_made += 1
            threading.Thread(target=self._make, args=(place,), name="store-connects", daemon=True).start()

    def _make(self, place: _Place) -> None:
        raw: WatchedConnection | None = None
        error: Exception | None = None
        try:
            raw = self._connect()
        except Exception as failure:  # noqa: BLE001 - raised again by the thread that waits for the connection
            error = failure
        now = self._clock()
        with self._mutex:
            self._being_made -= 1
            if raw is not None and not self._is_closed:
                raw.made_at = now
                if place in self._waiting:
                    self._waiting.remove(place)
                    self._waiting.appendleft(place)
                self._hand_over(raw, now)
                return
            # While others are in use the server has no more to give, perhaps: then one of those is waited for.
            if error is not None and place in self._waiting and not self._in_use:
                self._waiting.remove(place)
                place.error = error
                place.gate.release()
            self._make_what_is_missing()
        if raw is not None:
            raw.close()

    def _hand_over(self, raw: WatchedConnection, now: float) -> None:
        """Under the mutex: to the first who waits, else to nobody."""
        if self._waiting:
            place = self._waiting.popleft()
            place.raw = raw
            self._in_use += 1
            place.gate.release()
        else:
            raw.idle_since = now
            self._idle.append(raw)
