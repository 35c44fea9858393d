"""What may stand in a text for people as it is, and how the rest is written so that it can be read back exactly.

Controls, line separators and bidirectional overrides are acted on by one reader or another: some end a line with them,
some drop or replace them, some show a line in another order. A text with such a character is written as a JSON string
instead, in which they are escapes. A name goes into a line only if it is a plain word, else as a JSON string too.
"""

from __future__ import annotations

import json
import re
from typing import Any, Final

from agent.core.timestamps import is_date_time

# All of Cc but line feed and tab; U+2028 and U+2029; the bidirectional controls of UAX 9; the byte order mark.
_ACTED_ON: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]"
)
_PLAIN_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.@-]{0,63}\Z", re.ASCII)


def is_plain(text: str) -> bool:
    """Whether ``text`` may stand as it is, its line feeds, tabs and blanks included."""
    return _ACTED_ON.search(text) is None


def one_line(text: str) -> str:
    r"""JSON ``text`` with every character that a reader may act on as ``\u``; it occurs in strings alone."""
    return _ACTED_ON.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def json_line(value: Any) -> str:
    """``value`` as JSON on one line, its integers of any size, safe to stand in a text."""
    return one_line(json.dumps(value, ensure_ascii=False))


def name(text: str) -> str:
    """``text`` as a word of a line: itself, or as a JSON string. The two are told apart by the quotation mark."""
    return text if _PLAIN_NAME.match(text) else json_line(text)


def instant(text: str) -> str:
    """A time as a word of a line: itself where it is an RFC 3339 date-time, else as a JSON string."""
    return text if is_date_time(text) else json_line(text)
