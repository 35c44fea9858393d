"""Real failures of this trade, sent to the running function over HTTP; what is stored is read back as turns."""

import gzip
import json
import os
import re
import socket
import time
import uuid
from concurrent.futures import ThreadPoolExecutor
from email.utils import formatdate
from pathlib import Path

import httpx
import psutil
import pytest

from tests.conftest import REPOSITORY
from tests.live.host import Reply, free_port, function_host, stub_store
from tests.live.payloads import BASE_HASH, BASE_TEXT, base, encoded, own_session
from tests.live.raw import exchange
from tests.live.stored import served, stored
from tests.published import check_response
from tests.ruvector.peer import Peer, acknowledge, close_without_answer, drip

JSON = {"Content-Type": "application/json"}
MIB = 1024 * 1024
CHECKED = {"response": [check_response]}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("field")


@pytest.fixture(scope="module")
def database(folder):
    return folder / "memory.db"


@pytest.fixture(scope="module")
def function(folder, database):
    """The function over its embedded store, shared by the cases that leave it as it was."""
    with function_host(folder, store=f"embedded:{database}") as host:
        yield host


@pytest.fixture
def client(function):
    with httpx.Client(base_url=function.url, timeout=30, event_hooks=CHECKED) as opened:
        yield opened


@pytest.fixture
def turns(database):
    with stored(database) as reader:
        yield reader.turns


@pytest.fixture
def event_count(database):
    with stored(database) as reader:
        yield lambda session_id: len(reader.events(session_id))


def post(client, payload, **headers):
    body = payload if isinstance(payload, bytes) else encoded(payload)
    return client.post("/", content=body, headers={**JSON, **headers})


def assert_typed(answer, status, code, *, at_most=16 * 1024):
    assert answer.status_code == status, answer.text[:500]
    assert answer.headers["content-type"] == "application/json"
    assert len(answer.content) < at_most
    body = answer.json()
    assert body["success"] is False
    error = body["error"]
    assert error["error_code"] == code
    assert error["message"]
    uuid.UUID(error["execution_ref"])
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", error["timestamp"])
    return error


def assert_refused(answer, rule, path="$"):
    error = assert_typed(answer, 400, "VALIDATION_ERROR")
    assert {"path": path, "rule": rule} in error["details"]["errors"]
    return error


# H01


def test_h01_a_broken_body_is_refused_with_its_place_and_without_an_echo(client):
    error = assert_refused(post(client, b'{"session_id": "6f1d'), "json")
    assert "6f1d" not in json.dumps(error)
    assert re.search(r"line 1, column \d+", error["message"])


# H02


@pytest.mark.parametrize(
    "label",
    [
        "application/json; charset=UTF-8",
        "application/vnd.acme+json",
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        None,
    ],
)
def test_h02_the_content_type_is_not_consulted(client, label):
    headers = {} if label is None else {"Content-Type": label}
    answer = client.post("/", content=encoded(own_session()), headers=headers)
    assert answer.status_code == 200, answer.text


# H03


def nested(levels):
    return (b'{"a":' * levels) + b"1" + (b"}" * levels)


@pytest.mark.parametrize("levels", [126, 400, 3000])
def test_h03_nesting_is_bounded_by_our_own_limit(client, levels):
    body = encoded(own_session()).replace(b'"role"', b'"metadata":' + nested(levels - 3) + b',"role"', 1)
    answer = post(client, body)
    if levels <= 128:
        assert answer.status_code == 200, answer.text
    else:
        assert_refused(answer, "depth")


def test_h03_the_deepest_accepted_nesting_comes_back_as_it_was(client, turns):
    payload = own_session()
    payload["turns"][0]["metadata"] = json.loads(nested(125))
    assert post(client, payload).status_code == 200
    assert turns(payload["session_id"])[0]["metadata"] == json.loads(nested(125))


# H04


