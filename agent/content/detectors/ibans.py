"""IBANs: as long as the country's are, with a right checksum (ISO 13616, register version 101)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from agent.content.found import Found

_LENGTHS: Final = {
    country: length
    for length, countries in {
        15: "NO",
        16: "BE",
        18: "DK FI FK FO GL NL SD",
        19: "MK SI",
        20: "AT BA EE KZ LT LU MN XK",
        21: "CH HR LI LV",
        22: "BG BH CR DE GB GE IE ME RS VA",
        23: "AE GI IL IQ OM SO TL",
        24: "AD CZ ES MD PK RO SA SE SK TN VG",
        25: "LY PT ST",
        26: "IS TR",
        27: "BI DJ FR GR IT MC MR SM",
        28: "AL AZ BY CY DO GT HN HU LB NI PL SV",
        29: "BR EG PS QA UA",
        30: "JO KW MU YE",
        31: "MT SC",
        32: "LC",
        33: "RU",
    }.items()
    for country in countries.split()
}
_START: Final = re.compile(
    r"(?<![A-Za-z0-9])(?:[A-Za-z]{2}[0-9]{2}|[A-Za-z] [A-Za-z] [0-9] [0-9])(?=[ .-]?[A-Za-z0-9])"
)
_BODY: Final = re.compile(r"[A-Za-z] ?[A-Za-z] ?[0-9] ?[0-9](?:[ .-]?[A-Za-z0-9]){11,29}+")


def ibans(text: str) -> Iterator[Found]:
    """Each IBAN in ``text``."""
    done = 0
    for start in _START.finditer(text):
        length = _LENGTHS.get(start[0].replace(" ", "")[:2].upper())
        if length is None or start.start() < done:
            continue
        body = _BODY.match(text, start.start())
        end = None if body is None else _end(text, body, length)
        if end is not None:
            done = end
            yield Found(start.start(), end, "iban")


def _end(text: str, body: re.Match[str], length: int) -> int | None:
    """Where the IBAN of so many characters ends that ``body`` may begin with; None where it does not add up."""
    places = [place for place, character in enumerate(body[0]) if character.isalnum()]
    if len(places) < length:
        return None
    end = body.start() + places[length - 1] + 1
    # Another letter or digit: something else, and longer.
    if text[end : end + 1].isascii() and text[end : end + 1].isalnum():
        return None
    plain = "".join(body[0][place] for place in places[:length])
    return end if int("".join(str(int(character, 36)) for character in plain[4:] + plain[:4])) % 97 == 1 else None
