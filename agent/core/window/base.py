"""What is kept before a strategy has a say: the newest user's message, open calls, the newest messages."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from agent.core.turn import SessionTurn
from agent.core.window.choosing import FITS
from agent.core.window.cut_message import Cut, is_plain, longest, shortest
from agent.core.window.kept import Kept
from agent.core.window.prepared import Prepared

NEWEST_USER: Final = "newest_user"
OPEN_CALL: Final = "open_call"


class Seat(NamedTuple):
    """A way to keep one unit alone: with what is before it or behind it, where that takes less than its marker.

    ``tokens`` are those of the whole window; ``others`` are those without the unit.
    """

    start: int
    end: int
    tokens: int
    others: int


def seats(kept: Kept, unit: int) -> list[Seat]:
    """The ways to keep ``unit`` alone, in the order in which they are tried."""
    last = len(kept.units)
    own = kept.run(unit, unit + 1)
    ways = dict.fromkeys([(unit, unit + 1), (0, unit + 1), (unit, last), (0, last)])
    there = [Seat(start, end, tokens := kept.alone(start, end), tokens - own) for start, end in ways]
    behind = sorted(there[1:], key=lambda seat: seat.tokens)
    return [there[0], *(seat for seat in behind if seat.tokens < there[0].tokens)]


class Base:
    """Keeps the base of a window in ``kept``, which is empty. ``cut`` is the message that had to be cut, if any."""

    def __init__(self, prepared: Prepared, kept: Kept) -> None:
        self._prepared = prepared
        self._kept = kept
        self._room = kept.tokens + kept.gap(0, len(kept.units))
        self.cut: Cut | None = None

    def keep_newest_user(self) -> bool:
        """Keep the newest user's message, cut if it is too long alone. False where it stays whole or not at all."""
        unit = self._kept.units.newest
        if unit is None:
            return self._kept.tokens >= 0
        return self._keep_whole(unit, NEWEST_USER) or self._keep_cut(unit, NEWEST_USER)

    def keep_another(self) -> bool:
        """Keep the newest unit that fits, or a cut of the newest that can be cut, in the place of the newest user's."""
        newest = range(len(self._kept.units))[::-1]
        return any(self._keep_whole(unit, FITS) for unit in newest) or any(
            self._keep_cut(unit, FITS) for unit in newest
        )

    @property
    def is_replaceable(self) -> bool:
        """Whether the newest user's message is kept or dropped whole."""
        unit = self._kept.units.newest
        return unit is not None and not self._is_plain(unit)

    def keep_open(self) -> None:
        """Keep the calls that may still be answered, if they fit."""
        unit = self._kept.units.open
        if unit is not None and unit not in self._kept:
            # A window may have fewer messages than are open.
            messages, self._kept.messages = self._kept.messages, max(self._kept.messages, self._size(unit))
            granted = self._kept.messages - messages
            self._kept.add(unit, unit + 1, OPEN_CALL)
            self._kept.messages -= granted

    def least(self) -> int:
        """The tokens of the smallest window that the base allows, without what is fixed."""
        kept = self._kept
        if not len(kept.units):
            return kept.gap(0, 0)
        plain = kept.units.newest if not self.is_replaceable else None
        return min(self._least(range(len(kept.units)) if plain is None else (plain,)))

    def _least(self, units: range | tuple[int, ...]) -> Iterator[int]:
        for unit in units:
            for seat in self._allowed(unit):
                yield seat.tokens
                cut = shortest(self._turn(unit), self._prepared.tokens_of) if self._is_plain(unit) else None
                if cut is not None:
                    yield seat.others + cut.tokens

    def _allowed(self, unit: int) -> Iterator[Seat]:
        """The ways to keep ``unit`` that keep no more messages than they may, and nothing that is barred."""
        for number, seat in enumerate(seats(self._kept, unit)):
            messages = self._kept.units.messages[seat.end] - self._kept.units.messages[seat.start]
            is_alone = number == 0
            if is_alone or (messages <= self._kept.messages and not self._bars_beside(unit, seat)):
                yield seat

    def _bars_beside(self, unit: int, seat: Seat) -> bool:
        return self._kept.bars(seat.start, unit) or self._kept.bars(unit + 1, seat.end)

    def _keep_whole(self, unit: int, reason: str) -> bool:
        for seat in self._allowed(unit):
            if seat.tokens <= self._room:
                self._put(unit, seat, reason)
                return True
        return False

    def _keep_cut(self, unit: int, reason: str) -> bool:
        if not self._is_plain(unit):
            return False
        seat = min(self._allowed(unit), key=lambda seat: seat.others)
        turn = self._turn(unit)
        whole = self._kept.run(unit, unit + 1)
        self.cut = longest(turn, self._prepared.tokens_of, whole=whole, most=self._room - seat.others)
        if self.cut is None:
            return False
        self._put(unit, seat, reason)
        self._kept.tokens += whole - self.cut.tokens
        return True

    def _put(self, unit: int, seat: Seat, reason: str) -> None:
        self._kept.add(unit, unit + 1, reason, is_forced=True)
        if seat.start < unit:
            self._kept.add(seat.start, unit, FITS, is_forced=True)
        if seat.end > unit + 1:
            self._kept.add(unit + 1, seat.end, FITS, is_forced=True)

    def _size(self, unit: int) -> int:
        return self._kept.units.messages[unit + 1] - self._kept.units.messages[unit]

    def _is_plain(self, unit: int) -> bool:
        return self._size(unit) == 1 and is_plain(self._turn(unit))

    def _turn(self, unit: int) -> SessionTurn:
        """The first message of ``unit``."""
        return self._prepared.turns[self._prepared.at[self._kept.units.messages[unit]]]
