"""Which of the values that were found is meant: the one after a correction, or the only one. Two are no answer."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from agent.core.waiting.said import Found

_MARK: Final = re.compile(
    r"\b(?:i meant?(?: to say)?|actually|sorry|oops|wait|correction|scratch that|(?:make|change) (?:it|that)(?: to)?"
    r"|my (?:bad|mistake)|no(?=\s*[,.;:!-])|no wait|ich meine(?:te)?|doch|pardon|perdón|je voulais dire"
    r"|quiero decir)\b|我是说|我的意思是|ではなく|じゃなくて",
    re.IGNORECASE,
)


def meant(text: str, found: Sequence[Found]) -> Found | None:
    """The one value that ``text`` leaves standing; None where none or more than one does."""
    for mark in _MARK.finditer(text):
        later = [each for each in found if each.start >= mark.end()]
        found = later or found
    distinct = {(type(each.value), each.value): each for each in reversed(found)}
    return next(iter(distinct.values())) if len(distinct) == 1 else None
