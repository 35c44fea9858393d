"""A file that an import reads, plain, packed with gzip, or in a zip archive: inflated as it is read, on no disk."""

from __future__ import annotations

import gzip
import io
import os
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import BinaryIO, Final, NamedTuple, cast

# What a broken archive, or one that breaks off, is told by: of zipfile, RuntimeError for a password and for a method
# that nobody here inflates.
DAMAGED: Final = (EOFError, zlib.error, zipfile.BadZipFile, RuntimeError, KeyError, gzip.BadGzipFile)


class Unreadable(Exception):
    """A file, or the rest of it, cannot be read; ``reason`` says why, in words that name no content."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Source(NamedTuple):
    """One file of conversations: a file, or a ``member`` of an archive.

    ``shown`` is what it is called where its results are shown, ``name`` what sessions without an id are named by;
    ``path`` is where its bytes are. ``left_out`` are how many other members of the archive are none that we read.
    ``fault`` is why it cannot be read, where that is known already.
    """

    path: Path
    shown: str
    name: str
    is_gzip: bool = False
    member: str | None = None
    left_out: int = 0
    fault: str | None = None

    @property
    def is_packed(self) -> bool:
        """Whether it can be read from its beginning only."""
        return self.is_gzip or self.member is not None

    @contextmanager
    def open(self) -> Iterator[Reading]:
        """Read it. Raises Unreadable where that is not possible, and so does the reading of what is open."""
        if self.fault is not None:
            raise Unreadable(self.fault)
        with ExitStack() as opened:
            with translated():
                file = opened.enter_context(self.path.open("rb"))
                reading = self._reading(file, opened)
            yield reading

    def _reading(self, file: BinaryIO, opened: ExitStack) -> Reading:
        size = os.fstat(file.fileno()).st_size
        if self.member is not None:
            archive = opened.enter_context(zipfile.ZipFile(file))
            packed = opened.enter_context(archive.open(self.member))
            return Reading(cast("BinaryIO", packed), packed.tell, archive.getinfo(self.member).file_size)
        if self.is_gzip:
            inflated = opened.enter_context(gzip.GzipFile(fileobj=file, mode="rb"))
            return Reading(cast("BinaryIO", io.BufferedReader(inflated)), file.tell, size)
        return Reading(file, file.tell, size)


@contextmanager
def translated() -> Iterator[None]:
    """What reading a file raises, as Unreadable."""
    try:
        yield
    except DAMAGED as error:
        raise Unreadable("the archive is damaged, has a password, or breaks off") from error
    except OSError as error:
        raise Unreadable(reason_of(error)) from error


def reason_of(error: OSError) -> str:
    """What the system said, without the name of the file."""
    return os.strerror(error.errno) if error.errno else type(error).__name__


class Reading:
    """An open source. ``position`` is how far it was read and ``size`` how far it goes, both as it is packed."""

    def __init__(self, stream: BinaryIO, position: Callable[[], int], size: int) -> None:
        self._stream = stream
        self.position = position
        self.size = size

    def read(self, size: int = -1, /) -> bytes:
        """The next ``size`` bytes, fewer only at the end."""
        with translated():
            return self._stream.read(size)

    def readline(self, size: int = -1, /) -> bytes:
        """The next line with its line break, or its first ``size`` bytes."""
        with translated():
            return self._stream.readline(size)

    def seek(self, offset: int) -> None:
        """Go on at this place of what is unpacked."""
        with translated():
            self._stream.seek(offset)