@pytest.mark.parametrize("token", [b"NaN", b"-Infinity", b"Infinity", b"1e999", b"-1e999"])
def test_h04_what_is_no_number_is_refused(client, token):
    body = encoded(own_session()).replace(b'"role"', b'"metadata":{"score":' + token + b'},"role"', 1)
    assert_refused(post(client, body), "number_range" if b"e" in token else "json")


# H05


def test_h05_a_lone_surrogate_is_refused_with_its_line_and_column(client, event_count):
    payload = own_session()
    body = encoded(payload).replace(b"Where is parcel 4471?", rb"sent \ud83d", 1)
    error = assert_refused(post(client, body), "surrogate")
    assert re.search(r"line 1, column \d+", error["message"])
    assert event_count(payload["session_id"]) == 0


def test_h05_a_pair_of_surrogates_is_one_code_point(client, turns):
    payload = own_session()
    assert post(client, encoded(payload).replace(b"Where is parcel 4471?", rb"go \ud83d\ude80", 1)).status_code == 200
    assert turns(payload["session_id"])[0]["content"] == "go \U0001f680"


# H06


def big_body(size):
    payload = own_session()
    payload["turns"][0]["content"] = "A" * size
    return encoded(payload)


def worker_rss(function):
    return sum(psutil.Process(pid).memory_info().rss for pid in function.workers())


@pytest.mark.parametrize("how", ["content-length", "chunked"])
def test_h06_an_oversized_body_is_refused_and_the_next_one_is_captured(client, function, how):
    body = big_body(40 * MIB)
    content = body if how == "content-length" else (body[at : at + 65536] for at in range(0, len(body), 65536))
    error = assert_typed(client.post("/", content=content, headers=JSON), 413, "VALIDATION_ERROR")
    assert error["details"]["errors"] == [{"path": "$", "rule": "size"}]
    assert worker_rss(function) < 256 * MIB
    assert post(client, own_session()).status_code == 200


def test_h06_a_small_gzip_body_that_inflates_beyond_the_limit_is_refused(client, function):
    error = assert_typed(
        post(client, gzip.compress(big_body(40 * MIB)), **{"Content-Encoding": "gzip"}), 413, "VALIDATION_ERROR"
    )
    assert error["details"]["errors"] == [{"path": "$", "rule": "size"}]
    assert worker_rss(function) < 256 * MIB


def test_h06_a_gzip_body_is_captured(client, turns):
    payload = own_session()
    assert post(client, gzip.compress(encoded(payload)), **{"Content-Encoding": "gzip"}).status_code == 200
    assert [turn["content"] for turn in turns(payload["session_id"])] == [turn["content"] for turn in payload["turns"]]


@pytest.mark.parametrize("encoding", ["br", "deflate", "gzip, gzip", "x"])
def test_h06_another_content_encoding_is_refused(client, encoding):
    assert_refused(post(client, own_session(), **{"Content-Encoding": encoding}), "encoding")


def test_h06_ten_mebibytes_exactly_are_captured_and_one_byte_more_is_not(client):
    small = len(big_body(0))
    assert post(client, big_body(10 * MIB - small)).status_code == 200
    assert_typed(post(client, big_body(10 * MIB - small + 1)), 413, "VALIDATION_ERROR")


# H07


@pytest.mark.parametrize("path", ["/health", "/conversation-memory/health"])
def test_h07_health_is_json_and_good_while_the_store_is_up(client, path):
    answer = client.get(path)
    assert answer.status_code == 200
    body = answer.json()
    assert (body["status"], body["store"]["status"], body["store"]["kind"]) == ("ok", "ok", "embedded")
    assert (body["agent_id"], body["agent_version"], body["classification"]) == (
        "conversation-memory-agent",
        "1.0.0",
        "MEMORY_WRITE",
    )
    assert client.head(path).status_code == 200
    assert client.head(path).content == b""


def test_h07_health_is_503_within_two_seconds_while_the_store_is_down(tmp_path):
    with function_host(tmp_path, store=f"http://127.0.0.1:{free_port()}") as host:
        answer = httpx.get(f"{host.url}/health", timeout=10)
        assert answer.status_code == 503
        assert answer.json()["status"] == "degraded"
        assert answer.elapsed.total_seconds() < 2


