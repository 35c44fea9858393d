"""How narrow a turn is: as the fullest event that brought its body, not as the first (CONTRACT 8).

Until here a body that came again in a fuller event left its turn as narrow as it was, so that a narrower body might
replace it afterwards. What the rows say is made again from the events, of the sessions that have narrowed turns.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from alembic import context

revision = "0004"
down_revision = "0003"

_SESSIONS = "SELECT DISTINCT session_key, tenant FROM turns WHERE narrowness > 0 AND erased = 0 ORDER BY session_key"
_TURNS = """
SELECT turn_id, turn_key, narrowness, revision_position, body_sha256 FROM turns
WHERE session_key = ? AND narrowness > 0 AND erased = 0
"""
_EVENTS = "SELECT event_key FROM events WHERE session_key = ? AND turn_count > 0 ORDER BY event_key"
_BODY = "SELECT layout, body FROM events WHERE event_key = ?"


class _Narrowed(NamedTuple):
    turn_key: int
    narrowness: int
    revision_position: int
    body_sha256: bytes


def upgrade() -> None:
    """Say of each narrowed turn what the events say. A column is corrected, none is added."""
    # Late, as everything of the store here: the store loads it first.
    from store.log.turn_rows import WIDEN

    connection = context.config.attributes["store"]
    for session_key, tenant in connection.execute(_SESSIONS).fetchall():
        turns = {row[0]: _Narrowed(*row[1:]) for row in connection.execute(_TURNS, (session_key,)).fetchall()}
        found = dict(_fuller(connection, session_key, tenant, turns))
        connection.executemany(WIDEN, [(narrowness, key) for key, narrowness in found.items()])


def _fuller(connection: Any, session_key: int, tenant: int, turns: dict[bytes, _Narrowed]) -> Iterator[tuple[int, int]]:
    """The keys of turns whose body came again in a fuller event, and how narrow they are by that."""
    from store.engines.schema import position_of

    for (key,) in connection.execute(_EVENTS, (session_key,)).fetchall():
        capture = _capture(connection, tenant, key)
        for sent in () if capture is None else capture.turns:
            turn = turns.get(sent.turn_id)
            if (
                turn is not None
                and position_of(key) > turn.revision_position
                and sent.body_sha256 == turn.body_sha256
                and capture.narrowness < turn.narrowness
            ):
                turns[sent.turn_id] = turn._replace(narrowness=capture.narrowness)
                yield turn.turn_key, capture.narrowness


def _capture(connection: Any, tenant: int, key: int) -> Any:
    from store.errors import BadRequest, DamagedDatabase
    from store.log.capture import read_capture
    from store.log.envelope import read_envelope
    from store.log.event_body import event_text, open_body
    from store.log.event_rows import turn_texts
    from store.log.layout import unpack
    from store.log.record import Chunks

    layout, kept = connection.execute(_BODY, (key,)).fetchone()
    try:
        body = open_body(unpack(layout), kept)
        return read_capture(read_envelope(event_text(body, turn_texts(Chunks(connection, tenant), body), b"{")))
    except (DamagedDatabase, BadRequest, ValueError):
        # It is as it was: who reads it, or verifies the database, is told.
        return None
