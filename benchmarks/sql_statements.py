"""The statements of one append and of a page of turns, and rows for them: what ``benchmarks.sql_layer`` times.

A copy of what the embedded store did when docs/adr/0009 was decided, so that its figure can be measured again whatever
the store has become: what is there, the event, its two keys, the session, its ten turns.
"""

from __future__ import annotations

import random
from typing import Any, NamedTuple

import sqlalchemy as sa

TURNS = 10
_BODY_BYTES = 3500  # what ten turns of 6.4 KB keep, packed
_NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")

TABLES = sa.MetaData()
EVENTS = sa.Table(
    "events",
    TABLES,
    sa.Column("position", _NUMBER, primary_key=True, autoincrement=False),
    *(sa.Column(name, sa.Text) for name in ("tenant", "event_id", "execution_ref", "type", "agent_id")),
    *(sa.Column(name, sa.Text) for name in ("decision_type", "inputs_hash")),
    sa.Column("session_key", _NUMBER, index=True),
    sa.Column("conversation_id", sa.LargeBinary),
    sa.Column("timestamp", sa.Text),
    *(sa.Column(name, _NUMBER) for name in ("instant_us", "received_us", "turn_count", "turns_bytes")),
    sa.Column("body", sa.LargeBinary),
)
KEYS = sa.Table(
    "event_keys",
    TABLES,
    sa.Column("key", sa.LargeBinary, primary_key=True),
    sa.Column("tenant", sa.Text),
    sa.Column("position", _NUMBER),
)
SESSIONS = sa.Table(
    "sessions",
    TABLES,
    sa.Column("session_id", sa.LargeBinary, primary_key=True),
    sa.Column("tenant", sa.Text, primary_key=True),
    *(sa.Column(name, _NUMBER) for name in ("session_key", "last_seq", "version")),
)
TURN_ROWS = sa.Table(
    "turns",
    TABLES,
    sa.Column("turn_key", _NUMBER, primary_key=True, autoincrement=False),
    sa.Column("session_key", _NUMBER),
    sa.Column("seq", _NUMBER),
    sa.Column("tenant", sa.Text),
    *(sa.Column(name, sa.LargeBinary) for name in ("turn_id", "conversation_id", "parent", "waits_for", "names_leaf")),
    *(sa.Column(name, _NUMBER) for name in ("is_leaf", "first_position", "revision_position", "version", "revisions")),
    sa.Column("narrowness", _NUMBER),
    sa.Column("body_sha256", sa.LargeBinary),
    *(sa.Column(name, _NUMBER) for name in ("chunk", "chunk_bytes", "start", "size")),
    sa.Index("turns_by_id", "session_key", "turn_id", unique=True),
)


class Rows(NamedTuple):
    """What one append writes, as tuples in the order of the tables' columns."""

    event: tuple[Any, ...]
    keys: list[tuple[Any, ...]]
    session: tuple[Any, ...]
    turns: list[tuple[Any, ...]]


def rows(chance: random.Random, position: int) -> Rows:
    """One capture of ten turns under fresh ids."""
    conversation_id, session_id = chance.randbytes(16), chance.randbytes(16)
    turn_ids = [chance.randbytes(16) for _ in range(TURNS)]
    at = "2026-11-27T10:00:00.000Z"
    names = [chance.randbytes(16).hex() for _ in range(3)]
    texts = ("default", names[0], names[1], "conversation_capture", "agent", "conversation_capture", names[2] * 2)
    event = (position, *texts, position, conversation_id, at, position, position, TURNS, 6400)
    turns = []
    for place, turn_id in enumerate(turn_ids):
        identity = (position << 28 | place + 1, position, place + 1, "default", turn_id, conversation_id)
        tree = (turn_ids[place - 1] if place else None, None, None, int(place == TURNS - 1))
        where = (position, position, position, 1, 0, chance.randbytes(32), 4, _BODY_BYTES, 600 * place, 500)
        turns.append((*identity, *tree, *where))
    keys = [(chance.randbytes(16), "default", position) for _ in range(2)]
    session = (session_id, "default", position, TURNS, position)
    return Rows((*event, chance.randbytes(_BODY_BYTES)), keys, session, turns)


_LOOK = """
SELECT EXISTS (SELECT 1 FROM event_keys WHERE key = ?) OR EXISTS (SELECT 1 FROM event_keys WHERE key = ?),
    coalesce((SELECT max(position) FROM events), 0) + 1, session_key, last_seq
FROM (SELECT 1) AS one LEFT JOIN sessions ON session_id = ? AND tenant = ?
"""
_PAGE = """
SELECT turns.turn_id, turns.seq, turns.parent, turns.conversation_id, turns.version, turns.revisions, events.timestamp,
    events.execution_ref, turns.revision_position, turns.chunk, turns.chunk_bytes, turns.start, turns.size
FROM turns JOIN events ON events.position = turns.revision_position
WHERE turns.turn_key BETWEEN ? AND ? ORDER BY turns.turn_key LIMIT ?
"""
LAST_KEY = 2**62


def _insert(table: sa.Table, *, ignoring: bool = False) -> str:
    names = [column.name for column in table.columns]
    end = " ON CONFLICT DO NOTHING" if ignoring else ""
    return f"INSERT INTO {table.name} ({', '.join(names)}) VALUES ({', '.join('?' * len(names))}){end}"


class Texts(NamedTuple):
    """The statements as SQL text."""

    look: str
    event: str
    key: str
    session: str
    turn: str
    page: str

    @classmethod
    def written(cls, placeholder: str) -> Texts:
        event, session, turn = (_insert(table) for table in (EVENTS, SESSIONS, TURN_ROWS))
        texts = cls(_LOOK, event, _insert(KEYS, ignoring=True), session, turn, _PAGE)
        return cls(*(text.replace("?", placeholder) for text in texts))
