"""A turn as readers get it: the members of its latest revision, cut out of the event that brought it."""

from __future__ import annotations

from dataclasses import dataclass

from store.database import Connection
from store.errors import DamagedDatabase
from store.event_body import chunk_text


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
    """Chunks of event bodies, each read once."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._texts: dict[tuple[int, int], bytes] = {}

    def members(self, place: RevisionPlace) -> bytes:
        """``"role":"user",...}``: the turn's members but the RECORD_FIELDS, and ``}``."""
        if place.body is not None:
            return place.body
        key = (place.position, place.chunk)
        text = self._texts.get(key)
        if text is None:
            text = self._texts[key] = self._read(place)
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
