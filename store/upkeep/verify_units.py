"""Units of a database, each looked at apart: what cannot be read of one is told, and the others go on."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from typing import Final

from store.engines.engine import Connection, Engine
from store.errors import DamagedDatabase

# About so many rows are read in one transaction: a long one would keep the database from tidying up.
_ROWS_A_TRANSACTION: Final = 2000


def each_apart(
    engine: Engine,
    units: Iterable[int],
    look: Callable[[Connection, int], int],
    unreadable: Callable[[int], None],
) -> None:
    """Call ``look`` for each of ``units`` in a reading transaction, which it shares with those before and after it.

    ``look`` returns how many rows it looked at. One that the database cannot read goes to ``unreadable``.
    """
    pending = deque(units)
    while pending:
        try:
            with engine.reading() as connection:
                rows = 0
                while pending and rows < _ROWS_A_TRANSACTION:
                    rows += look(connection, pending[0])
                    pending.popleft()
        except DamagedDatabase:
            unreadable(pending.popleft())
