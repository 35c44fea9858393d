"""The ledger of erasures, and what it does to a database that comes from a backup (CONTRACT 10a).

A JSON line an erasure, by ids, digests and counts: ``{"tenant", "position", "kind", "subject", "at", "key_name",
"sessions", "turns", "events"}``; ``subject`` is the hex of an id, or of the digest of a user's name. It is kept away
from the backups: a backup that is put back has what was erased since, and the ledger says what that is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import orjson

from agent.core.timestamps import instant, utc_text
from store import audit, erasure, restored_spans
from store.append import next_position
from store.engine import Connection
from store.errors import BadRequest
from store.event_store import EventStore
from store.port import Actor
from store.schema import MAX_POSITION, position_of

_ROWS_AT_ONCE: Final = 1000
_KINDS: Final = (erasure.SESSION, erasure.TURN, erasure.USER)
# An id, or a digest (store.labels).
_SUBJECT_BYTES: Final = 16
_NANOSECONDS_A_MICROSECOND: Final = 1000
_ROWS: Final = """
SELECT erasure_key, tenants.name, kind, subject, at_us, key_name, sessions, turns, events
FROM erasures JOIN tenants ON tenants.tenant = erasures.tenant
WHERE erasure_key > ? ORDER BY erasure_key LIMIT ?
"""
_TENANT: Final = "SELECT tenant FROM tenants WHERE name = ?"


@dataclass(frozen=True, slots=True)
class LedgerLine:
    """A line: whose erasure, and what it erased."""

    tenant: str
    row: erasure.LedgerRow


def erasures(store: EventStore) -> Iterator[bytes]:
    """The lines of all tenants, in order; each page of them is read in a transaction of its own."""
    last = 0
    while True:
        with store.engine.reading() as connection:
            rows = connection.execute(_ROWS, (last, _ROWS_AT_ONCE)).fetchall()
        yield from map(_line, rows)
        if len(rows) < _ROWS_AT_ONCE:
            return
        last = rows[-1][0]


def read_ledger(lines: Iterable[bytes]) -> list[LedgerLine]:
    """Read all lines before any is applied. Raises BadRequest, which names the line."""
    found = []
    for number, line in enumerate(lines, 1):
        try:
            found.append(_read(line))
        except (ValueError, KeyError, TypeError):
            raise BadRequest(f"line {number} of the ledger is none that `store erasures` wrote") from None
    return found


def reapply_ledger(store: EventStore, ledger: Iterable[bytes], actor: Actor) -> int:
    """Apply to ``store``, which holds an earlier state, what was erased since; how many erasures it had not.

    What it has already is left as it is, so that an application that was interrupted can be made again. Nothing may be
    served before. Raises Conflict where the store is no earlier state of the ledger's.
    """
    applied = reapply(store, read_ledger(ledger), actor)
    if applied:
        store.scrub()
    return applied


def reapply(store: EventStore, lines: Iterable[LedgerLine], actor: Actor, *, restored: Iterable[str] = ()) -> int:
    """The same without the rewriting of the files.

    The tenants ``restored`` get an audit row of the restore also where nothing was erased since.
    """
    by_tenant: dict[str, list[erasure.LedgerRow]] = {name: [] for name in restored}
    always = frozenset(by_tenant)
    for line in lines:
        by_tenant.setdefault(line.tenant, []).append(line.row)
    return sum(_reapply_tenant(store, name, rows, actor, always=name in always) for name, rows in by_tenant.items())


def _reapply_tenant(
    store: EventStore,
    name: str,
    rows: list[erasure.LedgerRow],
    actor: Actor,
    *,
    always: bool,
) -> int:
    with store.engine.writing() as connection:
        tenant = _tenant(connection, name)
        end = next_position(connection, tenant) - 1
        applied = 0
        for row in sorted(rows, key=lambda row: row.position):
            applied += erasure.reapply(connection, tenant, row) is not None
        if applied or always:
            last = next_position(connection, tenant) - 1
            audit.write(connection, tenant, actor, restored_spans.ACTION, restored_spans.subject(end, last))
    return applied


def _tenant(connection: Connection, name: str) -> int:
    """The key of a tenant, which need not be in the backup: its positions are not given out again."""
    row = connection.execute(_TENANT, (name.encode(),)).fetchone()
    if row is not None:
        return int(row[0])
    (last,) = connection.execute("SELECT max(tenant) FROM tenants").fetchone()
    connection.execute("INSERT INTO tenants (tenant, name) VALUES (?, ?)", (last + 1, name.encode()))
    return int(last) + 1


def _line(row: Sequence[Any]) -> bytes:
    key, tenant, kind, subject, at_us, key_name, sessions, turns, events = row
    return orjson.dumps(
        {
            "tenant": tenant.decode(),
            "position": position_of(key),
            "kind": kind.decode(),
            "subject": subject.hex(),
            "at": utc_text(audit.moment(at_us)),
            "key_name": key_name.decode(),
            "sessions": sessions,
            "turns": turns,
            "events": events,
        }
    )


def _read(line: bytes) -> LedgerLine:
    """Raises ValueError, KeyError or TypeError for what ``_line`` did not write."""
    fields: dict[str, Any] = orjson.loads(line)
    kind, position, subject = fields["kind"], fields["position"], bytes.fromhex(fields["subject"])
    tenant, key_name = fields["tenant"], fields["key_name"]
    if kind not in _KINDS or len(subject) != _SUBJECT_BYTES or type(position) is not int:
        raise ValueError
    if not 0 < position <= MAX_POSITION or not isinstance(tenant, str) or not isinstance(key_name, str):
        raise ValueError
    at = audit.moment(instant(fields["at"]) // _NANOSECONDS_A_MICROSECOND)
    return LedgerLine(tenant, erasure.LedgerRow(erasure.Subject(kind, subject), position, at, key_name))
