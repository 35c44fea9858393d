"""The figure behind docs/adr/0009: every way to run the statements does the same."""

from __future__ import annotations

import random
import sqlite3
from contextlib import closing

import psycopg
import pytest

from benchmarks.sql_layer import sides
from benchmarks.sql_statements import TABLES, rows
from tests.store.postgres_server import server

WAYS = ("bare", "core", "driver_sql")


def test_all_ways_write_the_same_rows_to_sqlite_and_read_them(tmp_path):
    written = {}
    with sides(str(tmp_path)) as ways:
        for side in ways.values():
            for position in (1, 2):
                side.append(side.shaped(rows(random.Random(position), position)))
            assert side.page(1000) == 20
    for name in ways:
        with closing(sqlite3.connect(tmp_path / f"{name}.db")) as connection:
            assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
            written[name] = [connection.execute(f"SELECT * FROM {table}").fetchall() for table in TABLES.tables]
    assert tuple(written) == WAYS
    assert written["bare"] == written["core"] == written["driver_sql"]


def test_all_ways_write_to_postgresql_and_read_what_the_others_wrote():
    name = server().create()
    url = server().url(name).replace("postgresql+psycopg:", "postgresql:")
    with sides(url) as ways:
        for position, side in enumerate(ways.values(), 1):
            side.append(side.shaped(rows(random.Random(position), position)))
            assert side.page(1000) == 10 * position
    with psycopg.connect(url) as connection:
        assert connection.execute("SELECT count(*) FROM turns").fetchone() == (30,)
    server().drop(name)


def test_rows_that_are_there_already_are_no_figure(tmp_path):
    with sides(str(tmp_path)) as ways:
        for side in ways.values():
            new = side.shaped(rows(random.Random(1), 1))
            side.append(new)
            with pytest.raises(RuntimeError, match="already"):
                side.append(new)
