"""Every JSON value of the shared data that a format may be asked about: whole files, and what lists and lines hold."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any


def values(shared: Path) -> Iterator[tuple[str, Any]]:
    """The values, each with the name of its file."""
    for path in sorted((shared / "data").glob("*.json*")):
        text = path.read_text(encoding="utf-8")
        try:
            found = [json.loads(text)]
        except ValueError:
            found = [_lines(text)]
        whole = found[0]
        for value in (*found, *(whole if isinstance(whole, list) else ())):
            yield path.name, value


def _lines(text: str) -> list[Any]:
    found = []
    for line in text.splitlines():
        try:
            found.append(json.loads(line))
        except ValueError:
            continue
    return found
