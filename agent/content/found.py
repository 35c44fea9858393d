"""What detectors found in a text: where, of which kind, and what the look for it took."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple


class Found(NamedTuple):
    """The characters from ``start`` to before ``end``, in code points; ``kind`` is what ``[redacted:<kind>]`` says."""

    start: int
    end: int
    kind: str


class Finds(list[Found]):
    """All that is to be found in a text, in order, without overlaps: with it replaced there is nothing more.

    ``effort`` is what the look took, in characters of a text in which nothing is found: the same for the same text.
    """

    def __init__(self, found: Iterable[Found], effort: int) -> None:
        super().__init__(found)
        self.effort = effort
