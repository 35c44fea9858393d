"""How many statements one append is to PostgreSQL: each is a round trip inside the lock of appends."""

from __future__ import annotations

from store.engines.postgres import PostgresEngine
from store.log.event_store import EventStore
from tests.cli.store.running import capture
from tests.store.postgres_server import server
from tests.store.surface import Surface


def of_an_append() -> tuple[int, int]:
    """Statements from BEGIN to COMMIT, and COPYs, of a capture of new turns, as the server's log has them."""
    postgres = server()
    with postgres.database() as url:
        surface = Surface(EventStore(PostgresEngine(url.replace("+psycopg", ""))))
        capture(surface, "a first one, which makes the tables")
        log = postgres.folder / "log"
        before = log.stat().st_size
        with postgres.connect("postgres") as admin:
            admin.execute("ALTER SYSTEM SET log_statement = 'all'")
            admin.execute("SELECT pg_reload_conf()")
        try:
            capture(surface, *("a turn",) * 10)
        finally:
            with postgres.connect("postgres") as admin:
                admin.execute("ALTER SYSTEM RESET log_statement")
                admin.execute("SELECT pg_reload_conf()")
        surface.close()
        said = log.read_bytes()[before:].decode()
    whole = said[said.index(" BEGIN") : said.rindex(" COMMIT")]
    lines = [line for line in whole.splitlines() if "statement: " in line or "execute " in line]
    copies = sum("COPY" in line for line in lines)
    return len(lines) + 1 - copies, copies
