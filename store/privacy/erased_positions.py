"""Which position each erasure of an audit has: the ledger keeps it, the audit does not.

Both rows are written at once and name the same subject, moment and key. The ledger has no index by time. But positions
grow as time does, also those that a restore put back: so where a page of the audit begins is found by halving, and
about as many rows are read as the page has. Only where a clock was set back all are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterator, Sequence
from typing import Final

from store.engines.engine import Connection
from store.engines.schema import MAX_POSITION, event_key, position_of

# When, by which key, what was done, to what: as the audit has it, an id without its dashes.
Act = tuple[int, bytes, bytes, bytes]

_ERASE: Final = b"erase_"
# Between the clocks of the processes that share a database.
_SKEW_US: Final = 60_000_000
_ROWS_AT_ONCE: Final = 1000
_LAST: Final = "SELECT max(erasure_key) FROM erasures WHERE erasure_key BETWEEN ? AND ?"
_ROWS: Final = """
SELECT erasure_key, at_us, key_name, kind, subject FROM erasures
WHERE erasure_key BETWEEN ? AND ? ORDER BY erasure_key LIMIT ?
"""


def act(at_us: int, key_name: bytes, action: bytes, subject: bytes) -> Act | None:
    """What tells an erasure of the audit; None for a row of anything else."""
    return (at_us, key_name, action, subject.replace(b"-", b"")) if action.startswith(_ERASE) else None


def positions(connection: Connection, tenant: int, acts: Sequence[Act | None]) -> list[int | None]:
    """The position of each of ``acts``; None for what is no erasure, and where the ledger does not have just these."""
    wanted = Counter(each for each in acts if each is not None)
    if not wanted:
        return [None] * len(acts)
    start = event_key(tenant, 0)
    (last,) = connection.execute(_LAST, (start, event_key(tenant, MAX_POSITION))).fetchone()
    if last is None:
        return [None] * len(acts)
    earliest, latest = min(wanted)[0] - _SKEW_US, max(wanted)[0] + _SKEW_US
    found = _found(wanted, _between(connection, _first(connection, start, last, earliest), last, latest))
    if len(found) < len(wanted):
        found = _found(wanted, _between(connection, start, last, None))
    # The same twice at one moment: in the order of both. Where a page ends between them, nobody can say which is which.
    told = {each: iter(there) for each, there in found.items() if len(there) == wanted[each]}
    return [None if each is None else next(told.get(each, iter(())), None) for each in acts]


def _found(wanted: Container[Act], erasures: Iterator[tuple[int, Act]]) -> dict[Act, list[int]]:
    found: dict[Act, list[int]] = {}
    for key, each in erasures:
        if each in wanted:
            found.setdefault(each, []).append(position_of(key))
    return found


def _first(connection: Connection, start: int, last: int, at_us: int) -> int:
    """The key from which on erasures are of ``at_us`` or later, between ``start`` and ``last``, that of the last."""
    low, high = start, last
    while low < high:
        middle = (low + high) // 2
        key, at, *_ = connection.execute(_ROWS, (middle, last, 1)).fetchone()
        if at >= at_us:
            high = middle
        else:
            low = key + 1
    return low


def _between(connection: Connection, first: int, last: int, latest: int | None) -> Iterator[tuple[int, Act]]:
    """The erasures from ``first`` on, up to one that is later than ``latest``; None: all."""
    while first <= last:
        rows = connection.execute(_ROWS, (first, last, _ROWS_AT_ONCE)).fetchall()
        for key, at_us, key_name, kind, subject in rows:
            if latest is not None and at_us > latest:
                return
            yield key, (at_us, bytes(key_name), _ERASE + bytes(kind), bytes(subject).hex().encode())
        if len(rows) < _ROWS_AT_ONCE:
            return
        first = rows[-1][0] + 1
