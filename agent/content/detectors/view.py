"""A text as the detectors read it, and the way back: every code point there knows where it came from.

Digits, letters, dashes and spaces of other scripts and widths are read as their ASCII twins, one for one; what has no
width is left out; what is replaced already is one character. So a card in full-width digits is a card, and a number
stands as near to the word before it whether what lies between is replaced or not.
"""

from __future__ import annotations

import re
import unicodedata
from array import array
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from agent.content.found import Found
from agent.content.placeholder import DETECTED, OMITTED, PARAM, kinds_in, may_hold_placeholders

KINDS: Final = DETECTED
# Noncharacters (Unicode 23.7): no text that means something holds them, and no pattern takes them for a part of it.
STAND_INS: Final = {kind: chr(0xFDD0 + place) for place, kind in enumerate((*KINDS, PARAM, OMITTED))}
_FOREIGN: Final = re.compile(r"[^\x00-\x7f]")
_SPACES: Final = "\u2800\u3164"


class View(NamedTuple):
    """``text`` is what the detectors read; the piece from ``starts[i]`` on began at ``origins[i]``."""

    text: str
    starts: Sequence[int]
    origins: Sequence[int]

    def origin(self, place: int) -> int:
        """Where the code point at ``place`` stood in the text as it came."""
        piece = bisect_right(self.starts, place) - 1
        return self.origins[piece] + place - self.starts[piece]

    def place(self, origin: int) -> int:
        """Where the code point stands that was at ``origin`` in the text as it came, and is in none that was cut."""
        piece = bisect_right(self.origins, origin) - 1
        return self.starts[piece] + origin - self.origins[piece]

    def found(self, found: Found) -> Found:
        """``found`` as places of the text as it came."""
        return Found(self.origin(found.start), self.origin(found.end - 1) + 1, found.kind)


class _Cut(NamedTuple):
    """What stands from ``start`` to before ``end`` becomes ``by``, which is one character."""

    start: int
    end: int
    by: str


def view_of(text: str) -> View:
    """``text`` in the twins of its characters, its placeholders as one character each."""
    placeholders: Iterator[_Cut] = iter(())
    is_ascii = text.isascii()
    if may_hold_placeholders(text):
        placeholders = (_Cut(start, end, STAND_INS[kind]) for start, end, kind in kinds_in(text))
    elif is_ascii:
        return View(text, (0,), (0,))
    if is_ascii:
        return _cut(View(text, (0,), (0,)), placeholders)
    twins = {character: _twin(character) for character in set(text) if character > "\x7f"}
    changed = {ord(character): twin for character, twin in twins.items() if twin and twin != character}
    twin_text = text.translate(changed) if changed else text
    unseen = sorted(character for character, twin in twins.items() if not twin)
    widthless = re.escape("".join(unseen))
    if not widthless:
        return _cut(View(twin_text, (0,), (0,)), placeholders)
    view = _without_widthless(twin_text, re.compile(f"[{widthless}]+"), dict.fromkeys(map(ord, unseen)))
    return _cut(view, (_Cut(view.place(start), view.place(end - 1) + 1, by) for start, end, by in placeholders))


def _without_widthless(text: str, runs: re.Pattern[str], gone_for: dict[int, None]) -> View:
    """``text`` without what has no width, in ``runs``: a hostile one has millions of them, and each is passed over."""
    starts, origins = array("I", (0,)), array("I", (0,))
    gone = 0
    for run in runs.finditer(text):
        start, end = run.span()
        gone += end - start
        if end - gone == starts[-1]:
            # Before the first character: the first piece begins behind it.
            origins[-1] = end
        else:
            starts.append(end - gone)
            origins.append(end)
    # Not by the pattern, which holds each piece between two runs at the same time.
    return View(text.translate(gone_for), starts, origins)


def without(view: View, found: Iterable[Found]) -> View:
    """``view`` with one character in place of each of ``found``, which are places of it, in order, without overlaps."""
    return _cut(view, (_Cut(start, end, STAND_INS[kind]) for start, end, kind in found))


def _cut(view: View, cuts: Iterator[_Cut]) -> View:
    pieces: list[str] = []
    starts, origins = array("Q"), array("Q")
    place = done = 0

    def keep(to: int) -> int:
        """Take over what stands before ``to``, piece by piece; what it is long."""
        piece = bisect_right(view.starts, done) - 1
        while piece < len(view.starts) and view.starts[piece] < to:
            begin = max(done, view.starts[piece])
            starts.append(place + begin - done)
            origins.append(view.origins[piece] + begin - view.starts[piece])
            piece += 1
        pieces.append(view.text[done:to])
        return to - done

    for start, end, by in cuts:
        place += keep(start)
        starts.append(place)
        origins.append(view.origin(start))
        pieces.append(by)
        place += 1
        done = end
    if not done:
        return view
    keep(len(view.text))
    return View("".join(pieces), starts, origins)


@lru_cache(maxsize=8192)
def _twin(character: str) -> str:
    """What the detectors read for it: one character, or none for what has no width."""
    category = unicodedata.category(character)
    if category == "Nd":
        return str(unicodedata.decimal(character))
    if category == "Cf":
        return ""
    if category == "Zs" or character in _SPACES:
        return " "
    if category == "Pd" or character == "\u2212":
        return "-"
    if category == "No":
        return character
    twin = unicodedata.normalize("NFKC", character)
    return twin if len(twin) == 1 and twin.isascii() else character
