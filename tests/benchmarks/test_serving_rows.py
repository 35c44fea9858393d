"""The rows about the running function: what is sent and counted, at which instants, and what the figures make of it."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import subprocess
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import psycopg
import pytest

from benchmarks.database_use import DatabaseUse
from benchmarks.figure import Figure, table
from benchmarks.loads import Side, in_turn, ratios
from benchmarks.peers import Load, load_generator, stub_collector
from benchmarks.process import keep_to
from benchmarks.rows.latency_tail import _figure
from tests.store.postgres_server import server


class Peer(BaseHTTPRequestHandler):
    """Answers as its server says, after its server's ``pause``, and remembers what came and when."""

    protocol_version = "HTTP/1.1"

    def do_POST(self):
        self.server.arrived.append(time.perf_counter())
        self.server.heads.append(dict(self.headers))
        self.server.bodies.append(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.pause()
        self.send_response(self.server.status)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, *arguments):
        """Keep the test's output clean."""


@pytest.fixture
def peer():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Peer)
    server.arrived, server.heads, server.bodies, server.status, server.pause = [], [], [], 200, lambda: None
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


class Host:
    """A host that took no processor time, in front of a peer."""

    def __init__(self, port):
        self.port = port

    def await_ready(self): ...

    def cpu_seconds(self):
        return 0.0


def test_requests_of_an_open_loop_are_due_at_even_instants_whatever_comes_back(peer):
    with load_generator() as generator:
        load = generator.post(peer.server_address[1], count=20, connections=8, per_second=10)
    assert load.statuses == {200: 20}
    # The last of 20 is due 19 tenths of a second after the first: nothing was sent before its instant. The peer may
    # come to see the first a little late.
    assert max(peer.arrived) - min(peer.arrived) >= 1.5
    assert load.elapsed_s >= 19 / 10


def test_a_stall_counts_for_every_request_that_was_due_meanwhile(peer):
    stalled = threading.Event()

    def pause():
        if not stalled.is_set():
            stalled.set()
            time.sleep(0.5)

    peer.pause = pause
    with load_generator() as generator:
        # One connection: whatever is due while the first is on its way has to wait for it.
        load = generator.post(peer.server_address[1], count=20, connections=1, per_second=100)
    # 20 are due within 0.2 s, and the answer to the first comes after 0.5: a closed loop would show one slow answer.
    assert load.p50_s >= 0.3


def test_headers_are_sent_with_every_request(peer):
    with load_generator() as generator:
        generator.post(peer.server_address[1], count=3, connections=2, headers={"Authorization": "Bearer k"})
    assert [head["Authorization"] for head in peer.heads] == ["Bearer k"] * 3


def test_a_store_is_sent_the_writes_of_captures_and_has_to_answer_201(peer):
    with load_generator() as generator:
        with pytest.raises(RuntimeError, match="not 201"):
            generator.post(peer.server_address[1], count=1, connections=1, writes=True)
        peer.status = 201
        load = generator.post(peer.server_address[1], count=3, connections=1, writes=True)
    assert load.statuses == {201: 3}
    assert {json.loads(body)["type"] for body in peer.bodies} == {"conversation_capture"}
    assert len({json.loads(body)["payload"]["inputs_hash"] for body in peer.bodies}) == len(peer.bodies)


def test_the_collector_takes_spans_and_metrics_and_counts_them():
    with stub_collector() as collector:
        connection = http.client.HTTPConnection("127.0.0.1", collector.port, timeout=10)
        answers = []
        for path, body in (("/v1/traces", b"abc"), ("/v1/traces", b"d"), ("/v1/metrics", b"ef"), ("/v1/logs", b"g")):
            connection.request("POST", path, body)
            answer = connection.getresponse()
            answers.append((answer.status, answer.read()))
        connection.close()
        counted = collector.counts()
    assert answers == [(200, b"")] * 3 + [(404, b"{}")]
    assert counted == {"traces": 2, "traces_bytes": 4, "metrics": 1, "metrics_bytes": 2}


def test_every_side_has_one_load_a_round_and_a_ratio_is_of_one_round(peer):
    sides = [Side(Host(peer.server_address[1])), Side(Host(peer.server_address[1]), {"X-Side": "second"})]
    with load_generator() as generator:
        in_turn(sides, generator, rounds=3, count=4, connections=2)
    assert [len(side.loads) for side in sides] == [3, 3]
    assert len(ratios(*sides, lambda load: load.per_second)) == 3
    assert sum(head.get("X-Side") == "second" for head in peer.heads) * 2 == len(peer.heads)


def test_the_tail_is_the_slowest_hundredth_over_the_median_of_each_round():
    loads = [Load(1.0, 0.1, {200: 100}, p50_s, p99_s, 0) for p50_s, p99_s in ((0.002, 0.004), (0.002, 0.010))]
    theirs = [Load(1.0, 0.1, {200: 100}, 0.001, 0.003, 0)]
    figure = _figure(loads, theirs, sustained=125.0, captures=100)
    assert figure.samples == (2.0, 5.0)
    assert any("its own rate: 3.00" in note for note in figure.notes)
    assert any("sent 100/s" in note for note in figure.notes)


def test_a_figure_without_a_bound_is_reported_and_missed_by_nothing():
    figure = Figure("f", "what", "/s", "at least", None, (3.0,))
    assert figure.met
    assert table([figure]).splitlines()[2].split()[-2:] == ["none", "reported"]


def test_a_process_is_kept_to_the_cores_that_are_named():
    core = min(os.sched_getaffinity(0))
    with subprocess.Popen(["sleep", "60"]) as process:
        keep_to(process.pid, {core})
        allowed = os.sched_getaffinity(process.pid)
        process.kill()
    assert allowed == {core}


def comes_to(expected, ask):
    """Whether ``ask`` gives this within a generous time."""
    return any(ask() == expected or time.sleep(0.05) for _ in range(600))


def test_what_a_database_is_used_for_is_read_from_the_server_itself():
    url = server().url(server().create()).replace("postgresql+psycopg:", "postgresql:")
    use = DatabaseUse(url)
    size, log = use.size(), use.log_position()
    # The process of a connection that was closed a moment ago is counted until it is gone.
    assert comes_to(0, use.connections)
    with contextlib.closing(psycopg.connect(url, autocommit=True)) as connection:
        connection.execute("CREATE TABLE kept AS SELECT repeat('x', 100) FROM generate_series(1, 10000)")
        assert comes_to(1, use.connections)
    assert use.size() - size > 1_000_000
    assert use.log_position() - log > 1_000_000
    assert len(use.pids()) > 1
    assert use.cpu_seconds() > 0
