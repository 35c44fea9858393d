"""One thing that is named in a text: where, and of which type."""

from __future__ import annotations

from typing import NamedTuple


class Mention(NamedTuple):
    """The characters from ``start`` to before ``end``, in code points of the text that was looked at."""

    start: int
    end: int
    type: str
