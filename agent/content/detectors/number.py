"""What may be one number in a text: groups of digits with their separators, and the stretches that stand alone."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

# Of one line, of a bounded length: what is longer is a table, and is looked at piece by piece.
_RUN: Final = re.compile(r"[0-9][0-9 .\-/()]{6,94}(?<=[0-9])")
_DATE: Final = re.compile(
    r"(?:19|20)[0-9]{2}([-./ ])[01]?[0-9]\1[0-3]?[0-9](?:[ -][0-9]{1,2}(?:[.-][0-9]{2}){0,2})?"
    r"|[0-3]?[0-9]([-./ ])[0-3]?[0-9]\2(?:19|20)[0-9]{2}(?: [0-9]{1,2}(?:\.[0-9]{2}){0,2})?"
    r"|(?:19|20)[0-9]{2}[-/ ](?:19|20)[0-9]{2}"
)
# As written, with its marks.
_LONGEST_NUMBER: Final = 30
_GROUP: Final = re.compile(r"[0-9]+")
_MOST_GROUPS: Final = 20
_MOST_GROUPS_OF_ONE: Final = 7
_FEWEST_DIGITS: Final = 7
_MOST_DIGITS: Final = 19
# Between two groups: one mark, with a space, or what closes a bracket and goes on.
_BETWEEN: Final = re.compile(r"[ .\-/]|\) ?|\)-| \(| - | / |\) - ?|-\(")
_ENDS: Final = re.compile(r" \(?| - | / |/")

# Of a row of digits and commas: what is no decimal's fraction, and what is none behind one.
_CELL: Final = re.compile(r"0[0-9]{1,4}[ -][0-9]|[0-9]{9}|[0-9]{2,4}(?:[.-][0-9]{2,4}){2}")
# No amount and no fraction has so many digits: a comma beside them is that of a list.
_LONG: Final = re.compile(r"[0-9](?:[ -]?[0-9]){11}")
_LONGEST_OF_12: Final = 24
# One number in another spelling, as programs write what came as a JSON number.
_WHOLE: Final = re.compile(r"([0-9]{12,19})\.0{1,4}(?![0-9.])")
_SCIENTIFIC: Final = re.compile(r"([1-9])\.([0-9]{6,18})[eE]\+?(1[1-8])(?![0-9])")
_NEXT_CELL: Final = re.compile(r",(?:[0-9]{4}|[0-9]{1,3}(?:\n|\Z|,[^0-9\s]))")


class Number(NamedTuple):
    """The digits from ``start`` to before ``end`` of ``text``; ``shape`` has their lengths and marks: ``4-4-4``."""

    text: str
    start: int
    end: int
    digits: str
    groups: tuple[str, ...]
    shape: str

    @property
    def written(self) -> str:
        return self.text[self.start : self.end]

    @property
    def is_plain(self) -> bool:
        """Without any separator."""
        return len(self.groups) == 1


def runs_in(text: str) -> Iterator[tuple[int, int]]:
    """From where to where there are digits in ``text`` that may be numbers: no dates, nothing too short or too long.

    A longer line of numbers comes in pieces that overlap, so that each number is whole in one of them.
    """
    run = _RUN.search(text)
    while run is not None:
        start, end = run.span()
        following = end
        if text[end : end + 1].isdigit():
            # Cut off within a group: the piece ends before that group, and the next one begins a number earlier.
            last = max(text.rfind(mark, start, end) for mark in " .-/()")
            if last < 0:
                digits = _GROUP.match(text, end)
                following = end if digits is None else digits.end()
                end = start
            else:
                end = last
                following = _next_piece(text, start, last)
        if end > start and _DATE.fullmatch(text, start, end) is None:
            yield start, end
        run = _RUN.search(text, following)


def _next_piece(text: str, start: int, last: int) -> int:
    """Where the piece after that from ``start`` to ``last`` begins: at a space, which parts numbers."""
    space = text.find(" ", max(start + 1, last - _LONGEST_NUMBER), last)
    return space if space > start else last


def numbers_in(text: str, start: int, end: int) -> list[Number]:
    """The numbers that the run from ``start`` to before ``end`` may be or hold, the longer ones first."""
    groups = [match.span() for match in _GROUP.finditer(text, start, end)]
    if len(groups) > _MOST_GROUPS or sum(last - first for first, last in groups) < _FEWEST_DIGITS:
        return []
    if len(groups) == 1:
        return [*_stretches(text, groups, [])]
    between = [text[groups[place][1] : groups[place + 1][0]] for place in range(len(groups) - 1)]
    held = _respelled(text, groups)
    first = 0
    for place, marks in enumerate((*between, None)):
        if marks is not None and _BETWEEN.fullmatch(marks) is not None:
            continue
        held += _stretches(text, groups[first : place + 1], between[first:place])
        first = place + 1
    held.sort(key=lambda number: number.start - number.end)
    return held


def _stretches(text: str, groups: list[tuple[int, int]], between: list[str]) -> Iterator[Number]:
    """Every number from one group to another: it begins and ends at an end of the run, or where a space parts it."""
    for first in range(len(groups)):
        if first and _ENDS.fullmatch(between[first - 1]) is None:
            continue
        if first and between[first - 1] == "/" and not _begins(text, groups[0][0]):
            # FV/2025/03/000123 is one.
            continue
        if not first and not _begins(text, groups[first][0]):
            continue
        count = 0
        for last in range(first, min(first + _MOST_GROUPS_OF_ONE, len(groups))):
            count += groups[last][1] - groups[last][0]
            if count > _MOST_DIGITS:
                break
            at_end = last == len(groups) - 1
            if count < _FEWEST_DIGITS or not (at_end or _ENDS.fullmatch(between[last])):
                continue
            if at_end and not _ends(text, groups[last][1]):
                continue
            yield _number(text, groups[first : last + 1], between[first:last])


def _respelled(text: str, groups: list[tuple[int, int]]) -> list[Number]:
    """The numbers among ``groups`` that are written as 4111111111111111.0 or 4.111111111111111e15."""
    held: list[Number] = []
    for start, _ in groups[:-1]:
        found = _WHOLE.match(text, start) or _SCIENTIFIC.match(text, start)
        if found is None or not _begins(text, start) or not _ends(text, found.end()):
            continue
        digits = found[1] if found.re is _WHOLE else f"{found[1]}{found[2]}".ljust(int(found[3]) + 1, "0")
        if found.re is _WHOLE or len(digits) == int(found[3]) + 1:
            held.append(Number(text, start, found.end(), digits, (digits,), str(len(digits))))
    return held


def _is_of_a_list(text: str, comma: int) -> bool:
    """Whether the comma between two digits parts two numbers: one of them is longer than any amount."""
    before = text[max(0, comma - _LONGEST_OF_12) : comma][::-1]
    return _LONG.match(text, comma + 1) is not None or _LONG.match(before) is not None


def _number(text: str, groups: list[tuple[int, int]], between: list[str]) -> Number:
    written = tuple(text[start:end] for start, end in groups)
    shape = str(len(written[0])) + "".join(
        f"{marks}{len(group)}" for marks, group in zip(between, written[1:], strict=True)
    )
    return Number(text, groups[0][0], groups[-1][1], "".join(written), written, shape)


def _begins(text: str, start: int) -> bool:
    """Whether a number may begin there: no word, decimal, or part of a longer id goes before."""
    if start == 0:
        return True
    before = text[start - 1]
    if before.isascii():
        if before.isalnum() or before in "_#$€£@":
            # The end of an escape is no part of the text: "\n0123 456789".
            return text[max(0, start - 2) : start] in ("\\n", "\\t", "\\r")
        previous = text[start - 2] if start > 1 else " "
        if before == ",":
            return not previous.isdigit() or _CELL.match(text, start) is not None or _is_of_a_list(text, start - 1)
        if text.startswith("wa.me/", max(0, start - 6)):
            return True
        if before in "-./:=":
            return not (previous.isascii() and previous.isalnum()) if before in "-./" else True
    return before not in "№€£¥₽₹"


def _ends(text: str, end: int) -> bool:
    """Whether a number may end there: no word, decimal, percentage or part of a longer id goes on."""
    if end >= len(text):
        return True
    after = text[end]
    if after.isascii() and (after.isalnum() or after in "_%@"):
        return False
    if after == ",":
        return (
            not text[end + 1 : end + 2].isdigit()
            or _NEXT_CELL.match(text, end) is not None
            or _CELL.match(text, end + 1) is not None
            or _is_of_a_list(text, end)
        )
    if after in "-./:" and end + 1 < len(text):
        following = text[end + 1]
        if after in "/:" and (following.isalpha() or _is_of_a_list(text, end)):
            # What is said of it, or what it is the name of: no time, no port and no date goes on so.
            return True
        return not (following.isalnum() and following.isascii())
    return after not in "€£¥₽₹"
