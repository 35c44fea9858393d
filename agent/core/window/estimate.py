"""About how many tokens a message takes, where no tokenizer counts: from the shapes of its words, numbers and signs.

A byte-pair tokenizer cuts a text into words, numbers of three digits, runs of signs and of white space, and most of
these pieces are one token or a few (openai/tiktoken, the patterns of cl100k_base and o200k_base). So the estimate is a
sum over the pieces, by kind and length. Weights are fitted to half of the files of the shared data, rounded, and moved
where one of all their conversations fell out of the range; in other scripts they are the mean of a character. The two
vocabularies differ little in English and code, and by half in most other scripts: there the larger count is taken,
unless the encoding is named.

Decides by the shape alone: words of languages that are written in ASCII letters alone, other than English, have more
tokens than it says.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections import Counter
from typing import Final

from agent.core.turn import SessionTurn
from agent.core.window.counted_text import PER_WINDOW, message_tokens

_LONGEST: Final = 64
_SIGN: Final = r"[\x00-\x08\x0e-\x1f!-/:-@\[-`{-\x7f]"
_WORD: Final = re.compile(r"[A-Z]?[a-z]{1,63}")
_CAPITALS: Final = re.compile(r"[A-Z]{1,64}(?![a-z])")
_NUMBER: Final = re.compile(r"[0-9]{1,3}")
# A number does not take the blank before it along.
_BLANK_BEFORE_NUMBER: Final = re.compile(r" (?=[0-9])")
_SIGNS: Final = re.compile(f"{_SIGN}{{1,64}}")
# One sign right between two words is mostly one token with the second.
_JOINING_SIGN: Final = re.compile(f"{_SIGN}(?=[A-Za-z])(?<=[A-Za-z0-9].)")
# A line break right after a sign is mostly one token with it.
_LINE_BREAKS: Final = re.compile(r"[\r\n]{1,16}")
_BREAK_AFTER_SIGN: Final = re.compile(f"{_SIGN}[\r\n]")
_BLANKS: Final = re.compile(r"[ \t]{2,80}")
# Base64 and ids, where a letter follows a digit: their pieces are rarer than those of words.
_DATA: Final = re.compile(r"(?<![A-Za-z0-9+/=_])(?=[A-Za-z+/=_]*+[0-9][0-9+/=_]*+[A-Za-z])[A-Za-z0-9+/=_]{20,}")
_LEAST_DATA: Final = 20
_ASCII: Final = 0x7F


def _grown(*known: float, step: float) -> tuple[float, ...]:
    """Weights by length, from 0: those that are ``known``, and on by ``step`` for each further character."""
    return (0.0, *known, *(known[-1] + step * more for more in range(1, _LONGEST + 1 - len(known))))


_WORD_TOKENS: Final = _grown(1.08, 1.1, 1.1, 1.1, 1.1, 1.1, 1.16, 1.18, 1.18, 1.2, 1.25, 1.3, step=0.22)
_CAPITALS_TOKENS: Final = _grown(1.2, 1.35, 1.5, 1.6, 1.7, 1.8, step=0.2)
_SIGNS_TOKENS: Final = _grown(0.95, 1.1, 1.2, 1.6, 1.9, 2.1, 2.3, 2.6, step=0.08)
_JOINING_TOKENS: Final = -0.5
_NUMBER_TOKENS: Final = 1.08
_SPACE_TOKENS: Final = 1.05
_DATA_TOKENS: Final = 0.1
_TEXT_TOKENS: Final = 0.15

# By the first code point of a range: the tokens of a character of it, in o200k_base and in cl100k_base.
_RANGES: Final[tuple[tuple[int, float, float], ...]] = (
    (0x80, 1.0, 1.5),
    # Letters with marks: each breaks its word, and what is left of the word counts apart.
    (0xC0, 0.4, 1.4),
    (0x250, 0.7, 1.1),
    (0x370, 0.42, 1.04),
    (0x400, 0.32, 0.6),
    (0x530, 0.6, 1.8),
    (0x590, 0.42, 1.14),
    (0x600, 0.33, 0.85),
    (0x900, 0.4, 1.33),
    (0xE00, 0.42, 1.0),
    (0xE80, 0.9, 2.2),
    (0x1E00, 0.0, 0.6),
    (0x1F00, 1.0, 1.5),
    (0x2000, 1.0, 1.0),
    (0x2200, 1.2, 1.6),
    (0x2500, 0.9, 1.0),
    (0x2600, 1.2, 2.0),
    (0x2C00, 1.2, 2.2),
    (0x3000, 0.7, 0.95),
    (0x3040, 0.6, 0.9),
    (0x3400, 0.86, 1.32),
    (0xAC00, 0.67, 1.22),
    (0xD7B0, 1.5, 2.0),
    (0xF900, 1.2, 1.5),
    (0xFE00, 0.9, 0.9),
    (0xFE10, 1.0, 1.2),
    (0xFFF0, 1.0, 1.0),
    (0x10000, 2.5, 3.0),
    (0x1F300, 1.8, 2.5),
    (0x20000, 2.5, 3.0),
)
_STARTS: Final = tuple(start for start, _, _ in _RANGES)
_O200K: Final = tuple(tokens for _, tokens, _ in _RANGES)
_CL100K: Final = tuple(tokens for _, _, tokens in _RANGES)


class Estimator:
    """Counts about as o200k_base and cl100k_base do, a little above. ``encoding``: which of the two, where it is known.

    In the languages that the shared data are in, between 5 % below and 25 % above either of them, per conversation.
    """

    def __init__(self, encoding: str | None = None) -> None:
        self._others = _O200K if encoding == "o200k_base" else _CL100K

    @property
    def name(self) -> str:
        return "estimate"

    @property
    def is_exact(self) -> bool:
        return False

    @property
    def overhead(self) -> int:
        return PER_WINDOW

    def __call__(self, turn: SessionTurn) -> int:
        return message_tokens(turn, self.text)

    def text(self, text: str) -> int:
        """The tokens of ``text``, at least 1 where it is not empty."""
        if not text:
            return 0
        tokens = sum(map(_WORD_TOKENS.__getitem__, map(len, _WORD.findall(text))))
        tokens += sum(map(_CAPITALS_TOKENS.__getitem__, map(len, _CAPITALS.findall(text))))
        tokens += sum(map(_SIGNS_TOKENS.__getitem__, map(len, _SIGNS.findall(text))))
        tokens += _JOINING_TOKENS * len(_JOINING_SIGN.findall(text))
        tokens += _NUMBER_TOKENS * (len(_NUMBER.findall(text)) + len(_BLANK_BEFORE_NUMBER.findall(text)))
        tokens += _SPACE_TOKENS * _spaces(text)
        for long in [word for word in text.split() if len(word) >= _LEAST_DATA]:
            tokens += _DATA_TOKENS * sum(map(len, _DATA.findall(long)))
        if not text.isascii():
            tokens += self._tokens_of_others(text)
        return math.ceil(tokens + _TEXT_TOKENS)

    def _tokens_of_others(self, text: str) -> float:
        """Those of the characters beyond ASCII."""
        weights = self._others
        points = ((ord(each), number) for each, number in Counter(text).items())
        return sum(weights[bisect_right(_STARTS, point) - 1] * number for point, number in points if point > _ASCII)


def _spaces(text: str) -> int:
    """How many pieces of ``text`` are white space alone."""
    pieces = 0
    # Looked for first, since most texts are one line with one blank between two words.
    if "\n" in text or "\r" in text:
        pieces += len(_LINE_BREAKS.findall(text)) - len(_BREAK_AFTER_SIGN.findall(text))
    if "  " in text or "\t" in text:
        pieces += len(_BLANKS.findall(text))
    return pieces
