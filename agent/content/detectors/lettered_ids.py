"""Numbers that a state gives to a person and that hold letters: as ``national_ids``, found by their letters.

Beside a word for it, any usual mark may stand where that number has one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from agent.content.detectors.check_digits import checks
from agent.content.detectors.evidence import has_word_near
from agent.content.detectors.weighing import Weighing
from agent.content.detectors.words import ID
from agent.content.found import Found

_START: Final = re.compile(
    r"(?<![A-Za-z0-9_])(?:"
    r"[A-Za-z][0-9]{7}|[A-Za-z]-[0-9]{7,8}|[VEXYZvexyz][. ][0-9]{7,8}|[A-Za-z]{4}[0-9]{6}|[A-Za-z]{6}[0-9LMNPQRSTUV]{2}"
    r"|[A-Za-z]{3} [A-Za-z]{3} [0-9]{2}"
    r"|[0-9]{6}[-+A-Fa-fU-Yu-y][0-9]{3}[0-9A-Za-z]|[0-9]{7,9}[ .-]?[A-Za-z]|[0-9]{2}\.[0-9]{3}\.[0-9]{3}-?[A-Za-z]"
    r"|[0-9]{8}[.-][0-9][ .-][A-Za-z]{2}[0-9]|[0-9]{8} ?[0-9] ?[A-Za-z]{2}[0-9]"
    r"|[0-9]{1,2}[ .-][0-9]{3}[ .-][0-9]{3}[ .-][A-Za-z]|[0-9]{17}[Xx]|[0-9]{6}[ .-][0-9]{8}[ .-][0-9]{3}[Xx]"
    r"|[12][0-9]{4}2[ABab]|[12][ .-][0-9]{2}[ .-][0-9]{2}[ .-]2[ABab])"
)
_DIGITS: Final = re.compile(r"[0-9]{2}")
_AFTER: Final = re.compile(r"[A-Za-z0-9_]")
# What it takes to try all shapes at a place, and to check one with the words around it, in characters.
_OF_A_START: Final = 60
_OF_A_CHECK: Final = 400


class _Shape(NamedTuple):
    """``module`` as in ``checks``; ``alone``: it needs no word nearby."""

    pattern: re.Pattern[str]
    module: str
    alone: bool


def _shape(pattern: str, module: str, *, alone: bool = True, small: bool = False) -> _Shape:
    return _Shape(re.compile(pattern, re.IGNORECASE if small else 0), module, alone)


# Where a word says what it is.
_M: Final = "[ .-]"
_OMOCODE: Final = "[0-9LMNPQRSTUV]"
_SHAPES: Final = (
    _shape(
        rf"[A-Z]{{3}} ?[A-Z]{{3}} ?{_OMOCODE}{{2}}[ABCDEHLMPRST]{_OMOCODE}{{2}} ?[A-Z]{_OMOCODE}{{3}} ?[A-Z]",
        "it.codicefiscale",
        small=True,
    ),
    _shape(r"[A-Z]{4}[0-9]{6}[HMX][A-Z]{5}[A-Z0-9][0-9]", "mx.curp", small=True),
    _shape(r"[0-9]{17}X", "cn.ric", small=True),
    _shape(rf"[0-9]{{6}}{_M}[0-9]{{8}}{_M}[0-9]{{3}}X", "cn.ric", alone=False, small=True),
    _shape(r"[0-9]{6}[-+A-FU-Y][0-9]{3}[0-9A-FHJ-NPR-Y]", "fi.hetu"),
    _shape(r"[0-9]{6}[-+A-FU-Y][0-9]{3}[0-9A-Z]", "fi.hetu", alone=False, small=True),
    _shape(r"[0-9]{2}\.[0-9]{3}\.[0-9]{3}-?[A-Z]", "es.dni"),
    _shape(r"[0-9]{8}[- ]?[A-Z]", "es.dni"),
    _shape(
        rf"[0-9]{{8}}{_M}?[A-Z]|[0-9]{{2}}{_M}[0-9]{{3}}{_M}[0-9]{{3}}{_M}?[A-Z]", "es.dni", alone=False, small=True
    ),
    _shape(r"[XYZ][- ]?[0-9]{7}[- ]?[A-Z]", "es.nie"),
    _shape(rf"[XYZ]{_M}?[0-9]{{7}}{_M}?[A-Z]", "es.nie", alone=False, small=True),
    _shape(r"[12][0-9]{4}2[AB][0-9]{6}[0-9]{2}", "fr.nir", small=True),
    _shape(r"[12] [0-9]{2} [0-9]{2} 2[AB] [0-9]{3} [0-9]{3} [0-9]{2}", "fr.nir", small=True),
    _shape(
        rf"[12]{_M}[0-9]{{2}}{_M}[0-9]{{2}}{_M}2[AB]{_M}[0-9]{{3}}{_M}[0-9]{{3}}{_M}[0-9]{{2}}",
        "fr.nir",
        alone=False,
        small=True,
    ),
    _shape(rf"[0-9]{{7}}{_M}?[A-W][ABHWTX]?", "ie.pps", alone=False, small=True),
    _shape(r"[0-9]{8} ?[0-9] ?[A-Z]{2}[0-9]", "pt.cc", small=True),
    _shape(rf"[0-9]{{8}}{_M}?[0-9]{_M}?[A-Z]{{2}}[0-9]", "pt.cc", alone=False, small=True),
    _shape(r"[0-9]{1,2}\.[0-9]{3}\.[0-9]{3}-K", "cl.rut", small=True),
    _shape(r"[0-9]{7,8}-K", "cl.rut", small=True),
    _shape(rf"(?:[0-9]{{7,8}}|[0-9]{{1,2}}{_M}[0-9]{{3}}{_M}[0-9]{{3}}){_M}?K", "cl.rut", alone=False, small=True),
    _shape(r"[STFG][0-9]{7}[A-Z]", "singapore"),
    _shape(r"[A-Z][1289][0-9]{8}", "taiwan", alone=False),
    _shape(rf"[VE]{_M}?[0-9]{{7,8}}{_M}?[0-9]", "ve.rif", alone=False, small=True),
)


def lettered_ids(text: str, weighing: Weighing | None = None) -> Iterator[Found]:
    """Each id with letters in ``text``; what is weighed is counted; of too many the later ones are taken for ids."""
    weighing = weighing or Weighing()
    if _DIGITS.search(text) is None:
        return
    done = 0
    for start in _START.finditer(text):
        place = start.start()
        if place < done or (
            place and text[place - 1] in "-./=+" and text[max(0, place - 2)].isalnum() and text[place - 1] != "="
        ):
            continue
        weighing.characters += _OF_A_START
        end = start.end() if weighing.is_full else _end(text, place, weighing)
        if end is not None:
            done = end
            yield Found(place, end, "national_id")


def _end(text: str, place: int, weighing: Weighing) -> int | None:
    """Where the id ends that begins at ``place``; None where none does."""
    for shape in _SHAPES:
        match = shape.pattern.match(text, place)
        if match is None or _AFTER.match(text, match.end()) is not None:
            continue
        if text[match.end() : match.end() + 1] == "-" and text[match.end() + 1 : match.end() + 2].isalnum():
            continue
        weighing.characters += _OF_A_CHECK
        if checks(shape.module, match[0]) and (shape.alone or has_word_near(text, place, match.end(), ID)):
            return match.end()
    return None
