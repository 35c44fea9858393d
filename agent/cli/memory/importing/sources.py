"""A file that an import reads, plain, packed with gzip, or in a zip archive: inflated as it is read, on no disk."""

from __future__ import annotations

import gzip
import io
import lzma
import os
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, BinaryIO, Final, NamedTuple, Self, cast

# What a broken archive, or one that breaks off, is told by; ValueError is for names that are not in their encoding.
BROKEN: Final = (
    EOFError, zlib.error, lzma.LZMAError, zipfile.BadZipFile, gzip.BadGzipFile, struct.error, ValueError, LookupError,
)  # fmt: skip
DAMAGED: Final = "the archive is damaged"
LOCKED: Final = "the archive has a password, or is packed in a way that we do not unpack"
NO_JSON: Final = "no JSON in the archive"
_PIECE_BYTES: Final = 256 * 1024


class Unreadable(Exception):
    """A file, or the rest of it, cannot be read; ``reason`` says why, in words that name no content."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Source(NamedTuple):
    """One file of conversations: a file, or a ``member`` of an archive.

    ``shown`` is what it is called where its results are shown, ``name`` what sessions without an id are named by;
    ``path`` is where its bytes are, ``number`` which of the archive's members, of which several may have one name.
    ``left_out`` are how many other members of the archive are none that we read.
    ``fault`` is why it cannot be read, where that is known already.
    """

    path: Path
    shown: str
    name: str
    is_gzip: bool = False
    member: str | None = None
    number: int = 0
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
            member = archive.infolist()[self.number]
            packed = opened.enter_context(archive.open(member))
            return Reading.unpacked(cast("zipfile.ZipExtFile", packed), packed.tell, member.file_size)
        if self.is_gzip:
            inflated = opened.enter_context(gzip.GzipFile(fileobj=file, mode="rb"))
            return Reading.unpacked(inflated, file.tell, size)
        return Reading(file, file.tell, size)


@contextmanager
def translated() -> Iterator[None]:
    """What reading a file raises, as Unreadable."""
    try:
        yield
    except (*BROKEN, OSError, RuntimeError) as error:
        raise Unreadable(reason_of(error)) from error


def reason_of(error: Exception) -> str:
    """What the system said, without the name of the file, or what is wrong with an archive."""
    if isinstance(error, OSError) and error.errno:
        return os.strerror(error.errno)
    return LOCKED if isinstance(error, RuntimeError) else DAMAGED


class _Unpacked(io.RawIOBase):
    """What is unpacked, up to where the archive breaks off: that is its end, and ``broken`` says why."""

    def __init__(self, stream: gzip.GzipFile | zipfile.ZipExtFile) -> None:
        super().__init__()
        self._stream = stream
        self.broken: Unreadable | None = None

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int:
        if self.broken is not None:
            return 0
        try:
            # A little in one go: only what is unpacked together with the fault is lost.
            some = self._stream.read1(min(len(buffer), io.DEFAULT_BUFFER_SIZE))
        except (*BROKEN, OSError, RuntimeError) as error:
            self.broken = Unreadable(reason_of(error))
            return 0
        buffer[: len(some)] = some
        return len(some)


class Reading:
    """An open source. ``position`` is how far it was read and ``size`` how far it goes, both as it is packed."""

    def __init__(self, stream: BinaryIO, position: Callable[[], int], size: int) -> None:
        self._stream = stream
        self._unpacked: _Unpacked | None = None
        self.position = position
        self.size = size

    @classmethod
    def unpacked(cls, stream: gzip.GzipFile | zipfile.ZipExtFile, position: Callable[[], int], size: int) -> Self:
        """What ``stream`` unpacks, as far as it can; ``check_end`` tells whether that was all."""
        unpacked = _Unpacked(stream)
        reading = cls(cast("BinaryIO", io.BufferedReader(unpacked)), position, size)
        reading._unpacked = unpacked
        return reading

    def check_end(self) -> None:
        """Raise Unreadable where what was read ended because the archive breaks off."""
        if self._unpacked is not None and self._unpacked.broken is not None:
            raise self._unpacked.broken

    def read(self, size: int = -1, /) -> bytes:
        """The next ``size`` bytes, fewer only at the end."""
        with translated():
            return self._stream.read(size)

    def readline(self, size: int = -1, /) -> bytes:
        """The next line with its line break, or its first ``size`` bytes."""
        with translated():
            return self._stream.readline(size)

    def seek(self, offset: int) -> None:
        """Go on at this place; in what is unpacked, before anything of it was read."""
        if self._unpacked is None:
            with translated():
                self._stream.seek(offset)
            return
        while offset > 0 and (some := self.read(min(offset, _PIECE_BYTES))):
            offset -= len(some)
