"""How the predicates are asked quickly: a text is read once, and a pattern is tried only where one of its words is met.

A text says at its beginning and at its end what it is: of a long one the middle is not looked at, so the work for a
text is bounded. Small letters and plain apostrophes; nothing else is changed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

HEAD: Final = 3000
TAIL: Final = 1000
# Who thanks, asks or is done says so in a message that a person typed; longer ones are pasted or generated.
SPOKEN: Final = 600
_WORD: Final = re.compile(r"\w+")
# Stands for "any text that is not ASCII": Chinese and Japanese have no spaces to find words by.
_UNSPACED: Final[frozenset[str]] = frozenset()


class Read(NamedTuple):
    """A text as the predicates look at it, and its words."""

    text: str
    words: frozenset[str]


class Rule(NamedTuple):
    """``pattern`` is tried where one of ``words`` is met; where there are none, in texts that are not ASCII."""

    words: frozenset[str]
    pattern: re.Pattern[str]


def read(text: str) -> Read:
    """``text`` as it is looked at: without the middle where it is longer than 4 000 characters."""
    if len(text) > HEAD + TAIL:
        text = f"{text[:HEAD]}\n{text[-TAIL:]}"
    low = text.lower().replace("\u2019", "'")
    return Read(low, frozenset(_WORD.findall(low)))


def rule(words: str, *patterns: str) -> Rule:
    """A rule for any of ``patterns``, each of which has one of ``words``: "don't" is found by "don"."""
    return Rule(frozenset(words.split()), re.compile("|".join(patterns)))


def unspaced(*patterns: str) -> Rule:
    """A rule for Chinese or Japanese."""
    return Rule(_UNSPACED, re.compile("|".join(patterns)))


def fires(rules: Sequence[Rule], seen: Read) -> bool:
    """Whether any of ``rules`` holds of a text."""
    is_ascii = seen.text.isascii()
    for words, pattern in rules:
        met = not words.isdisjoint(seen.words) if words else not is_ascii
        if met and pattern.search(seen.text) is not None:
            return True
    return False