def test_h07_health_makes_no_write_and_the_front_ends_own_path_is_documented_nowhere(tmp_path):
    with stub_store() as store, function_host(tmp_path, store=store.url) as host:
        assert httpx.get(f"{host.url}/health", timeout=60).status_code == 200
        assert store.writes == []
    documented = [
        path
        for path in [*REPOSITORY.glob("*.md"), *REPOSITORY.glob("docs/**/*"), *REPOSITORY.glob("agent/**/*.py")]
        if path.is_file() and "health" + "z" in path.read_text(errors="replace")
    ]
    assert documented == []


# H09-H13: the store misbehaves


@pytest.fixture
def over_stub(tmp_path):
    """A function over a stub store: gives what starts it with the stub's answers."""
    with (
        stub_store() as store,
        function_host(tmp_path, store=store.url, RUVECTOR_API_KEY="key-CANARY-41") as host,
        httpx.Client(base_url=host.url, timeout=40, event_hooks=CHECKED) as opened,
    ):
        yield store, opened, host


@pytest.mark.parametrize("status", [422, 401, 413, 500, 302, 404])
def test_h10_an_answer_that_can_never_become_a_success_is_asked_for_once(over_stub, status):
    store, client, host = over_stub
    store.reply = lambda _count: Reply(status, b'{"detail":"UPSTREAM-CANARY"}')
    answer = post(client, own_session())
    error = assert_typed(answer, 502, "RUVECTOR_WRITE_ERROR")
    assert len(store.writes) == 1
    assert error["details"]["upstream_status"] == status
    assert "CANARY" not in answer.text
    assert "CANARY" not in host.log


def test_h11_a_closed_port_is_a_connection_error_after_the_declared_attempts(tmp_path):
    with function_host(tmp_path, store=f"http://127.0.0.1:{free_port()}") as host:
        answer = httpx.post(f"{host.url}/", content=encoded(own_session()), timeout=40)
        error = assert_typed(answer, 502, "RUVECTOR_CONNECTION_ERROR")
        assert error["details"]["attempts"] == 4
        assert answer.elapsed.total_seconds() < 30


def test_h12_retry_after_in_seconds_is_waited_for(over_stub):
    store, client, _host = over_stub
    store.reply = lambda count: Reply(429, b"{}", {"Retry-After": "1"}) if count == 1 else Reply()
    answer = post(client, own_session())
    assert answer.status_code == 200
    assert answer.elapsed.total_seconds() >= 1
    assert len(store.writes) == 2
    assert store.writes[0].body == store.writes[1].body


def test_h12_a_retry_after_beyond_the_budget_is_passed_on_at_once(over_stub):
    store, client, _host = over_stub
    store.reply = lambda _count: Reply(429, b"{}", {"Retry-After": "600"})
    answer = post(client, own_session())
    assert_typed(answer, 429, "RATE_LIMIT_EXCEEDED")
    assert answer.headers["retry-after"] == "600"
    assert answer.elapsed.total_seconds() < 3
    assert len(store.writes) == 1


@pytest.mark.parametrize("seconds", [2, 3])
def test_h12_retry_after_as_a_date_is_waited_for(over_stub, seconds):
    store, client, _host = over_stub
    # A date has whole seconds: up to one of them may be gone already.
    later = formatdate(time.time() + seconds, usegmt=True)
    store.reply = lambda count: Reply(503, b"{}", {"Retry-After": later}) if count == 1 else Reply()
    answer = post(client, own_session())
    assert answer.status_code == 200
    assert answer.elapsed.total_seconds() >= seconds - 1.1
    assert len(store.writes) == 2


def test_h09_a_kept_connection_that_drops_the_second_write_is_written_again_under_the_same_reference(tmp_path):
    with (
        Peer(acknowledge(), close_without_answer(), acknowledge()) as peer,
        function_host(tmp_path, store=peer.url) as host,
        httpx.Client(base_url=host.url, timeout=30, event_hooks=CHECKED) as client,
    ):
        answers = [post(client, own_session()) for _ in range(2)]
        received = [json.loads(request.body) for request in peer.received]
    assert [answer.status_code for answer in answers] == [200, 200]
    assert [envelope["runId"] for envelope in received][1:] == [answers[1].headers["x-execution-ref"]] * 2
    assert len({request.headers["idempotency-key"] for request in peer.received}) == 2


