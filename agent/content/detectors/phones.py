"""Telephone numbers: international ones by their plus, national ones by their shape or by a word nearby.

Google's numbering plans (``phonenumbers``) decide where shape and words do not; they are asked seldom and read late.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from agent.content.detectors.evidence import Speaks, speaks
from agent.content.detectors.number import Number
from agent.content.detectors.numbering_plans import is_possible, is_valid_in
from agent.content.detectors.view import STAND_INS
from agent.content.detectors.words import PHONE
from agent.content.found import Found

# Dates, and what Brazil writes as postal codes and as numbers of companies.
_NO_PHONE: Final = re.compile(
    r"(?:19|20)[0-9]{2}([-./ ])[01]?[0-9]\1[0-3]?[0-9]|[0-3]?[0-9]([-./ ])[0-3]?[0-9]\2(?:19|20)[0-9]{2}"
    r"|(?:19|20)[0-9]{2}[01][0-9][0-3][0-9](?:[ -]?[0-9]{4,6})?"
    r"|[0-9]{5}-[0-9]{3}|[0-9]{2}\.[0-9]{3}\.[0-9]{3}/[0-9]{4}-[0-9]{2}"
)
_ADDRESS_OR_VERSION: Final = re.compile(r"[0-9]{1,3}(?:\.[0-9]{1,3}){3,}|[0-9]{1,3}(?:\.[0-9]{3})+|[0-9]+\.[0-9]+")
# Written as telephone numbers are and as little else is: groups between brackets, or from a trunk 0 on.
_NANP: Final = re.compile(r"(?:1[-. ])?(?:\([2-9][0-9]{2}\)[-. ]?|[2-9][0-9]{2}([-.]))[0-9]{3}(?(1)\1|[-. ])[0-9]{4}")
_NANP_IN_SPACES: Final = re.compile(r"[2-9][0-9]{2} [2-9][0-9]{2} [0-9]{4}")
_TRUNK: Final = re.compile(
    r"\(?0[1-9][0-9]{0,4}\)?(?:[ /-]{1,3}[0-9]{2,8}){1,4}|0[1-9](?:\.[0-9]{2}){4}"
    r"|8 ?\([0-9]{3}\) ?[0-9]{3}-[0-9]{2}-[0-9]{2}"
)
_BRACKET: Final = re.compile(r"\([0-9]{1,5}\) ?[0-9]{3,5}[ -]?[0-9]{2,5}(?:[ -][0-9]{2,4})?")
_MOBILE: Final = re.compile(
    r"01[0-9]-[0-9]{3,4}-[0-9]{4}|1[3-9][0-9][ -][0-9]{4}[ -][0-9]{4}|09[0-9]{2}-[0-9]{3}-[0-9]{3}"
)
# The larger countries.
_REGIONS: Final = (
    "GB DE FR IT CH AT NL BE SE NO DK FI ES PT PL CZ SK HU RO BG HR GR TR UA RU IE AU NZ ZA BR AR MX CL CO PE "
    "JP KR CN TW HK SG MY ID TH VN PH IN PK BD IL SA AE EG MA DZ JO KW QA LB IQ IR NG KE GH US"
)
_PHONE: Final = STAND_INS["phone"]
# A country's code that other marks part from the number than those within one.
_COUNTRY: Final = re.compile(r"\(?\+ ?\(?([1-9][0-9]{0,2})\)?[ ./-]{1,3}\(?\Z")
_LONGEST_COUNTRY: Final = 12
_CHINESE: Final = re.compile(r"1[3-9][0-9]{9}|1[3-9][0-9][ -][0-9]{4}[ -][0-9]{4}")
_LINK: Final = "wa.me/"
_HAN: Final = re.compile("[\u4e00-\u9fff]")
# As far as words before a number are looked for.
_NEAR: Final = 48


def phone_span(number: Number, last: Found | None = None) -> tuple[int, int] | None:
    """Where ``number`` stands if it is a telephone number, with its plus and its bracket; None if it is none.

    ``last`` is the telephone number that was found before it.
    """
    start, end = number.start, number.end
    before = number.text[max(0, start - 3) : start]
    written = number.written
    if before.endswith(("+", "+(", "+ ")):
        plus = number.text.rindex("+", 0, start)
        digits = (
            number.digits.replace(number.groups[0] + "0", number.groups[0], 1) if "(0)" in written else number.digits
        )
        plus -= number.text[max(0, plus - 1) : plus] == "(" and number.text[start:end].count(")") > written.count("(")
        return (
            (plus, end)
            if _international(digits) or (_says(number, start, end, last, 4) is Speaks.FOR and _is_long(number))
            else None
        )
    country = _country(number)
    if country is not None and _international(country[1] + number.digits):
        return number.text.rindex("+", 0, start) - (country[0].startswith("(")), end
    if number.text[start - 1 : start] == "(" and start and ")" in written:
        start -= 1
    if written.count(")") != number.text[start:end].count("("):
        return None
    if not 7 <= len(number.digits) <= 15 or _is_something_else(number, written):
        return None
    says = _says(number, start, end, last, 1 if _is_short(number) else 4)
    if says is Speaks.NOT and (_is_dialled_abroad(number) or _is_chinese(number) or _is_shaped(number, start, end)):
        says = Speaks.FOR
    return (start, end) if says is Speaks.FOR else None


def is_from_abroad(number: Number) -> bool:
    """Whether it is written with its country, or is a mobile of China's in a Chinese text: no word makes it an id."""
    before = number.text[max(0, number.start - 2) : number.start]
    return (
        before.endswith(("+", "+(", "+ "))
        or _country(number) is not None
        or _is_dialled_abroad(number)
        or _is_chinese(number)
    )


