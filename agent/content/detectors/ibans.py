"""IBANs: built as the country's are, with a right checksum (ISO 13616, register version 101).

They are written in groups with any one mark between, with more than one space, or over the end of a line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Final

from agent.content.detectors.weighing import Weighing
from agent.content.found import Found

# What follows the check digits: so many digits (n), letters (a), or either (c).
_STRUCTURES: Final = {
    country: structure
    for structure, countries in {
        "11n": "NO",
        "12n": "BE",
        "14n": "DK FI FO GL SD",
        "2a12n": "FK",
        "4a10n": "NL",
        "15n": "SI",
        "3n10c2n": "MK",
        "16n": "AT BA EE LT MN XK",
        "3n13c": "KZ LU",
        "17n": "HR",
        "4a13c": "LV",
        "5n12c": "CH LI",
        "18n": "CR DE ME RS VA",
        "2a16n": "GE",
        "4a14c": "BH",
        "4a14n": "GB IE",
        "4a6n8c": "BG",
        "19n": "AE IL SO TL",
        "3n16c": "OM",
        "4a15c": "GI",
        "4a15n": "IQ",
        "20c": "MD",
        "20n": "CZ ES SE SK TN",
        "2n18c": "SA",
        "4a16c": "PK RO",
        "4a16n": "VG",
        "8n12c": "AD",
        "21n": "LY PT ST",
        "22n": "IS",
        "6n16c": "TR",
        "10n11c2n": "FR MC",
        "1a10n12c": "IT SM",
        "23n": "BI DJ MR",
        "7n16c": "GR",
        "24c": "GT",
        "24n": "HU PL",
        "4a20c": "AZ",
        "4a20n": "HN NI SV",
        "4c20n": "DO",
        "4c4n16c": "BY",
        "4n20c": "LB",
        "8n16c": "AL CY",
        "23n1a1c": "BR",
        "25n": "EG",
        "4a21c": "PS QA",
        "6n19c": "UA",
        "4a19n3a": "MU",
        "4a22c": "KW",
        "4a4n18c": "JO YE",
        "4a20n3a": "SC",
        "4a5n18c": "MT",
        "4a24c": "LC",
        "14n15c": "RU",
    }.items()
    for country in countries.split()
}
_PART: Final = re.compile("([0-9]+)([nac])")
_CLASSES: Final = {"n": "[0-9]", "a": "[A-Za-z]", "c": "[A-Za-z0-9]"}
_LENGTHS: Final = {
    country: 4 + sum(int(count) for count, _ in _PART.findall(structure)) for country, structure in _STRUCTURES.items()
}
# What people write between two groups; the later ones only between groups of four, or beside the word.
_LINE_END: Final = r"[ \t]{0,3}(?:\r?\n|\\n)[ \t>]{0,8}"
_MARK: Final = rf"(?:{_LINE_END}|[ \t]{{1,3}}|[._/-])?"
_MARKS: Final = re.compile(rf"{_LINE_END}|[ \t._/-]+")
_USUAL_MARKS: Final = frozenset({"", " ", ".", "-"})
_START: Final = re.compile(
    rf"(?:(?<![A-Za-z0-9])|(?<=IBAN)|(?<=iban)|(?<=\\[nrt]))"
    rf"(?:[A-Za-z]{{2}}[0-9]{{2}}|[A-Za-z] [A-Za-z] [0-9] [0-9])(?={_MARK}[A-Za-z0-9])"
)
_UNIT: Final = re.compile(rf"({_MARK})[A-Za-z0-9]")
_GROUP: Final = 4
_WORD: Final = re.compile("iban", re.IGNORECASE)
_NEAR: Final = 24
_UUID: Final = re.compile(
    r"(?<![0-9A-Za-z])[0-9A-Fa-f]{8}([-_. ]?)(?:[0-9A-Fa-f]{4}\1){3}[0-9A-Fa-f]{12}(?![0-9A-Za-z])"
)
_LONGEST_UUID: Final = 36
# What it takes to read on at a place, and to check what stands there, in characters.
_OF_A_START: Final = 40
_OF_A_CHECK: Final = 160


def ibans(text: str, weighing: Weighing | None = None) -> Iterator[Found]:
    """Each IBAN in ``text``; what is weighed is counted, and of too many the later ones are taken for IBANs."""
    weighing = weighing or Weighing()
    done = 0
    for start in _START.finditer(text):
        country = start[0].replace(" ", "")[:2].upper()
        if country not in _LENGTHS or start.start() < done:
            continue
        end = _end(text, start.start(), country, weighing)
        if end is not None:
            done = end
            yield Found(start.start(), end, "iban")


def _end(text: str, start: int, country: str, weighing: Weighing) -> int | None:
    """Where the IBAN of ``country`` ends that may begin at ``start``; None where it does not add up."""
    weighing.characters += _OF_A_START
    body = _body(_LENGTHS[country]).match(text, start)
    # Another letter or digit behind it: something else, and longer.
    if body is None or (text[body.end() : body.end() + 1].isascii() and text[body.end() : body.end() + 1].isalnum()):
        return None
    if weighing.is_full:
        return body.end()
    weighing.characters += _OF_A_CHECK
    plain = _MARKS.sub("", body[0])
    if int("".join(str(int(character, 36)) for character in plain[4:] + plain[:4])) % 97 != 1:
        return None
    named = _WORD.search(text, max(0, start - _NEAR), start) is not None
    if not named and not (_fits(plain, country) and _is_grouped(body[0])):
        return None
    return None if _is_in_uuid(text, start, body.end()) else body.end()


@cache
def _body(length: int) -> re.Pattern[str]:
    return re.compile(rf"(?:{_MARK}[A-Za-z0-9]){{{length}}}+")


def _fits(plain: str, country: str) -> bool:
    """Whether the bank's part has letters and digits where the country's have them: few words and hashes do."""
    return _pattern(_STRUCTURES[country]).fullmatch(plain, 4) is not None


@cache
def _pattern(structure: str) -> re.Pattern[str]:
    return re.compile("".join(f"{_CLASSES[kind]}{{{count}}}" for count, kind in _PART.findall(structure)))


def _is_grouped(written: str) -> bool:
    """Whether marks that are no usual ones stand between groups of four alone, so that words of a text are none."""
    marks = [unit[1] for unit in _UNIT.finditer(written)]
    return set(marks) <= _USUAL_MARKS or all(not mark or not place % _GROUP for place, mark in enumerate(marks))


def _is_in_uuid(text: str, start: int, end: int) -> bool:
    """Whether it is a part of a UUID, whatever stands between the parts of that."""
    around = _UUID.finditer(text, max(0, start - _LONGEST_UUID), end + _LONGEST_UUID)
    return any(uuid.start() < end and start < uuid.end() for uuid in around)
