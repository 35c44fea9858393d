"""Entity tags of answers (RFC 9110 8.8.3): a session's version for who looks, and a digest that makes them strong.

The version alone would not do. A capture that brings nothing new leaves it as it is and still counts as activity, and
the same session is shown in many ways.
"""

from __future__ import annotations

import re
from hashlib import sha256
from typing import Final

_DIGITS: Final = 16
_ANY: Final = "*"
_TAG: Final = re.compile(r'"[\x21\x23-\x7e\x80-\xff]*"')


def etag(version: int, body: bytes) -> str:
    """The tag of ``body``, which shows a session of this version."""
    return f'"{version}-{sha256(body).hexdigest()[:_DIGITS]}"'


def is_known(tag: str, if_none_match: str | None) -> bool:
    """Whether the client that sent ``If-None-Match`` has what ``tag`` stands for (weak comparison, RFC 9110 13.1.2)."""
    if if_none_match is None:
        return False
    return if_none_match.strip() == _ANY or tag in _TAG.findall(if_none_match)
