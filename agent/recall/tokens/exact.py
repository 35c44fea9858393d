"""Exact counts: splintr's byte-pair encoders, which the extra ``tokens`` installs.

The vocabularies are compiled in: nothing is downloaded, one loads in some 50 ms when it is first asked for, and takes
some 30 MB. What looks like a special token is text. A lone surrogate has no UTF-8 form, and counts as U+FFFD.
"""

from __future__ import annotations

from typing import Final

from agent.core.turn import SessionTurn
from agent.core.window.counted_text import PER_WINDOW, TextCounter, message_tokens

ENCODINGS: Final = frozenset({"o200k_base", "cl100k_base"})


class Exact:
    """Counts as the models do that have the encoding ``name``. Any number of threads may count at once."""

    def __init__(self, name: str, text: TextCounter) -> None:
        self._name = name
        self.text = text

    @property
    def name(self) -> str:
        return self._name

    @property
    def is_exact(self) -> bool:
        return True

    @property
    def overhead(self) -> int:
        return PER_WINDOW

    def __call__(self, turn: SessionTurn) -> int:
        return message_tokens(turn, self.text)


def load(encoding: str) -> Exact | None:
    """The counter for ``encoding``; None where the extra is not installed, or has no such vocabulary."""
    if encoding not in ENCODINGS:
        return None
    # Here, since it is an extra, and its vocabularies take their time.
    try:
        from splintr import Tokenizer
    except ImportError:
        return None
    encode = Tokenizer.from_pretrained(encoding).encode_ordinary

    def count(text: str) -> int:
        try:
            return len(encode(text))
        except UnicodeEncodeError:
            return len(encode(text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")))

    return Exact(encoding, count)
