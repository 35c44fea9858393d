"""A turn as readers get it: the members of its latest revision, cut out of the event that brought it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from store.connection import Connection
from store.errors import DamagedDatabase
from store.event_body import chunk_text

_HELD_BYTES: Final = 16 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class RevisionPlace:
    """Where a revision stands: columns of its turn's row (store.schema). ``body`` is not None where it is there."""

    position: int
    chunk: int
    chunk_bytes: int
    start: int
    size: int
    body: bytes | None


class Chunks:
    """Chunks of event bodies, each read once as long as ``held_bytes`` hold them: a page may need a thousand."""

    def __init__(self, connection: Connection, *, held_bytes: int = _HELD_BYTES) -> None:
        self._connection = connection
        self._held_bytes = held_bytes
        self._texts: dict[tuple[int, int], bytes] = {}
        self._size = 0

    def members(self, place: RevisionPlace) -> bytes:
        """``"role":"user",...}``: the turn's members but the RECORD_FIELDS, and ``}``."""
        if place.body is not None:
            return place.body
        key = (place.position, place.chunk)
        text = self._texts.get(key)
        if text is None:
            text = self._read(place)
            self._size += len(text)
            if self._size > self._held_bytes:
                self._texts.clear()
                self._size = len(text)
            self._texts[key] = text
        return text[place.start : place.start + place.size]

    def _read(self, place: RevisionPlace) -> bytes:
        # Incremental: the body of a capture of 10 000 turns is not loaded for a page of 100.
        with self._connection.blobopen("events", "body", place.position, readonly=True) as body:
            if place.chunk + place.chunk_bytes > len(body):
                raise DamagedDatabase("a turn's place is outside its event")
            body.seek(place.chunk)
            return chunk_text(body.read(place.chunk_bytes))


def read_members(connection: Connection, place: RevisionPlace) -> bytes:
    """The members of one revision; see ``Chunks.members``."""
    return Chunks(connection).members(place)
