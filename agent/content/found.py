"""One thing that a detector found in a text: where, and of which kind."""

from __future__ import annotations

from typing import NamedTuple


class Found(NamedTuple):
    """The characters from ``start`` to before ``end``, in code points; ``kind`` is what ``[redacted:<kind>]`` says."""

    start: int
    end: int
    kind: str
