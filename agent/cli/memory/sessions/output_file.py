"""The file that a command writes its document to: whole or not at all, and never over another unless asked.

What can be seen beforehand is refused in one line, before anything is read or written.
"""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from agent.errors import ValidationError


@dataclass(frozen=True, slots=True)
class OutputFile:
    """One file, by its ``name`` as it was given; ``path`` is behind symbolic links. ``replace``: it may be there."""

    name: str
    path: Path
    replace: bool

    @classmethod
    def checked(cls, name: str, *, replace: bool) -> Self:
        """The file ``name``. Raises ValidationError where no file of this name may be written."""
        if not name:
            raise ValidationError("--output names no file")
        try:
            file = cls(name, Path(os.path.realpath(name)), replace)
            file._check()
        except OSError as error:
            raise _refused(name, os.strerror(error.errno or 0)) from error
        return file

    def write(self, data: bytes, *, token: str) -> None:
        """Write ``data`` beside the file and put it in its place; ``token`` makes the name of what is beside it.

        Raises OSError where the system does not take it, ValidationError where a file is there by now.
        """
        beside = self.path.with_name(f".memory-graph-{token}")
        handle = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            self._check()
            if self.path.exists():
                beside.chmod(stat.S_IMODE(self.path.stat().st_mode))
            beside.replace(self.path)
        except BaseException:
            beside.unlink(missing_ok=True)
            raise
        self._sync_folder()

    def _check(self) -> None:
        if self.path.exists():
            if self.path.is_dir():
                raise _refused(self.name, "it is a folder")
            if not self.path.is_file():
                raise _refused(self.name, "it is no regular file; without -o the document goes to standard output")
            if not self.replace:
                raise ValidationError(f"{self.name} exists: --force writes over it")
        elif not self.path.parent.is_dir():
            raise _refused(self.name, "its folder does not exist")
        if not os.access(self.path.parent, os.W_OK | os.X_OK):
            raise _refused(self.name, "its folder may not be written")

    def _sync_folder(self) -> None:
        # The name is in the folder: without this a power loss may take the file that is said to be there.
        folder = os.open(self.path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def _refused(name: str, why: str) -> ValidationError:
    return ValidationError(f"cannot write {name}: {why}")
