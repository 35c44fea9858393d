"""Opaque tokens that no vendor's prefix tells: what follows ``Authorization: Bearer``, and ``Bearer`` alone."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from agent.content.found import Found

_SCHEME: Final = re.compile(r"(?i:bearer|basic|token)(?:\s|%20|\+){1,3}([A-Za-z0-9._~+/=-]{8,2048}+)")
_WORDS: Final = re.compile(r"(?i)(?<![A-Za-z0-9_])(?=bearer|basic|token)(?:bearer|basic|token)(?=[\s%+])")
_HEADER: Final = re.compile(r"(?i)authorization\\?[\"'`]?\s{0,3}[:=,]?\s{0,3}\\?[\"'`]?f?[\"'`]?\Z")
# YOUR_API_KEY, your-access-token, xxxxxxxx.
_STANDS_FOR_ONE: Final = re.compile(r"[A-Z]{2,}(?:[_-][A-Z]{2,}){1,6}|[a-z]{2,}(?:[_-][a-z]{2,}){1,6}|[xX*.-]+")
_LONGEST_HEADER: Final = 32


def bearer_tokens(text: str) -> Iterator[Found]:
    """Each opaque token in ``text``."""
    for word in _WORDS.finditer(text):
        match = _SCHEME.match(text, word.start())
        if match is None:
            continue
        token = match[1].rstrip(".")
        named = _HEADER.search(text, max(0, word.start() - _LONGEST_HEADER), word.start()) is not None
        if (named and len(token) >= 8 and _STANDS_FOR_ONE.fullmatch(token) is None) or (
            word[0].lower() == "bearer" and _is_opaque(token)
        ):
            yield Found(match.start(1), match.start(1) + len(token), "vendor_token")


def _is_opaque(token: str) -> bool:
    """Whether it is long and mixed enough to be no word."""
    return len(token) >= 16 and any(map(str.isdigit, token)) and any(map(str.isalpha, token))
