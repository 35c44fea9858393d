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
# What is done where nothing is asked (CONTRACT 1).
_DEFAULTS: Final = {
    "create_lineage": True,
    "extract_entities": False,
    "compute_embeddings": False,
    "derive_ids": False,
    _CONTENT: CONTENT_MODES[0],
}


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


def is_same(one: Any, other: Any) -> bool:
    """Whether both ask for the same, by members or by default. What is no object asks for what nothing else does."""
    if not isinstance(one, dict | None) or not isinstance(other, dict | None):
        return bool(one == other)
    # 1 is no True: it is refused.
    pairs = [((one or {}).get(name, value), (other or {}).get(name, value)) for name, value in _DEFAULTS.items()]
    return all(type(first) is type(second) and first == second for first, second in pairs)


def unknown_of(own: Any, other: Any, path: str) -> list[Problem]:
    """A warning for each member of ``other``, which stands at ``path``, that is no option and that ``own`` lacks."""
    if not isinstance(own, dict | None) or not isinstance(other, dict):
        return []
    names = [name for name in other if name not in _DEFAULTS and name not in (own or {})]
    return [Problem(path + json_path((name,)).removeprefix("$"), "ignored") for name in names]


def _narrower(one: Any, other: Any) -> Any:
    for each in (one, other):
        if not isinstance(each, str) or each not in CONTENT_MODES:
            return each
    return max(one, other, key=CONTENT_MODES.index)
