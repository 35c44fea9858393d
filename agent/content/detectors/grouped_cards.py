"""Payment cards in groups that the numbers of a line are not parted by: dots, strokes, wide spaces, the end of a line.

The same mark between all groups, which are as long as on a card; more of such rows beside it are a table, and there a
word has to say card.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from agent.content.detectors.cards import is_card
from agent.content.detectors.evidence import has_word_near
from agent.content.detectors.number import Number
from agent.content.detectors.weighing import Weighing
from agent.content.detectors.words import CARD, DOCUMENT, OTHER_NUMBER, words_of
from agent.content.found import Found

# One, with what quotes and indents the next line.
_LINE_END: Final = r"[ \t]{0,3}(?:\r?\n|\\n)[ \t>]{0,8}"
_STYLES: Final = {
    " ": rf"(?:{_LINE_END}|[ \t]{{1,4}})",
    **{
        mark: rf"(?: {{0,2}}{re.escape(mark)} {{0,2}}(?:{_LINE_END})?|{_LINE_END}{re.escape(mark)})" for mark in "./_-,"
    },
}
_GROUPS: Final = {
    mark: re.compile(
        rf"[0-9]{{4}}(?:{style}[0-9]{{4}}{style}[0-9]{{4}}{style}[0-9]{{2,4}}(?:{style}[0-9]{{1,3}})?"
        rf"|{style}[0-9]{{6}}{style}[0-9]{{4,5}})(?![0-9])"
    )
    for mark, style in _STYLES.items()
}
# More groups than a card has, on one line or each on its own, are a row of a table.
_ROWS: Final = {
    mark: re.compile(
        rf"[0-9]{{4}}(?:(?:[ \t]{{1,4}}[0-9]{{4}}){{5,}}+|(?:{_LINE_END}[0-9]{{4}}(?![ \t]{{1,4}}[0-9])){{5,}}+)"
        if mark == " "
        else rf"[0-9]{{4}}(?: {{0,2}}{re.escape(mark)} {{0,2}}[0-9]{{4}}){{5,}}+"
    )
    for mark in _STYLES
}
# Where a card may begin: no longer number, decimal, amount or path goes before.
_START: Final = re.compile(
    r"(?<![0-9A-Za-z#$€£@/])(?<![0-9][:,_])(?<![0-9A-Za-z][.-])[2-69][0-9]{3}(?=[ \t\r\n\\./_,-])"
)
_MARK: Final = re.compile(rf"(?:{_LINE_END}|[ \t]{{0,4}})([./_,-])?")
_PLAIN: Final = re.compile(r"(?<![0-9A-Za-z_])_{1,3}([2-69][0-9]{13,18})_{1,3}(?![0-9A-Za-z_])")
# What goes on behind it: a longer number, an amount, a path.
_GOES_ON: Final = re.compile(r"[0-9A-Za-z%@]|[.,:/_-][0-9]|/")
# A name that goes on, or a row: there a word has to say card. Behind a card stands when it expires.
_NAME_GOES_ON: Final = re.compile(r"[._-][A-Za-z]|[ \t]{1,4}[0-9](?![0-9]?[/.-][0-9])")
_ROW_BEFORE: Final = re.compile(r"(?:[A-Za-z]_|[0-9][ \t]{1,4})\Z")
_GROUP: Final = re.compile("[0-9]+")
_USUAL: Final = re.compile(r"[0-9]+([ -])[0-9]+(?:\1[0-9]+)+")
_NUMBERS: Final = re.compile(r"[0-9]{3,}[^0-9A-Za-z]{1,4}[0-9]{3,}")
_LONGEST_LINE: Final = 160
_NEAR: Final = 32
# What groups take that are no card, in characters.
_OF_GROUPS: Final = 100
_CALLED: Final = frozenset({"no", "nr", "num", "number", "nummer", "numero", "número", "numéro", "código", "code"})


def grouped_cards(text: str, weighing: Weighing | None = None) -> Iterator[Found]:
    """Each card in ``text`` that is grouped so, or that stands between underscores.

    What is weighed is counted in ``weighing``; of too many the later ones are not, and are taken for telephones.
    """
    weighing = weighing or Weighing()
    start = _START.search(text)
    while start is not None:
        mark = _MARK.match(text, start.end())
        style = " " if mark is None or mark[1] is None else mark[1]
        row = _ROWS[style].match(text, start.start())
        done = start.end() if row is None else row.end()
        written = _GROUPS[style].match(text, start.start()) if row is None else None
        if written is not None and _is_odd(written):
            weighing.characters += _OF_GROUPS
            found = Found(*written.span(), "phone") if weighing.is_full else _as_card(text, written, style)
            if found is not None:
                done = found.end
                yield found
        start = _START.search(text, done)
    if "_" in text:
        for plain in _PLAIN.finditer(text):
            if is_card(Number(text, *plain.span(1), plain[1], (plain[1],), str(len(plain[1]))), has_word=False):
                yield Found(*plain.span(1), "card")


def _as_card(text: str, written: re.Match[str], style: str) -> Found | None:
    """The card that ``written`` is; in spaces its last group may be another number, as in ...  1111  123."""
    groups = _GROUP.findall(written[0])
    counts = (5, 4) if style == " " and len(groups) == 5 else (len(groups),)
    for count in counts:
        digits = "".join(groups[:count])
        shape = " ".join(str(len(group)) for group in groups[:count])
        if is_card(Number("", 0, 0, digits, (digits,), shape), has_word=False):
            end = (
                written.end() if count == len(groups) else [*_GROUP.finditer(written.string, *written.span())][-2].end()
            )
            return Found(written.start(), end, "card") if _stands(text, written.start(), end) else None
    return None


def _is_odd(written: re.Match[str]) -> bool:
    """Whether it is not written as other numbers are, which ``numbers`` finds: those have no underscores around."""
    text, start, end = written.string, written.start(), written.end()
    return "_" in (text[start - 1 : start], text[end : end + 1]) or _USUAL.fullmatch(written[0]) is None


def _stands(text: str, start: int, end: int) -> bool:
    """Whether what is a card by its digits is one where it stands: beside a word, or alone and not named otherwise."""
    if _GOES_ON.match(text, end) is not None:
        return False
    return has_word_near(text, start, end, CARD) or (
        "," not in text[start:end] and _is_alone(text, start, end) and not _is_named_otherwise(text, start)
    )


def _is_alone(text: str, start: int, end: int) -> bool:
    """Whether no other group stands beside it, and no row of other numbers in the lines around."""
    if _NAME_GOES_ON.match(text, end) or _ROW_BEFORE.search(text[max(0, start - 6) : start]):
        return False
    if len(re.findall(r"\n|\\n", text[start:end])) > 1:
        return False
    before = text[max(0, start - 2 * _LONGEST_LINE) : start].split("\n")
    after = text[end : end + 2 * _LONGEST_LINE].split("\n")
    return not any(map(_is_row, (*before[-2:-1], *after[1:2])))


def _is_row(line: str) -> bool:
    """Whether ``line`` is of a table: numbers that are no card."""
    if _NUMBERS.search(line) is None:
        return False
    digits = "".join(_GROUP.findall(line))
    return not is_card(Number(line, 0, len(line), digits, (digits,), "16"), has_word=True)


def _is_named_otherwise(text: str, start: int) -> bool:
    """Whether the word right before names another number: order 4111.1111.1111.1111, Invoice no. 4111/..."""
    said = [*words_of(text[max(0, start - _NEAR) : start])]
    if said and said[-1].casefold() in _CALLED:
        said.pop()
    return bool(said) and (DOCUMENT.has(said[-1]) or OTHER_NUMBER.has(said[-1]))
