"""The key that a function asks its callers for: the first of those that it is given itself, in a variable or a file."""

from __future__ import annotations

import os
import re
from pathlib import Path

CAPTURE, RECALL = "CAPTURE_API_KEYS", "RECALL_API_KEYS"


def source(variable: str) -> str | None:
    """The variable that callers' keys come by, this one or that of a file; None where no key is asked for."""
    names = (f"{variable}_FILE", variable)
    return next((name for name in names if os.environ.get(name, "").strip()), None)


def bearer(variable: str) -> dict[str, str]:
    """The header with the key; none where no key is asked for. Raises OSError or ValueError for no such file."""
    found = source(variable)
    if found is None:
        return {}
    text = os.environ[found] if found == variable else Path(os.environ[found].strip()).read_text(encoding="utf-8")
    keys = filter(None, map(str.strip, re.split(r"[,\n]", text)))
    return {"Authorization": f"Bearer {next(keys, '')}"}