def test_h13_a_store_that_sends_a_byte_now_and_then_does_not_outlive_the_deadline(tmp_path):
    slow = drip(b"HTTP/1.1 200 OK\r\nContent-Length: 60\r\n\r\n", b"x" * 60)
    with (
        Peer(slow) as peer,
        function_host(tmp_path, store=peer.url, RUVECTOR_DEADLINE_S="1") as host,
        httpx.Client(base_url=host.url, timeout=30, event_hooks=CHECKED) as client,
    ):
        answer = post(client, own_session())
    assert_typed(answer, 502, "RUVECTOR_CONNECTION_ERROR")
    assert answer.elapsed.total_seconds() < 3


# H14


def test_h14_an_execution_ref_with_another_body_is_a_conflict_at_the_store_and_the_first_stays(tmp_path):
    reference = "11111111-2222-4333-8444-555555555555"

    def envelope(inputs_hash, content):
        payload = {**base(), "turns": [{**base()["turns"][0], "content": content}]}
        event = {
            "agent_id": "a",
            "decision_type": "conversation_capture",
            "inputs_hash": inputs_hash,
            "inputs": payload,
        }
        return {
            "type": "conversation_capture",
            "runId": reference,
            "timestamp": "2026-03-02T08:15:00Z",
            "payload": event,
        }

    with served(tmp_path / "store.db") as url, httpx.Client(base_url=url, timeout=60) as store:
        first = store.post("/v1/decision-events", json=envelope("a" * 64, "one"))
        kept = store.get(f"/v1/decision-events/{reference}").content
        other = store.post("/v1/decision-events", json=envelope("b" * 64, "two"))
        again = store.post("/v1/decision-events", json=envelope("a" * 64, "one"))
        assert (first.status_code, other.status_code, again.status_code) == (201, 409, 200)
        assert again.json()["eventId"] == first.json()["eventId"]
        assert store.get(f"/v1/decision-events/{reference}").content == kept
        assert len(store.get("/v1/decision-events").json()["events"]) == 1


def test_h14_a_callers_key_with_another_payload_is_a_conflict_and_nothing_is_written(client, event_count):
    first, second = own_session(), own_session()
    assert post(client, first, **{"Idempotency-Key": first["session_id"]}).status_code == 200
    again = post(client, first, **{"Idempotency-Key": first["session_id"]})
    assert again.json()["receipt"]["duplicate"] is True
    assert_typed(post(client, second, **{"Idempotency-Key": first["session_id"]}), 409, "VALIDATION_ERROR")
    assert event_count(second["session_id"]) == 0


def test_h14_a_key_is_bound_also_when_its_payload_was_there_already(client):
    first, second = own_session(), own_session()
    assert post(client, first).status_code == 200
    key = str(uuid.uuid4())
    assert post(client, first, **{"Idempotency-Key": key}).json()["receipt"]["duplicate"] is True
    assert_typed(post(client, second, **{"Idempotency-Key": key}), 409, "VALIDATION_ERROR")


@pytest.mark.parametrize("key", ["", "two words", "x" * 256, "k\u00e9y".encode()])
def test_h14_a_key_that_is_none_is_refused(client, key):
    assert_typed(post(client, own_session(), **{"Idempotency-Key": key}), 400, "VALIDATION_ERROR")


# H15


def reversed_keys(value):
    if isinstance(value, dict):
        return {key: reversed_keys(member) for key, member in reversed(value.items())}
    return [reversed_keys(member) for member in value] if isinstance(value, list) else value


