"""What only PostgreSQL has: a lock of appends that other processes hold, commits that come late, backends that end."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from typing import Any

import httpx
import psycopg
import pytest

from store.engines.postgres import IDLE_WRITER_ENDS_S, PostgresStore
from store.errors import Unavailable
from store.urls import open_store
from tests.store.availability import refused, well
from tests.store.postgres_server import Postgres, name_in, server, start
from tests.store.surface import SESSION, Surface, envelope, payload, ref_of, turn
from tests.store.test_feed import follow


@pytest.fixture
def url() -> Iterator[str]:
    """An empty database of its own."""
    with server().database() as name:
        yield name


@pytest.fixture
def surface(url: str) -> Iterator[Surface]:
    """A store that waits two seconds for others: its own connection has to be there in that time, too."""
    opened = Surface(PostgresStore(url.replace("+psycopg", ""), lock_timeout_s=2.0))
    yield opened
    opened.close()


class RolledBack(Exception):
    """Ends another process's transaction without a commit."""


@contextmanager
def appends_held(url: str) -> Iterator[Any]:
    """The lock of appends, as another process's append holds it until it commits."""
    other: Any = open_store(url)
    try:
        with other.engine.writing() as connection:
            yield connection
    finally:
        other.close()


def test_an_append_waits_for_one_that_commits_late_and_is_seen_after_it(url: str, surface: Surface) -> None:
    surface.capture(payload(turn(1)))
    _, cursor = follow(surface)
    patient = Surface(open_store(url))
    with ThreadPoolExecutor(1) as threads:
        with appends_held(url):
            late = threads.submit(patient.capture, payload(turn(2)))
            for _ in range(20):
                events, cursor = follow(surface, cursor)
                assert events == [], "a reader waits for nobody and sees nothing that is not committed"
            assert not late.done()
        assert late.result(timeout=30)["position"] == 2
    assert [event["position"] for event in follow(surface, cursor)[0]] == [2]
    patient.close()


def test_a_position_that_was_rolled_back_is_given_to_the_next(url: str, surface: Surface) -> None:
    surface.capture(payload(turn(1)))
    with suppress(RolledBack), appends_held(url) as connection:
        connection.execute("DELETE FROM events")
        raise RolledBack
    assert surface.capture(payload(turn(2)))["position"] == 2
    assert [event["position"] for event in follow(surface)[0]] == [1, 2]


def test_an_append_that_waits_in_vain_is_503_and_kept_nowhere(url: str, surface: Surface) -> None:
    surface.capture(payload(turn(1)))
    with appends_held(url):
        refused(surface.post(envelope(payload(turn(2)))), "another writer holds the database", "1")
        refused(surface.client.delete(f"/v1/sessions/{SESSION}"), "another writer holds the database", "1")
        assert len(surface.turns()) == 1
        assert len(surface.sessions()) == 1
    well(surface, 1)


def test_a_writer_that_hangs_is_ended_and_the_others_go_on(url: str, surface: Surface) -> None:
    patient = Surface(PostgresStore(url.replace("+psycopg", ""), lock_timeout_s=60))

    def hang() -> None:
        with appends_held(url) as connection:
            (bound,) = connection.execute("SHOW idle_in_transaction_session_timeout").fetchone()
            assert bound == f"{IDLE_WRITER_ENDS_S}s"
            connection.execute("SET idle_in_transaction_session_timeout = 200")
            assert patient.capture(payload(turn(1)))["position"] == 1
            connection.execute("SELECT 1")

    with pytest.raises(Unavailable):
        hang()
    assert patient.capture(payload(turn(2)))["position"] == 2
    patient.close()


def test_two_stores_on_one_database_append_to_one_session_and_a_follower_sees_each_event_once(url: str) -> None:
    stores = [Surface(open_store(url)) for _ in range(2)]
    done = threading.Event()
    each = 40

    def write(place: int) -> None:
        for number in range(each):
            name = f"{place}:{number}"
            stores[place].capture(payload(turn(1, name, turn_id=ref_of(name))), execution_ref=ref_of(f"run {name}"))

    def read() -> list[int]:
        seen: list[int] = []
        cursor = None
        while True:
            is_last = done.is_set()
            events, cursor = follow(stores[0], cursor, limit=7)
            seen += [event["position"] for event in events]
            if is_last:
                return seen

    with ThreadPoolExecutor(3) as threads:
        reading = threads.submit(read)
        try:
            list(threads.map(write, range(2)))
        finally:
            done.set()
        assert reading.result(timeout=120) == list(range(1, 2 * each + 1))
    assert [record["seq"] for record in stores[1].turns(limit=1000)] == list(range(1, 2 * each + 1))
    for store in stores:
        store.close()


