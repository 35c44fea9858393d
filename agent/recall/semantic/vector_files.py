"""The folder of vectors: a file for each session, under the digest of the model that made them.

It is a cache: a file that is gone is made again by whoever reads the session. It belongs to one store. Files are for
their owner alone (0600).
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

from agent.core.ids import is_uuid
from agent.recall.semantic.model import SemanticModel
from agent.recall.semantic.packed import row_type
from agent.recall.semantic.session_file import SessionFile

# About 2.7 million turns.
MOST_BYTES: Final = 1 << 30
_SUFFIX: Final = ".vectors"


class VectorFiles:
    """The vectors by ``model`` in ``folder``, of at most ``most_bytes`` after each trim."""

    def __init__(self, folder: Path, model: SemanticModel, *, most_bytes: int = MOST_BYTES) -> None:
        self.folder = folder / model.digest[:16]
        self._row = row_type(model.dimensions).itemsize
        self._most_bytes = most_bytes

    def of(self, session_id: str) -> SessionFile:
        """The file of a session, there or not. Raises ValueError for what is no UUID: it would name any path."""
        if not is_uuid(session_id):
            raise ValueError("a session is named by a UUID")
        name = session_id.lower()
        return SessionFile(self.folder / name[:2] / f"{name}{_SUFFIX}", self._row)

    def sessions(self) -> Iterator[str]:
        """The sessions that have a file, in no order."""
        for path in self.folder.glob(f"??/*{_SUFFIX}"):
            if is_uuid(path.stem):
                yield path.stem

    def trim(self) -> int:
        """Remove the files that were written longest ago until the rest fits; how many went."""
        found: list[tuple[int, int, Path]] = []
        for path in self.folder.glob(f"??/*{_SUFFIX}"):
            with suppress(FileNotFoundError):
                state = path.stat()
                found.append((state.st_mtime_ns, state.st_size, path))
        total = sum(size for _, size, _ in found)
        removed = 0
        for _, size, path in sorted(found):
            if total <= self._most_bytes:
                break
            path.unlink(missing_ok=True)
            total -= size
            removed += 1
        return removed

    def check(self) -> None:
        """Make the folder. Raises OSError where nothing can be written to it."""
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not os.access(self.folder, os.W_OK | os.X_OK):
            raise PermissionError
