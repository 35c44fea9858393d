"""Finds the numbers that are said as numbers: not those of days, times, other units, ids and names.

An integer or a float, or its digits where neither would keep them all: leading zeros, more digits than a double has.
A separator that may be of thousands or of a fraction (1.200) is read where only one of the two is possible.
"""

from __future__ import annotations

import re
from typing import Final

from agent.core.waiting.dates import dates
from agent.core.waiting.hint import Hint, is_one_of
from agent.core.waiting.said import LETTERS, UNSPACED, Found, clause_of
from agent.core.waiting.times import times
from agent.core.waiting.words import (
    CARRIERS,
    FUNCTION_WORDS,
    MONEY,
    OTHER_FUNCTION_WORDS,
    PEOPLE,
    POLITE,
    TIMES,
    ordered,
)

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
    rf"(?<![{LETTERS}0-9_.,:/<-])(?P<sign>[-+](?=\d))?(?P<money>[$€£¥]?)(?P<n>\d+(?:[.,']\d+)*)"
    r"(?:\s?(?P<unit>%|€|£|¥|[^\W\d_]+))?(?![A-Za-z0-9_]|[-/:.,]\d)"
)
_SPELLED: Final = re.compile(
    rf"(?<![\w-])(?P<n>{'|'.join(sorted((word.replace('-', '[ -]') for word in _ENGLISH), key=len, reverse=True))})"
    r"(?![\w]|-\w)(?: (?P<unit>[^\W\d_]+))?",
    re.IGNORECASE,
)
_ID: Final = re.compile(rf"(?<![{LETTERS}0-9_.,:/-])\+?\(?\d(?:[ ().-]{{0,2}}\d)*\)?(?![\w]|[-/:.,]\w)")
_MONEY_UNITS: Final = frozenset(ordered("dollar usd eur euro pound gbp buck cent yen $ € £ ¥"))
_TIME_UNITS: Final = frozenset(ordered("second minute hour day week month year night"))
_UNITS: Final = _MONEY_UNITS | _TIME_UNITS
# They may stand behind a number and say nothing of what is counted.
_BOUND: Final = re.compile(
    r"\b(?:least|most|up to|more than|less than|over|under|about|approximately|nearly|almost|between"
    r"|around|mindestens|höchstens|environ|menos)\s+\Z",
    re.IGNORECASE,
)
_CALLED: Final = re.compile(r"\b(?:option|choice|class|type|device)\s+\Z", re.IGNORECASE)
_SINCE: Final = re.compile(r"\b(?:from|in|since|of)\s+\Z", re.IGNORECASE)
_WORD: Final = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)?")
_RUN: Final = re.compile(r"\d+")
_HOUR: Final = re.compile(r"\b(?:at|by|past)\s+\Z", re.IGNORECASE)
_OR_MORE: Final = re.compile(r"\s*(?:\+|or (?:more|less|so)\b)", re.IGNORECASE)
_NO_UNITS: Final = frozenset(ordered("more less fewer other others times am pm out or to"))
_PLAIN_UNITS: Final = (
    CARRIERS
    | FUNCTION_WORDS
    | OTHER_FUNCTION_WORDS
    | POLITE
    | frozenset({"of", "total", "altogether", "%", "percent", "piece", "item"}) - _NO_UNITS
)


def numbers(text: str, hint: Hint) -> list[Found]:
    """The numbers of ``text`` that can be one of ``hint``, whole ones only where it is an integer.

    One that is only a limit ("at least 2") has the value None.
    """
    if len(_RUN.findall(text)) > _MOST_NUMBERS:
        return []
    taken = [*dates(text, departing=True), *times(text)]
    found = [*_in_digits(text, hint), *_in_words(text, hint)] or _alone(text)
    found = [each for each in found if not any(each.start < other.end and other.start < each.end for other in taken)]
    return sorted(found)


def is_number_word(text: str) -> bool:
    """Whether ``text`` is a number in words, and nothing else."""
    word = text.casefold()
    return word in _ALONE or word in _ENGLISH or word.replace(" ", "-") in _ENGLISH


