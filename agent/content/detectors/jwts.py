"""JSON Web Tokens: three parts in base64url, the first two of which are JSON objects (RFC 7519)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from agent.content.detectors.starts import starts_of
from agent.content.found import Found

# The signature is empty where nothing is signed; a JWE has five parts.
_TOKEN: Final = re.compile(
    r"eyJ[A-Za-z0-9_-]{6,}+\.(?:eyJ)?[A-Za-z0-9_-]{4,}+\.[A-Za-z0-9_-]*+(?:\.[A-Za-z0-9_-]++){0,2}"
)


def jwts(text: str) -> Iterator[Found]:
    """Each token in ``text``."""
    done = 0
    for place in starts_of("eyJ", text):
        if place < done or (place > 0 and text[place - 1] in "_-"):
            continue
        token = _TOKEN.match(text, place)
        if token is not None:
            done = token.end()
            yield Found(place, done, "jwt")
