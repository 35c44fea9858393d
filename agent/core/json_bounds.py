"""How much of JSON text is taken (CONTRACT 2), told from the text before anything is built of it.

The patterns are possessive: nothing is ever tried twice, so a match takes linear time whatever the text.
"""

from __future__ import annotations

import re
from typing import Final

MAX_VALUES: Final = 250_000
MAX_DEPTH: Final = 128

WHITE: Final = rb"[ \t\n\r]*+"
# A whole string; what stands in it is not looked at. For patterns with re.DOTALL.
STRING: Final = rb'"(?:[^"\\]++|\\.)*+"'
# A value begins the text, or follows a comma, or an opening bracket that is not closed at once. Counts 10 MiB of
# anything in constant memory and some tens of milliseconds; compiled on first use, since few bodies need it.
_MORE_VALUES: Final = (
    rb'(?s)(?:(?:[^",\[{]++|' + STRING + rb"|\[" + WHITE + rb"\]|\{" + WHITE + rb"\})*+[,\[{]){%d}+" % MAX_VALUES
)
_ALL_BUT_STARTS: Final = bytes(byte for byte in range(256) if byte not in b",[{")
_NEXT_BRACKET: Final = rb'(?s)(?:[^"{}\[\]]++|' + STRING + rb")*+([{}\[\]])"


def has_too_many_values(text: bytes) -> bool:
    """Whether ``text`` has more than 250 000 JSON values; of what is no JSON, what would begin one is counted."""
    return _may_hold_too_many(text) and re.match(_MORE_VALUES, text) is not None


def is_too_deep(text: bytes) -> bool:
    """Whether the first value of ``text``, an object or a list, is nested deeper than 128 levels; it may be no JSON."""
    bracket = re.compile(_NEXT_BRACKET)
    depth = 0
    found = bracket.match(text)
    while found:
        depth += 1 if found[1] in b"{[" else -1
        if depth > MAX_DEPTH:
            return True
        found = bracket.match(text, found.end()) if depth else None
    return False


def _may_hold_too_many(text: bytes) -> bool:
    """An upper bound, much quicker than the count: every value but the first follows a comma or an opening bracket."""
    # Every value but the first takes at least two bytes, so a short text need not be looked at.
    return len(text) >= 2 * MAX_VALUES and len(text.translate(None, _ALL_BUT_STARTS)) >= MAX_VALUES
