"""``capture_options`` that stand at more than one place of what one capture is made of (CONTRACT 1).

A payload may be wrapped, and a recorded request stands within its recording: people ask for less content at each of
these places. Whoever asks there is heard, and what two places say otherwise is told.
"""

from __future__ import annotations

from typing import Any, Final

from agent.core.json_path import json_path
from agent.errors import Problem

CAPTURE_OPTIONS: Final = "capture_options"
_CONTENT: Final = "content"
# From the widest to the narrowest, as CONTRACT 8 has them.
CONTENT_MODES: Final = ("full", "redacted", "none")


def joined(own: Any, other: Any) -> Any:
    """Both as one: each member of ``own``, else that of ``other``; of two contents the narrower.

    None is no options. What is no object, and a content that is no mode, stays: it is refused then.
    """
    if own is None or other is None:
        return other if own is None else own
    if not isinstance(own, dict) or not isinstance(other, dict):
        return other if isinstance(own, dict) else own
    both = {**other, **own}
    if _CONTENT in own and _CONTENT in other:
        both[_CONTENT] = _narrower(own[_CONTENT], other[_CONTENT])
    return both


def passed_over(own: Any, other: Any, path: str) -> list[Problem]:
    """A warning for each member of ``other``, which stands at ``path``, that gave way to another value of ``own``."""
    if not isinstance(own, dict) or not isinstance(other, dict):
        return []
    names = [name for name in other if name != _CONTENT and name in own and own[name] != other[name]]
    return [Problem(path + json_path((name,)).removeprefix("$"), "ignored") for name in names]


def _narrower(one: Any, other: Any) -> Any:
    for each in (one, other):
        if not isinstance(each, str) or each not in CONTENT_MODES:
            return each
    return max(one, other, key=CONTENT_MODES.index)