def identifying_digits(text: str) -> list[Found]:
    """Digits that name something; blanks, dashes, dots and brackets between them are for the eye."""
    return [Found(match.start(), match.end(), re.sub(r"[ ().-]", "", match[0])) for match in _ID.finditer(text)]


def _in_digits(text: str, hint: Hint) -> list[Found]:
    found = []
    for match in _DIGITS.finditer(text):
        value = _value(match["sign"] or "", match["n"], whole=hint.type == "integer")
        if value is not None and _is_of(match["money"] or match["unit"], hint):
            found += _unless_bound(text, match, value, hint)
    return found


def _in_words(text: str, hint: Hint) -> list[Found]:
    found = []
    for match in _SPELLED.finditer(text):
        said = match["n"].casefold()
        value = _ENGLISH.get(said, _ENGLISH.get(said.replace(" ", "-")))
        if _is_of(match["unit"], hint) and (said != "one" or _counts(text, match, hint)):
            found += _unless_bound(text, match, value, hint)
    return found


def _unless_bound(text: str, match: re.Match[str], value: object, hint: Hint) -> list[Found]:
    """The number; without its value where it only says how much at least, at most or about; none if it is an hour."""
    before = text[max(0, match.start() - 16) : match.start()]
    if _HOUR.search(before) or not _answers(text, match, hint):
        return []
    bound = _BOUND.search(before) or _OR_MORE.match(text, match.end("n"))
    return [Found(match.start(), match.end("n"), None if bound else value)]


def _answers(text: str, match: re.Match[str], hint: Hint) -> bool:
    """Whether the number is what its clause is about: its unit is what was asked for, or nothing else is there."""
    if match["unit"] and _names(match["unit"], hint):
        return True
    start, end = clause_of(text, match.start())
    before = text[start : match.start()]
    if _CALLED.search(before) or (_SINCE.search(before) and "year" not in hint.own_words):
        return False
    if _counts_people(hint) and re.search(r"\bfor\s+\Z", before, re.IGNORECASE):
        return True
    rest = f"{before} {text[match.end('n') : end]}"
    for each in (*dates(rest), *times(rest)):
        rest = rest[: each.start] + " " * (each.end - each.start) + rest[each.end :]
    return all(
        is_one_of(word, _PLAIN_UNITS | _UNITS) or _names(word, hint) or UNSPACED.match(word)
        for word in _WORD.findall(rest)
    )


def _alone(text: str) -> list[Found]:
    word = text.strip(" .!\n")
    value = _ALONE.get(word.casefold())
    return [] if value is None else [Found(text.index(word), text.index(word) + len(word), value)]


def _counts(text: str, match: re.Match[str], hint: Hint) -> bool:
    """Whether "one" is a number: not in "that one", "one way", "a good one"."""
    if match["unit"]:
        return _names(match["unit"], hint)
    before = re.findall(r"[^\W\d_]+", text[: match.start()].rpartition("\n")[2].casefold())
    return not before or before[-1] in {"just", "only", "for", "is", "s", "be"}


def _is_of(unit: str | None, hint: Hint) -> bool:
    """Whether a number with ``unit`` behind it can be meant: the unit is what was asked for, or no unit at all."""
    if unit is None or (not unit.isascii() and unit not in _MONEY_UNITS):
        return True
    own = hint.own_words
    if is_one_of(unit, _MONEY_UNITS):
        return bool(own & MONEY) or is_one_of(unit, own)
    if is_one_of(unit, _TIME_UNITS):
        return bool(own & TIMES) or is_one_of(unit, own)
    return is_one_of(unit, _PLAIN_UNITS) or _names(unit, hint)


def _names(unit: str, hint: Hint) -> bool:
    """Whether the unit is what was asked for; seats, guests and tickets are all people."""
    return _counts_people(hint) if is_one_of(unit, PEOPLE) else is_one_of(unit, hint.own_words)


def _counts_people(hint: Hint) -> bool:
    """Whether the parameter counts people: a price per passenger does not."""
    return bool(hint.own_words & PEOPLE) and not hint.own_words & MONEY


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
