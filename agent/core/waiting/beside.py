"""Whether what stands beside a value says nothing of its own: only then is the value what the message says.

That is asked of each word, and not whether some word takes the value back: a language has more ways to do that than a
list could hold. What is known here frames an answer ("I'd like", "please", "is fine"), names the parameter, or tells
another thing that is read as well: a day beside a number, "to San Jose" beside a class. Any other word, digit or mark
is a doubt, and the value is none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from agent.core.waiting.beside_words import (
    AFTER,
    ARE,
    BESIDE,
    BOOKED,
    DOING,
    ENDS,
    IN_AND_OUT,
    MONEY_UNITS,
    NEVER,
    OF_A_DAY,
    OF_A_LIST,
    OF_A_NAME,
    OF_A_SUM,
    OF_A_TIME,
    OF_A_YEAR,
    OF_AN_AGREEMENT,
    OF_PEOPLE,
    OPENING,
    PARTIAL,
    PRESENT,
    TIME_UNITS,
    UNSPACED_BESIDE,
)
from agent.core.waiting.dates import dates
from agent.core.waiting.hint import Hint, is_one_of
from agent.core.waiting.said import UNSPACED, WORD, Found, Part, clauses, pieces
from agent.core.waiting.times import times
from agent.core.waiting.words import KINDS, MONEY, PEOPLE, THINGS, TIMES, one_of

# Stands for a value that was found, and is no word.
_VALUE: Final = "\ue000"
_MARKS: Final = frozenset(" \t\r\n.,;:!?'\"`()-=#*_…🙂😊👍🙏" + _VALUE)
# Beside a number a dash may be a minus, or open a line of a list.
_MARKS_OF_A_SUM: Final = _MARKS - frozenset("-=#*")
# Said as one they say nothing, whatever their words are by themselves.
PHRASES: Final = re.compile(
    r"\b(?:all right|that'?s all|that is all|that(?: wi|')ll be all|all (?:good|set|done)|at all|after all|first of all"
    r"|first off|at first|for now|right now|right away|as well|as soon as possible|by the way|over to|of course"
    r"|(?:i|we)(?: would|'?d) like|let'?s say|in the mood for|thank you very much|thanks a lot"
    r"|if (?:possible|you can|you could|that's ok(?:ay)?|that is ok(?:ay)?|you don't mind))\b",
    re.IGNORECASE,
)
_PLACE: Final = re.compile(
    r"\b(?:[Tt]o|[Ff]rom|[Ii]n|[Aa]t|[Nn]ear|[Vv]ia)\s+(?:the\s+)?[A-Z][\w'.-]*(?:\s[A-Z][\w'.-]*){0,3}"
)
_HOUR: Final = re.compile(r"\bat (?:around |about )?\d{1,2}(?!\s?[\w%:.,])", re.IGNORECASE)
_PEOPLE: Final = re.compile(
    rf"\b(?:for |of )?(?:\d{{1,3}}|one|two|three|four|five|six|seven|eight|nine|ten) (?:{one_of(PEOPLE)})s?\b",
    re.IGNORECASE,
)
_THE_LAST: Final = re.compile(rf"\b(?:last|first|top|next)\s+(?={_VALUE}+\s+(?P<unit>\w+))", re.IGNORECASE)
# A day without a name and a year may be a fraction too: "2 1/2".
_ONLY_DIGITS: Final = re.compile(r"[\d/.]+\Z")
_ON: Final = re.compile(r"\b(?:on|by)\s+\Z", re.IGNORECASE)
# What the day is for: "for an interview", "to my interview".
_PURPOSE: Final = re.compile(r"\b(?:for|to) (?:an?|my|our|the) (?P<thing>[a-z]+)\b", re.IGNORECASE)
# "!O-12345" is code, and no sentence.
_BEFORE_A_WORD: Final = re.compile(rf"[!?=][\w{_VALUE}]")
_SMILE: Final = re.compile(r"(?<=\s)[:;]-?\)")
_FOR_SO_MANY: Final = re.compile(
    rf"\bfor (?:\d{{1,2}}|one|two|three|four|five|six|seven|eight|nine|ten)"
    rf"(?=\s+(?:at|on|please)\b|\s*(?:[.,!{_VALUE}]|\Z))",
    re.IGNORECASE,
)
_CHECK: Final = re.compile(r"\bcheck(?:ing|s)?[ -]?(in|out)\b", re.IGNORECASE)
_ALL_ENDS: Final = frozenset[str]().union(*ENDS)


class Vocabulary(NamedTuple):
    """What may stand beside a value of one parameter."""

    hint: Hint
    words: frozenset[str]
    marks: frozenset[str] = _MARKS


def vocabulary(hint: Hint, more: frozenset[str] = frozenset()) -> Vocabulary:
    """What may stand beside a value of ``hint``; ``more`` are words that several values of a list have."""
    known = _vocabulary(hint, more)
    return known._replace(words=known.words - NEVER)


def _vocabulary(hint: Hint, more: frozenset[str]) -> Vocabulary:
    if hint.type == "boolean":
        return Vocabulary(hint, BESIDE | OF_AN_AGREEMENT | hint.own_words)
    if hint.values:
        things = THINGS if hint.name_words & KINDS else BOOKED
        words = BESIDE | DOING | OF_A_LIST | BOOKED | things | more | hint.own_words
        return Vocabulary(hint, words - ARE, _MARKS_OF_A_SUM) if hint.has_numbers else Vocabulary(hint, words)
    if hint.pattern is not None or hint.type == "digits":
        return Vocabulary(hint, (BESIDE | OF_A_NAME | hint.own_words) - PARTIAL)
    if hint.is_of_numbers:
        return Vocabulary(hint, _beside_a_sum(hint), _MARKS_OF_A_SUM)
    of_its_kind = OF_A_TIME if hint.type == "time" else OF_A_DAY
    own_ends = frozenset[str]().union(*(end for end in ENDS if end & (hint.name_words - IN_AND_OUT)))
    words = (BESIDE | DOING | BOOKED | hint.own_words) - _ALL_ENDS - PRESENT
    return Vocabulary(hint, words | of_its_kind | own_ends)


def _beside_a_sum(hint: Hint) -> frozenset[str]:
    units = (MONEY_UNITS if hint.own_words & MONEY else frozenset()) | (
        TIME_UNITS if hint.own_words & TIMES else frozenset()
    )
    people = PEOPLE | OF_PEOPLE if hint.counts_people else frozenset()
    years = OF_A_YEAR if "year" in hint.own_words else frozenset[str]()
    return BESIDE | OF_A_SUM | (DOING - ARE) | units | people | years | hint.own_words


def says_nothing_else(text: str, said: Sequence[Part], found: Sequence[Found], known: Vocabulary) -> bool:
    """Whether the parts of ``text`` in ``said``, without the values ``found``, say nothing of their own."""
    left = list(text)
    for each in found:
        left[each.start : each.end] = _VALUE * (each.end - each.start)
    rest = _without_other_things("".join(left), known.hint)
    if _BEFORE_A_WORD.search(rest):
        return False
    clauses_left = [rest[start:end] for part in said for start, end in _clauses(rest, part)]
    if clauses_left[0].strip().casefold() in OPENING:
        del clauses_left[0]
    return all(is_known(clause, known) for clause in clauses_left)


def is_known(clause: str, known: Vocabulary) -> bool:
    """Whether a clause has known words and marks alone. What praises is known behind a value, or without one."""
    if not _are_marks(clause, known.marks):
        return False
    value = clause.find(_VALUE)
    return all(
        _is_word(match[0], known.words) or (match[0].casefold() in AFTER and match.start() > value)
        for match in WORD.finditer(clause)
    )


def _clauses(text: str, part: Part) -> Iterator[tuple[int, int]]:
    inside = text[part.start : part.end]
    for sentence in pieces(inside):
        for start, end in clauses(inside, *sentence):
            yield part.start + start, part.start + end


def _are_marks(clause: str, marks: frozenset[str]) -> bool:
    """Whether its marks are those of a plain sentence, its brackets in pairs."""
    depth = 0
    if clause.count("*") % 2:
        return False
    for character in clause:
        depth += (character == "(") - (character == ")")
        if depth < 0 or not (character in marks or character.isalnum()):
            return False
    return depth == 0


def _is_word(word: str, known: frozenset[str]) -> bool:
    if UNSPACED.match(word):
        return UNSPACED_BESIDE.fullmatch(word) is not None
    return is_one_of(word.removesuffix("'s"), known) or word.casefold() in known


def _without_other_things(text: str, hint: Hint) -> str:
    """``text`` with blanks for phrases that say nothing, and for what tells another thing than ``hint`` asks for."""
    text = _SMILE.sub(_blanks, PHRASES.sub(_blanks, text))
    if hint.pattern is not None or hint.type in {"digits", "boolean"}:
        return text
    text = _PLACE.sub(_blanks, text)
    if hint.type in {"date", "time"}:
        text = _FOR_SO_MANY.sub(_blanks, text)
        text = _PURPOSE.sub(lambda match: match[0] if match["thing"].casefold() in _ALL_ENDS else _blanks(match), text)
    if hint.type == "date":
        text = _CHECK.sub(lambda match: _blanks(match) if match[1].casefold() in hint.name_words else match[0], text)
    else:
        text = _blanked(text, [day for day in dates(text) if _is_named(text, day)])
    if hint.type != "time":
        text = _HOUR.sub(_blanks, _blanked(text, times(text)))
    if hint.is_of_numbers:
        text = _THE_LAST.sub(
            lambda match: _blanks(match) if is_one_of(match["unit"], hint.unit_words) else match[0], text
        )
    return text if hint.is_of_numbers and hint.counts_people else _PEOPLE.sub(_blanks, text)


def _is_named(text: str, day: Found) -> bool:
    return not _ONLY_DIGITS.match(text[day.start : day.end]) or _ON.search(text[: day.start]) is not None


def _blanked(text: str, found: Sequence[Found]) -> str:
    left = list(text)
    for each in found:
        left[each.start : each.end] = " " * (each.end - each.start)
    return "".join(left)


def _blanks(match: re.Match[str]) -> str:
    return " " * len(match[0])
