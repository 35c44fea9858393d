"""Finds the day that is said. A day said in full comes back as ``2026-03-08``, any other as it was said.

"Next Friday" and "March 8th" need a today, which only the caller has; 03/04/2026 needs to know who writes. Neither is
guessed. A span of days, or one before or after a day, is none. Months and weekdays: English, German, French, Spanish.
"""

from __future__ import annotations

import re
from datetime import date
from typing import Final

from agent.core.waiting.said import LETTERS, Found
from agent.core.waiting.words import ordered

_MONTHS: Final = (
    "january jan januar jänner janvier enero",
    "february feb februar février fevrier febrero",
    "march mar märz mars marzo",
    "april apr avril abril",
    "may mai mayo",
    "june jun juni juin junio",
    "july jul juli juillet julio",
    "august aug août aout agosto",
    "september sep sept septembre septiembre",
    "october oct oktober octobre octubre",
    "november nov novembre noviembre",
    "december dec dezember décembre decembre diciembre",
)
_NUMBER_OF: Final = {word: number for number, line in enumerate(_MONTHS, 1) for word in ordered(line)}
_ONES: Final = ordered("first second third fourth fifth sixth seventh eighth ninth")
_TEENS: Final = ordered(
    "tenth eleventh twelfth thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth"
)
_ORDINALS: Final = {
    **{word: number for number, word in enumerate((*_ONES, *_TEENS), 1)},
    **{f"twenty-{word}": number for number, word in enumerate(_ONES, 21)},
    "thirtieth": 30,
    "thirty-first": 31,
}
_MONTH: Final = rf"(?:{'|'.join(sorted(_NUMBER_OF, key=len, reverse=True))})\b(?:\.(?=\s*\d))?"
_SPELLED: Final = "|".join(sorted((word.replace("-", "[ -]") for word in _ORDINALS), key=len, reverse=True))
_DAY: Final = rf"(?:\d{{1,2}}(?:st|nd|rd|th|er|\.(?= ?[^\W\d_]))?|{_SPELLED})"
_YEAR: Final = r"\d{4}(?!\d)"
_WEEKDAY: Final = (
    r"(?:monday|tuesday|wednesday|thursday|friday|saturday|sunday|tues|thurs"
    r"|montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonntag"
    r"|lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche"
    r"|lunes|martes|miércoles|jueves|viernes|sábado|domingo)\b"
)
# No part of a longer number.
_BEFORE: Final = rf"(?<![{LETTERS}0-9_./:-])"
_AFTER: Final = r"(?![\w]|[-/:]\d)"

_FULL: Final = (
    rf"(?P<y1>\d{{4}})[-/.](?P<m1>\d{{1,2}})[-/.](?P<d1>\d{{1,2}})"
    r"|(?P<y2>\d{4})年(?P<m2>\d{1,2})月(?P<d2>\d{1,2})[日号]?"
    rf"|(?P<n3>{_MONTH}) (?:the )?(?P<d3>{_DAY}),? (?P<y3>{_YEAR})"
    rf"|(?P<d4>{_DAY}) (?:of |de |d')?(?P<n4>{_MONTH}),?(?: de| of)? (?P<y4>{_YEAR})"
    r"|(?P<a5>\d{1,2})(?P<s5>[/.-])(?P<b5>\d{1,2})(?P=s5)(?P<y5>\d{4})"
)
_PART: Final = (
    rf"{_MONTH} (?:the )?{_DAY}|{_DAY} (?:of |de |d')?{_MONTH}|\d{{1,2}}[/]\d{{1,2}}(?:/\d\d)?|\d{{1,2}}\.\d{{1,2}}\."
    r"|\d{1,2}月\d{1,2}[日号]?"
    # "The 5th", and not "my 5th one".
    r"|\d{1,2}(?:st|nd|rd|th)(?: of (?:this|next|the) month|(?! [a-z]+)|(?= (?:please|at|for|in|to|is)\b))"
    rf"|(?:{_SPELLED}) of (?:this|next) month"
)
_RELATIVE: Final = (
    rf"(?:(?:this coming|this|next|coming|on|nächsten|kommenden|am|ce|el|este) )?{_WEEKDAY}"
    r"(?: (?:next week|this week|prochain|próximo|que viene))?"
    r"|(?:the )?day after tomorrow|(?:later )?today|tonight|tomorrow"
    r"|\d+ days? from (?:now|today)|in \d+ days?|a week from (?:today|now|tomorrow)"
    r"|heute|morgen|übermorgen|aujourd'hui|après-demain|demain|hoy|pasado mañana|mañana"
)
_UNSPACED: Final = (
    r"今天|明天|后天|後天|今日|明日|明後日|あさって|(?:下周|下个?星期|本周|这周|周|星期)[一二三四五六日天]"
    r"|오늘|내일|모레"
)
_DATE: Final = re.compile(
    rf"{_BEFORE}(?:{_FULL}|(?P<part>{_PART})|(?P<near>{_RELATIVE})){_AFTER}|(?P<unspaced>{_UNSPACED})", re.IGNORECASE
)
_DAY_OF: Final = re.compile(rf"\d{{1,2}}|{_SPELLED}", re.IGNORECASE)
MONTHS_AND_WEEKDAYS: Final = frozenset(_NUMBER_OF) | frozenset(re.findall(r"[^\W\d_]{4,}", _WEEKDAY))
# Two ways to say one day: "Friday, March 8th", "tomorrow the 8th".
_JOINED: Final = re.compile(r",? (?:the |den |le |el )?", re.IGNORECASE)
_TO: Final = r"(?:-|to|through|till|until|and|or|bis|und|oder|au|et|ou|al|y|o)"
_FROM_HERE: Final = re.compile(rf"\s*{_TO}\s*(?:the )?\d", re.IGNORECASE)
_UP_TO_HERE: Final = re.compile(
    rf"(?:\d(?:st|nd|rd|th)?\s*{_TO}|\b(?:before|after|until|till|since|between|not|week of|last|past|previous"
    r"|vor|nach|avant|après|antes de|después de))\s*(?:the |on )?\Z",
    re.IGNORECASE,
)
_FROM: Final = re.compile(r"\bfrom\s+(?:the )?\Z", re.IGNORECASE)
_ON: Final = re.compile(r"(?:on|am) ", re.IGNORECASE)


