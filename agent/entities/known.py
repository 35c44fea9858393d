"""What a capture has named so far, as far as later turns are told by it."""

from __future__ import annotations

import dataclasses
from typing import Final

# For so many turns the talk is still of films and songs when nobody says the word again.
_TURNS: Final = 3
# Names that are kept: a capture may hold millions.
_MOST: Final = 10_000


@dataclasses.dataclass(slots=True)
class Known:
    """``names`` and ``codes`` have the type of each by its text; they are filled while the turns are read in order."""

    names: dict[str, str] = dataclasses.field(default_factory=dict)
    codes: dict[str, str] = dataclasses.field(default_factory=dict)
    works_for: int = 0

    def add(self, text: str, kind: str) -> None:
        """Remember what was named; the first type of a text stays."""
        if len(self.names) < _MOST:
            self.names.setdefault(text, kind)

    def begin_turn(self) -> None:
        """Another turn begins: the talk of works fades."""
        self.works_for = max(0, self.works_for - 1)

    def talks_of_works(self, *, says_so: bool) -> bool:
        """Whether the talk is of works: a text ``says_so``, or one of the last turns did."""
        if says_so:
            self.works_for = _TURNS
        return self.works_for > 0
