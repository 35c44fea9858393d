"""Writes all documents that our writers make into a folder, for the vendors' own types to look at (``make vendors``).

``python -m tests.formats.for_vendors FOLDER``: a file of lines for each format, ``{"name", "how", "document"}``.
``how`` is ``stored`` where the document came in this format and is given back, ``bare`` where only the turns' fields
are left of it, ``other`` where it came as something else.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from agent.formats.writing import Session
from tests.formats import small_sessions
from tests.formats.corpus import BOTH_WAYS, OURS, documents, folders
from tests.formats.round_trips import bare, written
from tests.formats.whole_sessions import sessions


def everything() -> Iterator[tuple[str, str, Session]]:
    """Every session there is, its name and the format that it came in."""
    for folder in folders():
        for form, name, document in documents(folder):
            for number, session in enumerate(sessions(form, document)):
                yield form, f"{name}.{number}", session
    for name in small_sessions.SESSIONS:
        with small_sessions.small_session(name) as session:
            yield "native", f"small: {name}", session


def records() -> Iterator[tuple[str, dict[str, Any]]]:
    """The formats and their records. Our own data are written in all formats, whatever they came in."""
    for came_as, name, session in everything():
        if came_as in BOTH_WAYS:
            yield came_as, {"name": name, "how": "stored", "document": written(came_as, session)[0]}
            yield came_as, {"name": name, "how": "bare", "document": written(came_as, bare(session))[0]}
        if name.startswith((f"{OURS.relative_to(OURS.parents[1])}/", "small: ")):
            for form in BOTH_WAYS:
                if form != came_as:
                    yield form, {"name": name, "how": "other", "document": written(form, session)[0]}


def main(folder: Path) -> None:
    """Write, and say how many of which."""
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.jsonl"):
        old.unlink()
    found: dict[str, list[str]] = {form: [] for form in BOTH_WAYS}
    for form, record in records():
        found[form].append(json.dumps(record))
    for form, texts in found.items():
        (folder / f"{form}.jsonl").write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")
        print(f"{form}: {len(texts)} documents")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
