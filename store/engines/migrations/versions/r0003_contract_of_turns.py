"""Which events that make turns keep another major of the published contract: a column, filled from their bodies."""

from __future__ import annotations

from typing import Any

import sqlalchemy
from alembic import context, op

revision = "0003"
down_revision = "0002"

_AT_ONCE = 200
_EVENTS = "SELECT event_key, layout, body FROM events WHERE event_key > ? AND turn_count > 0 ORDER BY event_key LIMIT ?"


def upgrade() -> None:
    """Add ``events.agent_version``, and say it of the events that are there."""
    columns = sqlalchemy.inspect(op.get_bind()).get_columns("events")
    if any(column["name"] == "agent_version" for column in columns):
        # 0002 made the tables as they are now, and appended to them.
        return
    op.add_column("events", sqlalchemy.Column("agent_version", sqlalchemy.LargeBinary, nullable=True))
    connection = context.config.attributes["store"]
    last = 0
    while rows := connection.execute(_EVENTS, (last, _AT_ONCE)).fetchall():
        found = [(version, key) for key, *body in rows if (version := _other_version(*body)) is not None]
        connection.executemany("UPDATE events SET agent_version = ? WHERE event_key = ?", found)
        last = rows[-1][0]


def _other_version(layout: bytes, kept: bytes) -> bytes | None:
    # Late: they are the store's own, which the store loads first.
    from store.errors import DamagedDatabase
    from store.log.envelope import other_version, parse_kept
    from store.log.event_body import open_body
    from store.log.layout import unpack

    try:
        document: Any = parse_kept(open_body(unpack(layout), kept).rest.text)
    except (DamagedDatabase, ValueError):
        # It is as it was: who reads it, or verifies the database, is told.
        return None
    version = other_version(document["payload"])
    return None if version is None else version.encode()