def test_h15_key_order_and_white_space_do_not_change_the_hash(client):
    first = post(client, BASE_TEXT.encode())
    second = post(client, json.dumps(reversed_keys(base()), indent=4).encode())
    hashes = [answer.json()["decision_event"]["inputs_hash"] for answer in (first, second)]
    assert hashes == [BASE_HASH, BASE_HASH]
    assert second.json()["receipt"]["duplicate"] is True


# H16


def test_h16_two_unicode_forms_are_two_payloads_and_both_come_back_byte_for_byte(client, turns):
    hashes = set()
    for content in ("Zo\u00eb", "Zoe\u0308"):
        payload = own_session()
        payload["turns"][0]["content"] = content
        hashes.add(post(client, payload).json()["decision_event"]["inputs_hash"])
        assert turns(payload["session_id"])[0]["content"].encode() == content.encode()
    assert len(hashes) == 2


# H17


@pytest.mark.parametrize("key", [b'"role"', rb'"r\u006fle"'])
def test_h17_a_key_given_twice_is_refused_with_its_name_and_place(client, key):
    body = encoded(own_session()).replace(b'"role"', key + b': "system", "role"', 1)
    error = assert_refused(post(client, body), "duplicate_key")
    assert "role" in error["message"]
    assert re.search(r"line 1, column \d+", error["message"])


# H18, H19, H21, H22


def changed(at, value):
    payload = own_session()
    *way, last = at
    target = payload
    for step in way:
        target = target[step]
    target[last] = value
    return payload


@pytest.mark.parametrize(
    ("at", "value", "path", "rule"),
    [
        (["session_id"], "not-a-uuid", "$.session_id", "format"),
        (["turns", 0, "timestamp"], "yesterday", "$.turns[0].timestamp", "format"),
        (["turns", 1, "timestamp"], "2026-03-02T08:15:03", "$.turns[1].timestamp", "format"),
        (["turns", 1, "content"], None, "$.turns[1].content", "type"),
        (["turns", 0, "role"], "developer", "$.turns[0].role", "enum"),
        (
            ["turns", 1, "tool_invocations"],
            [{"tool_name": "t", "invocation_id": "call_9aZ"}],
            "$.turns[1].tool_invocations[0].invocation_id",
            "format",
        ),
        (["turns"], [], "$.turns", "minItems"),
        (["context"], None, "$.context", "type"),
        (["capture_options"], {"extract_entities": "yes"}, "$.capture_options.extract_entities", "type"),
        (["capture_options"], {"content": "some"}, "$.capture_options.content", "enum"),
    ],
)
def test_h18_a_value_that_the_contract_does_not_know_is_refused_with_its_path(client, at, value, path, rule):
    assert_refused(post(client, changed(at, value)), rule, path)


def test_h18_an_empty_object_lacks_all_that_is_required(client):
    error = assert_typed(post(client, b"{}"), 400, "VALIDATION_ERROR")
    assert {(one["path"], one["rule"]) for one in error["details"]["errors"]} == {
        ("$.session_id", "required"),
        ("$.conversation_id", "required"),
        ("$.turns", "required"),
    }
    assert len(error["details"]["errors"]) == 3


def test_h19_offsets_are_accepted_and_timestamps_come_back_verbatim(client, turns):
    times = ["2026-03-02T10:15:00+02:00", "2026-03-02T08:15:01.250000Z", "2026-03-02T08:15:02+00:00"]
    payload = own_session()
    payload["turns"] = [
        {"turn_id": str(uuid.uuid4()), "role": "user", "content": str(index), "timestamp": time}
        for index, time in enumerate(times)
    ]
    assert post(client, payload).status_code == 200
    assert [turn["timestamp"] for turn in turns(payload["session_id"])] == times


# H20


def test_h20_equal_times_keep_the_order_in_which_they_were_sent(client, turns):
    payload = own_session()
    ids = sorted((str(uuid.uuid4()) for _ in range(6)), reverse=True)
    payload["turns"] = [
        {
            "turn_id": ids[n],
            "role": ("user", "assistant")[n % 2],
            "content": f"t{n}",
            "timestamp": "2026-03-02T09:00:00Z",
        }
        for n in range(6)
    ]
    assert post(client, payload).status_code == 200
    for _ in range(50):
        assert [turn["content"] for turn in turns(payload["session_id"])] == ["t0", "t1", "t2", "t3", "t4", "t5"]


