"""Times the statements of one append through the bare driver and through SQLAlchemy Core; run by its row.

``append SQLITE-FOLDER|POSTGRESQL-URL ROUNDS``, ``page ...`` and ``start ROUNDS`` print their samples as JSON, one value
a round. Every side runs the same statements in the same transaction: BEGIN IMMEDIATE, write-ahead log and
synchronous=FULL on SQLite; what the server begins with on PostgreSQL.
"""

from __future__ import annotations

import itertools
import json
import os
import random
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Final, NamedTuple

import psycopg
import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert as postgresql_insert
from sqlalchemy.dialects.sqlite import insert as sqlite_insert

from benchmarks.pairs import Act, Samples, in_turn
from benchmarks.sql_statements import EVENTS, KEYS, LAST_KEY, SESSIONS, TABLES, TURN_ROWS, TURNS, Rows, Texts, rows

_APPENDS_A_ROUND: Final = 50
_PAGES_A_ROUND: Final = 10
_PAGE_TURNS: Final = 1000


class Side(NamedTuple):
    """One way to talk to the database. ``shaped`` puts rows as it wants them, before its time is taken."""

    append: Callable[[Any], None]
    page: Callable[[int], int]
    close: Callable[[], None]
    shaped: Callable[[Rows], Any] = lambda new: new


def bare_sqlite(path: Path) -> Side:
    """The standard library's sqlite3 and SQL text."""
    texts = Texts.written("?")
    connection = sqlite3.connect(path, isolation_level=None, cached_statements=64)
    connection.execute("PRAGMA synchronous = FULL")
    if connection.execute("PRAGMA journal_mode").fetchone() != ("wal",):
        raise RuntimeError("not the journal that the store uses")

    def append(new: Rows) -> None:
        connection.execute("BEGIN IMMEDIATE")
        _look(connection.execute(texts.look, _wanted(new)).fetchone())
        connection.execute(texts.event, new.event)
        connection.executemany(texts.key, new.keys)
        connection.execute(texts.session, new.session)
        connection.executemany(texts.turn, new.turns)
        connection.execute("COMMIT")

    def page(limit: int) -> int:
        return len(connection.execute(texts.page, (0, LAST_KEY, limit)).fetchall())

    return Side(append, page, connection.close)


def bare_psycopg(url: str) -> Side:
    """The driver psycopg 3 and the same SQL text; psycopg prepares a statement when it comes again."""
    texts = Texts.written("%s")
    connection = psycopg.connect(url)
    cursor = connection.cursor()

    def append(new: Rows) -> None:
        _look(cursor.execute(texts.look, _wanted(new)).fetchone())
        cursor.execute(texts.event, new.event)
        cursor.executemany(texts.key, new.keys)
        cursor.execute(texts.session, new.session)
        cursor.executemany(texts.turn, new.turns)
        connection.commit()

    def page(limit: int) -> int:
        found = len(cursor.execute(texts.page, (0, LAST_KEY, limit)).fetchall())
        connection.commit()
        return found

    return Side(append, page, connection.close)


def driver_sql(engine: sa.Engine, placeholder: str) -> Side:
    """SQLAlchemy's engine and connection, the SQL still text (``exec_driver_sql``)."""
    texts = Texts.written(placeholder)
    connection = engine.connect()

    def append(new: Rows) -> None:
        with connection.begin():
            _look(connection.exec_driver_sql(texts.look, _wanted(new)).fetchone())
            connection.exec_driver_sql(texts.event, new.event)
            connection.exec_driver_sql(texts.key, new.keys)
            connection.exec_driver_sql(texts.session, new.session)
            connection.exec_driver_sql(texts.turn, new.turns)

    def page(limit: int) -> int:
        with connection.begin():
            return len(connection.exec_driver_sql(texts.page, (0, LAST_KEY, limit)).fetchall())

    return Side(append, page, connection.close)


