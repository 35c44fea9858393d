"""About how many tokens texts are, for a log line: a quarter of their UTF-8 bytes, rounded up, text by text.

A quarter of the characters is the usual guess, and half of what a tokenizer counts, or less, in Chinese, Japanese and
Korean: there a character has three bytes. Measured in sentences of the three: at or a little above o200k, a quarter
below cl100k. It decides nothing: what fits a window is for a tokenizer to count.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

_BYTES_A_TOKEN: Final = 4


def estimated_tokens(texts: Iterable[str]) -> int:
    """The estimate for all of ``texts``."""
    return sum(-(-_bytes(text) // _BYTES_A_TOKEN) for text in texts)


def _bytes(text: str) -> int:
    # An ASCII text knows its length; any other is encoded to be measured, half a surrogate pair too.
    return len(text) if text.isascii() else len(text.encode(errors="surrogatepass"))