# H21, H22 through the importer


def chat(messages, **more):
    return {"session_id": f"chat-{uuid.uuid4()}", "messages": messages, **more}


def post_chat(client, body):
    return client.post("/?format=openai-chat", content=encoded(body), headers=JSON)


CALL = {"id": "call_7", "type": "function", "function": {"name": "track", "arguments": '{"n":4471}'}}


def test_h21_null_content_beside_a_call_is_kept_as_a_turn_with_its_call(client, turns):
    answer = post_chat(client, chat([{"role": "assistant", "content": None, "tool_calls": [CALL]}]))
    assert answer.status_code == 200, answer.text
    [turn] = turns(answer.json()["output"]["session_id"])
    assert turn["content"] == ""
    [invocation] = turn["tool_invocations"]
    assert (invocation["tool_name"], invocation["arguments"], invocation["native_id"]) == (
        "track",
        {"n": 4471},
        "call_7",
    )


def test_h22_developer_and_function_are_known_and_a_call_id_becomes_one_uuid_on_both_sides(client, turns):
    call = {**CALL, "id": "call_9aZ"}
    body = chat(
        [
            {"role": "developer", "content": "Be brief."},
            {"role": "user", "content": "Where is 4471?"},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "call_9aZ", "content": "Bern"},
        ]
    )
    first, second = post_chat(client, body), post_chat(client, body)
    assert second.json()["receipt"]["duplicate"] is True
    assert first.json()["output"]["nodes_created"] == second.json()["output"]["nodes_created"]
    kept = turns(first.json()["output"]["session_id"])
    assert [turn["role"] for turn in kept] == ["system", "user", "assistant", "tool"]
    call_id, result_id = (kept[place]["tool_invocations"][0] for place in (2, 3))
    assert call_id["invocation_id"] == result_id["invocation_id"] == str(uuid.UUID(call_id["invocation_id"]))
    assert call_id["native_id"] == result_id["native_id"] == "call_9aZ"


# H24


def test_h24_a_signed_thinking_block_comes_back_unaltered(client, turns):
    blocks = [
        {"type": "thinking", "thinking": "na\u00efve \u2192 check\n", "signature": "EqQB+/a=="},
        {"type": "tool_use", "id": "toolu_01", "name": "track", "input": {"n": 4471}},
    ]
    payload = changed(["turns", 1, "metadata"], {"blocks": blocks})
    assert post(client, payload).status_code == 200
    assert (
        json.dumps(turns(payload["session_id"])[1]["metadata"]["blocks"]) == json.dumps(blocks)
        or turns(payload["session_id"])[1]["metadata"]["blocks"] == blocks
    )


# H29


def test_h29_a_history_that_is_sent_again_whole_adds_only_what_is_new(client, turns, event_count):
    payload = own_session()
    six = [
        {
            "turn_id": str(uuid.uuid4()),
            "role": ("user", "assistant")[n % 2],
            "content": f"t{n}",
            "timestamp": "2026-03-02T09:00:00Z",
            "token_usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
        }
        for n in range(6)
    ]
    receipts = []
    for sent in (2, 4, 6):
        receipts.append(post(client, {**payload, "turns": six[:sent]}).json()["receipt"]["turns"])
    assert [(receipt["new"], receipt["known"]) for receipt in receipts] == [(2, 0), (2, 2), (2, 4)]
    assert event_count(payload["session_id"]) == 3
    kept = turns(payload["session_id"])
    assert [turn["content"] for turn in kept] == [f"t{n}" for n in range(6)]
    assert sum(turn["token_usage"]["total_tokens"] for turn in kept) == 12


# H30


