"""Sessions that a reader holds: read once, then only what changed since, revisions and erasures included.

Nothing here is a source: whatever is held can be thrown away and read again. Thread-safe: one thread reads a session
while others wait for it, and nobody waits for another session.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from agent.core.session import SessionState
from agent.core.turn import SessionTurn
from agent.errors import NotYetThere, StoreNotFound
from agent.recall.held_content import with_content
from agent.recall.held_reading import Reading, read_again
from agent.ruvector.models import SessionRow
from agent.ruvector.reads import StoreReads

# A larger session is held without content: a process is to hold many.
WHOLE_BYTES: Final = 16 * 1024 * 1024
# Measured: a light turn takes 650 bytes, a whole one with 0.8 KiB of JSON 1 450: so 120 MB in all.
MAX_TURNS: Final = 150_000
# What a caller is made to wait for a store that is behind, before it is told to come again.
LONGEST_WAIT_S: Final = 2.0
_FIRST_PAUSE_S: Final = 0.02
_LONGEST_PAUSE_S: Final = 0.25


@dataclass(frozen=True, slots=True)
class HeldSession:
    """A session as it was when it was read last. ``version``: of the session (CONTRACT 10).

    ``row``: what it was listed by then; None for one that is not there. ``content``: where the turns of the state are
    without it, who reads it of a session's turns; else None.
    """

    session_id: str
    state: SessionState
    version: int
    row: SessionRow | None = field(default=None, compare=False)
    content: Callable[[Iterable[SessionTurn]], tuple[SessionTurn, ...]] | None = field(default=None, compare=False)

    def whole(self, turns: Iterable[SessionTurn]) -> tuple[SessionTurn, ...]:
        """``turns`` of the state with their content, which the state need not hold of every turn.

        Where it is read from the store, a turn that changed since is as it is now: a later revision, or a skeleton.
        Raises StoreNotFound for one that is not there any more.
        """
        return tuple(turns) if self.content is None else self.content(turns)


@dataclass(slots=True, eq=False)
class _Place:
    """Where one session is held; ``lock`` is had while it is read. ``weight`` belongs to the lock of all places."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    reading: Reading | None = None
    weight: int = 0


class HeldSessions:
    """The sessions of one store; ``reads`` is where they are read.

    A session of more than ``whole_bytes`` is held without content. In all, ``max_turns`` are held: a light turn counts
    one, and a whole session as many as it has KiB besides. Who was asked for longest ago goes first. ``sleep`` and
    ``clock`` (monotonic seconds) are for waiting, up to ``longest_wait_s``, for a store that is behind.
    """

    def __init__(
        self,
        reads: StoreReads,
        *,
        max_turns: int = MAX_TURNS,
        whole_bytes: int = WHOLE_BYTES,
        longest_wait_s: float = LONGEST_WAIT_S,
        sleep: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._reads = reads
        self._max_turns = max_turns
        self._whole_bytes = whole_bytes
        self._longest_wait_s = longest_wait_s
        self._sleep = sleep
        self._clock = clock
        self._places: OrderedDict[str, _Place] = OrderedDict()
        self._weight = 0
        self._lock = threading.Lock()

    def session(self, session_id: str, *, min_version: int | None = None) -> HeldSession:
        """The session (a UUID in lower case) as it is now. Raises StoreNotFound for one that the store never had.

        ``min_version``: not before the log has reached that position, as who wrote something was told it. A store that
        is behind is asked again for a short time; then NotYetThere is raised, or StoreNotFound.
        """
        if min_version is None:
            return self._now(session_id)
        end = self._clock() + self._longest_wait_s
        pause = _FIRST_PAUSE_S
        while True:
            failure: NotYetThere | StoreNotFound = NotYetThere()
            try:
                held = self._now(session_id)
                if held.version >= min_version:
                    return held
            except StoreNotFound as error:
                failure = error
            # A capture whose turns were all known leaves the session's version as it is: then the log decides.
            if self._has_reached(min_version):
                return self._now(session_id)
            left = end - self._clock()
            if left <= 0:
                raise failure
            self._sleep(min(pause, left))
            pause = min(2 * pause, _LONGEST_PAUSE_S)

    def _has_reached(self, position: int) -> bool:
        """Whether the log is seen to have reached ``position``.

        The feed shows no erasures, so that of one is seen in the row of a session that it changed, else when a later
        event comes. Until then a store that is behind looks like one in which nothing came since, and who was told
        that something is erased must not be answered by a store that still has it.
        """
        if position <= 0:
            return True
        try:
            events = self._reads.feed(str(position - 1), limit=1).events
        except StoreNotFound:
            # It has no feed.
            return False
        return any(event.position is not None and event.position >= position for event in events)

    def _now(self, session_id: str) -> HeldSession:
        place = self._place(session_id)
        with place.lock:
            try:
                reading = read_again(self._reads, session_id, place.reading, whole_bytes=self._whole_bytes)
                place.reading = reading if reading.can_be_held else None
            except StoreNotFound:
                place.reading = None
                raise
            finally:
                self._weigh(session_id, place)
        content = partial(with_content, self._reads, session_id) if reading.is_light else None
        return HeldSession(session_id, reading.state, reading.row.version, reading.row, content)

    def _place(self, session_id: str) -> _Place:
        with self._lock:
            place = self._places.setdefault(session_id, _Place())
            self._places.move_to_end(session_id)
            return place

    def _weigh(self, session_id: str, place: _Place) -> None:
        """Count what ``place`` holds now, and let go of what is too much."""
        weight = 0 if place.reading is None else _weight(place.reading)
        with self._lock:
            if self._places.get(session_id) is not place:
                # Others needed its room while it was read.
                return
            self._weight += weight - place.weight
            place.weight = weight
            if weight == 0:
                del self._places[session_id]
            while self._weight > self._max_turns:
                _, oldest = self._places.popitem(last=False)
                self._weight -= oldest.weight


def _weight(reading: Reading) -> int:
    content = 0 if reading.is_light else reading.size // 1024
    return len(reading.state.turns) + content
