"""Texts of our own in the scripts and languages that a conversation may be in, for counters and estimators."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

_TEXTS: Final = json.loads(Path(__file__).with_suffix(".json").read_text(encoding="utf-8"))
# By language.
SPOKEN: Final[dict[str, str]] = _TEXTS["spoken"]
EMOJI: Final[str] = _TEXTS["emoji"]
CODE: Final[str] = _TEXTS["code"]
