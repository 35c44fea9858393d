"""What a PostgreSQL server of its own is used for: its processes and their CPU, its connections, its bytes."""

from __future__ import annotations

import contextlib
from pathlib import Path

import psycopg

from benchmarks.process import tree, tree_cpu_seconds


class DatabaseUse:
    """Asks the server behind ``url``, each time over a connection of its own; the server runs on this machine."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._postmaster = self._postmaster_pid()

    def pids(self) -> list[int]:
        """The server's processes."""
        return tree(self._postmaster)

    def cpu_seconds(self) -> float:
        """User and system time of the processes that are there now: a connection that ends takes its own along."""
        return tree_cpu_seconds(self._postmaster)

    def connections(self) -> int:
        """Clients of the database, this one not counted."""
        return self._asked(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() "
            "AND backend_type = 'client backend' AND pid <> pg_backend_pid()"
        )

    def size(self) -> int:
        """Bytes of the database: tables, indexes and what belongs to them."""
        return self._asked("SELECT pg_database_size(current_database())")

    def log_position(self) -> int:
        """Bytes that were ever written to the write-ahead log."""
        return self._asked("SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::bigint")

    def _postmaster_pid(self) -> int:
        # The process of every connection is a child of the postmaster.
        with contextlib.closing(psycopg.connect(self._url)) as connection:
            status = Path(f"/proc/{connection.info.backend_pid}/status").read_text()
        return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("PPid:"))

    def _asked(self, statement: str) -> int:
        with contextlib.closing(psycopg.connect(self._url, autocommit=True)) as connection:
            row = connection.execute(statement).fetchone()
        return int(row[0]) if row else 0
