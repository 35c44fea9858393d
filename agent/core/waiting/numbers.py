"""Finds the numbers that are said as numbers: not those of days, times, people and ids.

An integer or a float, or its digits where neither would keep them all: leading zeros, more digits than a double has.
A separator that may be of thousands or of a fraction (1.200) is read where only one of the two is possible. A number
that is said for another thing is found with the value None, and digits that are no number are left to be a doubt.
"""

from __future__ import annotations

import re
from typing import Final

from agent.core.waiting.beside_words import BESIDE, MONEY_UNITS, OF_A_SUM, TIME_UNITS
from agent.core.waiting.dates import dates
from agent.core.waiting.hint import Hint, is_one_of
from agent.core.waiting.said import LETTERS, Found
from agent.core.waiting.times import times
from agent.core.waiting.words import COURTESY, MONEY, PEOPLE, TIMES, ordered, words_of

_MOST_DIGITS: Final = 300
# A message with more is no answer to one question.
_MOST_NUMBERS: Final = 20
_SMALL: Final = ordered(
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen"
)
_TENS: Final = {
    word: 10 * number for number, word in enumerate(ordered("twenty thirty forty fifty sixty seventy eighty ninety"), 2)
}
_ENGLISH: Final = {
    **{word: number for number, word in enumerate(_SMALL)},
    **_TENS,
    **{f"{ten}-{_SMALL[one]}": number + one for ten, number in _TENS.items() for one in range(1, 10)},
    "a dozen": 12,
}
# Read only where they are the whole message: "once" is eleven in Spanish, "due" two in Italian.
_ALONE: Final = {
    word: number
    for line in (
        "nul eins zwei drei vier fünf sechs sieben acht neun zehn",
        "zéro un deux trois quatre cinq six sept huit neuf dix",
        "cero uno dos tres cuatro cinco seis siete ocho nueve diez",
        "zero uno due tre quattro cinque sei sette otto nove dieci",
        "零 一 二 三 四 五 六 七 八 九 十",
        "ноль один два три четыре пять шесть семь восемь девять десять",
    )
    for number, word in enumerate(ordered(line))
} | {"两": 2, "兩": 2, "eine": 1, "ein": 1, "einer": 1, "une": 1, "una": 1}
_DIGITS: Final = re.compile(
    rf"(?<![{LETTERS}0-9_.,:/<>~-])(?P<sign>-(?=\d))?(?P<money>[$€£¥]\s?)?(?P<n>\d+(?:[.,']\d+)*)"
    r"(?P<mark>\s?[%€£¥])?(?![0-9_]|[-/:.,]\d)"
)
_SPELLED: Final = re.compile(
    rf"(?<![\w-])(?P<n>{'|'.join(sorted((word.replace('-', '[ -]') for word in _ENGLISH), key=len, reverse=True))})"
    r"(?![\w]|-\w)",
    re.IGNORECASE,
)
_UNIT: Final = re.compile(r"[ -]?([^\W\d_]+)")
_ID: Final = re.compile(rf"(?<![{LETTERS}0-9_.,:/-])\+?\(?\d(?:[ ().-]{{0,2}}\d)*\)?(?![\w]|[-/:.,]\w)")
# Dots stand between the groups of a number that is a name: of three digits and more each, or all of two.
_DOTTED: Final = re.compile(r"\d{3,}(?:\.\d{3,})+|\d\d(?:\.\d\d){2,}")
_BOUND: Final = re.compile(
    r"\b(?:least|most|up to|more than|less than|over|under|about|approximately|nearly|almost|between"
    r"|around|mindestens|höchstens|environ|menos)\s+\Z",
    re.IGNORECASE,
)
_OR_MORE: Final = re.compile(r"\s*(?:\+|or (?:more|less|so)\b)", re.IGNORECASE)
# Before a number they say that it is a name, an hour or a year: "option 1", "at 7", "in 2012".
_CALLED: Final = re.compile(
    r"\b(?:option|choice|class|type|device|number|answer|no|step|line|room)\s+\Z", re.IGNORECASE
)
_OF_ANOTHER: Final = re.compile(r"\b(?:from|in|on|since|at|by|past)(?: the)?\s+\Z", re.IGNORECASE)
# "1. yes", "2) no": the mark of a line in a list.
_LINE: Final = re.compile(r"\s*\(?\d{1,2}[.)]\s+\S")
_WE_ARE: Final = re.compile(r"\b(?:am|are|i'm|im|we're)\s+\Z", re.IGNORECASE)
_BEHIND_AN_ID: Final = COURTESY | words_of("is it's for and again works here")
_FOR: Final = re.compile(r"\bfor\s+\Z", re.IGNORECASE)
_RUN: Final = re.compile(r"\d+")
_LETTERS_BEFORE: Final = re.compile(r"[^\W\d_]+")
_SHARES: Final = words_of("percent percentage rate humidity discount share ratio tip chance probability")
_THINGS: Final = words_of("option choice answer value number order plan")
_COUNTS: Final = frozenset({"number", "count", "quantity"})


