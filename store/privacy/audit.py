"""Who erased, exported or administered what, and when (CONTRACT 10a). Rows are added and read; none is ever changed.

A row names things by ids and digests. It must not be what keeps a name that was erased.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Final

import orjson

from agent.core.timestamps import utc_text
from store.engines.engine import Connection
from store.engines.schema import MAX_POSITION, event_key, position_of
from store.port import Actor
from store.privacy import erased_positions

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)

_LAST: Final = "SELECT max(audit_key) FROM audit WHERE audit_key BETWEEN ? AND ?"
_INSERT: Final = "INSERT INTO audit (audit_key, tenant, at_us, key_name, action, subject) VALUES (?, ?, ?, ?, ?, ?)"
_READ: Final = """
SELECT audit_key, at_us, key_name, action, subject FROM audit
WHERE audit_key BETWEEN ? AND ? ORDER BY audit_key LIMIT ?
"""

_READ_ALL: Final = """
SELECT audit_key, at_us, key_name, action, subject, tenants.name
FROM audit JOIN tenants ON tenants.tenant = audit.tenant WHERE audit_key > ? ORDER BY audit_key LIMIT ?
"""


def write(connection: Connection, tenant: int, actor: Actor, action: str, subject: str) -> None:
    """Add a row; ``subject`` is an id, or the digest of a name."""
    (last,) = connection.execute(_LAST, (event_key(tenant, 0), event_key(tenant, MAX_POSITION))).fetchone()
    number = 1 if last is None else position_of(last) + 1
    values = (microseconds(actor.at), actor.key_name.encode(), action.encode(), subject.encode())
    connection.execute(_INSERT, (event_key(tenant, number), tenant, *values))


def read(connection: Connection, tenant: int, *, after: int, limit: int) -> tuple[tuple[bytes, ...], int | None]:
    """JSON rows beyond ``after``, oldest first, and the number to go on from; None where nothing follows.

    An erasure has its position in the log beside it, where the ledger says it.
    """
    span = (event_key(tenant, min(after + 1, MAX_POSITION)), event_key(tenant, MAX_POSITION))
    rows = connection.execute(_READ, (*span, limit + 1)).fetchall()
    acts = [erased_positions.act(*row[1:]) for row in rows[:limit]]
    found = erased_positions.positions(connection, tenant, acts)
    page = tuple(_json(*row, position=position) for row, position in zip(rows[:limit], found, strict=True))
    return page, position_of(rows[limit - 1][0]) if len(rows) > limit else None


def read_all(connection: Connection, *, after: int, limit: int) -> tuple[tuple[tuple[str, bytes], ...], int | None]:
    """Rows of all tenants beyond the row ``after``, each behind its tenant's name, and the row to go on from.

    One tenant comes after the other, each oldest first; None where nothing follows.
    """
    rows = connection.execute(_READ_ALL, (after, limit + 1)).fetchall()
    page = tuple((tenant.decode(), _json(*row)) for *row, tenant in rows[:limit])
    return page, rows[limit - 1][0] if len(rows) > limit else None


def microseconds(moment: datetime) -> int:
    """``moment`` as the database keeps it."""
    return (moment - _EPOCH) // _MICROSECOND


def moment(at_us: int) -> datetime:
    """What ``microseconds`` was made of."""
    return _EPOCH + timedelta(microseconds=at_us)


def _json(
    key: int, at_us: int, key_name: bytes, action: bytes, subject: bytes, *, position: int | None = None
) -> bytes:
    row = {
        "id": position_of(key),
        "at": utc_text(moment(at_us)),
        "key_name": key_name.decode(),
        "action": action.decode(),
        "subject": subject.decode(),
    }
    return orjson.dumps(row if position is None else {**row, "position": position})
