"""A PostgreSQL that neither answers nor hangs up, or refuses: no wait is without a bound, what comes later works."""

import itertools
import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import psycopg
import pytest

from store.engines.postgres import PostgresStore
from store.engines.watched_connection import SilentDatabase, WatchedConnection
from store.errors import DatabaseUnreachable
from tests.chaos.act import Act
from tests.chaos.proxy import FaultProxy, proxies, tcp_relay
from tests.store.availability import refused, well
from tests.store.postgres_server import name_in, server
from tests.store.surface import SESSION, Surface, envelope, payload, ref_of, turn

SILENT = "the database does not answer: send it again, it is stored once"
REFUSED = "the database cannot be reached, or does not let this user in"
NONE_FREE = "no connection to the database is free"
FOREVER = Act(answer="swallowed", late_s=3600)


class Way(NamedTuple):
    """A store whose every byte from the database goes through ``proxy``."""

    proxy: FaultProxy
    url: str
    surface: Surface

    def speak(self) -> None:
        """What is opened from now on, and what was not asked yet, is answered again."""
        self.proxy.act = None

    def silence(self) -> None:
        """Nothing that is asked from now on is answered, or cut."""
        self.proxy.act = lambda: FOREVER

    def silence_at(self, place: int) -> None:
        """The answer in this place, from 0, never comes, and nothing behind it; other connections are answered."""
        counted = itertools.count()
        self.proxy.act = lambda: FOREVER if next(counted) == place else Act()


@pytest.fixture
def way() -> Iterator[Way]:
    with proxies() as thread, server().database() as url:
        proxy = thread.proxy(tcp_relay, [Path(server().sockets) / ".s.PGSQL.5432"])
        through = f"postgresql://postgres@127.0.0.1:{proxy.port}/{name_in(url)}"
        # Longer than a connection takes to be made on a machine that does much else.
        surface = Surface(PostgresStore(through, lock_timeout_s=2.0, quiet_s=0.3))
        yield Way(proxy, through, surface)
        surface.close()


def test_an_append_is_503_whichever_answer_does_not_come_and_safe_to_send_again(way: Way) -> None:
    way.surface.capture(payload(turn(1)))
    statuses = []
    for place in itertools.count():
        body = envelope(payload(turn(2 + place)))
        way.silence_at(place)
        answer = way.surface.post(body)
        if answer.status_code == 201:
            # It has no so many answers.
            break
        refused(answer, SILENT, "5")
        way.speak()
        again = way.surface.post(body)
        assert again.json()["position"] == 2 + place
        statuses.append(again.status_code)
    # Only the commit's answer leaves open whether it was done; it was.
    assert set(statuses[:-1]) == {201}
    assert statuses[-1] == 200
    way.speak()
    well(way.surface, 2 + len(statuses))


def test_a_read_without_an_answer_is_503_and_the_next_one_is_answered(way: Way) -> None:
    way.surface.capture(payload(turn(1)))
    way.silence_at(1)
    refused(way.surface.client.get(f"/v1/sessions/{SESSION}/turns"), SILENT, "5")
    way.speak()
    assert len(way.surface.turns()) == 1


def test_health_says_that_nothing_answers(way: Way) -> None:
    way.surface.capture(payload(turn(1)))
    for place in range(3):
        way.silence_at(place)
        refused(way.surface.client.get("/health"), SILENT, "5")
        way.speak()
        assert way.surface.client.get("/health").status_code == 200
    way.silence()
    refused(way.surface.client.get("/health"), SILENT, "5")
    refused(way.surface.client.get("/health"), NONE_FREE, "5")
    way.speak()
    assert way.surface.client.get("/health").status_code == 200


def test_a_connection_that_is_not_answered_costs_the_others_that_were_idle(way: Way) -> None:
    """Where one goes silent, nearly always all do: each would be waited for in its turn."""
    engine = way.surface.store.engine
    way.surface.capture(payload(turn(1)))
    with engine.reading(), engine.reading(), engine.reading():
        pass
    assert engine.connections() == (0, 3)
    way.silence()
    refused(way.surface.post(envelope(payload(turn(2)))), SILENT, "5")
    way.speak()
    assert engine.connections() == (0, 0)
    well(way.surface, 1)


def test_all_that_come_while_nothing_answers_are_answered_and_stored_once_later(way: Way) -> None:
    way.surface.capture(payload(turn(1)))
    bodies = [envelope(payload(turn(1), session=ref_of(f"session {n}"))) for n in range(6)]
    way.silence()
    with ThreadPoolExecutor(6) as threads:
        answers = list(threads.map(way.surface.post, bodies))
    way.speak()
    assert {answer.status_code for answer in answers} == {503}
    assert {way.surface.post(body).status_code for body in bodies} <= {200, 201}
    assert [event["position"] for event in way.surface.events()] == list(range(1, 8))


