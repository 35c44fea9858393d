"""Parameters by their names in a text that holds JSON, whole or in part (``redaction.params``, CONTRACT 8).

Tools answer in JSON, and arguments come as text: there a parameter's value stands behind its name in quotes. The text
around it stays as it is. A value that does not end is taken to the end of the text: rather too much than a half.
"""

from __future__ import annotations

import json
import re
from functools import lru_cache
from typing import Any, Final

from agent.content.placeholder import PARAM, is_placeholder, redacted

_DECODER: Final = json.JSONDecoder()
# What is no literal, object or list ends where the next member begins, whatever it is: 079 123, user.name.
_BARE: Final = re.compile(r"[^,}\]\r\n]*")
_KEPT: Final = frozenset({"", "null", "true", "false"})


def without_params(text: str, params: frozenset[str]) -> tuple[str, int]:
    """``text`` with a placeholder for each value of one of ``params``, and how many; null and booleans stay."""
    pattern = _names(params)
    pieces: list[str] = []
    count = done = 0
    match = pattern.search(text)
    while match is not None:
        start = match.end()
        end = _end_of_value(text, start)
        if end > start:
            pieces += (text[done:start], f'"{redacted(PARAM)}"')
            done = end
            count += 1
        match = pattern.search(text, max(start, end))
    return ("".join((*pieces, text[done:])), count) if count else (text, 0)


@lru_cache(maxsize=4)
def _names(params: frozenset[str]) -> re.Pattern[str]:
    spelled = {form for name in params for form in (json.dumps(name), json.dumps(name, ensure_ascii=False))}
    return re.compile(rf"(?:{'|'.join(map(re.escape, sorted(spelled)))})\s*:\s*")


def _end_of_value(text: str, start: int) -> int:
    """The end of the value at ``start``; ``start`` where it is one that stays."""
    if not text.startswith(('"', "{", "["), start):
        bare = _BARE.match(text, start)
        value = bare[0].rstrip() if bare is not None else ""
        return start if value in _KEPT else start + len(value)
    try:
        decoded: tuple[Any, int] = _DECODER.raw_decode(text, start)
    except (ValueError, RecursionError):
        return len(text)
    value, end = decoded
    return start if isinstance(value, str) and is_placeholder(value) else end
