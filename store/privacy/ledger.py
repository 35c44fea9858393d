"""The ledger of erasures, and what it does to a database that comes from a backup (CONTRACT 10a).

A JSON line an erasure, by ids, digests and counts: ``{"tenant", "position", "kind", "subject", "at", "key_name",
"sessions", "turns", "events"}``; ``subject`` is the hex of an id, or of the digest of a user's name. Then the ids of
the erased turns, ``{"tenant", "kind": "turns", "turn_ids"}``: a backup may lack them, and a client may send them again.
The ledger is kept away from the backups: one that is put back has what was erased since, and the ledger says what.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import orjson

from agent.core.timestamps import instant, utc_text
from store.engines.schema import MAX_POSITION, position_of
from store.errors import BadRequest
from store.log.append import next_position
from store.log.event_store import EventStore
from store.log.tenants import made_tenant_key
from store.log.turn_rows import BURY
from store.port import Actor
from store.privacy import audit, erasure, restored_spans

_ROWS_AT_ONCE: Final = 1000
_KINDS: Final = (erasure.SESSION, erasure.TURN, erasure.USER)
# An id, or a digest (store.lists.labels).
_SUBJECT_BYTES: Final = 16
_NANOSECONDS_A_MICROSECOND: Final = 1000
_ROWS: Final = """
SELECT erasure_key, tenants.name, kind, subject, at_us, key_name, sessions, turns, events
FROM erasures JOIN tenants ON tenants.tenant = erasures.tenant
WHERE erasure_key > ? ORDER BY erasure_key LIMIT ?
"""
_TURNS: Final = "turns"
_TOMBSTONES: Final = """
SELECT turn_id, tombstones.tenant, tenants.name FROM tombstones JOIN tenants ON tenants.tenant = tombstones.tenant
WHERE (turn_id, tombstones.tenant) > (?, ?) ORDER BY turn_id, tombstones.tenant LIMIT ?
"""


@dataclass(frozen=True, slots=True)
class LedgerLine:
    """A line: whose erasure, and what it erased."""

    tenant: str
    row: erasure.LedgerRow | None
    turn_ids: tuple[bytes, ...] = ()


@dataclass(frozen=True, slots=True)
class Reapplied:
    """What an application did: erasures it wrote, those of them that emptied something, and those that were known.

    ``missing`` are tenants of the ledger that the database did not have: nothing of theirs could be erased.
    """

    applied: int
    emptied: int
    known: int
    missing: tuple[str, ...] = ()


def erasures(store: EventStore) -> Iterator[bytes]:
    """The lines of all tenants, in order; each page of them is read in a transaction of its own."""
    last = 0
    while True:
        with store.engine.reading() as connection:
            rows = connection.execute(_ROWS, (last, _ROWS_AT_ONCE)).fetchall()
        yield from map(_line, rows)
        if len(rows) < _ROWS_AT_ONCE:
            break
        last = rows[-1][0]
    yield from _erased_turns(store)


def _erased_turns(store: EventStore) -> Iterator[bytes]:
    after = (b"", 0)
    while True:
        with store.engine.reading() as connection:
            rows = connection.execute(_TOMBSTONES, (*after, _ROWS_AT_ONCE)).fetchall()
        by_tenant: dict[bytes, list[str]] = {}
        for turn_id, _, name in rows:
            by_tenant.setdefault(name, []).append(turn_id.hex())
        for name, ids in by_tenant.items():
            yield orjson.dumps({"tenant": name.decode(), "kind": _TURNS, "turn_ids": ids})
        if len(rows) < _ROWS_AT_ONCE:
            return
        after = (rows[-1][0], rows[-1][1])


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
    """As ``apply_ledger``; how many erasures the store had not."""
    return apply_ledger(store, ledger, actor).applied


def apply_ledger(store: EventStore, ledger: Iterable[bytes], actor: Actor) -> Reapplied:
    """Apply to ``store``, which holds an earlier state, what was erased since.

    What it has already is left as it is, so that an application that was interrupted can be made again. Nothing may be
    served before. Raises Conflict where the store is no earlier state of the ledger's.
    """
    lines = read_ledger(ledger)
    missing = missing_tenants(lines, store.tenants())
    done = reapply(store, lines, actor)
    if done.applied:
        store.scrub()
    return replace(done, missing=missing)


def missing_tenants(lines: Iterable[LedgerLine], there: Iterable[str]) -> tuple[str, ...]:
    """The tenants of a ledger that are not among those ``there``, by name."""
    return tuple(sorted({line.tenant for line in lines} - set(there)))


def reapply(store: EventStore, lines: Iterable[LedgerLine], actor: Actor, *, restored: Iterable[str] = ()) -> Reapplied:
    """The same without the rewriting of the files.

    The tenants ``restored`` get an audit row of the restore also where nothing was erased since.
    """
    by_tenant: dict[str, list[LedgerLine]] = {name: [] for name in restored}
    always = frozenset(by_tenant)
    for line in lines:
        by_tenant.setdefault(line.tenant, []).append(line)
    done = [_reapply_tenant(store, name, own, actor, always=name in always) for name, own in by_tenant.items()]
    applied = sum(each.applied for each in done)
    return Reapplied(applied, sum(each.emptied for each in done), sum(each.known for each in done))


def _reapply_tenant(
    store: EventStore,
    name: str,
    lines: list[LedgerLine],
    actor: Actor,
    *,
    always: bool,
) -> Reapplied:
    with store.engine.writing() as connection:
        tenant = made_tenant_key(connection, name)
        end = next_position(connection, tenant) - 1
        applied = emptied = 0
        rows = [line.row for line in lines if line.row is not None]
        buried = [(turn_id, tenant) for line in lines for turn_id in line.turn_ids]
        connection.executemany(BURY, buried)
        for row in sorted(rows, key=lambda row: row.position):
            done = erasure.reapply(connection, tenant, row)
            applied += done is not None
            emptied += done is not None and bool(done.sessions or done.turns or done.events)
        if applied or always:
            last = next_position(connection, tenant) - 1
            audit.write(connection, tenant, actor, restored_spans.ACTION, restored_spans.subject(end, last))
    return Reapplied(applied, emptied, len(rows) - applied)


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
    if fields["kind"] == _TURNS:
        ids = tuple(bytes.fromhex(turn_id) for turn_id in fields["turn_ids"])
        if not isinstance(fields["tenant"], str) or any(len(turn_id) != _SUBJECT_BYTES for turn_id in ids):
            raise ValueError
        return LedgerLine(fields["tenant"], None, ids)
    kind, position, subject = fields["kind"], fields["position"], bytes.fromhex(fields["subject"])
    tenant, key_name = fields["tenant"], fields["key_name"]
    if kind not in _KINDS or len(subject) != _SUBJECT_BYTES or type(position) is not int:
        raise ValueError
    # The last position of all is none of an erasure's: nothing could be appended behind it.
    if not 0 < position < MAX_POSITION or not isinstance(tenant, str) or not isinstance(key_name, str):
        raise ValueError
    at = audit.moment(instant(fields["at"]) // _NANOSECONDS_A_MICROSECOND)
    return LedgerLine(tenant, erasure.LedgerRow(erasure.Subject(kind, subject), position, at, key_name))