def test_two_stores_that_meet_an_empty_database_make_its_tables_once(url: str) -> None:
    stores = [Surface(open_store(url)) for _ in range(4)]
    with ThreadPoolExecutor(4) as threads:
        receipts = list(threads.map(lambda n: stores[n].capture(payload(turn(n))), range(4)))
    assert sorted(receipt["position"] for receipt in receipts) == [1, 2, 3, 4]
    for store in stores:
        store.close()


def end_backends(url: str) -> None:
    """End them, and wait until they are gone: asked without a time, the server only sends them a signal."""
    with server().connect("postgres") as connection:
        sql = "SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity WHERE datname = %s"
        ended = connection.execute(sql, (name_in(url),)).fetchall()
    assert ended == [(True,)] * len(ended)


def test_connections_that_the_server_ended_between_two_calls_are_replaced(url: str, surface: Surface) -> None:
    surface.capture(payload(turn(1)))
    for number in range(2, 5):
        end_backends(url)
        assert len(surface.turns()) == number - 1
        end_backends(url)
        assert surface.capture(payload(turn(number)))["position"] == number


def test_a_backend_that_ends_in_the_middle_of_an_append_leaves_nothing_of_it(url: str, surface: Surface) -> None:
    surface.capture(payload(turn(1)))
    with server().connect(name_in(url)) as other, other.transaction():
        other.execute("LOCK TABLE turns IN ACCESS EXCLUSIVE MODE")
        with ThreadPoolExecutor(1) as threads:
            patient = Surface(PostgresStore(url.replace("+psycopg", ""), lock_timeout_s=60))
            cut = threads.submit(patient.post, envelope(payload(turn(2))))
            while not blocked(url):
                pass
            end_blocked(url)
            answer = cut.result(timeout=30)
    assert (answer.status_code, answer.json()["error"]) == (503, "unavailable")
    patient.close()
    well(surface, 1)


def blocked(url: str) -> bool:
    with server().connect("postgres") as connection:
        sql = "SELECT count(*) FROM pg_stat_activity WHERE datname = %s AND cardinality(pg_blocking_pids(pid)) > 0"
        row = connection.execute(sql, (name_in(url),)).fetchone()
    assert row is not None
    return row[0] != 0


def end_blocked(url: str) -> None:
    with server().connect("postgres") as connection:
        sql = """SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                 WHERE datname = %s AND cardinality(pg_blocking_pids(pid)) > 0"""
        connection.execute(sql, (name_in(url),))


def down(answer: httpx.Response) -> None:
    assert (answer.status_code, answer.json()["error"], answer.headers["retry-after"]) == (503, "unavailable", "5")


@pytest.fixture(scope="module")
def own_server() -> Iterator[Postgres]:
    """A server that a test may stop."""
    running = start(fsync=False)
    yield running
    running.remove()


@pytest.mark.slow
def test_a_server_that_is_down_is_503_and_used_again_when_it_is_up(own_server: Postgres) -> None:
    surface = Surface(PostgresStore(own_server.url(own_server.create()).replace("+psycopg", ""), lock_timeout_s=0.5))
    surface.capture(payload(turn(1)))
    with own_server.halted():
        for _ in range(2):
            down(surface.post(envelope(payload(turn(2)))))
            for path in ("/health", "/ready", f"/v1/sessions/{SESSION}/turns", "/v1/sessions?q=t1"):
                down(surface.client.get(path))
            down(surface.client.delete(f"/v1/sessions/{SESSION}"))
    well(surface, 1)
    surface.close()


@pytest.mark.slow
def test_a_store_that_starts_before_its_server_is_up_is_503_and_then_works(own_server: Postgres) -> None:
    surface = Surface(open_store(own_server.url(own_server.create())))
    with own_server.halted():
        down(surface.client.get("/health"))
    well(surface, 0)
    surface.close()


def test_a_database_that_is_not_there_is_503_and_used_when_it_is(url: str) -> None:
    name = "made_later"
    surface = Surface(open_store(url.replace(name_in(url), name)))
    down(surface.post(envelope(payload(turn(1)))))
    with server().connect("postgres") as connection:
        connection.execute(f"CREATE DATABASE {name}")  # type: ignore[call-overload]  # psycopg wants literals
        well(surface, 0)
        surface.close()
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)")  # type: ignore[call-overload]  # psycopg wants literals


