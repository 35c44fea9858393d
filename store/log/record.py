"""A turn as readers get it: the members of its latest revision, cut out of the event that brought it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from store.engines.engine import Connection
from store.engines.schema import event_key
from store.errors import DamagedEvent, LostEvent
from store.log.damage import reading_event
from store.log.event_body import chunk_text
from store.log.layout import Layout, OwnPlace, unpack

_HELD_BYTES: Final = 16 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class RevisionPlace:
    """Where a revision stands: columns of its turn's row (store.engines.schema). ``body`` is not None where it is
    there.
    """

    position: int
    own_index: int
    body: bytes | None


class Chunks:
    """Chunks of a tenant's event bodies, each read once as long as ``held_bytes`` hold them, since a page needs many.

    Incremental: the body of a capture of 10 000 turns is not loaded for a page of 100.
    """

    def __init__(self, connection: Connection, tenant: int, *, held_bytes: int = _HELD_BYTES) -> None:
        self._connection = connection
        self._tenant = tenant
        self._held_bytes = held_bytes
        self._places: dict[int, list[OwnPlace]] = {}
        self._texts: dict[tuple[int, int], bytes] = {}
        self._size = 0

    def members(self, place: RevisionPlace) -> bytes:
        """``"role":"user",...}``: the turn's members but the RECORD_FIELDS, and ``}``."""
        if place.body is not None:
            return place.body
        at = self._place(place.position, place.own_index)
        start = at.start + at.head
        return self._text(place.position, at)[start : start + at.tail]

    def whole(self, position: int, own_index: int) -> bytes:
        """The text of an own turn, as it was sent."""
        at = self._place(position, own_index)
        return self._text(position, at)[at.start : at.start + at.head + at.tail]

    def remember(self, position: int, layout: Layout) -> None:
        """Spare a read: the layout of the event at ``position``."""
        self._places[position] = list(layout.own_places())

    def _place(self, position: int, own_index: int) -> OwnPlace:
        places = self._places.get(position)
        if places is None:
            sql = "SELECT layout FROM events WHERE event_key = ?"
            row = self._connection.execute(sql, (event_key(self._tenant, position),)).fetchone()
            if row is None:
                raise LostEvent("a turn's event is not there", position)
            with reading_event(position):
                self.remember(position, unpack(row[0]))
            places = self._places[position]
        if own_index >= len(places):
            raise DamagedEvent("a turn's place is outside its event", position)
        return places[own_index]

    def _text(self, position: int, at: OwnPlace) -> bytes:
        key = (position, at.chunk)
        text = self._texts.get(key)
        if text is None:
            of = event_key(self._tenant, position)
            with reading_event(position):
                text = chunk_text(self._connection.body_part(of, at.chunk, at.chunk_bytes))
            self._size += len(text)
            if self._size > self._held_bytes:
                self._texts.clear()
                self._size = len(text)
            self._texts[key] = text
        return text
