"""Detectors that are easy to foresee, in place of the real ones: an address, a card, a token."""

from __future__ import annotations

import re

from agent.content.found import Found

_LOOKED_FOR = re.compile(
    r"(?P<email>[a-z0-9]+@[a-z0-9]+\.[a-z]+)|(?P<card>(?<![0-9])4[0-9]{15}(?![0-9]))|(?P<vendor_token>sk-[a-z0-9]{8,})"
)


def find(text: str) -> list[Found]:
    """What there is, in order."""
    return [Found(*match.span(), str(match.lastgroup)) for match in _LOOKED_FOR.finditer(text)]


def nothing(_: str) -> list[Found]:
    """Nothing, ever."""
    return []
