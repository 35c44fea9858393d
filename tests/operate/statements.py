"""How many statements one append is to PostgreSQL: each is a round trip inside the lock of appends."""

from __future__ import annotations

from psycopg import sql

from store.engines.postgres import PostgresEngine
from store.log.event_store import EventStore
from tests.cli.store.running import capture
from tests.store.postgres_server import name_in, server
from tests.store.surface import Surface


def of_an_append() -> tuple[int, int]:
    """Statements from BEGIN to COMMIT, and COPYs, of a capture of new turns, as the server's log has them.

    The database tells its statements from its first connection on: a setting that is reloaded reaches a connection
    that is already open at a time of the server's choosing, at times after the append.
    """
    postgres = server()
    with postgres.database() as url:
        with postgres.connect("postgres") as admin:
            named = sql.Identifier(name_in(url))
            admin.execute(sql.SQL("ALTER DATABASE {} SET log_statement = 'all'").format(named))
        surface = Surface(EventStore(PostgresEngine(url.replace("+psycopg", ""))))
        capture(surface, "a first one, which makes the tables")
        log = postgres.folder / "log"
        before = log.stat().st_size
        capture(surface, *("a turn",) * 10)
        surface.close()
        said = log.read_bytes()[before:].decode()
    whole = said[said.index(" BEGIN") : said.rindex(" COMMIT")]
    lines = [line for line in whole.splitlines() if "statement: " in line or "execute " in line]
    copies = sum("COPY" in line for line in lines)
    return len(lines) + 1 - copies, copies