def numbers(text: str, hint: Hint) -> list[Found]:
    """The numbers of ``text`` that can be one of ``hint``, whole ones only where it is an integer.

    One that is only a limit ("at least 2"), or is said for another thing, has the value None.
    """
    if len(_RUN.findall(text)) > _MOST_NUMBERS:
        return []
    taken = [*dates(text, departing=True), *times(text)]
    found = [*_in_digits(text, hint), *_in_words(text, hint)] or _alone(text)
    return sorted(
        each for each in found if not any(each.start < other.end and other.start < each.end for other in taken)
    )


def is_number_word(text: str) -> bool:
    """Whether ``text`` is a number in words, and nothing else."""
    word = text.casefold()
    return word in _ALONE or word in _ENGLISH or word.replace(" ", "-") in _ENGLISH


def identifying_digits(text: str) -> list[Found]:
    """Digits that name something; blanks, dashes, dots and brackets between them are for the eye."""
    taken = dates(text, departing=True)
    return [
        Found(match.start(), match.end(), re.sub(r"[ ().-]", "", match[0]))
        for match in _ID.finditer(text)
        if _may_name(text, match)
        and not any(match.start() < other.end and other.start < match.end() for other in taken)
    ]


def _may_name(text: str, match: re.Match[str]) -> bool:
    """Whether digits are not those of a fraction, a line in a list, a count or a year."""
    said = match[0]
    if said.count("(") != said.count(")") or ("." in said and not _DOTTED.fullmatch(said)) or _LINE.match(text):
        return False
    before = text[max(0, match.start() - 16) : match.start()]
    called = _CALLED.search(before) and not before.casefold().rstrip().endswith("number")
    if called or _OF_ANOTHER.search(before) or _WE_ARE.search(before):
        return False
    behind = _unit(text, match)
    return not behind or behind in _BEHIND_AN_ID


def _in_digits(text: str, hint: Hint) -> list[Found]:
    found = []
    for match in _DIGITS.finditer(text):
        value = _value(match["sign"] or "", match["n"], whole=hint.type == "integer")
        if value is not None and not _counts_others(text, match, hint):
            of_it = _is_of_marks(match, hint) and not (match["sign"] and _is_count(hint))
            found.append(_as_said(text, match, value if of_it else None, hint))
    return found


def _in_words(text: str, hint: Hint) -> list[Found]:
    found = []
    for match in _SPELLED.finditer(text):
        said = match["n"].casefold()
        value = _ENGLISH.get(said, _ENGLISH.get(said.replace(" ", "-")))
        if not _counts_others(text, match, hint) and (said != "one" or _is_one(text, match, hint)):
            found.append(_as_said(text, match, value, hint))
    return found


def _as_said(text: str, match: re.Match[str], value: object, hint: Hint) -> Found:
    """The number; without its value where it is a limit, a name, or counts what was not asked for."""
    before = text[max(0, match.start() - 16) : match.start()]
    of_another = _OF_ANOTHER.search(before) and "year" not in hint.own_words
    bound = _BOUND.search(before) or _OR_MORE.match(text, match.end("n"))
    named = _CALLED.search(before) and not _is_called(before, hint)
    for_others = hint.own_words & MONEY and _FOR.search(before)
    are = _WE_ARE.search(before) and not hint.counts_people
    is_none = any((bound, of_another, named, for_others, are, _LINE.match(text))) or not _is_unit(text, match, hint)
    return Found(match.start(), match.end(), None if is_none else value)


