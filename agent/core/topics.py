"""The topics of a session: the terms that set it apart from the other sessions, whatever its script.

A term counts for the messages that have it, more if a user said it, and less the more of the other sessions have it
too: a function of the counts alone, and the store is asked for those. Of a session that stands alone its own words
decide. A topic is a word as it is searched for, in small letters; nothing here knows what it means. A placeholder for
what was not stored (CONTRACT 8) is no word.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from agent.core.placeholders import LONGEST, words_alone
from agent.core.terms import is_unspaced, terms
from agent.core.turn import SessionTurn

MOST: Final = 5
# Each candidate is a question to the store.
_CANDIDATES: Final = 16
# A long session is known by its later part, a long message by its beginning: the work does not grow with either.
_MESSAGES: Final = 1000
_LENGTH: Final = 2000
_LENGTH_OF_ALL: Final = 50_000
_ROLES: Final = frozenset({"user", "assistant"})
_OF_A_USER: Final = 1.5
# Words as short as a word that says nothing, in most languages.
_FULL_LENGTH: Final = 6
# So many letters in common, and so much of the shorter: two forms of one word.
_SAME: Final = 4
_FORM: Final = 0.75


class Candidate(NamedTuple):
    """A term that may be a topic; ``weight`` is what it is worth in its own session."""

    term: str
    weight: float


def spoken(history: Sequence[SessionTurn]) -> Sequence[SessionTurn]:
    """The messages of ``history`` that topics are looked for in: what users and assistants said, the newest."""
    return [turn for turn in history if turn.role in _ROLES and not turn.erased][-_MESSAGES:]


def candidates(messages: Sequence[SessionTurn]) -> tuple[Candidate, ...]:
    """The terms of ``messages``, with their content, that may be topics: at most 16, the best first."""
    looked_at = _newest(messages)
    counted = terms(text for _, text in looked_at)
    having = Counter(term for counts in counted for term in counts)
    asked = {term for (role, _), counts in zip(looked_at, counted, strict=True) if role == "user" for term in counts}
    weighed = [Candidate(term, _weight(term, count, is_asked=term in asked)) for term, count in having.items()]
    # Equal weights stay in the order in which they were said.
    return tuple(sorted(weighed, key=lambda candidate: -candidate.weight)[:_CANDIDATES])


def topics(found: Sequence[Candidate], sessions: int, having: Mapping[str, int]) -> tuple[str, ...]:
    """The topics among ``found``, the best first, at most 5.

    ``sessions`` is how many there are in all, this one included, and ``having`` in how many of them a term is.
    """

    def apart(candidate: Candidate) -> float:
        with_it = min(max(1, having.get(candidate.term, 1)), max(1, sessions))
        return -candidate.weight * math.log((max(1, sessions) + 1) / with_it)

    chosen: list[str] = []
    for candidate in sorted(found, key=apart):
        if not any(_is_much_the_same(candidate.term, other) for other in chosen):
            chosen.append(candidate.term)
    return tuple(chosen[:MOST])


def _newest(messages: Sequence[SessionTurn]) -> list[tuple[str, str]]:
    """Role and text of as many of the last ``messages`` as are looked at, in their order."""
    newest: list[tuple[str, str]] = []
    length = 0
    for turn in reversed(messages):
        text = _beginning(turn.content or "")
        length += len(text)
        if length > _LENGTH_OF_ALL:
            break
        newest.append((turn.role, text))
    return newest[::-1]


def _beginning(text: str) -> str:
    """As much of ``text`` as is looked at, up to the end of a word where it has such; what was not stored is none."""
    # A placeholder that begins within the length is whole here.
    cut = words_alone(text[: _LENGTH + LONGEST])[:_LENGTH]
    return cut if len(cut) == len(text) or " " not in cut else cut[: cut.rindex(" ")]


def _weight(term: str, messages: int, *, is_asked: bool) -> float:
    length = 1.0 if is_unspaced(term) else min(len(term), _FULL_LENGTH) / _FULL_LENGTH
    return math.log2(1 + messages) * length * (_OF_A_USER if is_asked else 1.0)


def _is_much_the_same(one: str, other: str) -> bool:
    """Whether two terms look like forms of a word ("reserve", "reservation"), or one is a part of the other."""
    short, long = sorted((one, other), key=len)
    if is_unspaced(short):
        return short in long
    same = next((place for place, letter in enumerate(short) if letter != long[place]), len(short))
    return max(same, len(short) * long.endswith(short)) >= max(_SAME, _FORM * len(short))