def test_h30_twenty_captures_at_once_are_all_kept(client, turns, event_count):
    session = str(uuid.uuid4())
    payloads = [{**own_session(), "session_id": session} for _ in range(20)]
    with ThreadPoolExecutor(20) as pool:
        answers = list(pool.map(lambda payload: post(client, payload), payloads))
    assert [answer.status_code for answer in answers] == [200] * 20
    assert len({answer.json()["receipt"]["position"] for answer in answers}) == 20
    assert event_count(session) == 20
    assert len({turn["turn_id"] for turn in turns(session)}) == 40
    assert [turn["seq"] for turn in turns(session)] == list(range(1, 41))


# H35


def test_h35_a_refusal_never_repeats_what_was_sent(client, function):
    payload = changed(["turns", 0, "content"], [{"type": "text", "text": "SECRET-71b " + "A" * 200_000}])
    answer = post(client, payload)
    assert_refused(answer, "type", "$.turns[0].content")
    assert len(answer.content) < 4096
    assert "SECRET-71b" not in answer.text
    assert "SECRET-71b" not in function.log


# The host's own pages


@pytest.mark.parametrize(
    "request_line",
    [
        "GET /robots.txt",
        "GET /favicon.ico",
        "GET //",
        "POST //",
        "GET /%2F",
        "GET /%ff",
        "GET /../x",
        "POST /health/",
        "PUT /nowhere",
        "GET /%00",
        "OPTIONS *",
        "GET /a//b",
        "PRI /x",
        "GET http://other.example/health2",
    ],
)
def test_no_page_of_the_hosts_own_reaches_a_client(function, request_line):
    status, headers, body = exchange(
        function.port, f"{request_line} HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".encode()
    )
    assert status in {404, 405}
    assert headers["content-type"] == "application/json"
    assert headers["x-agent-id"] == "conversation-memory-agent"
    assert json.loads(body)["error"]["error_code"] == "VALIDATION_ERROR"


@pytest.mark.parametrize(
    ("method", "path", "allow"),
    [
        ("GET", "/", "POST"),
        ("DELETE", "/conversation-memory", "POST"),
        ("POST", "/health", "GET, HEAD"),
        ("POST", "/openapi.json", "GET, HEAD"),
        ("OPTIONS", "/", "POST"),
    ],
)
def test_a_wrong_method_on_a_known_path_names_the_right_ones(client, method, path, allow):
    answer = client.request(method, path)
    assert_typed(answer, 405, "VALIDATION_ERROR")
    assert answer.headers["allow"] == allow


def test_a_body_that_ends_early_is_refused_not_a_fault_of_ours(function):
    status, _headers, body = exchange(
        function.port, b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 500\r\n\r\n{}", shut=True
    )
    assert (status, json.loads(body)["error"]["error_code"]) == (400, "VALIDATION_ERROR")


def test_a_broken_chunk_is_refused_not_a_fault_of_ours(function):
    status, _headers, body = exchange(
        function.port,
        b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nZZ\r\n{}\r\n0\r\n\r\n",
        shut=True,
    )
    assert (status, json.loads(body)["error"]["error_code"]) == (400, "VALIDATION_ERROR")


NOT_HTTP = {
    "request line": b"CANARY\r\n\r\n",
    "method": b"P(OST / HTTP/1.1\r\nHost: CANARY\r\n\r\n",
    "version": b"POST / HTTP/9.CANARY\r\n\r\n",
    "two lengths": b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}",
    "length": b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: CANARY\r\n\r\n{}",
    "both framings": b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n{}",
    "coding": b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: CANARY\r\n\r\n{}",
    "expectation": b"POST / HTTP/1.1\r\nHost: x\r\nExpect: CANARY\r\nContent-Length: 2\r\n\r\n{}",
    "header name": b"POST / HTTP/1.1\r\nHost: x\r\nCAN(ARY: 1\r\n\r\n",
    "header field": b"POST / HTTP/1.1\r\nHost: x\r\nX-A: " + b"C" * 70_000 + b"\r\n\r\n",
}


