"""What stands in a stored text for what was not stored (CONTRACT 8), as readers see it: no words of anybody's."""

from __future__ import annotations

import re
from typing import Final

LONGEST: Final = 96
_PLACEHOLDER: Final = re.compile(r"\[(?:redacted:[a-z_]{1,32}|omitted:[0-9]{1,8}(?::[0-9a-f]{64})?)\]", re.ASCII)


def words_alone(text: str) -> str:
    """``text`` with as many spaces in place of each placeholder."""
    if "[redacted:" not in text and "[omitted:" not in text:
        return text
    return _PLACEHOLDER.sub(_spaces, text)


def _spaces(placeholder: re.Match[str]) -> str:
    return " " * (placeholder.end() - placeholder.start())
