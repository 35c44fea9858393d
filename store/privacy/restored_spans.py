"""Which positions a restore left empty: those between the end of a backup and the last erasure applied to it.

The events that once stood there were not in the backup. Erasures keep the positions that they have in the ledger, so
that a position that was given out is never given again. The restore's audit row says it; ``store.upkeep.verify`` reads
it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from store.engines.engine import Connection
from store.engines.schema import MAX_POSITION, event_key

ACTION: Final = "restore"

_SUBJECT: Final = re.compile(r"([0-9]{1,13})-([0-9]{1,13})\Z", re.ASCII)
_ROWS: Final = "SELECT subject FROM audit WHERE audit_key BETWEEN ? AND ? AND action = ? ORDER BY audit_key"


class Restored(NamedTuple):
    """Spans of positions, without those at their beginnings."""

    spans: tuple[tuple[int, int], ...]

    def without(self, first: int, last: int) -> Iterator[tuple[int, int]]:
        """What of the positions ``first`` to ``last`` lies in no span, as runs."""
        for start, end in sorted(self.spans):
            if end < first or start >= last:
                continue
            if first <= start:
                yield first, start
            first = end + 1
        if first <= last:
            yield first, last


def subject(end_of_backup: int, last: int) -> str:
    """How an audit row names what a restore did to a tenant's log."""
    return f"{end_of_backup}-{last}"


def restored_spans(connection: Connection, tenant: int) -> Restored:
    """Read the audit rows of a tenant's restores."""
    values = (event_key(tenant, 0), event_key(tenant, MAX_POSITION), ACTION.encode())
    matches = (_SUBJECT.match(row[0].decode()) for row in connection.execute(_ROWS, values))
    return Restored(tuple((int(match[1]), int(match[2])) for match in matches if match is not None))