@pytest.mark.parametrize("request_bytes", NOT_HTTP.values(), ids=NOT_HTTP.keys())
def test_what_is_no_http_is_refused_as_json_without_an_echo(function, request_bytes):
    status, headers, body = exchange(function.port, request_bytes, shut=True)
    assert (status, headers["content-type"]) == (400, "application/json")
    assert json.loads(body)["error"]["error_code"] == "VALIDATION_ERROR"
    assert b"CANARY" not in body
    assert "CANARY" not in function.log


REFUSED_UNREAD = {
    "an unknown path": ("PUT /nowhere", ""),
    "a wrong method": ("PUT /", ""),
    "another coding": ("POST /", "Content-Encoding: br\r\n"),
    "no gzip": ("POST /", "Content-Encoding: gzip\r\n"),
    "a bad key": ("POST /", "Idempotency-Key: two words\r\n"),
    "an unknown format": ("POST /?format=x", ""),
    "health with a body": ("GET /health", ""),
}


@pytest.mark.parametrize(("line", "header"), REFUSED_UNREAD.values(), ids=REFUSED_UNREAD.keys())
def test_a_sender_that_is_answered_early_can_send_to_the_end_and_go_on(function, line, header):
    body = b"A" * 9_000_000
    with socket.create_connection(("127.0.0.1", function.port), timeout=20) as connection:
        head = f"{line} HTTP/1.1\r\nHost: x\r\n{header}Content-Length: {len(body)}\r\n\r\n"
        connection.sendall(head.encode() + body)
        connection.sendall(b"GET /openapi.json HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        answers = b"".join(iter(lambda: connection.recv(65536), b""))
    assert answers.count(b"HTTP/1.1 ") == 2
    assert b'"openapi"' in answers


def test_senders_that_stall_do_not_keep_the_others_waiting(function):
    stalled = [socket.create_connection(("127.0.0.1", function.port), timeout=20) for _ in range(20)]
    try:
        for connection in stalled:
            connection.sendall(b"POST /nowhere HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\nA")
        assert httpx.get(f"{function.url}/health", timeout=15).status_code == 200
        for connection in stalled:
            assert connection.recv(12) == b"HTTP/1.1 404"
    finally:
        for connection in stalled:
            connection.close()


def test_nothing_of_a_broken_body_to_an_unknown_path_comes_back(function):
    request = b"PUT /nowhere HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nmy card is 4111-1111\r\n"
    with socket.create_connection(("127.0.0.1", function.port), timeout=10) as connection:
        connection.sendall(request)
        connection.shutdown(socket.SHUT_WR)
        answer = b"".join(iter(lambda: connection.recv(65536), b""))
    assert b"404" in answer
    assert b"4111" not in answer
    assert b"text/html" not in answer


@pytest.mark.parametrize("path", ["/", "/conversation-memory", "/v1/memory-graph/conversation"])
def test_each_capture_path_takes_a_payload_bare_or_wrapped(client, turns, path):
    payload = own_session()
    answer = client.post(path, content=encoded({"payload": payload}))
    assert answer.status_code == 200, answer.text
    assert answer.headers["x-execution-ref"] == answer.json()["decision_event"]["execution_ref"]
    assert client.post(path, content=encoded(payload)).headers["idempotency-replayed"] == "true"
    assert len(turns(payload["session_id"])) == 2


def test_an_unknown_format_is_refused_and_other_query_names_are_not(client):
    assert_refused(client.post("/?format=carrier-pigeon", content=encoded(own_session())), "enum")
    assert client.post("/?utm_source=x&format=native", content=encoded(own_session())).status_code == 200


def test_the_openapi_document_is_served(client):
    document = client.get("/openapi.json").json()
    assert document["openapi"].startswith("3.1")


def test_a_byte_order_mark_is_skipped_and_nul_is_kept(client, turns):
    payload = changed(["turns", 0, "content"], "a\u0000b")
    assert post(client, b"\xef\xbb\xbf" + encoded(payload)).status_code == 200
    assert turns(payload["session_id"])[0]["content"] == "a\u0000b"


def test_the_tests_found_the_function_and_not_something_else(function):
    assert Path(f"/proc/{function.process.pid}").exists()
    assert os.getpgid(function.process.pid) == function.process.pid
