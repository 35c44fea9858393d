"""Paths into a payload as CONTRACT 2 writes them: ``$.turns[3].role``, keys cut at 64 characters."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Final

MAX_KEY_CHARACTERS: Final = 64
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z", re.ASCII)


def json_path(parts: Iterable[str | int]) -> str:
    """The path of ``parts``, member names and array places from the root; a key that is no name stands in quotes."""
    steps = ["$"]
    for part in parts:
        if isinstance(part, int):
            steps.append(f"[{part}]")
        else:
            key = cut(part)
            steps.append(f".{key}" if _NAME.match(key) else f"[{quoted(key)}]")
    return "".join(steps)


def cut(key: str) -> str:
    """The first 64 characters of ``key``."""
    return key[:MAX_KEY_CHARACTERS]


def quoted(key: str) -> str:
    """``key`` as a JSON string."""
    return json.dumps(key, ensure_ascii=False)
