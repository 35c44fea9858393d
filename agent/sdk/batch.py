"""Which batch a write goes into: one that was opened by its handle, in the context that writes (``contextvars``).

Another task or thread, which did not open it, writes directly: what it was told is kept stays, whatever becomes of the
block. A task that is started inside the block, and ``asyncio.to_thread`` from there, have its context, and so are part
of the batch as long as it is open; after that they write directly. Thread-safe.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final

from agent.core.session import SessionState
from agent.sdk.captures import Turns
from agent.sdk.session_name import SessionName
from agent.sdk.shown import ShownMessages
from agent.sdk.view import Pending


class Batch:
    """What a handle is to write at the end of a block; inside ``outer`` it becomes part of that.

    ``messages`` are those that the handle showed last inside. ``lock`` is one for all that are inside one another: a
    read looks at all of them.
    """

    def __init__(self, handle: object, outer: Batch | None) -> None:
        self.handle = handle
        self.is_open = True
        self.messages = ShownMessages()
        self._outer = outer
        self._parts: list[Turns] = []
        self.lock: threading.Lock = threading.Lock() if outer is None else outer.lock
        self._pending: Pending | None = None
        # What the pending state was made of: parts of the outer ones, and so many of its own.
        self._before: list[Turns] = []
        self._seen = 0

    def add(self, turns: Turns) -> bool:
        """Put ``turns`` at the end, and say whether it still could."""
        with self.lock:
            if self.is_open:
                self._parts.append(turns)
            return self.is_open

    def close(self) -> Turns:
        """All that was added; from here on nothing is."""
        with self.lock:
            self.is_open = False
            return Turns.together(self._parts)

    def pending(self, state: SessionState, name: SessionName) -> Pending | None:
        """What comes to ``state``, the session ``name`` in the store, at the end; None where that is nothing.

        Only what was added since the last time is looked at, as long as nobody else writes.
        """
        with self.lock:
            before = [] if self._outer is None else self._outer.open_parts()
            if not before and not self._parts:
                return None
            pending, self._pending = self._pending, None
            if pending is None or not pending.is_on(state, name) or self._before != before:
                pending, self._before, self._seen = Pending(state, name), before, 0
                for part in before:
                    pending.add(part.turns)
            for part in self._parts[self._seen :]:
                pending.add(part.turns)
            self._pending, self._seen = pending, len(self._parts)
            return pending

    def open_parts(self) -> list[Turns]:
        """Those of the outer ones and its own, but for what is closed: that is written, or given up. With ``lock``."""
        outer = [] if self._outer is None else self._outer.open_parts()
        return [*outer, *self._parts] if self.is_open else outer


_OPENED: Final[ContextVar[tuple[Batch, ...]]] = ContextVar("agent.sdk.batch", default=())


def open_batch(handle: object) -> Batch | None:
    """The innermost open batch of ``handle`` in this context; None where there is none."""
    return next((each for each in reversed(_OPENED.get()) if each.handle is handle and each.is_open), None)


@contextmanager
def opened(handle: object) -> Iterator[Batch]:
    """A batch of ``handle`` in this context, which is left closed at the end."""
    batch = Batch(handle, open_batch(handle))
    _OPENED.set((*_still_open(), batch))
    try:
        yield batch
    finally:
        batch.close()
        # Not by its token: the end of a block may be in another context, as of an asynchronous generator.
        _OPENED.set(_still_open())


def _still_open() -> tuple[Batch, ...]:
    return tuple(each for each in _OPENED.get() if each.is_open)