def test_a_database_of_another_program_is_503_and_left_alone(url: str) -> None:
    with server().connect(name_in(url)) as connection:
        connection.execute("CREATE TABLE theirs (a int)")
        surface = Surface(open_store(url))
        refused(surface.post(envelope(payload(turn(1)))), "the database belongs to another program")
        refused(surface.client.get("/health"), "the database belongs to another program")
        (tables,) = connection.execute("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'").fetchone() or (0,)
        assert tables == 1
        surface.close()


def test_a_database_that_may_not_be_written_is_503_for_writes_and_serves_reads(url: str) -> None:
    first = Surface(open_store(url))
    first.capture(payload(turn(1)))
    first.close()
    with server().connect("postgres") as connection:
        statement = "ALTER DATABASE {} SET default_transaction_read_only = {}"
        connection.execute(statement.format(name_in(url), "on"))  # type: ignore[call-overload]  # psycopg wants literals
        surface = Surface(open_store(url))
        refused(surface.post(envelope(payload(turn(2)))), "the database may not be written")
        refused(surface.client.get("/health"), "the database may not be written")
        assert len(surface.turns()) == 1
        connection.execute(statement.format(name_in(url), "off"))  # type: ignore[call-overload]  # psycopg wants literals
        surface.store.close()
        well(surface, 1)
        surface.close()


def test_a_user_who_may_not_write_is_503_and_no_message_names_the_user(url: str) -> None:
    first = Surface(open_store(url))
    first.capture(payload(turn(1)))
    first.close()
    with server().connect(name_in(url)) as connection:
        with suppress(psycopg.errors.DuplicateObject):
            connection.execute("CREATE ROLE only_reads LOGIN")
        connection.execute("GRANT SELECT ON ALL TABLES IN SCHEMA public TO only_reads")
        surface = Surface(open_store(url.replace("postgres@", "only_reads@")))
        answer = surface.post(envelope(payload(turn(2))))
        assert (answer.status_code, answer.json()["error"]) == (503, "unavailable")
        assert "only_reads" not in answer.text
        assert len(surface.turns()) == 1
        surface.close()


@pytest.mark.parametrize("encoding", ["UTF8", "LATIN1", "SQL_ASCII"])
def test_text_round_trips_whatever_the_encoding_of_the_database_is(encoding: str) -> None:
    with server().connect("postgres") as connection:
        name = f"encoded_{encoding.lower()}"
        connection.execute(f"CREATE DATABASE {name} ENCODING '{encoding}' LOCALE 'C' TEMPLATE template0")  # type: ignore[call-overload]  # psycopg wants literals
        surface = Surface(open_store(server().url(name)))
        body = envelope(payload(turn(1, "\u0000é\U0001f680 \ufffe"), context={"user_id": "é\U0001f680"}))
        assert surface.post(body).status_code == 201
        assert surface.event(body["runId"]) == {**body, "position": 1}
        assert surface.sessions(user_id="é\U0001f680", q="\U0001f680")[0]["users"] == ["é\U0001f680"]
        surface.close()
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)")  # type: ignore[call-overload]  # psycopg wants literals


def files_of(url: str) -> bytes:
    """The files of the database's tables."""
    with server().connect(name_in(url)) as connection:
        connection.execute("CHECKPOINT")
        row = connection.execute("SELECT oid FROM pg_database WHERE datname = current_database()").fetchone()
    assert row is not None
    return b"\0".join(path.read_bytes() for path in (server().folder / "base" / f"{row[0]}").iterdir())


def test_a_reader_of_the_old_state_keeps_the_old_rows_and_the_receipt_says_so(url: str, surface: Surface) -> None:
    """``VACUUM FULL`` copies what a snapshot may still see: that of a dump, of a report, of a session left open."""
    surface.capture(payload(turn(1, "secret-4711")))
    with server().connect(name_in(url)) as reader:
        reader.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
        reader.execute("SELECT 1 FROM pg_class LIMIT 1")
        receipt = surface.erase("session", SESSION)
        assert b"secret-4711" in files_of(url)
        assert receipt["files"] == "pending"
        reader.execute("COMMIT")
    surface.store.scrub()
    assert b"secret-4711" not in files_of(url)
