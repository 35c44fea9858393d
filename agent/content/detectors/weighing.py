"""What of a text is weighed, by words, check digits, numbering plans, and how much of it one look weighs."""

from __future__ import annotations

from typing import Final

# Of a text with more numbers than these nobody wants each weighed: from there on any is replaced, rather too much.
MOST_WEIGHED: Final = 20_000
# So it is where those that are weighed, and what is tried as one and is none, take as long as so many characters.
_MOST_EFFORT: Final = 24_000_000
# What a number takes, in characters of a text in which nothing is found.
_OF_A_NUMBER: Final = 800


class Weighing:
    """Counts what is weighed of a text: ``count`` numbers, and what else is tried, in ``characters``."""

    def __init__(self) -> None:
        self.count = 0
        self.characters = 0
        self.begin_look()

    def begin_look(self) -> None:
        """The text is looked at once more: as much of it is weighed again."""
        self._most = self.count + MOST_WEIGHED
        self._most_effort = self.effort + _MOST_EFFORT

    @property
    def is_full(self) -> bool:
        """Whether as much is weighed as one look weighs."""
        return self.count >= self._most or self.effort >= self._most_effort

    @property
    def effort(self) -> int:
        """What all of it took, in characters of a text in which nothing is found."""
        return self.count * _OF_A_NUMBER + self.characters