def core(engine: sa.Engine) -> Side:
    """SQLAlchemy Core: statements built once over ``Table`` objects, the compiled cache on, one connection held."""
    insert = postgresql_insert if engine.dialect.name == "postgresql" else sqlite_insert
    look, page_of = _core_look(), _core_page()
    event, session, turn = (sa.insert(table) for table in (EVENTS, SESSIONS, TURN_ROWS))
    key = insert(KEYS).on_conflict_do_nothing()
    connection = engine.connect()

    def shaped(new: Rows) -> list[Any]:
        wanted = dict(zip(("first", "second", "session_id", "tenant"), _wanted(new), strict=True))
        event, session = _named(EVENTS, new.event), _named(SESSIONS, new.session)
        return [
            wanted,
            event,
            [_named(KEYS, one) for one in new.keys],
            session,
            [_named(TURN_ROWS, one) for one in new.turns],
        ]

    def append(parameters: list[Any]) -> None:
        with connection.begin():
            _look(connection.execute(look, parameters[0]).fetchone())
            for statement, values in zip((event, key, session, turn), parameters[1:], strict=True):
                connection.execute(statement, values)

    def page(limit: int) -> int:
        with connection.begin():
            return len(connection.execute(page_of, {"first": 0, "last": LAST_KEY, "most": limit}).fetchall())

    return Side(append, page, connection.close, shaped)


def _core_look() -> sa.Select[Any]:
    there = [sa.exists().where(KEYS.c.key == sa.bindparam(name)) for name in ("first", "second")]
    one = sa.select(sa.literal_column("1")).subquery("one")
    of_session = sa.and_(
        SESSIONS.c.session_id == sa.bindparam("session_id"), SESSIONS.c.tenant == sa.bindparam("tenant")
    )
    highest = sa.select(sa.func.max(EVENTS.c.position)).scalar_subquery()
    return sa.select(
        sa.or_(*there), sa.func.coalesce(highest, 0) + 1, SESSIONS.c.session_key, SESSIONS.c.last_seq
    ).select_from(one.outerjoin(SESSIONS, of_session))


def _core_page() -> sa.Select[Any]:
    turns, events = TURN_ROWS.c, EVENTS.c
    identity = (turns.turn_id, turns.seq, turns.parent, turns.conversation_id, turns.version, turns.revisions)
    where = (turns.revision_position, turns.chunk, turns.chunk_bytes, turns.start, turns.size)
    return (
        sa.select(*identity, events.timestamp, events.execution_ref, *where)
        .join_from(TURN_ROWS, EVENTS, events.position == turns.revision_position)
        .where(turns.turn_key.between(sa.bindparam("first"), sa.bindparam("last")))
        .order_by(turns.turn_key)
        .limit(sa.bindparam("most"))
    )


def _named(table: sa.Table, row: tuple[Any, ...]) -> dict[str, Any]:
    return dict(zip((column.name for column in table.columns), row, strict=True))


def _wanted(new: Rows) -> tuple[Any, ...]:
    return (new.keys[0][0], new.keys[1][0], new.session[0], "default")


def _look(found: Any) -> None:
    if found is None or found[0]:
        raise RuntimeError("the rows are there already: the figure would be about something else")


def sqlite_engine(path: Path) -> sa.Engine:
    """As SQLAlchemy's documentation has it for sqlite3: the driver begins nothing, the engine's event does."""
    engine = sa.create_engine(f"sqlite:///{path}")

    @sa.event.listens_for(engine, "connect")
    def prepare(connection: Any, _record: Any) -> None:
        connection.isolation_level = None
        # Here, since inside a transaction SQLite leaves the journal as it is, and says nothing.
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")

    @sa.event.listens_for(engine, "begin")
    def begin(connection: sa.Connection) -> None:
        connection.exec_driver_sql("BEGIN IMMEDIATE")

    return engine


@contextmanager
def sides(address: str) -> Iterator[dict[str, Side]]:
    """The ways to talk to the database at ``address``: a folder for SQLite files, or a URL of PostgreSQL."""
    on_postgresql = address.startswith("postgresql:")
    with ExitStack() as stack:
        engines = _postgresql_engines(address) if on_postgresql else _sqlite_engines(Path(address))
        for engine in engines.values():
            stack.callback(engine.dispose)
        bare = bare_psycopg(address) if on_postgresql else bare_sqlite(Path(address) / "bare.db")
        text = driver_sql(engines["driver_sql"], "%s" if on_postgresql else "?")
        ways = {"bare": bare, "core": core(engines["core"]), "driver_sql": text}
        for side in ways.values():
            stack.callback(side.close)
        yield ways


