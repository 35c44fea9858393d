"""The vectors of one session in one file: records are appended, and a session whose turns are erased is written anew.

A record is a turn, the digest of a text that it said, the position at which it said it, and the text's vectors. A
*mark* says up to which version of the session erasures were looked for. A process that is killed leaves a torn record
at the end at most: it is never read, and the next append takes its place. Locks (flock) keep writers of several
processes apart; readers take none.
"""

from __future__ import annotations

import fcntl
import os
import struct
import uuid
import zlib
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Final, NamedTuple

_MAGIC: Final = b"MGVECT\x00\x01"
# Turn, digest, version, how many vectors; then the vectors, then a CRC-32 of all of it.
_HEAD: Final = struct.Struct("<16s16sQH")
_CHECK: Final = struct.Struct("<I")
_NO_TURN: Final = bytes(16)
_NEVER: Final = 2**64 - 1


class Filed(NamedTuple):
    """The packed ``vectors`` of one text of a turn, and the ``version`` at which it said it."""

    turn_id: str
    digest: bytes
    version: int
    vectors: bytes


class Looked(NamedTuple):
    """Erasures were looked for in what changed of a session above the version ``since``, up to ``until``."""

    since: int
    until: int


class Contents(NamedTuple):
    """What a file holds. ``unchecked``: erasures after this version of the session may not have been seen yet.

    ``end``: where the last whole record ends, 0 where the file is none of ours.
    """

    filed: tuple[Filed, ...]
    unchecked: int
    end: int


class SessionFile:
    """The file at ``path``; ``row`` are the bytes of one vector. Nothing is there before the first append."""

    def __init__(self, path: Path, row: int) -> None:
        self.path = path
        self._row = row

    def read(self) -> Contents:
        """All that is there, whole records alone; nothing where there is no file, or it is of another kind."""
        try:
            return self._parsed(self.path.read_bytes())
        except FileNotFoundError:
            return self._parsed(b"")

    def append(self, filed: Sequence[Filed]) -> None:
        """Add to the file, which is made where it is not there. Raises OSError."""
        with self._locked(make=True) as file:
            if file is None:
                return
            end = self._parsed(file.read()).end
            # Behind a torn record nothing would be found.
            file.truncate(end)
            file.seek(end)
            file.write(b"".join([b"" if end else _MAGIC, *map(self._record, filed)]))

    def forget(self, turn_ids: Collection[str], *, looked: Looked | None = None) -> int:
        """Take all vectors of these turns out of the file; how many records went. Raises OSError.

        Their bytes are in no file afterwards. ``looked``: the turns are all that were erased between two versions of
        the session. A file of which nothing is left is removed.
        """
        with self._locked(make=False) as file:
            if file is None:
                return 0
            filed, unchecked, _ = self._parsed(file.read())
            # What was appended since it was looked for may be older than that: then it has to be looked for again.
            is_checked = looked is not None and unchecked >= looked.since
            mark = max(unchecked, looked.until) if looked is not None and is_checked else unchecked
            left = [each for each in filed if each.turn_id not in turn_ids]
            if not left:
                self.remove()
            elif len(left) < len(filed) or mark != unchecked:
                self._replace(b"".join([_MAGIC, *map(self._record, left), _mark(mark)]))
            return len(filed) - len(left)

    def remove(self) -> None:
        """Take the file away, if it is there."""
        self.path.unlink(missing_ok=True)

    def _replace(self, content: bytes) -> None:
        beside = self.path.with_name(f"{self.path.name}.{os.getpid()}.{uuid.uuid4().hex[:8]}.new")
        try:
            with os.fdopen(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            beside.replace(self.path)
        except BaseException:
            beside.unlink(missing_ok=True)
            raise

    @contextmanager
    def _locked(self, *, make: bool) -> Iterator[IO[bytes] | None]:
        """The file, open at its start and locked; None where it is not there and is not made."""
        flags = os.O_RDWR | (os.O_CREAT if make else 0)
        while True:
            try:
                if make:
                    self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                file = os.fdopen(os.open(self.path, flags, 0o600), "r+b")
            except FileNotFoundError:
                yield None
                return
            with file:
                fcntl.flock(file, fcntl.LOCK_EX)
                # While it was waited for, another process may have put another file in its place.
                with suppress(FileNotFoundError):
                    if os.path.samestat(os.fstat(file.fileno()), self.path.stat()):
                        yield file
                        return

    def _record(self, filed: Filed) -> bytes:
        count = len(filed.vectors) // self._row
        head = _HEAD.pack(uuid.UUID(filed.turn_id).bytes, filed.digest, filed.version, count)
        return _with_check(head + filed.vectors)

    def _parsed(self, data: bytes) -> Contents:
        filed: list[Filed] = []
        unchecked, place = _NEVER, len(_MAGIC)
        if not data.startswith(_MAGIC):
            return Contents((), 0, 0)
        while len(data) >= place + _HEAD.size:
            turn, digest, version, count = _HEAD.unpack_from(data, place)
            start, end = place + _HEAD.size, place + _HEAD.size + count * self._row
            if len(data) < end + _CHECK.size or _CHECK.unpack_from(data, end)[0] != zlib.crc32(data[place:end]):
                break
            if count:
                filed.append(Filed(str(uuid.UUID(bytes=turn)), digest, version, data[start:end]))
                unchecked = min(unchecked, version)
            else:
                unchecked = version
            place = end + _CHECK.size
        return Contents(tuple(filed), unchecked if unchecked < _NEVER else 0, place)


def _mark(version: int) -> bytes:
    return _with_check(_HEAD.pack(_NO_TURN, _NO_TURN, version, 0))


def _with_check(record: bytes) -> bytes:
    return record + _CHECK.pack(zlib.crc32(record))
