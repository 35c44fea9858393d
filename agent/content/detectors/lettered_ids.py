"""Numbers that a state gives to a person and that hold letters: as ``national_ids``, found by their letters."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from agent.content.detectors.evidence import has_word_near
from agent.content.detectors.national_ids import checks
from agent.content.detectors.words import ID
from agent.content.found import Found

_START: Final = re.compile(
    r"(?<![A-Za-z0-9_])(?:"
    r"[A-Za-z][0-9]{7}|[A-Za-z]-[0-9]{7,8}|[A-Za-z]{4}[0-9]{6}|[A-Za-z]{6}[0-9LMNPQRSTUV]{2}"
    r"|[A-Za-z]{3} [A-Za-z]{3} [0-9]{2}"
    r"|[0-9]{6}[-+A-FU-Y][0-9]{3}[0-9A-Z]|[0-9]{7,9}[- ]?[A-Za-z]|[0-9]{2}\.[0-9]{3}\.[0-9]{3}-?[A-Za-z]"
    r"|[0-9]{1,2}\.[0-9]{3}\.[0-9]{3}-[Kk]|[0-9]{17}[Xx]|[12][0-9]{4}2[ABab]|[12] [0-9]{2} [0-9]{2} 2[ABab])"
)
_DIGITS: Final = re.compile(r"[0-9]{2}")
_AFTER: Final = re.compile(r"[A-Za-z0-9_]")


class _Shape(NamedTuple):
    """``module`` of stdnum, or one of ``_OURS``; ``alone``: it needs no word nearby."""

    pattern: re.Pattern[str]
    module: str
    alone: bool


def _shape(pattern: str, module: str, *, alone: bool = True, small: bool = False) -> _Shape:
    return _Shape(re.compile(pattern, re.IGNORECASE if small else 0), module, alone)


_OMOCODE: Final = "[0-9LMNPQRSTUV]"
_SHAPES: Final = (
    _shape(
        rf"[A-Z]{{3}} ?[A-Z]{{3}} ?{_OMOCODE}{{2}}[ABCDEHLMPRST]{_OMOCODE}{{2}} ?[A-Z]{_OMOCODE}{{3}} ?[A-Z]",
        "it.codicefiscale",
        small=True,
    ),
    _shape(r"[A-Z]{4}[0-9]{6}[HMX][A-Z]{5}[A-Z0-9][0-9]", "mx.curp", small=True),
    _shape(r"[0-9]{17}X", "cn.ric", small=True),
    _shape(r"[0-9]{6}[-+A-FU-Y][0-9]{3}[0-9A-FHJ-NPR-Y]", "fi.hetu"),
    _shape(r"[0-9]{2}\.[0-9]{3}\.[0-9]{3}-?[A-Z]", "es.dni"),
    _shape(r"[0-9]{8}[- ]?[A-Z]", "es.dni"),
    _shape(r"[0-9]{8}[- ]?[A-Z]", "es.dni", alone=False, small=True),
    _shape(r"[XYZ][- ]?[0-9]{7}[- ]?[A-Z]", "es.nie"),
    _shape(r"[XYZ][- ]?[0-9]{7}[- ]?[A-Z]", "es.nie", alone=False, small=True),
    _shape(r"[12][0-9]{4}2[AB][0-9]{6}[0-9]{2}", "fr.nir", small=True),
    _shape(r"[12] [0-9]{2} [0-9]{2} 2[AB] [0-9]{3} [0-9]{3} [0-9]{2}", "fr.nir", small=True),
    _shape(r"[0-9]{7} ?[A-W][ABHWTX]?", "ie.pps", alone=False, small=True),
    _shape(r"[0-9]{8} ?[0-9] ?[A-Z]{2}[0-9]", "pt.cc", small=True),
    _shape(r"[0-9]{1,2}\.[0-9]{3}\.[0-9]{3}-K", "cl.rut", small=True),
    _shape(r"[0-9]{7,8}-K", "cl.rut", small=True),
    _shape(r"[STFG][0-9]{7}[A-Z]", "singapore"),
    _shape(r"[A-Z][1289][0-9]{8}", "taiwan", alone=False),
    _shape(r"V-?[0-9]{7,8}-?[0-9]", "ve.rif", alone=False),
)


def lettered_ids(text: str) -> Iterator[Found]:
    """Each id with letters in ``text``."""
    if _DIGITS.search(text) is None:
        return
    done = 0
    for start in _START.finditer(text):
        place = start.start()
        if place < done or (
            place and text[place - 1] in "-./=+" and text[max(0, place - 2)].isalnum() and text[place - 1] != "="
        ):
            continue
        end = _end(text, place)
        if end is not None:
            done = end
            yield Found(place, end, "national_id")


def _end(text: str, place: int) -> int | None:
    """Where the id ends that begins at ``place``; None where none does."""
    for shape in _SHAPES:
        match = shape.pattern.match(text, place)
        if match is None or _AFTER.match(text, match.end()) is not None:
            continue
        if text[match.end() : match.end() + 1] == "-" and text[match.end() + 1 : match.end() + 2].isalnum():
            continue
        right = _OURS[shape.module](match[0]) if shape.module in _OURS else checks(shape.module, match[0])
        if right and (shape.alone or has_word_near(text, place, match.end(), ID)):
            return match.end()
    return None


def _is_singapore(written: str) -> bool:
    """NRIC and FIN of Singapore: seven weighted digits, four more for T and G."""
    weights = (2, 7, 6, 5, 4, 3, 2)
    total = sum(weight * int(digit) for weight, digit in zip(weights, written[1:8], strict=True))
    total += 4 if written[0] in "TG" else 0
    letters = "JZIHGFEDCBA" if written[0] in "ST" else "XWUTRQPNMLK"
    return letters[total % 11] == written[8]


def _is_taiwan(written: str) -> bool:
    """National id of Taiwan: its letter as two digits, then weights from 8 down to 1."""
    letter = "ABCDEFGHJKLMNPQRSTUVXYWZIO".index(written[0]) + 10
    digits = [letter // 10, letter % 10, *map(int, written[1:])]
    return (
        sum(weight * digit for weight, digit in zip((1, 9, 8, 7, 6, 5, 4, 3, 2, 1, 1), digits, strict=True)) % 10 == 0
    )


_OURS: Final = {"singapore": _is_singapore, "taiwan": _is_taiwan}