def dates(text: str, *, departing: bool = False) -> list[Found]:
    """The days that ``text`` names, those that it only limits with the value None.

    ``departing``: "from Friday" names one too.
    """
    found: list[tuple[Found, bool]] = []
    for match in _DATE.finditer(text):
        value = _value(match)
        if value is None:
            continue
        near = match["near"] is not None or match["unspaced"] is not None
        each = Found(match.start(), match.end(), value)
        if found and found[-1][1] != near and _JOINED.fullmatch(text, found[-1][0].end, each.start):
            start = found.pop()[0].start
            each = Found(start, each.end, text[start : each.end])
        found.append((each, near))
    return [_unless_a_span(text, each, departing=departing) for each, _ in found]


def _unless_a_span(text: str, found: Found, *, departing: bool) -> Found:
    """``found``, without its value where the day is only the start, the end or the limit of a time."""
    before = text[max(0, found.start - 30) : found.start]
    span = _FROM_HERE.match(text, found.end) or _UP_TO_HERE.search(before)
    return found._replace(value=None) if span or (not departing and _FROM.search(before)) else found


def _value(match: re.Match[str]) -> str | None:
    """The day in the form of ISO 8601, or as said; None where the calendar has no such day."""
    said = _ON.sub("", match[0], count=1) if _ON.match(match[0]) else match[0]
    if match["near"] or match["unspaced"]:
        return said
    if match["part"]:
        return said if _is_partly_a_day(said) else None
    if match["y5"]:
        return _either_way(match)
    for number in "12":
        if match[f"y{number}"]:
            return _iso(match[f"y{number}"], int(match[f"m{number}"]), match[f"d{number}"])
    number = "3" if match["y3"] else "4"
    return _iso(match[f"y{number}"], _month(match[f"n{number}"]), match[f"d{number}"])


def _either_way(match: re.Match[str]) -> str | None:
    """Day and month in an order that only the country tells: as said, unless one of the two cannot be a month."""
    first, second = int(match["a5"]), int(match["b5"])
    one, other = _iso(match["y5"], second, match["a5"]), _iso(match["y5"], first, match["b5"])
    if one and other and one != other:
        return match[0]
    return one or other


def _is_partly_a_day(said: str) -> bool:
    """Whether what has no year can be a day; 29 February is one in some years."""
    numbers = [int(number) for number in re.findall(r"\d+", said)]
    month = next((_month(word) for word in re.findall(r"[^\W\d_]+\.?", said) if _month(word)), None)
    if month is not None:
        return _iso("2000", month, _DAY_OF.findall(said)[0]) is not None
    if len(numbers) == 1:
        return 1 <= numbers[0] <= 31
    if not numbers:
        return True
    first, second = numbers[0], numbers[1]
    return _iso("2000", first, str(second)) is not None or _iso("2000", second, str(first)) is not None


def _month(word: str) -> int:
    return _NUMBER_OF.get(word.casefold().rstrip("."), 0)


def _iso(year: str, month: int, day: str) -> str | None:
    number = re.match(r"\d+", day)
    of_month = int(number[0]) if number else _ORDINALS[day.casefold().replace(" ", "-")]
    try:
        return date(int(year), month, of_month).isoformat()
    except ValueError:
        return None
