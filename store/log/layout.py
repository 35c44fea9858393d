"""What the kept body of an event is made of: turns that it brought, turns that stand in other events, the rest.

An event's own turns are those that were new with it, revised, or sent in another form than the turn that is known.
All others are references: to the place of a turn among the own turns of the event at a position. Those of a grown
snapshot are runs of neighbours, so a thousand known turns cost some bytes. A reference may carry what the turn's
``metadata.derived`` names, where that differs from one snapshot to the next (CONTRACT 3, a missing time).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, overload

import orjson

from store.errors import DamagedDatabase
from store.log.deflate import compress, decompress

NEW: Final = "n"
REVISED: Final = "r"
VARIANT: Final = "v"

_SMALLEST_STREAM: Final = 256
_JSON_STARTS: Final = b"{"


class OwnTurn(NamedTuple):
    """A turn's text in its event: ``head`` and ``tail`` (SentTurn.text). ``kind`` is NEW, REVISED or VARIANT."""

    kind: str
    head: bytes
    tail: bytes


class Reference(NamedTuple):
    """The own turn ``own_index`` of the event at ``position``, with ``members`` in place of those in ``without``.

    ``members`` is the JSON text of an object; both are empty where the turn is what stands there.
    """

    position: int
    own_index: int
    without: tuple[str, ...] = ()
    members: bytes = b""


class OwnPlace(NamedTuple):
    """Where an own turn stands: the chunk's place in the kept body, and the text's in the chunk."""

    chunk: int
    chunk_bytes: int
    start: int
    head: int
    tail: int


class Chunk(NamedTuple):
    """A chunk of the body: how many bytes are kept of it, and the sizes of head and tail of each own turn in it."""

    kept_bytes: int
    sizes: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Layout:
    """``kinds``: one character an own turn. ``turns``: in the order of ``inputs.turns``, None for the next own turn.

    ``graph_at``: where in the rest the recomputed nodes and edges go; None where they stand there as sent.
    ``has_turns`` is False for an event that makes none: its body is its text. ``checksum`` is the CRC-32 of the kept
    body: a chunk that is not packed would not tell that a byte of it was turned.
    """

    chunks: tuple[Chunk, ...]
    kinds: str
    turns: Sequence[Reference | None]
    graph_at: int | None
    has_turns: bool
    checksum: int

    def own_places(self) -> Iterator[OwnPlace]:
        """The places of the own turns, in order."""
        offset = 0
        for chunk in self.chunks:
            start = 0
            sizes = iter(chunk.sizes)
            for head, tail in zip(sizes, sizes, strict=True):
                yield OwnPlace(offset, chunk.kept_bytes, start, head, tail)
                start += head + tail
            offset += chunk.kept_bytes

    def pack(self) -> bytes:
        """As the database keeps it: JSON, or a zlib stream of it where it is long."""
        text = orjson.dumps(
            {
                "c": [[chunk.kept_bytes, *chunk.sizes] for chunk in self.chunks],
                "k": self.kinds if self.kinds.strip(NEW) else len(self.kinds),
                "t": list(_runs(self.turns)),
                "g": self.graph_at,
                "h": self.has_turns,
                "x": self.checksum,
            }
        )
        return compress(text) if len(text) >= _SMALLEST_STREAM else text


def unpack(kept: bytes) -> Layout:
    """The layout that ``pack`` wrote. Raises DamagedDatabase."""
    try:
        fields = orjson.loads(kept if kept.startswith(_JSON_STARTS) else decompress(kept))
        kinds = fields["k"]
        return Layout(
            tuple(Chunk(kept_bytes, tuple(sizes)) for kept_bytes, *sizes in fields["c"]),
            kinds if isinstance(kinds, str) else NEW * kinds,
            _Unread(fields["t"]),
            fields["g"],
            fields["h"],
            fields["x"],
        )
    except (ValueError, KeyError, TypeError, IndexError):
        raise DamagedDatabase("the layout of a stored event cannot be read") from None


def own_sizes(kept: bytes) -> tuple[list[list[int]], int]:
    """The chunks alone of the layout that ``pack`` wrote: the kept bytes of each, then the sizes of its own turns; and
    the checksum of them all.

    A part of ``unpack``'s cost, which is much of a page of turns that came one by one. Raises DamagedDatabase.
    """
    try:
        fields = orjson.loads(kept if kept.startswith(_JSON_STARTS) else decompress(kept))
        return fields["c"], fields["x"]
    except (ValueError, KeyError, TypeError):
        raise DamagedDatabase("the layout of a stored event cannot be read") from None


class _Unread(Sequence[Reference | None]):
    """The turns of a layout, made of its runs when they are asked for: who reads own turns alone never asks.

    A page of a session that was sent in a hundred snapshots would else make a reference for each turn of each.
    """

    def __init__(self, runs: list[Any]) -> None:
        self._runs = runs
        self._turns: tuple[Reference | None, ...] | None = None

    def _read(self) -> tuple[Reference | None, ...]:
        if self._turns is None:
            try:
                self._turns = tuple(_turns(self._runs))
            except (ValueError, TypeError, IndexError, AttributeError):
                raise DamagedDatabase("the layout of a stored event cannot be read") from None
        return self._turns

    @overload
    def __getitem__(self, place: int) -> Reference | None: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Reference | None]: ...
    def __getitem__(self, place: int | slice) -> Reference | Sequence[Reference | None] | None:
        return self._read()[place]

    def __len__(self) -> int:
        return len(self._read())

    def __iter__(self) -> Iterator[Reference | None]:
        return iter(self._read())

    def __eq__(self, other: object) -> bool:
        return self._read() == (other._read() if isinstance(other, _Unread) else other)

    def __hash__(self) -> int:
        return hash(self._read())


def _runs(turns: Iterable[Reference | None]) -> Iterator[Any]:
    """Own turns as their number; references as [position, index, number, without?, members?].

    Positions are written as the distance from the run before, which repeats in a snapshot of snapshots and packs well.
    """
    last = 0
    for run in _plain_runs(turns):
        if isinstance(run, list):
            run[0], last = run[0] - last, run[0]
        yield run


def _plain_runs(turns: Iterable[Reference | None]) -> Iterator[Any]:
    run: list[Any] | int = 0
    for turn in turns:
        if turn is None:
            if isinstance(run, int):
                run += 1
                continue
            yield run
            run = 1
        elif isinstance(run, list) and _continues(run, turn):
            run[2] += 1
        else:
            if run:
                yield run
            run = [turn.position, turn.own_index, 1]
            if turn.without or turn.members:
                run += [list(turn.without), turn.members.decode()]
    if run:
        yield run


def _continues(run: list[Any], turn: Reference) -> bool:
    position, index, count, *more = run
    same = more == [list(turn.without), turn.members.decode()] if turn.without or turn.members else not more
    return turn.position == position and turn.own_index == index + count and same


def _turns(runs: Iterable[Any]) -> Iterator[Reference | None]:
    position = 0
    for run in runs:
        if isinstance(run, int):
            yield from (None for _ in range(run))
            continue
        distance, index, count, *more = run
        position += distance
        without, members = (tuple(more[0]), more[1].encode()) if more else ((), b"")
        for place in range(index, index + count):
            yield Reference(position, place, without, members)
