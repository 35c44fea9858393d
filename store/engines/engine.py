"""What an engine is to the store: connections that take the same SQL text, one writer at a time, and its own faults.

SQL is written once, in what SQLite and PostgreSQL share, with ``?`` for a value (docs/adr/0009).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol


class Rows(Protocol):
    """The rows of a statement."""

    def fetchone(self) -> Any:
        """The next row, a tuple; None where there is none."""

    def fetchall(self) -> list[Any]:
        """All that is left."""

    def __iter__(self) -> Iterator[Any]: ...


class Connection(Protocol):
    """One transaction's view of the database."""

    def execute(self, sql: str, parameters: Sequence[Any] = (), /) -> Rows:
        """Run one statement."""

    def executemany(self, sql: str, parameters: Iterable[Sequence[Any]], /) -> Any:
        """Run one statement for each row of ``parameters``."""

    def insert_new(self, table: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
        """Insert rows whose keys no other row has, the fastest way that the engine knows."""

    def body_part(self, event_key: int, start: int, size: int) -> bytes:
        """``size`` bytes of an event's body from ``start``, without loading the rest of it."""


class Engine(Protocol):
    """A database. Every method raises the store's errors (store.errors) and no driver's."""

    kind: str

    def writing(self, *, timeout_s: float | None = None) -> AbstractContextManager[Connection]:
        """The one transaction that writes: committed and durable when the block ends, rolled back when it raises.

        Waits at most ``timeout_s`` for others, of this process and of others together; raises DatabaseLocked then.
        """

    def reading(self, *, timeout_s: float | None = None) -> AbstractContextManager[Connection]:
        """A transaction that reads one state of the database, whatever is written meanwhile."""

    def probe(self, *, timeout_s: float | None = None) -> None:
        """Return if a write would be taken now. Raises Unavailable or DamagedDatabase."""

    def has_store(self) -> bool:
        """Whether the database has a store's tables. Makes nothing, not the file either."""

    def scrub(self, *, at_most_bytes: int | None = None) -> bool:
        """Rewrite the files, so that nothing that was deleted or overwritten is left in them.

        False where they are larger than ``at_most_bytes`` and were left as they are.
        """

    def connections(self) -> tuple[int, int]:
        """How many connections are in use, and how many are open and idle."""

    def close(self) -> None:
        """Let go of files and connections. A later call opens them again."""
