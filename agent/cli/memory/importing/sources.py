"""The files that an import reads: as they were named, in folders and by patterns, packed with gzip or in a zip archive.

What is packed is known by its first bytes, and inflated as it is read: nothing is unpacked to a disk. What a name on
the command line does not lead to is refused before anything is read.
"""

from __future__ import annotations

import glob
import gzip
import io
import os
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import BinaryIO, Final, NamedTuple, cast

from agent.errors import ValidationError

_NAMES: Final = (".json", ".jsonl", ".ndjson")
_SUFFIXES: Final = (*_NAMES, *(f"{name}.gz" for name in _NAMES), ".zip")
_GZIP: Final = b"\x1f\x8b"
_ZIP: Final = (b"PK\x03\x04", b"PK\x05\x06")
_PATTERN: Final = frozenset("*?[")
# What a broken archive, or one that breaks off, is told by: of zipfile, RuntimeError for a password and for a method
# that nobody here inflates.
_DAMAGED: Final = (EOFError, zlib.error, zipfile.BadZipFile, RuntimeError, KeyError, gzip.BadGzipFile)


class Unreadable(Exception):
    """A file, or the rest of it, cannot be read; ``reason`` says why, in words that name no content."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Source(NamedTuple):
    """One file of conversations: a file, or a ``member`` of an archive.

    ``left_out`` are how many other members of the archive are none that we read.
    """

    path: Path
    is_gzip: bool = False
    member: str | None = None
    left_out: int = 0

    @property
    def shown(self) -> str:
        """What it is called where its results are shown."""
        return str(self.path) if self.member is None else f"{self.path}/{self.member}"

    @property
    def name(self) -> str:
        """The file's own name, which sessions without an id are named by."""
        return self.path.name if self.member is None else self.member.rpartition("/")[2]

    @property
    def is_packed(self) -> bool:
        """Whether it can be read from its beginning only."""
        return self.is_gzip or self.member is not None

    @contextmanager
    def open(self) -> Iterator[Reading]:
        """Read it. Raises Unreadable where that is not possible, and so does the reading of what is open."""
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
    except _DAMAGED as error:
        raise Unreadable("the archive is damaged, has a password, or breaks off") from error
    except OSError as error:
        raise Unreadable(os.strerror(error.errno) if error.errno else type(error).__name__) from error


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


def sources_of(names: Sequence[str]) -> list[Source]:
    """What ``names`` lead to: files, folders with all that is below them, and patterns, each once, in this order.

    Raises ValidationError for a name that leads to nothing.
    """
    found: dict[str, Path] = {}
    for name in names:
        for path in _paths(name):
            found.setdefault(os.path.realpath(path), path)
    return [source for path in found.values() for source in _sources(path)]


def _paths(name: str) -> list[Path]:
    path = Path(name)
    if name and path.is_dir():
        found = _below(path)
        if not found:
            raise ValidationError(f"{name} holds no file that an import reads: {', '.join(_SUFFIXES)}")
        return found
    if name and path.exists():
        return [path]
    if name and _PATTERN.intersection(name):
        named = [Path(each) for each in sorted(glob.glob(name, recursive=True))]  # noqa: PTH207 - of any root
        found = [below for each in named for below in (_below(each) if each.is_dir() else [each])]
        if not found:
            raise ValidationError(f"no file matches {name}")
        return found
    raise ValidationError(f"cannot read {name or 'a file without a name'}: there is no such file")


def _below(folder: Path) -> list[Path]:
    found = []
    for at, folders, files in os.walk(folder):
        folders[:] = sorted(each for each in folders if not each.startswith("."))
        found += [
            Path(at, each) for each in sorted(files) if each.lower().endswith(_SUFFIXES) and not each.startswith(".")
        ]
    return found


def _sources(path: Path) -> list[Source]:
    try:
        with path.open("rb") as file:
            start = file.read(4)
    except OSError:
        # Said in its place among the others, when it is read.
        return [Source(path)]
    if start.startswith(_GZIP):
        return [Source(path, is_gzip=True)]
    if not start.startswith(_ZIP):
        return [Source(path)]
    try:
        with zipfile.ZipFile(path) as archive:
            members = [each.filename for each in archive.infolist() if not each.is_dir()]
    except (*_DAMAGED, OSError):
        return [Source(path)]
    # The exports of ChatGPT and of Claude: conversations.json, or conversations-000.json and on, beside what is none.
    exports = [name for name in members if name.rpartition("/")[2].startswith("conversations") and _is_read(name)]
    chosen = exports or [name for name in members if _is_read(name)]
    if not chosen:
        return [Source(path)]
    return [
        Source(path, member=name, left_out=0 if place else len(members) - len(chosen))
        for place, name in enumerate(chosen)
    ]


def _is_read(member: str) -> bool:
    return member.lower().endswith(_NAMES)