def test_a_statement_that_the_server_works_on_is_waited_for(way: Way) -> None:
    with way.surface.store.engine.reading() as connection:
        assert connection.execute("SELECT 1 FROM (SELECT pg_sleep(1.5)) AS slept").fetchone() == (1,)


def test_a_statement_that_another_one_holds_up_is_waited_for(way: Way) -> None:
    way.surface.capture(payload(turn(1)))
    with server().connect(name_in(way.url)) as other:
        other.execute("BEGIN")
        other.execute("LOCK TABLE turns IN ACCESS EXCLUSIVE MODE")
        releasing = threading.Timer(1.0, other.execute, ["COMMIT"])
        releasing.start()
        assert len(way.surface.turns()) == 1
        releasing.join()


def test_what_the_server_no_longer_works_on_is_given_up_though_it_answers_others(way: Way) -> None:
    raw = WatchedConnection.connect(way.url, autocommit=True)
    raw.quiet_s = 0.3
    (raw.pid,) = raw.execute("SELECT pg_backend_pid()").fetchone() or (0,)
    way.silence_at(0)
    with pytest.raises(SilentDatabase):
        raw.execute("SELECT 1")
    assert raw.closed
    way.speak()


def test_an_answer_that_comes_late_but_in_pieces_is_taken(way: Way) -> None:
    with way.surface.store.engine.reading() as connection:
        way.proxy.act = lambda: Act(answer="trickled", gap_s=0.02)
        assert connection.execute("SELECT repeat('x', 40)").fetchone() == ("x" * 40,)
        way.speak()


def test_a_server_that_takes_the_connection_and_says_nothing_is_503(way: Way) -> None:
    with socket.create_server(("127.0.0.1", 0)) as mute:
        url = way.url.replace(f":{way.proxy.port}/", f":{mute.getsockname()[1]}/")
        surface = Surface(PostgresStore(url, lock_timeout_s=0.3))
        refused(surface.post(envelope(payload(turn(1)))), NONE_FREE, "5")
        surface.close()


def test_a_refused_database_is_told_at_once_to_all_who_wait_and_used_at_once_when_it_is_back(way: Way) -> None:
    patient = Surface(PostgresStore(way.url, lock_timeout_s=60))
    patient.capture(payload(turn(1)))
    way.proxy.refuse()
    began = time.monotonic()
    bodies = [envelope(payload(turn(1), session=ref_of(f"session {n}"))) for n in range(20)]
    with ThreadPoolExecutor(20) as threads:
        answers = list(threads.map(patient.post, bodies))
    for answer in answers:
        refused(answer, REFUSED, "5")
    # No wait for a time to run out: that would be 60 s.
    assert time.monotonic() - began < 30
    way.proxy.accept()
    assert [patient.post(body).status_code for body in bodies] == [201] * 20
    patient.close()


def test_who_waits_for_a_connection_that_others_hold_is_told_when_the_store_closes(way: Way) -> None:
    store = PostgresStore(way.url, lock_timeout_s=60, max_connections=1)
    store.ping()
    with ThreadPoolExecutor(1) as threads, store.engine.reading():
        waiting = threads.submit(store.ping)
        while store.engine._pool is not None and not store.engine._pool._waiting:
            time.sleep(0.001)
        store.close()
        with pytest.raises(DatabaseUnreachable):
            waiting.result(30)


def test_a_server_without_room_for_one_more_has_its_own_connection_waited_for(way: Way) -> None:
    role, name = "one_at_a_time", name_in(way.url)
    way.surface.capture(payload(turn(1)))
    with server().connect(name) as admin:
        admin.execute(f"CREATE ROLE {role} LOGIN CONNECTION LIMIT 1")  # type: ignore[call-overload]  # psycopg wants literals
        admin.execute(f"GRANT ALL ON ALL TABLES IN SCHEMA public TO {role}")  # type: ignore[call-overload]  # as above
        store = PostgresStore(way.url.replace("postgres@", f"{role}@"), lock_timeout_s=60)
        store.ping()
        with ThreadPoolExecutor(1) as threads:
            with store.engine.reading():
                waiting = threads.submit(store.ping)
                time.sleep(0.3)
            waiting.result(30)
        store.close()
        admin.execute(f"DROP OWNED BY {role}")  # type: ignore[call-overload]  # as above
        admin.execute(f"DROP ROLE {role}")  # type: ignore[call-overload]  # as above


def test_another_error_of_making_a_connection_is_the_callers() -> None:
    store = PostgresStore("no url = at all")
    with pytest.raises((DatabaseUnreachable, psycopg.Error)):
        store.ping()
    store.close()
