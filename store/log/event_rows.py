"""Stored events read back whole: envelopes as they were sent, with their position (CONTRACT 10)."""

from __future__ import annotations

from typing import Final

from agent.core.ids import is_uuid
from store.engines.engine import Connection
from store.engines.schema import event_key, position_of
from store.errors import DamagedDatabase, LostEvent
from store.log.damage import reading_event
from store.log.envelope import parse_kept
from store.log.event_body import OpenBody, event_text, open_body, with_members
from store.log.identifiers import packed
from store.log.layout import unpack
from store.log.record import Chunks

COLUMNS: Final = "event_key, erased, layout, body"


def envelope_text(chunks: Chunks, row: tuple[int, int, bytes, bytes]) -> bytes:
    """The envelope of a row of COLUMNS; ``chunks`` finds the turns that stand in other events. Raises DamagedEvent."""
    key, erased, layout, kept = row
    position = position_of(key)
    head = b'{"position":%d,"erased":true,' if erased else b'{"position":%d,'
    with reading_event(position):
        body = open_body(unpack(layout), kept)
        return event_text(body, turn_texts(chunks, body), head % position)


def turn_texts(chunks: Chunks, body: OpenBody) -> list[bytes]:
    """The texts of all turns of an event, in the order of ``inputs.turns``."""
    own = iter(body.own)
    texts = []
    for reference in body.layout.turns:
        if reference is None:
            turn = next(own)
            texts.append(turn.head + turn.tail)
        else:
            texts.append(with_members(chunks.whole(reference.position, reference.own_index), reference))
    return texts


def stored_text(connection: Connection, tenant: int, position: int) -> bytes:
    """The envelope at ``position``, which is there. Raises DamagedEvent, LostEvent where it is not."""
    return envelope_text(Chunks(connection, tenant), _row(connection, tenant, position))


def turn_ids(connection: Connection, tenant: int, position: int) -> list[bytes]:
    """The ids of an event's turns, in its order."""
    _, _, layout, kept = _row(connection, tenant, position)
    with reading_event(position):
        texts = turn_texts(Chunks(connection, tenant), open_body(unpack(layout), kept))
        return [id_of(text) for text in texts]


def id_of(text: bytes) -> bytes:
    """The ``turn_id`` of a turn's text."""
    turn_id = parse_kept(text).get("turn_id")
    if not is_uuid(turn_id):
        raise DamagedDatabase("a stored turn has no id")
    return packed(turn_id) or b""


def _row(connection: Connection, tenant: int, position: int) -> tuple[int, int, bytes, bytes]:
    sql = f"SELECT {COLUMNS} FROM events WHERE event_key = ?"  # noqa: S608 - constants only
    row: tuple[int, int, bytes, bytes] | None
    row = connection.execute(sql, (event_key(tenant, position),)).fetchone()
    if row is None:
        raise LostEvent("an event is not there", position)
    return row
