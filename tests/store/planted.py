"""Filled databases on either engine, to be damaged behind the store's back and looked at by ``store.upkeep.verify``."""

import functools
import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from store.engines.engine import Connection
from store.engines.schema import DEFAULT_TENANT_KEY, event_key, position_of
from store.log.envelope import encode_sent, parse_kept
from store.log.event_body import EventBody, OpenBody, Rest, lay_out, open_body, with_graph
from store.log.event_rows import turn_texts
from store.log.event_store import EventStore
from store.log.layout import OwnTurn, unpack
from store.log.record import Chunks
from store.upkeep.verify import Checked, Finding, verify
from store.urls import open_store
from tests.store.filled import Filling, fill, others, session
from tests.store.postgres_server import server

SQLITE = "sqlite"
POSTGRESQL = "postgresql"
ENGINES = (SQLITE, POSTGRESQL)
OTHER_TENANT = "acme"
TABLES = ("tenants", "events", "event_keys", "sessions", "labels", "turns", "awaited_parents", "tombstones")
TABLES += ("erasures", "audit", "words", "indexed")

Raw = Callable[..., list[Any]]


class Planted:
    """A database of its own. ``raw`` runs a statement (``?`` for a value) past the store, and gives its rows."""

    def __init__(self, url: str, raw: Raw) -> None:
        self.url = url
        self.raw = raw
        self.store: EventStore = open_store(url)

    def verify(self) -> tuple[Checked, list[Finding]]:
        found: list[Finding] = []
        checked = verify(self.store, found.append)
        assert checked.findings == len(found)
        return checked, found

    def one(self, sql: str, *values: Any) -> Any:
        """The only value of the only row."""
        ((value,),) = self.raw(sql, *values)
        return value

    def event(self, number: int, place: int = 0) -> tuple[int, str]:
        """The position, and the name in findings, of the event at ``place`` of a session of ``filled``."""
        rows = self.raw(
            "SELECT event_key, execution_ref FROM events JOIN sessions USING (session_key)"
            " WHERE session_id = ? AND sessions.tenant = ? ORDER BY event_key",
            bytes.fromhex(session(number).replace("-", "")),
            DEFAULT_TENANT_KEY,
        )
        key, ref = rows[place]
        return position_of(key), f"position {position_of(key)} ({ref.decode()})"

    def retell(self, position: int, text: bytes, other: bytes) -> None:
        """Put ``other`` in the place of ``text`` in the turns that stand in an event, as if it had been sent so."""
        key, body = self._body(position)
        own = [OwnTurn(turn.kind, turn.head, turn.tail.replace(text, other)) for turn in body.own]
        assert tuple(own) != body.own
        self._write(key, lay_out(body.rest, own, body.layout.turns))

    def rewrite(self, position: int, change: Callable[[dict[str, Any]], None]) -> None:
        """Change an event as the store would have written it, but for the columns: all of it without its turns."""
        key, body = self._body(position)
        with self.store.engine.reading() as connection:
            body = _with_whole_rest(connection, body)
        document = parse_kept(body.rest.text)
        change(document)
        self._write(key, lay_out(_rest(document), body.own, body.layout.turns))

    def _body(self, position: int) -> tuple[int, OpenBody]:
        key = event_key(DEFAULT_TENANT_KEY, position)
        ((layout, kept),) = self.raw("SELECT layout, body FROM events WHERE event_key = ?", key)
        return key, open_body(unpack(layout), kept)

    def _write(self, key: int, body: EventBody) -> None:
        self.raw("UPDATE events SET layout = ?, body = ? WHERE event_key = ?", body.layout.pack(), body.kept, key)


@contextmanager
def planted(engine: str, folder: Path) -> Iterator[Planted]:
    """A filled database on ``engine`` that nobody else has; a file lies in ``folder``."""
    if engine == SQLITE:
        path = folder / "store.db"
        shutil.copy(_filled_file(), path)
        with closing(sqlite3.connect(path, isolation_level=None)) as raw:
            yield from _opened(f"sqlite:///{path}", lambda sql, *values: raw.execute(sql, values).fetchall())
        return
    name = _filled_database()
    with server().connect(name) as connection:
        raw = functools.partial(_on_postgresql, connection)
        try:
            yield from _opened(server().url(name), raw)
        finally:
            _put_back(raw)


def _opened(url: str, raw: Raw) -> Iterator[Planted]:
    database = Planted(url, raw)
    yield database
    database.store.close()


@functools.cache
def _filled_file() -> Path:
    path = Path(tempfile.mkdtemp(prefix="store-filled-")) / "store.db"
    _fill(f"sqlite:///{path}")
    return path


@functools.cache
def _filled_database() -> str:
    """One for all tests of this process: to put its rows back takes a tenth of what another database takes."""
    name = server().create()
    _fill(server().url(name))
    with server().connect(name) as raw:
        _on_postgresql(raw, "CREATE SCHEMA kept")
        for table in TABLES:
            _on_postgresql(raw, f"CREATE TABLE kept.{table} AS TABLE {table}")
    return name


def _put_back(raw: Raw) -> None:
    raw(f"TRUNCATE {', '.join(TABLES)}")
    for table in TABLES:
        raw(f"INSERT INTO {table} SELECT * FROM kept.{table}")


def _fill(url: str) -> None:
    with closing(open_store(url)) as store:
        fillings = [fill(store, with_golden=False), Filling(store, OTHER_TENANT)]
        others(fillings[1])
        for filling in fillings:
            # Labels follow the log when a list asks for them (store.lists.label_rows).
            filling.get("/v1/sessions", tag="a")


def _on_postgresql(raw: Any, sql: str, *values: Any) -> list[Any]:
    rows = raw.execute(sql.replace("?", "%s"), values or None)
    return list(rows.fetchall()) if rows.description else []


def _with_whole_rest(connection: Connection, body: OpenBody) -> OpenBody:
    rest = with_graph(body, turn_texts(Chunks(connection, DEFAULT_TENANT_KEY), body))
    return OpenBody(body.layout, body.own, rest)


def _rest(document: dict[str, Any]) -> Rest:
    payload = document["payload"]
    others = {name: value for name, value in payload.items() if name not in ("inputs", "outputs")}
    members = {name: value for name, value in document.items() if name != "payload"}
    text = encode_sent({**members, "payload": others})[:-2] + b',"outputs":' + encode_sent(payload["outputs"])
    return Rest(text + b',"inputs":' + encode_sent(payload["inputs"]) + b"}}", None, has_turns=True)
