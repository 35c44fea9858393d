"""The harness behind the figures: verdicts, payloads, the stub store and the load generator."""

from __future__ import annotations

import http.client
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from benchmarks.figure import Figure, milliseconds, table
from benchmarks.hostile_bodies import ACCEPTED
from benchmarks.payloads import Variations, compact, conversation, with_turns
from benchmarks.peers import load_generator, stub_store


def figure(*samples, limit="at most", bound=2.0, decided_by="median"):
    return Figure("f", "what", "x", limit, bound, samples, decided_by=decided_by)


def test_the_median_of_the_rounds_decides_and_the_bound_itself_is_met():
    assert figure(1.0, 2.0, 9.0).met
    assert not figure(1.0, 2.01, 9.0).met


def test_a_lower_bound_is_missed_from_below():
    assert figure(0.44, limit="at least", bound=0.45).met is False
    assert figure(0.45, limit="at least", bound=0.45).met is True


def test_the_largest_sample_decides_over_memory():
    assert not figure(1.0, 1.0, 9.0, decided_by="max").met


def test_the_table_says_which_figures_missed_and_keeps_every_sample_as_json():
    text = table([figure(1.0), figure(3.0)])
    assert [line.split()[-1] for line in text.splitlines()[2:4]] == ["met", "MISSED"]
    assert figure(1.0, 3.0).as_dict()["samples"] == (1.0, 3.0)


@pytest.mark.parametrize(("seconds", "text"), [(0.0000123, "12 us"), (0.0123, "12.3 ms")])
def test_a_duration_is_shown_in_the_unit_that_can_be_read(seconds, text):
    assert milliseconds(seconds) == text


def test_the_conversation_has_ten_turns_in_6_4_kilobytes():
    assert len(conversation()["turns"]) == 10
    assert 6_350 <= len(compact(conversation())) <= 6_450


def test_variations_differ_in_every_id_keep_results_with_their_calls_and_repeat_by_seed():
    first, second = (json.loads(body) for body in Variations(compact(conversation()), seed=1).many(2))
    ids = [{turn["turn_id"] for turn in payload["turns"]} | {payload["session_id"]} for payload in (first, second)]
    assert not ids[0] & ids[1]
    call, result = first["turns"][3]["tool_invocations"][0], first["turns"][4]["tool_invocations"][0]
    assert (
        call["invocation_id"] == result["invocation_id"] != second["turns"][3]["tool_invocations"][0]["invocation_id"]
    )
    assert first == json.loads(Variations(compact(conversation()), seed=1).next())


def test_a_longer_payload_has_as_many_turns_as_asked_each_with_its_own_id():
    turns = json.loads(with_turns(123))["turns"]
    assert len({turn["turn_id"] for turn in turns}) == len(turns) == 123


@pytest.mark.parametrize("name", ["one object of wide keys, floats", "10 000 turns of wide keys, ids derived"])
def test_a_hostile_body_stays_within_the_limits_of_an_accepted_one(name):
    body = next(each for each in ACCEPTED if each.name == name).make()
    values, pending = 0, [json.loads(body)]
    while pending:
        item = pending.pop()
        values += 1
        pending.extend(item.values() if isinstance(item, dict) else item if isinstance(item, list) else ())
    assert len(body) <= 10 * 1024 * 1024
    assert 240_000 < values <= 250_000


def test_the_stub_store_answers_every_write_with_a_receipt_for_its_own_run():
    run_id = "11111111-2222-4333-8444-555555555555"
    with stub_store() as store:
        connection = http.client.HTTPConnection("127.0.0.1", store.port, timeout=10)
        for size in (10, 3_000_000):
            body = json.dumps({"runId": run_id, "payload": "x" * size}, separators=(",", ":"))
            connection.request("POST", "/v1/decision-events", body)
            answer = connection.getresponse()
            receipt = json.loads(answer.read())
            assert (answer.status, receipt["status"], receipt["executionRef"]) == (201, "accepted", run_id)
        connection.request("GET", "/health")
        assert connection.getresponse().read() == b'{"status":"ok"}'
        connection.close()


class Peer(BaseHTTPRequestHandler):
    """Answers as its server's ``status`` says, and remembers the bodies."""

    protocol_version = "HTTP/1.1"

    def do_POST(self):
        self.server.bodies.append(self.rfile.read(int(self.headers["Content-Length"])))
        self.send_response(self.server.status)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, *arguments):
        """Keep the test's output clean."""


@pytest.fixture
def peer():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Peer)
    server.bodies, server.status = [], 200
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def test_the_load_generator_posts_every_capture_once_under_ids_of_its_own(peer):
    with load_generator() as generator:
        load = generator.post(peer.server_address[1], count=40, connections=4)
    assert load.statuses == {200: 40}
    assert load.per_second > 0
    assert len({json.loads(body)["session_id"] for body in peer.bodies}) == 40


def test_a_load_that_is_not_all_200_is_no_figure(peer):
    peer.status = 400
    with load_generator() as generator, pytest.raises(RuntimeError, match="400"):
        generator.post(peer.server_address[1], count=4, connections=2)
