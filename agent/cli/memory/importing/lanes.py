"""Conversations on their way into the store, several at a time, and what came of them in their order in the file.

Conversations of one session go one after the other. While some wait for the disk or the network, others are made; what
is on its way is bounded in number and in size, so that memory is, however long the file.
"""

from __future__ import annotations

import threading
import zlib
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from types import TracebackType
from typing import Final, Generic, Self, TypeVar

from agent.cli.memory.importing.account import Told
from agent.cli.memory.importing.conversations import Found, Refused

_LANES: Final = 8
_MOST: Final = 64
_MOST_BYTES: Final = 4 * 1024 * 1024

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class _OnTheWay(Generic[T]):
    step: T
    told: list[Future[Told] | Told]
    size: int

    @property
    def is_done(self) -> bool:
        return all(isinstance(each, Told) or (each.done() and not each.cancelled()) for each in self.told)

    def outcome(self) -> tuple[T, list[Told]]:
        """What came of it, waited for. Raises what the work raised."""
        return self.step, [each if isinstance(each, Told) else each.result() for each in self.told]

    @property
    def is_good(self) -> bool:
        """Whether all of it ended, and well."""
        return self.is_done and not any(isinstance(each, Future) and each.exception() for each in self.told)


class Lanes(Generic[T]):
    """Does ``work`` in threads of its own. Used as a context: it ends when what runs has ended, the rest is dropped."""

    def __init__(self, work: Callable[[Found], Told]) -> None:
        self._work = work
        self._lanes = [ThreadPoolExecutor(1, thread_name_prefix="import") for _ in range(_LANES)]
        self._pending: deque[_OnTheWay[T]] = deque()
        self._size = 0
        self.stopped = threading.Event()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def outcomes(self, steps: Iterable[tuple[T, Sequence[Found | Refused]]]) -> Iterator[tuple[T, list[Told]]]:
        """The steps in their order, each with what came of its conversations. Raises what ``steps`` and work raise."""
        for step, found in steps:
            self._start(step, found)
            while self._pending and (self._is_full or self._pending[0].is_done):
                yield self._next()
        while self._pending:
            yield self._next()

    def stop(self) -> None:
        """Start nothing more, and wait for what runs."""
        self.stopped.set()
        for lane in self._lanes:
            lane.shutdown(wait=False, cancel_futures=True)
        for lane in self._lanes:
            lane.shutdown()

    def finished(self) -> Iterator[tuple[T, list[Told]]]:
        """After ``stop``: the steps that ended well, up to the first that did not."""
        while self._pending and self._pending[0].is_good:
            yield self._next()

    @property
    def _is_full(self) -> bool:
        return len(self._pending) > _MOST or self._size > _MOST_BYTES

    def _start(self, step: T, found: Sequence[Found | Refused]) -> None:
        told: list[Future[Told] | Told] = []
        size = 0
        for each in found:
            if isinstance(each, Refused):
                told.append(Told(each.place, each.number, each.form, error=each.error))
            else:
                size = max(size, each.size)
                lane = self._lanes[zlib.crc32(each.session.encode()) % _LANES]
                told.append(lane.submit(self._work, each))
        self._pending.append(_OnTheWay(step, told, size))
        self._size += size

    def _next(self) -> tuple[T, list[Told]]:
        # Taken out only when it is there: Ctrl-C may come while it is waited for.
        outcome = self._pending[0].outcome()
        self._size -= self._pending.popleft().size
        return outcome
