"""A run of words with a capital, what stands around it, and of which type that makes it.

The rules are asked in their order, and the first that knows an answer is believed: what was named before, lists, cues
beside the run, and what the talk is of.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final, NamedTuple

from agent.entities import name_cues as cues
from agent.entities import name_lists as lists

WORK, PERSON, PLACE, ORGANIZATION = "WORK_OF_ART", "PERSON", "LOCATION", "ORGANIZATION"
POSSESSIVE: Final = re.compile(r"['’]s\Z")  # noqa: RUF001 - as it is written


class Run(NamedTuple):
    """A run in its text: its words, the words before it in lower case, and whether it begins a sentence.

    ``behind`` is the word in small letters that follows it, or the sign that ends its clause; ``leads`` says whether
    behind that word is another capital.
    """

    text: str
    words: list[str]
    before: list[str]
    behind: str
    leads: bool
    starts: bool

    def follows(self, phrases: frozenset[str]) -> bool:
        """Whether the last one, two or three words before the run are one of ``phrases``."""
        return any(" ".join(self.before[-count:]) in phrases for count in (1, 2, 3))

    @property
    def is_given(self) -> bool:
        """Whether it begins with a common given name."""
        return self.words[0].lower() in lists.GIVEN_NAMES

    @property
    def is_full_name(self) -> bool:
        """Whether it is as long as the name of a person, and has no word that names nothing."""
        return 1 < len(self.words) < 5 and not any(each.lower() in cues.NO_NAMES for each in self.words)


class Talk(NamedTuple):
    """What the piece is about, and what was named before in the capture, by text."""

    of_places: bool
    of_works: bool
    names: dict[str, str]


def type_of(run: Run, talk: Talk) -> str | None:
    """The type of what ``run`` names; None where nothing says that it names something."""
    return next((kind for rule in _RULES if (kind := rule(run, talk)) is not None), None)


def names_nothing(word: str) -> bool:
    """Whether a word has its capital by its place alone."""
    return word.lower() in cues.NO_NAMES or len(word) == 1


def _known(run: Run, talk: Talk) -> str | None:
    plain = POSSESSIVE.sub("", run.text)
    is_word = run.starts and len(run.words) == 1 and plain.lower() in cues.NO_NAMES
    return None if is_word else talk.names.get(plain)


def _listed(run: Run, _talk: Talk) -> str | None:
    plain, words = POSSESSIVE.sub("", run.text), run.words
    if words[-1] in lists.OF_ORGANIZATIONS and len(words) > 1:
        return ORGANIZATION
    if plain in lists.ORGANIZATIONS or (words[0] == "University" and "of" in words):
        return ORGANIZATION
    is_place = plain in lists.PLACES or (len(words) > 1 and words[-1] in lists.OF_PLACES)
    return PLACE if is_place else None


def _work(run: Run, talk: Talk) -> str | None:
    return WORK if run.follows(cues.OF_WORKS) and (talk.of_works or run.before[-1:] != ["see"]) else None


def _titled(run: Run, talk: Talk) -> str | None:
    if not run.follows(cues.HONORIFICS) and run.words[0].lower() not in cues.HONORIFICS:
        return None
    return WORK if talk.of_works and len(run.words) > 1 and run.follows(cues.MAYBE_WORKS) else PERSON


def _introduced(run: Run, _talk: Talk) -> str | None:
    return PERSON if run.follows(cues.OF_PERSONS) else None


def _before_noun(run: Run, _talk: Talk) -> str | None:
    if run.behind not in cues.BEHIND or run.is_given:
        return None
    # "A Nia DaCosta film" and "the Ariana Grande song Be My Baby" name who made it.
    is_maker = cues.BEHIND[run.behind] == WORK and (run.before[-1:] == ["a"] or run.leads)
    return PERSON if is_maker else cues.BEHIND[run.behind]


def _placed(run: Run, _talk: Talk) -> str | None:
    if run.follows(cues.OF_ORGANIZATIONS):
        return ORGANIZATION
    return PLACE if run.follows(cues.OF_PLACES) else None


def _given(run: Run, _talk: Talk) -> str | None:
    if not run.is_given:
        return None
    is_alone = len(run.words) == 1 and (not run.starts or run.behind == "," or run.follows(cues.MAYBE_PERSONS))
    return PERSON if is_alone or run.is_full_name else None


def _full_name(run: Run, _talk: Talk) -> str | None:
    return PERSON if run.is_full_name and run.follows(cues.BEFORE_FULL_NAMES) else None


def _in_talk_of_works(run: Run, talk: Talk) -> str | None:
    if not talk.of_works:
        return None
    if run.starts:
        is_subject = len(run.words) > 1 and run.behind in cues.BEHIND_WORKS
        return WORK if is_subject or (run.behind == "by" and run.leads) else None
    last = run.before[-1:]
    if last == ["by"] or (last == ["with"] and run.is_full_name):
        return PERSON
    return WORK if run.follows(cues.MAYBE_WORKS) or (run.behind == "by" and run.leads) else None


def _in_talk_of_places(run: Run, talk: Talk) -> str | None:
    is_near = talk.of_places and not cues.ABOUT_PLACES.isdisjoint(run.before)
    is_place = is_near and not run.starts and len(run.words) < 4 and run.follows(cues.MAYBE_PLACES)
    return PLACE if is_place else None


_RULES: Final[tuple[Callable[[Run, Talk], str | None], ...]] = (
    *(_known, _listed, _work, _titled, _introduced, _before_noun, _placed, _given, _full_name),
    *(_in_talk_of_works, _in_talk_of_places),
)
