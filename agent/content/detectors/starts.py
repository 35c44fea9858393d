"""Where a literal stands in a text as the start of something: a quick search, before any pattern is asked."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

# Before it: no letter or digit, unless they are the end of an escape of JSON, of a URL or of HTML.
_ESCAPED: Final = re.compile(r"(?:\\[nrt]|\\u[0-9A-Fa-f]{4}|%[0-9A-Fa-f]{2}|\x1b\[[0-9;]{0,8}m)\Z")
# A word that somebody wrote a secret against, as in keyAIza...; more than that is the middle of something encoded.
_LONGEST_WORD: Final = 16
_WORD_BEFORE: Final = re.compile(rf"(?<![A-Za-z0-9+/])[A-Za-z0-9]{{1,{_LONGEST_WORD}}}\Z")


def starts_of(literal: str, text: str, *, glued: bool = False) -> Iterator[int]:
    """Each place of ``literal`` in ``text`` where a word begins, in order; ``glued``: right behind a short one too."""
    place = text.find(literal)
    while place >= 0:
        if begins(text, place) or (glued and _ends_word(text, place)):
            yield place
        place = text.find(literal, place + len(literal))


def begins(text: str, place: int) -> bool:
    """Whether a word begins at ``place``: what stands before it is none of its letters."""
    if place == 0 or not (text[place - 1].isascii() and text[place - 1].isalnum()):
        return True
    return _ESCAPED.search(text[max(0, place - 12) : place]) is not None


def _ends_word(text: str, place: int) -> bool:
    return _WORD_BEFORE.search(text[max(0, place - _LONGEST_WORD - 2) : place]) is not None
