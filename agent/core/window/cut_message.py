"""A message that is too long alone, cut: its head and its tail, and between them how much is missing.

Only plain text is cut. What has calls, results, signed blocks or parts of another kind than text is kept or dropped
whole: half of it would be refused, or say something else.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final, NamedTuple

from agent.core.turn import SessionTurn

_MARKER: Final = "... [{count} characters removed] ..."
# ZERO WIDTH JOINER joins the character after it; a tag is of the flag before it, a tone of the skin before it.
_JOINER: Final = "\u200d"
_TONES: Final = frozenset(map(chr, range(0x1F3FB, 0x1F400)))
_TAGS: Final = frozenset(map(chr, range(0xE0020, 0xE0080)))
# Vowels and finals of a Hangul syllable that is written in its letters.
_JAMO: Final = frozenset(map(chr, (*range(0x1160, 0x1200), *range(0xD7B0, 0xD800))))
# Of the vowels that are written behind their consonant, those that Unicode counts as letters: Thai and Lao.
_VOWELS: Final = frozenset("\u0e33\u0eb3")
_JOINS: Final = frozenset({_JOINER}) | _TONES | _TAGS | _JAMO | _VOWELS
# Combining marks of every kind, variation selectors among them.
_MARKS: Final = frozenset({"Mn", "Mc", "Me"})
# Two of them are a flag.
_REGIONAL: Final = "".join(map(chr, range(0x1F1E6, 0x1F200)))
# As far as a cut moves so as not to part a character from its marks; what has more of them is no writing.
_LONGEST_CHARACTER: Final = 64
# Of metadata.native: what only repeats the text as the provider spelled it, and is no longer true of a cut one.
_SPELLING: Final = frozenset({"parts", "at", "content", "native_absent"})


class Cut(NamedTuple):
    """The message as it is after the cut, its tokens, and how many characters of its text are ``removed``."""

    turn: SessionTurn
    tokens: int
    removed: int


def is_plain(turn: SessionTurn) -> bool:
    """Whether ``turn`` is text alone, so that a part of it is still a message."""
    if turn.role == "tool" or not isinstance(turn.content, str) or turn.fields.get("tool_invocations"):
        return False
    metadata = turn.fields.get("metadata")
    if not isinstance(metadata, dict):
        return metadata is None
    native = metadata.get("native")
    members = native if isinstance(native, dict) else {"native": native}
    return _is_text(metadata.get("blocks")) and all(_is_text(value) for value in members.values())


def _is_text(value: Any) -> bool:
    """Whether ``value`` is a scalar, or a list of blocks of text (or of the places of some)."""
    if isinstance(value, list):
        return all(isinstance(each, int) or each is None or _is_text_block(each) for each in value)
    return not isinstance(value, Mapping)


def _is_text_block(block: Any) -> bool:
    is_typed = isinstance(block, dict) and block.get("type", "text") in {"text", "input_text", "output_text"}
    return is_typed and isinstance(block.get("text"), str) and block.keys() <= {"type", "text"}


def shortest(turn: SessionTurn, tokens_of: Callable[[SessionTurn], int]) -> Cut | None:
    """The least that is left of ``turn``: one character with its marks; None where it cannot be cut."""
    text = turn.content
    return _cut(turn, text, 1, tokens_of) if text is not None and len(text) > 1 and is_plain(turn) else None


def longest(turn: SessionTurn, tokens_of: Callable[[SessionTurn], int], *, whole: int, most: int) -> Cut | None:
    """As much of ``turn`` as ``most`` tokens hold, of the ``whole`` that it takes; None where not even one character.

    Every try is counted, so what is given fits, whatever the counter makes of a text.
    """
    best = shortest(turn, tokens_of)
    text = turn.content
    if best is None or text is None or best.tokens > most:
        return None
    low, high = 1, len(text)
    guess = int((most - best.tokens) * len(text) / whole)
    # Three tries near the guess, then by halves: a counter reads what it is given, so far misses cost the most.
    tries = [guess + guess // 16, guess - guess // 16, guess]
    while high - low > 1:
        middle = tries.pop() if tries else (low + high) // 2
        if not low < middle < high:
            middle = min(max(middle, low + 1), high - 1)
        tried = _cut(turn, text, middle, tokens_of)
        if tried is not None and tried.tokens <= most:
            best, low = tried, middle
        else:
            high = middle
    return best


def _cut(turn: SessionTurn, text: str, kept: int, tokens_of: Callable[[SessionTurn], int]) -> Cut | None:
    """``turn`` with ``kept`` characters of its ``text``, or a few less; its tokens. The first stays, with its marks.

    None where nothing is left to remove.
    """
    head = _between(text, kept - kept // 2, -1) or _between(text, 1, 1)
    tail = _between(text, len(text) - kept // 2, 1)
    removed = tail - head
    if removed <= 0:
        return None
    content = f"{text[:head]}{_MARKER.replace('{count}', str(removed))}{text[tail:]}"
    made = replace(turn, content=content, fields=_without_spelling(turn.fields) | {"content": content})
    return Cut(made, tokens_of(made), removed)


def _between(text: str, place: int, step: int) -> int:
    """The nearest place from ``place`` on, in the direction of ``step``, that parts no character as it is read."""
    for _ in range(_LONGEST_CHARACTER):
        if not 0 < place < len(text) or not _joins(text, place):
            break
        place += step
    return place


def _joins(text: str, place: int) -> bool:
    """Whether what is before ``place`` and what is behind it are read as one."""
    before, after = text[place - 1], text[place]
    if after.isascii():
        return before == _JOINER
    if after in _REGIONAL and before in _REGIONAL:
        return (place - len(text[:place].rstrip(_REGIONAL))) % 2 == 1
    return before == _JOINER or after in _JOINS or unicodedata.category(after) in _MARKS


def _without_spelling(fields: Mapping[str, Any]) -> dict[str, Any]:
    """``fields`` without what still holds the whole text."""
    kept = dict(fields)
    metadata = kept.get("metadata")
    if isinstance(metadata, dict):
        metadata = {name: value for name, value in metadata.items() if name != "blocks"}
        if isinstance(metadata.get("native"), dict):
            native = metadata["native"]
            metadata["native"] = {name: value for name, value in native.items() if name not in _SPELLING}
        kept["metadata"] = metadata
    return kept
