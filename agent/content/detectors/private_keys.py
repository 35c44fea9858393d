r"""PEM private keys: from ``-----BEGIN`` to the last dash, on lines, indented, quoted, or with ``\n`` written out.

One that is cut off is taken as far as its lines go. Certificates and public keys are no secret.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from agent.content.found import Found

_BEGIN: Final = re.compile(r"-----BEGIN (?:[A-Z0-9]{1,20} ){0,4}PRIVATE KEY(?: BLOCK)?-----")
_END: Final = re.compile(r"-----END (?:[A-Z0-9]{1,20} ){0,4}PRIVATE KEY(?: BLOCK)?-----")
# What may stand between the lines of one: breaks, written out or not, and the marks of quotes, lists, diffs, comments.
_LINE: Final = re.compile(
    r"(?:\s|\\{1,2}[nrt]|[\"'+,>|#*])*+"
    r"(?:[A-Za-z0-9+/=]{16,}+|(?:Proc-Type|DEK-Info|Version|Comment|Hash): ?[^\n\\]{0,120})"
)
_TAIL: Final = re.compile(r"(?:\s|\\{1,2}[nrt]|[\"'+,>|#*])*+[A-Za-z0-9+/]{1,15}={0,2}")
# An RSA key of 16384 bits has 13 000 characters.
_LONGEST: Final = 32_768


def private_keys(text: str) -> Iterator[Found]:
    """Each private key in ``text``."""
    place = text.find("-----BEGIN ")
    while place >= 0:
        begin = _BEGIN.match(text, place)
        after = place + 11
        if begin is not None:
            after = _end(text, begin.end())
            yield Found(place, after, "private_key")
        place = text.find("-----BEGIN ", after)


def _end(text: str, start: int) -> int:
    """Where the key ends whose first line ends at ``start``."""
    stop = text.find("-----BEGIN ", start, start + _LONGEST)
    stop = min(len(text), start + _LONGEST) if stop < 0 else stop
    place = text.find("-----END ", start, stop)
    if place >= 0 and (end := _END.match(text, place)) is not None:
        return end.end()
    end_of_lines = start
    while (line := _LINE.match(text, end_of_lines, stop)) is not None:
        end_of_lines = line.end()
    tail = _TAIL.match(text, end_of_lines, stop) if end_of_lines > start and text[end_of_lines - 1] != "=" else None
    return end_of_lines if tail is None or "\n" not in tail[0] or not _only(text, tail.end()) else tail.end()


def _only(text: str, place: int) -> bool:
    """Whether a line ends at ``place``: the short last line of a key, and no word of what comes after it."""
    return place >= len(text) or text[place] in "\r\n\\\"'`"
