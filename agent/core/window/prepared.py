"""What of a window depends on the conversation alone, worked out once: ``prepare(messages, count)``.

A reader that holds a session prepares it once, and cuts any number of windows from it.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import cached_property
from itertools import accumulate
from types import MappingProxyType
from typing import Any, Final, NamedTuple, TypeVar

from agent.core.pairs import Call, Place
from agent.core.turn import SessionTurn
from agent.core.window.atoms import Atoms, atoms
from agent.core.window.counting import MOST_TOKENS, Counted, Counting, counted, counted_turns
from agent.core.window.marker import Markers
from agent.core.window.normalised import SYSTEM, Normalised, normalised

T = TypeVar("T")
# So much is kept at hand for settings that changed: a program has few.
_MOST_MADE: Final = 64

# A score of 0..1 for each message, in their order.
Scorer = Callable[[Sequence[SessionTurn], Mapping[Place, Call]], Sequence[float]]


_NOBODY: Final = SessionTurn("", 0, "", None, "system", "", erased=False, fields={})


class Task(NamedTuple):
    """A segment of the conversation: half open ``start`` and ``end`` among its turns, and whether it is complete."""

    start: int
    end: int
    complete: bool


# The segments of the messages, in order, and the places that stay together, two by two.
Segmenter = Callable[[Sequence[SessionTurn], Mapping[Place, Call]], tuple[Sequence[Task], Sequence[tuple[int, int]]]]


class ScorerFailedError(Exception):
    """A scorer or a segmenter raised, or gave what are no scores; it never leaves the windows."""


class Prepared:
    """A conversation, ready to be cut. ``turns`` are those that a window may hold, ``tokens`` theirs, in their order.

    ``at`` are the places in ``turns`` of those that are no system turns: the *messages*, in which atoms are told.
    ``before`` holds the tokens before each message, and of all. ``lost_before`` holds how many turns that no window
    holds stand before each atom or within it, the last entry behind them all; empty where there are none.
    """

    def __init__(
        self,
        messages: Sequence[SessionTurn],
        count: Counting,
        pairs: Mapping[Place, Call] | None,
        scorer: Scorer | None,
        segmenter: Segmenter | None,
    ) -> None:
        # Whoever holds the list may go on with it.
        self.messages: Sequence[SessionTurn] = tuple(messages)
        self.count = count
        self._scorer = scorer
        self._segmenter = segmenter
        self.normalised: Normalised = normalised(self.messages, pairs)
        self.turns = self.normalised.turns
        self.tokens, self.estimated_at = counted_turns(self.turns, count)
        self.at = [place for place, turn in enumerate(self.turns) if turn.role != SYSTEM]
        self.system_at = [place for place, turn in enumerate(self.turns) if turn.role == SYSTEM]
        self.system_tokens = sum(self.tokens[place] for place in self.system_at)
        self.atoms: Atoms = atoms([self.turns[place] for place in self.at], self.normalised.pairs)
        self.before = list(accumulate((self.tokens[place] for place in self.at), initial=0))
        self.lost_before = self._lost_before()
        # By text and role: they are most of what a score costs.
        self._said: dict[tuple[str, str], frozenset[str]] = {}
        self._made: dict[Any, Any] = {}
        self._markers: dict[str, Markers] = {}

    @property
    def overhead(self) -> int:
        """The tokens of a window beside those of its messages."""
        overhead = self.count.overhead
        return overhead if type(overhead) is int and 0 < overhead <= MOST_TOKENS else 0

    @property
    def estimated(self) -> int:
        """How many of its turns the counter failed for."""
        return len(self.estimated_at)

    @property
    def is_exact(self) -> bool:
        """Whether every turn was counted as the model counts. No cut changes it."""
        return bool(self.count.is_exact) and not self.estimated_at

    def counted(self, turn: SessionTurn) -> Counted:
        """The tokens of another turn: a marker, a message that was cut."""
        return counted(turn, self.count)

    def tokens_of(self, turn: SessionTurn) -> int:
        """Those alone."""
        return self.counted(turn).tokens

    @property
    def begins_with_user(self) -> bool:
        """Whether the first message is a user's, or there is none."""
        return not self.at or self.turns[self.at[0]].role == "user"

    @property
    def newest_words(self) -> str:
        """The text of the newest user's message; empty where there is none."""
        atom = self.atoms.newest_user
        return "" if atom is None else self.turns[self.at[self.atoms.starts[atom]]].content or ""

    def system_between(self, start: int, end: int) -> list[int]:
        """The places of the system turns from ``start`` up to ``end``."""
        return self.system_at[bisect_left(self.system_at, start) : bisect_left(self.system_at, end)]

    def counted_query(self, query: str) -> Counted:
        """The tokens of the message that is to be answered."""
        turn = SessionTurn("", 0, "", None, "user", query, erased=False, fields={"role": "user", "content": query})
        return self.counted(turn)

    def markers(self, text: str) -> Markers:
        """What markers with this ``text`` cost in this conversation."""
        found = self._markers.get(text)
        if found is None:
            beside = self.messages[0] if self.messages else _NOBODY
            found = self._markers[text] = Markers(text, beside, self.counted)
        return found

    def estimates_markers(self, text: str) -> bool:
        """Whether the counter fails for a marker with this ``text`` for one turn."""
        markers = self.markers(text)
        return bool(markers[1]) and 1 in markers.estimated

    def once(self, key: Hashable, make: Callable[[], T]) -> T:
        """What ``make`` gives, made once: what depends on the conversation and on a few settings."""
        found: T | None = self._made.get(key)
        if found is None:
            if len(self._made) >= _MOST_MADE:
                self._made.clear()
            found = self._made[key] = make()
        return found

    def signals(self, text: str, role: str) -> frozenset[str]:
        """``signals_of`` a text, looked for once."""
        found = self._said.get((text, role))
        if found is None:
            # Its patterns are compiled at import, and most windows need none.
            from agent.core.window.signals import signals_of

            found = self._said[text, role] = signals_of(text, role)
        return found

    def remember(self, earlier: Prepared) -> None:
        """Take over what was found in ``earlier``, of the texts that are still there."""
        if earlier._said:
            for turn in self.turns:
                key = turn.content or "", turn.role
                if key in earlier._said:
                    self._said[key] = earlier._said[key]

    @cached_property
    def scores(self) -> list[float]:
        """The score of each turn, 0..1. Raises ScorerFailedError."""
        found = checked(lambda: self._score(self.turns, self.normalised.pairs), len(self.turns))
        return [min(1.0, max(0.0, score)) for score in found]

    @cached_property
    def _segmented(self) -> tuple[Sequence[Task], Sequence[tuple[int, int]]]:
        """Raises ScorerFailedError."""
        try:
            tasks, links = self._segment(self.turns, self.normalised.pairs)
            tasks = [Task(int(each[0]), int(each[1]), bool(each[2])) for each in tasks]
            links = [(int(one), int(other)) for one, other in links]
        except Exception as error:
            raise ScorerFailedError from error
        places = range(len(self.turns))
        follow = [each.start for each in tasks] == [0, *(each.end for each in tasks[:-1])][: len(tasks)]
        if not follow or (tasks[-1].end if tasks else 0) != len(self.turns):
            raise ScorerFailedError
        if not all(one in places and other in places for one, other in links):
            raise ScorerFailedError
        return tasks, links

    @property
    def tasks(self) -> Sequence[Task]:
        """The segments of ``turns``. Raises ScorerFailedError."""
        return self._segmented[0]

    @property
    def links(self) -> Sequence[tuple[int, int]]:
        """The places in ``turns`` of errors and of their corrections. Raises ScorerFailedError."""
        return self._segmented[1]

    def _score(self, turns: Sequence[SessionTurn], pairs: Mapping[Place, Call]) -> Sequence[float]:
        if self._scorer is not None:
            # What it does to what it is given is its own affair.
            return self._scorer(tuple(turns), MappingProxyType(dict(pairs)))
        # Its patterns are compiled at import, and most windows need none.
        from agent.core.window.importance import importance

        return importance(turns, pairs, signals=self.signals)

    def _segment(
        self, turns: Sequence[SessionTurn], pairs: Mapping[Place, Call]
    ) -> tuple[Sequence[Any], Sequence[tuple[int, int]]]:
        if self._segmenter is not None:
            return self._segmenter(tuple(turns), MappingProxyType(dict(pairs)))
        # Its patterns are compiled at import, and most windows need none.
        from agent.core.window.segments import error_links, segments

        return segments(turns, pairs, signals=self.signals), error_links(turns, pairs, signals=self.signals)

    def _lost_before(self) -> list[int]:
        lost = self.normalised.lost
        if not lost:
            return []
        starts = self.atoms.starts
        last = [self.normalised.places[self.at[start - 1]] for start in starts[1:]]
        found = [0] * len(starts)
        for place, _ in lost:
            found[bisect_right(last, place)] += 1
        return found


def prepare(
    messages: Sequence[SessionTurn],
    count: Counting,
    *,
    pairs: Mapping[Place, Call] | None = None,
    scorer: Scorer | None = None,
    segmenter: Segmenter | None = None,
) -> Prepared:
    """``messages`` ready for ``cut_window``. ``pairs`` are those of the session; None pairs these messages alone.

    ``scorer`` and ``segmenter`` are given the turns that a window may hold; None stands for ``importance`` and for
    ``segments`` with ``error_links``. Linear in messages.
    """
    return Prepared(messages, count, pairs, scorer, segmenter)


def checked(values: Callable[[], Sequence[float]], length: int) -> list[float]:
    """The values that somebody's code gives. Raises ScorerFailedError where they are not ``length`` finite numbers."""
    try:
        found = [float(value) for value in values()]
    except Exception as error:
        raise ScorerFailedError from error
    if len(found) != length or not all(map(math.isfinite, found)):
        raise ScorerFailedError
    return found