def _sqlite_engines(folder: Path) -> dict[str, sa.Engine]:
    """A file for each way, so that none meets another's write-ahead log."""
    engines = {name: sqlite_engine(folder / f"{name}.db") for name in ("bare", "core", "driver_sql")}
    for engine in engines.values():
        TABLES.create_all(engine)
    return engines


def _postgresql_engines(url: str) -> dict[str, sa.Engine]:
    engines = {
        name: sa.create_engine(url.replace("postgresql:", "postgresql+psycopg:", 1)) for name in ("core", "driver_sql")
    }
    TABLES.drop_all(engines["core"])
    TABLES.create_all(engines["core"])
    return engines


def appends(address: str, rounds: int) -> Samples:
    """Seconds and CPU seconds (of this process) of one append, round by round."""
    chance, positions = random.Random(9), itertools.count(1)

    def acts(side: Side) -> Callable[[], Act]:
        def act() -> Act:
            made = [side.shaped(rows(chance, next(positions))) for _ in range(_APPENDS_A_ROUND)]
            return lambda: [side.append(new) for new in made]

        return act

    with sides(address) as ways:
        return in_turn({name: acts(side) for name, side in ways.items()}, rounds=rounds, count=_APPENDS_A_ROUND)


def pages(address: str, rounds: int) -> Samples:
    """Seconds and CPU seconds of reading the rows of a thousand turns."""
    chance = random.Random(10)

    def acts(side: Side) -> Callable[[], Act]:
        def act() -> None:
            for _ in range(_PAGES_A_ROUND):
                if side.page(_PAGE_TURNS) != _PAGE_TURNS:
                    raise RuntimeError("the page is not whole")

        return lambda: act

    with sides(address) as ways:
        shared = address.startswith("postgresql:")
        for side in [ways["bare"]] if shared else ways.values():
            for position in range(1, _PAGE_TURNS // TURNS + 1):
                side.append(side.shaped(rows(chance, position)))
        return in_turn({name: acts(side) for name, side in ways.items()}, rounds=rounds, count=_PAGES_A_ROUND)


_STARTS = {
    "sqlite3": "import sqlite3; sqlite3.connect(':memory:').execute('SELECT 1')",
    "sqlalchemy": "import sqlalchemy; sqlalchemy.create_engine('sqlite://').connect().exec_driver_sql('SELECT 1')",
    "psycopg": "import psycopg",
    "psycopg-sqlalchemy": "import sqlalchemy; sqlalchemy.create_engine('postgresql+psycopg://')",
}
_MEASURED = """
import time
begun, cpu_begun = time.perf_counter(), time.process_time()
{statement}
print(time.perf_counter() - begun, time.process_time() - cpu_begun)
with open("/proc/self/status") as status:
    print(next(line for line in status if line.startswith("VmRSS")).split()[1])
"""


def starts(rounds: int) -> Samples:
    """Seconds, CPU seconds and resident KiB of a fresh process that has loaded a driver alone, or SQLAlchemy too."""
    samples: Samples = {name: {"seconds": [], "cpu": [], "kib": []} for name in _STARTS}
    order = list(_STARTS)
    for place in range(-1, rounds):
        order.append(order.pop(0))
        for name in order:
            command = [sys.executable, "-c", _MEASURED.format(statement=_STARTS[name])]
            said = subprocess.run(command, check=True, capture_output=True, text=True, env=dict(os.environ))
            values = [float(word) for word in said.stdout.split()]
            if place >= 0:
                for kind, value in zip(("seconds", "cpu", "kib"), values, strict=True):
                    samples[name][kind].append(value)
    return samples


if __name__ == "__main__":
    row, *where = sys.argv[1:]
    rounds_text = where[-1]
    timed = {"append": appends, "page": pages}
    print(json.dumps(starts(int(rounds_text)) if row == "start" else timed[row](where[0], int(rounds_text))))
