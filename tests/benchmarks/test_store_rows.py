"""The rows about the store: what they compare is the same on both sides, and what they report is what they measured."""

from __future__ import annotations

import json
import sqlite3

import pytest

from benchmarks.envelopes import LongSession, TenTurns
from benchmarks.pairs import in_turn, ratios
from benchmarks.rows.store_writers import _figure
from benchmarks.store_reads import _with_sessions
from benchmarks.store_sizes import size_of, snapshots
from benchmarks.store_writers import writers
from benchmarks.stores import appending, getting, posting, read
from benchmarks.verifying import _verify, verifying
from store.port import EventsQuery, SessionsQuery
from store.urls import open_store


@pytest.fixture
def store(tmp_path):
    opened = open_store(f"sqlite:///{tmp_path}/store.db")
    yield opened
    opened.close()


def turn_ids(write):
    return [turn["turn_id"] for turn in json.loads(write)["payload"]["inputs"]["turns"]]


def test_every_round_does_all_sides_another_one_first_and_the_first_round_is_not_kept():
    done = []
    sides = {name: lambda name=name: lambda: done.append(name) for name in "abc"}
    samples = in_turn(sides, rounds=2, count=1)
    assert done == ["b", "c", "a", "c", "a", "b", "a", "b", "c"]
    assert {name: len(side["seconds"]) for name, side in samples.items()} == {"a": 2, "b": 2, "c": 2}


def test_a_ratio_is_taken_of_the_two_values_of_one_round():
    samples = {"mine": {"seconds": [2.0, 9.0]}, "other": {"seconds": [1.0, 3.0]}}
    assert ratios(samples, "mine", "other") == (2.0, 3.0)


def test_appends_a_second_are_the_other_way_round_than_seconds_an_append():
    side = {"seconds": [0.002], "cpu": [0.001]}
    samples = {"bare": {"seconds": [0.001], "cpu": [0.001]}, "from_bytes": side, "alone": side, "one_writer": side}
    figure = _figure("f", "what", 0.5, samples, "from_bytes")
    assert (figure.value, figure.met, figure.product, figure.baseline) == (0.5, True, "500/s", "1000/s")


def test_writes_are_those_of_the_capture_function_each_under_ids_of_its_own():
    first, second = TenTurns(seed=1).many(2)
    assert not set(turn_ids(first)) & set(turn_ids(second))
    submission = read(first)
    assert submission.envelope.type == "conversation_capture"
    assert submission.capture is not None
    assert len(submission.capture.turns) == 10


def test_a_long_session_sends_a_turn_the_same_way_each_time_and_no_text_twice():
    session = LongSession(40, seed=1)
    whole, piece = (json.loads(session.write(first, 40))["payload"]["inputs"] for first in (0, 30))
    assert whole["turns"][30:] == piece["turns"]
    assert len({turn["content"] for turn in whole["turns"]}) == 40


def test_a_second_append_of_the_same_write_is_no_figure(store):
    append, body = appending(store), TenTurns(seed=1).many(1)[0]
    append(read(body))
    with pytest.raises(RuntimeError, match="already"):
        append(read(body))


def test_posting_to_the_application_appends_as_the_store_does_and_getting_gives_its_answers(store):
    post, get = posting(store), getting(store)
    post(TenTurns(seed=1).many(1)[0])
    assert len(json.loads(get("/v1/sessions?limit=10"))["sessions"]) == 1
    with pytest.raises(RuntimeError, match="404"):
        get("/v1/nothing")


def test_the_size_of_a_database_is_that_of_the_pages_in_use_and_of_its_parts_together(tmp_path):
    connection = sqlite3.connect(tmp_path / "some.db", isolation_level=None)
    connection.execute("CREATE TABLE kept (x)")
    connection.execute("CREATE TABLE dropped (x)")
    for table in ("kept", "dropped"):
        connection.execute(f"INSERT INTO {table} VALUES (zeroblob(100000))")
    connection.execute("DROP TABLE dropped")
    connection.close()
    size = size_of(tmp_path / "some.db")
    assert 100_000 < size.total < 120_000
    assert size.total == sum(size.parts.values())


def test_a_session_that_is_sent_again_as_it_grows_is_measured_beside_the_same_sent_once(tmp_path):
    measured = snapshots(tmp_path, turns=30, count=3)
    assert set(measured["bytes"]) == {"once", "snapshots", "pieces"}
    counts = {}
    for name in measured["bytes"]:
        opened = open_store(f"sqlite:///{tmp_path / name}.db")
        counts[name] = (opened.stats().events, opened.stats().turns)
        opened.close()
    assert counts == {"once": (1, 30), "snapshots": (3, 30), "pieces": (3, 30)}


def test_the_copies_of_sessions_are_listed_as_the_real_ones_are_and_after_them(tmp_path):
    opened = _with_sessions(tmp_path / "many.db", 300)
    try:
        page = opened.sessions(SessionsQuery(limit=1000, user_id="benchmark", total=True))
    finally:
        opened.close()
    listed = [json.loads(row) for row in page.sessions]
    assert page.total == len({row["session_id"] for row in listed}) == 300
    # Real ones came first: their events are there.
    assert min(row["last_activity"] for row in listed[:100]) > max(row["last_activity"] for row in listed[100:])


def test_each_writer_takes_another_write_and_all_of_them_are_stored(tmp_path):
    samples = writers(f"sqlite:///{tmp_path}/store.db", count=40, rounds=1)
    assert set(samples) == {"bare", "from_bytes", "alone", "one_writer"}
    opened = open_store(f"sqlite:///{tmp_path}/store.db")
    stored = opened.events(EventsQuery(limit=1000)).events
    opened.close()
    # Three sides append, in a round to warm up and in one that counts.
    assert len(stored) == 3 * 2 * 40


def test_verify_is_timed_beside_the_bytes_of_the_very_events_that_it_looks_at(tmp_path):
    samples = verifying(tmp_path, rounds=1, count=500)
    assert {name: len(side["seconds"]) for name, side in samples.items()} == {"command": 1, "bare": 1}
    with pytest.raises(RuntimeError, match="not every event"):
        _verify(tmp_path / "store.db", 501)