def _unit(text: str, match: re.Match[str]) -> str:
    unit = _UNIT.match(text, match.end())
    return unit[1].casefold() if unit else ""


def _counts_others(text: str, match: re.Match[str], hint: Hint) -> bool:
    """Whether the number is one of people, where people are not what was asked for."""
    return is_one_of(_unit(text, match), PEOPLE) and not hint.counts_people


def _is_unit(text: str, match: re.Match[str], hint: Hint) -> bool:
    """Whether a thing that stands behind the number, by a word of the description say, is what it counts."""
    unit = _unit(text, match)
    if is_one_of(unit, hint.unit_words):
        return True
    units = BESIDE | OF_A_SUM
    units |= (MONEY_UNITS if hint.own_words & MONEY else frozenset()) | (
        TIME_UNITS if hint.own_words & TIMES else frozenset()
    )
    return is_one_of(unit, units - _THINGS) or not is_one_of(unit, hint.own_words | _THINGS)


def _is_of_marks(match: re.Match[str], hint: Hint) -> bool:
    """Whether the signs at the number are of what was asked for: of money, of a share."""
    mark = (match["mark"] or "").strip()
    if mark == "%":
        return not match["money"] and bool(hint.own_words & _SHARES)
    return not (mark or match["money"]) or bool(hint.own_words & MONEY)


def _is_count(hint: Hint) -> bool:
    return hint.counts_people or bool(hint.own_words & _COUNTS)


def _is_called(before: str, hint: Hint) -> bool:
    """Whether the word before the number is what was asked for: "class 2" where the class is."""
    word = _LETTERS_BEFORE.findall(before)[-1].casefold()
    return word in hint.own_words and word != "number"


def _alone(text: str) -> list[Found]:
    word = text.strip(" .!\n")
    value = _ALONE.get(word.casefold())
    return [] if value is None else [Found(text.index(word), text.index(word) + len(word), value)]


def _is_one(text: str, match: re.Match[str], hint: Hint) -> bool:
    """Whether "one" is a number: not in "that one", "one way", "a good one"."""
    unit = _unit(text, match)
    if unit and unit not in BESIDE:
        return is_one_of(unit, hint.unit_words | (PEOPLE if hint.counts_people else frozenset()))
    before = re.findall(r"[^\W\d_]+", text[: match.start()].rpartition("\n")[2].casefold())
    return not before or before[-1] in {"just", "only", "for", "is", "s", "be"}


def _value(sign: str, digits: str, *, whole: bool) -> int | float | str | None:
    plain = _without_groups(digits, whole=whole)
    if plain is None or len(plain) > _MOST_DIGITS:
        return None
    integer, _, fraction = plain.partition(".")
    if len(integer) > 1 and integer.startswith("0"):
        return None if sign or fraction else integer
    if not fraction:
        return int(f"{sign}{integer}")
    if whole:
        return None
    value = float(f"{sign}{plain}")
    # A double keeps fifteen digits of any number.
    return value if len(integer + fraction) <= 15 else f"{sign}{plain}"


def _without_groups(digits: str, *, whole: bool) -> str | None:
    """``digits`` with a dot for the fraction and nothing else; None where their separators fit no way of writing."""
    parts = re.split(r"[.,']", digits)
    marks = re.findall(r"[.,']", digits)
    if not marks:
        return digits
    grouped = len(parts[0]) <= 3 and parts[0] != "0" and all(len(part) in {2, 3} for part in parts[1:-1])
    if len(set(marks)) == 1:
        thousands = grouped and len(parts[-1]) == 3
        if len(marks) > 1 or marks[0] == "'":
            return "".join(parts) if thousands else None
        if thousands:
            return "".join(parts) if whole else None
        return f"{parts[0]}.{parts[1]}"
    grouped = grouped and len(parts[-2]) == 3
    return f"{''.join(parts[:-1])}.{parts[-1]}" if grouped and len(set(marks[:-1])) == 1 else None
