"""How many numbers of a text are weighed, by words, check digits, numbering plans: each as long as 800 characters."""

from __future__ import annotations

from typing import Final

# Of a text with more numbers than these nobody wants each weighed: from there on any is replaced, rather too much.
MOST_WEIGHED: Final = 20_000


class Weighing:
    """Counts the numbers of a text that were weighed."""

    def __init__(self) -> None:
        self.count = 0
