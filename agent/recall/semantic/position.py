"""How far the feed was followed, in a small file beside the vectors, so that the next run goes on from there.

It counts only where nothing can be missed by it: the store still has the event that was seen last. In any doubt the
feed is read from its start, which costs time and nothing else.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import NamedTuple

from agent.errors import StoreNotFound
from agent.recall.semantic.vector_files import VectorFiles
from agent.ruvector.reads import StoreReads


class Position(NamedTuple):
    """Where in the feed the event ``execution_ref`` stands; all before it is done too."""

    value: int
    execution_ref: str


def file_of(files: VectorFiles) -> Path:
    """Where the position of what is in ``files`` is kept."""
    return files.folder / "position.json"


def load(file: Path, reads: StoreReads) -> int:
    """The position to go on after; 0 where there is none, or the store is another one. Raises as ``StoreReads``."""
    try:
        saved = json.loads(file.read_bytes())
        position = Position(saved["position"], saved["execution_ref"])
    except (OSError, ValueError, TypeError, LookupError):
        return 0
    if type(position.value) is not int or not isinstance(position.execution_ref, str):
        return 0
    try:
        event = reads.raw_event(position.execution_ref, shown=False)
    except StoreNotFound:
        return 0
    return position.value if event.position == position.value else 0


def save(file: Path, position: Position) -> None:
    """Write it whole or not at all. Raises OSError."""
    beside = file.with_name(f"{file.name}.{os.getpid()}")
    text = json.dumps({"position": position.value, "execution_ref": position.execution_ref})
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    beside.write_text(text, encoding="utf-8")
    beside.replace(file)