def _country(number: Number) -> re.Match[str] | None:
    """The country's code before it that is no part of it."""
    if "+" not in number.text[max(0, number.start - _LONGEST_COUNTRY) : number.start]:
        return None
    return _COUNTRY.search(number.text, max(0, number.start - _LONGEST_COUNTRY), number.start)


def _is_chinese(number: Number) -> bool:
    """Whether it is a mobile of China's with Chinese beside it."""
    return _CHINESE.fullmatch(number.written) is not None and (
        _HAN.search(number.text, max(0, number.start - _NEAR), number.end + _NEAR) is not None
    )


def _is_short(number: Number) -> bool:
    """Whether it is a run of few digits, as counts and ids are: the word for it has to be the next one."""
    return number.is_plain and len(number.digits) < 9


def _is_dialled_abroad(number: Number) -> bool:
    digits = number.digits
    if number.text.startswith(_LINK, max(0, number.start - len(_LINK))):
        return _international(digits)
    return digits.startswith("00") and len(digits) >= 11 and _international(digits[2:])


def _is_shaped(number: Number, start: int, end: int) -> bool:
    """Whether it is written as telephone numbers are, and stands alone: no more groups of digits beside it."""
    text = number.text
    if text[max(0, start - 2) : start].strip(" ")[-1:].isdigit() or text[end : end + 2].strip(" ")[:1].isdigit():
        return False
    shown = text[start:end]
    return _NANP.fullmatch(shown) is not None or (_has_shape(shown) and _is_national(number.digits))


def _says(number: Number, start: int, end: int, last: Found | None, reach: int) -> Speaks:
    """What the words around say; if they do not speak for it, what they say with ``last`` taken out."""
    says = speaks(number.text, start, end, PHONE, _PHONE, reach=reach)
    if says is Speaks.FOR or last is None or not last.end <= start < last.end + _NEAR:
        return says
    before = f"{number.text[max(0, last.start - _NEAR) : last.start]}{_PHONE}{number.text[last.end : start]}"
    return speaks(number.text, start, end, PHONE, _PHONE, reach=reach, before=before[-_NEAR:])


def _is_long(number: Number) -> bool:
    return 8 <= len(number.digits) <= 15


def _is_something_else(number: Number, written: str) -> bool:
    """Whether it is written as a date, an address, a version or an amount."""
    return (
        _NO_PHONE.fullmatch(written) is not None
        or _ADDRESS_OR_VERSION.fullmatch(written) is not None
        or (number.is_plain and len(set(number.digits)) == 1)
    )


def _has_shape(written: str) -> bool:
    return any(shape.fullmatch(written) is not None for shape in (_NANP_IN_SPACES, _TRUNK, _BRACKET, _MOBILE))


@lru_cache(maxsize=4096)
def _international(digits: str) -> bool:
    """Whether ``digits`` are a number that a country's plan has, from its country code on."""
    return 7 <= len(digits) <= 15 and is_possible(f"+{digits}")


@lru_cache(maxsize=4096)
def _is_national(digits: str) -> bool:
    """Whether ``digits``, as dialled at home, are a number of one of the larger countries."""
    return any(is_valid_in(region, digits) for region in _REGIONS.split())
