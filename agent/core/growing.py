"""Sequences that grow at their end in constant time, and whose earlier lengths stay as they were.

Those that grew from one another share one list, each with the length that it had. Only the longest may grow in place:
a shorter one copies first, so that no two branches ever see each other. Any thread may read; one at a time may grow.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Generic, TypeVar, overload

from agent.core.turn import SessionTurn

T = TypeVar("T")


class Growing(Sequence[T], Generic[T]):
    """An immutable view of the first ``len()`` items of a list that may have become longer since.

    With ``length``, ``items`` is that list.
    """

    __slots__ = ("_items", "_length")

    def __init__(self, items: Iterable[T] = (), *, length: int | None = None) -> None:
        self._items = items if isinstance(items, list) and length is not None else list(items)
        self._length = len(self._items) if length is None else length

    def plus(self, item: T) -> Growing[T]:
        """This sequence with ``item`` behind it."""
        return Growing(self._grown(item), length=self._length + 1)

    def _grown(self, item: T) -> list[T]:
        """The list itself, if this is its longest view, else a copy; with ``item`` behind this view's own."""
        items = self._items if len(self._items) == self._length else self._items[: self._length]
        items.append(item)
        return items

    def extends(self, other: Growing[T]) -> bool:
        """Whether this is seen at a glance to be ``other`` with more behind it, or nothing.

        False says nothing: the items of ``other`` may stand here in another list.
        """
        return self._items is other._items and self._length >= other._length

    def as_tuple(self) -> tuple[T, ...]:
        return tuple(self._items[: self._length])

    def __len__(self) -> int:
        return self._length

    def __iter__(self) -> Iterator[T]:
        return islice(iter(self._items), self._length)

    @overload
    def __getitem__(self, index: int) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[T]: ...
    def __getitem__(self, index: int | slice) -> T | Sequence[T]:
        places = range(self._length)[index]
        if isinstance(places, int):
            return self._items[places]
        return self._items[places.start : places.stop] if places.step == 1 else [self._items[each] for each in places]


class GrowingTurns(Growing[SessionTurn]):
    """Turns, each ``turn_id`` once, that are found by their ids too."""

    __slots__ = ("_places",)

    def __init__(
        self, items: Iterable[SessionTurn] = (), *, length: int | None = None, places: dict[str, int] | None = None
    ) -> None:
        super().__init__(items, length=length)
        self._places = {turn.turn_id: place for place, turn in enumerate(self)} if places is None else places

    def plus(self, item: SessionTurn) -> GrowingTurns:
        """These turns with ``item`` behind them, whose id is new among them."""
        items = self._grown(item)
        places = self._places
        if items is not self._items:
            places = {turn_id: place for turn_id, place in places.items() if place < self._length}
        places[item.turn_id] = self._length
        return GrowingTurns(items, length=self._length + 1, places=places)

    def find(self, turn_id: str) -> SessionTurn | None:
        """The turn with this id, in lower case; None where it is not among these."""
        place = self._places.get(turn_id)
        # Beyond the length it is of those that grew from these.
        return None if place is None or place >= self._length else self._items[place]
