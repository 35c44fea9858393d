"""The room for large bodies in one instance: all that are at work at once take the memory of one of the largest.

A capture takes a multiple of its body (benchmarks/hostile_bodies.py: up to 17 times). Eight of 9 MiB at once do not fit
into the memory of a function; the platform kills it, and a queue brings all eight again together, for ever. So a body
waits here before it is read, first come, first served, and not for long. Small ones pass, whatever the large ones do.
Refuses with RateLimitExceeded, and ``Retry-After``, what would have to wait too long.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from typing import Final, Self

from agent.errors import RateLimitExceeded

SMALL_BYTES: Final = 64 * 1024
# The function has 30 s, and a store 20 of them (CONTRACT 7).
WAIT_S: Final = 8.0
_RETRY_AFTER_S: Final = 5


class Room:
    """Room for ``capacity`` bytes of bodies; a larger one fits when it is alone. ``clock`` gives monotonic seconds."""

    def __init__(self, capacity: int, *, clock: Callable[[], float], wait_s: float = WAIT_S) -> None:
        self.capacity = capacity
        self.clock = clock
        self.wait_s = wait_s
        self.space = _Shared(capacity)
        # For bodies of a size that nobody knows yet: one is read at a time, and counted when it is there.
        self.opening = _Shared(1)

    def place(self, *, is_envelope: bool = False) -> Place:
        """A place for one request. Of an envelope the length says nothing: what is in it may be compressed."""
        return Place(self, is_envelope=is_envelope)


class Place:
    """What one request holds of a room, until its block ends.

    Who holds space waits for nothing more: no two can wait for each other.
    """

    __slots__ = ("_is_envelope", "_is_opening", "_room", "_taken", "_until")

    def __init__(self, room: Room, *, is_envelope: bool) -> None:
        self._room = room
        self._is_envelope = is_envelope
        self._is_opening = False
        self._taken = 0
        self._until: float | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._give_back(0)

    def hold(self, size: int | None) -> None:
        """Wait until a body of ``size`` bytes may be read, None for one of any size; once a request.

        Raises RateLimitExceeded.
        """
        if self._is_opening or self._taken or (size is not None and size <= SMALL_BYTES):
            return
        if size is None or self._is_envelope:
            self._wait_for(self._room.opening, 1)
            self._is_opening = True
        self._take(self._room.capacity // 2 if size is None else size)
        if self._is_opening:
            # It was there, and that is enough: nobody reads one of the largest while another is at work.
            self._give_back_space(0)

    def settle(self, size: int) -> None:
        """Go on with the payload of ``size`` bytes that came out of the body. Raises RateLimitExceeded."""
        if self._is_opening and size > SMALL_BYTES:
            self._take(size)
        self._give_back(size if size > SMALL_BYTES else 0)

    def _take(self, size: int) -> None:
        amount = min(size, self._room.capacity)
        self._wait_for(self._room.space, amount)
        self._taken = amount

    def _give_back(self, kept: int) -> None:
        """The opening, and what is held of the space beyond ``kept`` bytes."""
        if self._is_opening:
            self._is_opening = False
            self._room.opening.give_back(1)
        self._give_back_space(kept)

    def _give_back_space(self, kept: int) -> None:
        if self._taken > kept:
            self._room.space.give_back(self._taken - kept)
            self._taken = kept

    def _wait_for(self, shared: _Shared, amount: int) -> None:
        now = self._room.clock()
        if self._until is None:
            self._until = now + self._room.wait_s
        if not shared.take(amount, wait_s=max(0.0, self._until - now)):
            raise RateLimitExceeded(
                "this instance is at work on as many large bodies as it has memory for",
                details={"limit": "memory"},
                headers={"Retry-After": str(_RETRY_AFTER_S)},
            )


class _Shared:
    """An amount that many take parts of, first come, first served: a large part is not passed by small ones."""

    def __init__(self, amount: int) -> None:
        self._left = amount
        self._line: deque[object] = deque()
        self._changed = threading.Condition()

    def take(self, amount: int, *, wait_s: float) -> bool:
        """Whether ``amount`` was there within ``wait_s`` seconds; then it is the caller's."""
        me = object()
        with self._changed:
            self._line.append(me)
            try:
                is_there = self._changed.wait_for(lambda: self._line[0] is me and self._left >= amount, wait_s)
                if is_there:
                    self._left -= amount
            finally:
                self._line.remove(me)
                self._changed.notify_all()
        return is_there

    def give_back(self, amount: int) -> None:
        with self._changed:
            self._left += amount
            self._changed.notify_all()
