"""Copies of what can be read only once: standard input, pipes, what a shell puts in the place of a file.

An import goes through a file more than once, and asks how long it is. The copies are the user's alone, and gone when
the import ends.
"""

from __future__ import annotations

import shutil
import tempfile
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Final, Self

_PIECE_BYTES: Final = 1024 * 1024


class Spool:
    """The copies of one import. Used as a context."""

    def __init__(self) -> None:
        self._opened = ExitStack()
        self._folder: Path | None = None
        self._count = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._opened.close()

    def copy(self, stream: BinaryIO) -> Path:
        """Read ``stream`` to its end, and return where its bytes are now. Raises OSError."""
        if self._folder is None:
            self._folder = Path(self._opened.enter_context(tempfile.TemporaryDirectory(prefix="memory-graph-import-")))
        path = self._folder / str(self._count)
        self._count += 1
        with path.open("wb") as file:
            shutil.copyfileobj(stream, file, _PIECE_BYTES)
        return path
