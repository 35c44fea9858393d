"""A connection on which a client keeps us waiting no longer than it is allowed to, all pauses of a request together.

A timeout of a socket is one of each receive: who sends a byte every nine seconds never meets one of ten. Only waiting
counts, so that a body which waits for its room does not lose the time. Where bytes are there, nothing is added but
that a receive asks not to wait. What of an answer the client does not take at once is kept, up to a bound, for the
server's loop to send; only beyond that somebody waits for it.
"""

from __future__ import annotations

import errno
import socket
import time
from collections.abc import Callable
from typing import Final, Self

# A whole body, and a whole answer.
READING_S: Final = 10.0
WRITING_S: Final = 30.0
# Of one answer.
MAX_UNSENT_BYTES: Final = 2 * 1024 * 1024


class TimedSocket(socket.socket):
    """A stream socket; ``clock`` gives monotonic seconds."""

    __slots__ = ("_clock", "_reading_s", "_writing_s", "unsent")

    _clock: Callable[[], float]
    unsent: bytearray

    @classmethod
    def of(cls, taken: socket.socket, *, clock: Callable[[], float] = time.monotonic) -> Self:
        """The connection ``taken``, which is not used again under its own name."""
        made = cls(taken.family, taken.type, taken.proto, taken.detach())
        made._clock = clock
        made.unsent = bytearray()
        made.allow()
        return made

    def allow(self, *, reading_s: float = READING_S, writing_s: float = WRITING_S) -> None:
        """From now on the client may keep us waiting that many seconds, in all."""
        self._reading_s = reading_s
        self._writing_s = writing_s

    def hurry(self, reading_s: float) -> None:
        """It may keep us waiting for what it sends no longer than ``reading_s`` seconds more."""
        self._reading_s = min(self._reading_s, reading_s)

    def recv(self, bufsize: int, flags: int = 0, /) -> bytes:
        """As a socket does; raises TimeoutError when the client has kept us waiting too long."""
        before = self.gettimeout()
        if before is None or flags & socket.MSG_DONTWAIT:
            try:
                return super().recv(bufsize, flags | socket.MSG_DONTWAIT)
            except BlockingIOError:
                if flags & socket.MSG_DONTWAIT:
                    raise
        # A timeout of the server's own, which is one of each receive, is no longer than the whole may take.
        left = self._reading_s if before is None else min(before, self._reading_s)
        if left <= 0:
            raise TimeoutError
        began = self._clock()
        self.settimeout(left)
        try:
            return super().recv(bufsize, flags)
        finally:
            self._reading_s -= self._clock() - began
            self.settimeout(before)

    def sendall(self, data: bytes, _flags: int = 0, /) -> None:  # type: ignore[override]  # bytes are all that is sent
        """Send ``data``, or keep in ``unsent`` what the client does not take at once.

        Raises BrokenPipeError when it is too much to keep and the client takes too long: it is as good as gone.
        """
        if self.unsent:
            self.unsent += data
            self.flush()
        elif (sent := self._sent_at_once(data)) < len(data):
            self.unsent += memoryview(data)[sent:]
        if len(self.unsent) > MAX_UNSENT_BYTES:
            self._wait_to_send()

    def flush(self) -> bool:
        """Send of ``unsent`` what the client takes at once, and say whether that was all. Raises OSError."""
        if self.unsent:
            del self.unsent[: self._sent_at_once(self.unsent)]
        return not self.unsent

    def _sent_at_once(self, data: bytes | bytearray) -> int:
        try:
            return self.send(data, socket.MSG_DONTWAIT)
        except BlockingIOError:
            return 0

    def _wait_to_send(self) -> None:
        before, began = self.gettimeout(), self._clock()
        # Of the whole: Python counts the time of a sendall together.
        self.settimeout(max(self._writing_s, 0.001))
        try:
            super().sendall(self.unsent)
        except TimeoutError:
            raise BrokenPipeError(errno.EPIPE, "the client does not read") from None
        finally:
            self.unsent.clear()
            self._writing_s -= self._clock() - began
            self.settimeout(before)
