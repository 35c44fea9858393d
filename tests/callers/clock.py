"""A monotonic clock that stands still until it is moved."""

from __future__ import annotations

from dataclasses import dataclass

NS = 10**9


@dataclass
class Clock:
    """Nanoseconds that a test counts."""

    now_ns: int = 5 * 10**15

    def __call__(self) -> int:
        return self.now_ns

    def wait(self, seconds: float) -> None:
        self.now_ns += int(seconds * NS)
