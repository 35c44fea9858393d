"""The units that are kept so far, and what else fits: every step costs what it costs, markers included."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Final, NamedTuple

from agent.core.window.marker import Markers
from agent.core.window.units import Units

# As many tokens or messages as nobody has.
UNLIMITED: Final = 1 << 62


class Gap(NamedTuple):
    """The units from ``start`` up to ``end`` are not kept; those beside them are, or there are none."""

    start: int
    end: int


class Kept:
    """Runs of units that are kept, from ``lows`` up to ``highs``. ``tokens`` and ``messages`` are what is left.

    ``opening`` are the tokens of the marker that a window takes if it begins with the first unit. ``barred`` units are
    never kept. ``reasons`` holds every step.
    """

    def __init__(
        self,
        units: Units,
        markers: Markers,
        *,
        tokens: int,
        messages: int = UNLIMITED,
        opening: int = 0,
        barred: Sequence[int] = (),
    ) -> None:
        self.units = units
        self.lows: list[int] = []
        self.highs: list[int] = []
        self.reasons: list[tuple[int, int, str]] = []
        self.barred = barred
        self.messages = messages
        self._markers = markers
        self._opening = opening
        self.tokens = tokens - self.gap(0, len(units))

    def __contains__(self, unit: int) -> bool:
        run = bisect_right(self.lows, unit)
        return run > 0 and self.highs[run - 1] > unit

    def gap(self, start: int, end: int) -> int:
        """The tokens of what stands for the units from ``start`` up to ``end``: a marker where turns are missing."""
        missing = self.units.closes[end] - self.units.opens[start]
        if missing:
            return self._markers[missing]
        return self._opening if end == 0 else 0

    def run(self, start: int, end: int) -> int:
        """The tokens of the units from ``start`` up to ``end``, all of them kept."""
        return self.units.tokens[end] - self.units.tokens[start] - self.units.marker_before[start]

    def alone(self, start: int, end: int) -> int:
        """The tokens of a window that holds these units only."""
        return self.gap(0, start) + self.run(start, end) + self.gap(end, len(self.units))

    @property
    def dearest(self) -> int:
        """The tokens of the dearest marker that stands anywhere now, or did."""
        # As a list at once: another cut of the conversation may count one more meanwhile.
        return max([*self._markers.values()], default=0)

    def low_of(self, unit: int) -> int:
        """Where the run begins that holds ``unit``, which is kept."""
        return self.lows[bisect_right(self.lows, unit) - 1]

    def above_barred(self, unit: int) -> int:
        """The first unit above the barred ones below ``unit``."""
        at = bisect_left(self.barred, unit)
        return self.barred[at - 1] + 1 if at else 0

    def around(self, unit: int) -> tuple[int, int]:
        """The gap that a unit stands in."""
        run = bisect_right(self.lows, unit)
        return self.highs[run - 1] if run else 0, self.lows[run] if run < len(self.lows) else len(self.units)

    @property
    def messages_kept(self) -> int:
        """How many messages are kept."""
        starts = self.units.messages
        return sum(starts[high] - starts[low] for low, high in zip(self.lows, self.highs, strict=True))

    @cached_property
    def is_capped(self) -> bool:
        """Whether a unit is dropped that only the number of messages left no room for. Asked when all is kept."""
        if self.messages >= self.units.longest:
            return False
        starts = self.units.messages
        return any(
            starts[unit + 1] - starts[unit] > self.messages
            and self.run(unit, unit + 1) <= self.tokens
            and not self.bars(unit, unit + 1)
            for gap in self.gaps()
            for unit in range(gap.start, gap.end)
        )

    def add_if_whole(self, reason: str) -> bool:
        """Keep all units, if they fit. Whether they did."""
        return self.add(0, len(self.units), reason) if len(self.units) else False

    def gaps(self) -> Iterator[Gap]:
        """The gaps, newest first."""
        end = len(self.units)
        for run in reversed(range(len(self.lows))):
            if self.highs[run] < end:
                yield Gap(self.highs[run], end)
            end = self.lows[run]
        if end:
            yield Gap(0, end)

    def add(self, start: int, end: int, reason: str, *, is_forced: bool = False) -> bool:
        """Keep the units from ``start`` up to ``end``, none of which is kept, if they fit. Whether they did."""
        low, high = self.around(start)
        tokens = self.run(start, end) + self.gap(low, start) + self.gap(end, high) - self.gap(low, high)
        messages = self.units.messages[end] - self.units.messages[start]
        if not is_forced and (tokens > self.tokens or messages > self.messages or self.bars(start, end)):
            return False
        self.tokens -= tokens
        self.messages -= messages
        self._put(start, end)
        self.reasons.append((start, end, reason))
        return True

    def add_all(self, units: Sequence[int], reason: str) -> bool:
        """Keep ``units``, none of which is kept, if they fit together. Whether they did."""
        if len(units) == 1:
            return self.add(units[0], units[0] + 1, reason)
        before = (self.tokens, self.messages, [*self.lows], [*self.highs], len(self.reasons))
        for unit in units:
            self.add(unit, unit + 1, reason, is_forced=True)
        if self.tokens >= 0 and self.messages >= 0 and not any(self.bars(unit, unit + 1) for unit in units):
            return True
        self.tokens, self.messages, self.lows, self.highs, steps = before
        del self.reasons[steps:]
        return False

    def bars(self, start: int, end: int) -> bool:
        """Whether one of these units may never be kept."""
        at = bisect_left(self.barred, start)
        return at < len(self.barred) and self.barred[at] < end

    def lowest(self, bottom: int, start: int) -> int:
        """The first unit from ``bottom`` on from which all up to ``start`` fit; ``start`` where not even one does.

        None of them is kept or barred.
        """
        low, high = self.around(bottom)
        gained = self.gap(low, high) - self.gap(start, high)
        at = bisect_left(self.units.tokens, self.units.tokens[start] - self.tokens - gained, bottom, start)
        most = self.units.messages[start] - self.messages
        at = max(at, bisect_left(self.units.messages, most, bottom, start))
        while at < start and self.run(at, start) + self.gap(low, at) - gained > self.tokens:
            at += 1
        return at

    def _put(self, start: int, end: int) -> None:
        run = bisect_right(self.lows, start)
        joins_before = run > 0 and self.highs[run - 1] == start
        joins_behind = run < len(self.lows) and self.lows[run] == end
        if joins_before and joins_behind:
            self.highs[run - 1] = self.highs.pop(run)
            del self.lows[run]
        elif joins_before:
            self.highs[run - 1] = end
        elif joins_behind:
            self.lows[run] = start
        else:
            self.lows.insert(run, start)
            self.highs.insert(run, end)
