r"""Finds what matches a hint's pattern, as a whole word. It never returns what the pattern as written does not match.

The text may have full-width or other scripts' digits, and typographic dashes. What matches only in another case is
tried in upper and in lower case. A match inside a longer word or number is none: ``\d{5}`` finds nothing in 1234567.
Nor is a word of any sentence: to ``[A-Z]{6}`` "please" is no code, unless it alone is written in capitals.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from agent.core.waiting.beside_words import BESIDE
from agent.core.waiting.pattern_risk import MOST_CHARACTERS
from agent.core.waiting.said import Found, clauses, pieces
from agent.core.waiting.words import (
    CARRIERS,
    COMMANDS,
    FUNCTION_WORDS,
    NO,
    NO_VALUE,
    POLITE,
    SERVICE,
    UNDECIDED,
    YES,
)

# With what pattern_risk refuses, these keep a search to a second or so, whatever the pattern and the text are.
_LONGEST_PIECE: Final = MOST_CHARACTERS
# It starts behind a blank, or where letters or digits do.
_BEFORE: Final = r"(?:\A|(?<=\s)|(?<![0-9A-Za-z])(?=\w))(?<![0-9A-Za-z][-_/])(?<![0-9][.,])"
_AFTER: Final = r"(?![0-9A-Za-z]|[-_/][0-9A-Za-z]|[.,][0-9])"
_COMMON: Final = BESIDE | FUNCTION_WORDS | CARRIERS | POLITE | YES | NO | NO_VALUE | COMMANDS | SERVICE | UNDECIDED
_ANY_LETTERS: Final = re.compile(r"\[|\\[wWSD]|(?<!\\)\.")
_LEADING_FLAGS: Final = re.compile(r"(?:\(\?[aiLmsu]+\))*")


def patterned(text: str, pattern: str) -> list[Found]:
    """What ``pattern`` matches in the sentences of ``text``, or in the clauses of those that are long.

    Not in a clause of more than 120 characters.
    """
    expression = _delimited(pattern)
    anycase = re.compile(expression.pattern, expression.flags | re.IGNORECASE)
    found = []
    for start, end in _pieces(text):
        piece = text[start:end]
        found += _matches(piece, start, expression) or _in_its_case(piece, start, anycase, pattern)
    return [each for each in found if not _is_of_a_sentence(text[each.start : each.end], text)]


def _is_of_a_sentence(said: str, text: str) -> bool:
    """Whether what was matched is a word that stands in any sentence."""
    return said.casefold() in _COMMON and not (said.isupper() and not text.isupper())


def _pieces(text: str) -> Iterator[tuple[int, int]]:
    for start, end in pieces(text):
        parts = [(start, end)] if end - start <= _LONGEST_PIECE else clauses(text, start, end)
        yield from ((begin, close) for begin, close in parts if close - begin <= _LONGEST_PIECE)


def _delimited(pattern: str) -> re.Pattern[str]:
    leading = _LEADING_FLAGS.match(pattern)
    flags = leading[0] if leading else ""
    return re.compile(f"{flags}{_BEFORE}(?:{pattern[len(flags) :]}){_AFTER}")


def _matches(piece: str, start: int, expression: re.Pattern[str]) -> list[Found]:
    found = ((match, _value(match)) for match in expression.finditer(piece))
    return [Found(start + match.start(), start + match.end(), value) for match, value in found if value]


def _in_its_case(piece: str, start: int, anycase: re.Pattern[str], pattern: str) -> list[Found]:
    """``o-12345`` for ``O-[0-9]+``: as the pattern is written, the value is O-12345.

    Letters alone are any word to a pattern of any letters: "comedy" is no code of six capitals.
    """
    written = re.compile(pattern)
    takes_any = _ANY_LETTERS.search(pattern) is not None
    found = []
    for match in anycase.finditer(piece):
        if takes_any and not any(map(str.isdecimal, match[0])):
            continue
        for said in (match[0].upper(), match[0].lower()):
            whole = written.fullmatch(said)
            if whole is not None and _value(whole):
                found.append(Found(start + match.start(), start + match.end(), _value(whole)))
                break
    return found


def _value(match: re.Match[str]) -> Any:
    return match["value"] if "value" in match.re.groupindex else match[0]
