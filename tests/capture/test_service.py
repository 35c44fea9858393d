"""A capture becomes exactly one DecisionEvent, and the answer says all that the store said."""

import json

import pytest

from agent.capture.service import CaptureRequest
from agent.core.receipt import Receipt, TurnCounts
from agent.errors import IdempotencyConflict, RateLimitExceeded, StoreWriteError, ValidationError
from tests.capture.fakes import ACCEPTED, EXECUTION_REF, NOW_TEXT, FakeSpans, FakeStore, service
from tests.conftest import vectors
from tests.live.payloads import BASE_HASH, BASE_TEXT, base, encoded
from tests.published import check_answer

FIRST = "aaaaaaaa-0000-4000-8000-000000000001"
REPLAY = Receipt(
    "e-1",
    duplicate=True,
    position=7,
    turns=TurnCounts(0, 2, 0, 0),
    execution_ref=FIRST,
    timestamp="2026-01-01T00:00:00Z",
    latency_ms=2,
)


def request(body, *, name="native", key=None):
    return CaptureRequest(body=body, format=name, idempotency_key=key, execution_ref=EXECUTION_REF)


def capture(store, body, spans=None, **more):
    answer = service(store).capture(request(body, **more), spans or FakeSpans())
    check_answer(json.loads(answer.body))
    return answer


def test_the_envelope_is_the_write_that_the_deployed_service_accepts():
    store = FakeStore()
    capture(store, BASE_TEXT.encode())
    [envelope] = store.appended
    assert {name: envelope[name] for name in ("type", "runId", "source", "timestamp")} == {
        "type": "conversation_capture",
        "runId": EXECUTION_REF,
        "source": "conversation-memory-agent",
        "timestamp": NOW_TEXT,
    }
    event = envelope["payload"]
    assert list(event) == [
        "agent_id",
        "agent_version",
        "decision_type",
        "inputs_hash",
        "outputs",
        "confidence",
        "constraints_applied",
        "execution_ref",
        "timestamp",
        "inputs",
        "stored_inputs_hash",
        "telemetry",
    ]
    assert (event["agent_id"], event["agent_version"], event["decision_type"]) == (
        "conversation-memory-agent",
        "1.0.0",
        "conversation_capture",
    )
    assert event["inputs_hash"] == event["stored_inputs_hash"] == BASE_HASH
    assert event["inputs"] == base()
    assert event["timestamp"] == event["outputs"]["capture_timestamp"] == NOW_TEXT
    assert event["confidence"] == 1.0
    assert event["telemetry"] == {"duration_ms": 10, "memory_bytes": 1234, "release": "9.9.9"}
    assert store.keys == [BASE_HASH]


def test_the_inputs_are_the_text_as_sent():
    store = FakeStore()
    received = []
    store.append = lambda envelope, **_: received.append(envelope) or ACCEPTED
    odd = BASE_TEXT.replace('"content":', '  "x_unknown" : 1.0e2,\n "content" :').encode()
    capture(store, odd)
    assert odd in received[0]


def test_the_text_of_a_wrapped_payload_is_the_inner_one():
    received = []
    store = FakeStore()
    store.append = lambda envelope, **_: received.append(envelope) or ACCEPTED
    capture(store, b'{"note": "{", "payload" : ' + BASE_TEXT.encode() + b"}")
    assert b'"inputs":' + BASE_TEXT.encode() + b',"stored_inputs_hash":"' + BASE_HASH.encode() in received[0]


def test_the_answer_shows_the_output_the_event_and_the_receipt():
    store = FakeStore()
    answer = capture(store, BASE_TEXT.encode())
    body = json.loads(answer.body)
    assert list(body) == ["success", "output", "decision_event", "receipt", "warnings"]
    event = dict(store.appended[0]["payload"])
    del event["inputs"]
    event["telemetry"] = {**event["telemetry"], "ruvector_latency_ms": 3}
    assert body["decision_event"] == event
    assert body["output"] == event["outputs"]
    assert body["receipt"] == {
        "duplicate": False,
        "event_id": "e-1",
        "position": 7,
        "turns": {"new": 2, "known": 0, "revised": 0, "erased": 0},
    }
    assert (answer.execution_ref, answer.duplicate, answer.turn_count, answer.ruvector_latency_ms) == (
        EXECUTION_REF,
        False,
        2,
        3,
    )


def test_what_the_store_does_not_say_is_absent_from_the_receipt():
    store = FakeStore(
        receipt=Receipt(
            None, duplicate=False, position=None, turns=None, execution_ref=None, timestamp=None, latency_ms=3
        )
    )
    assert json.loads(capture(store, BASE_TEXT.encode()).body)["receipt"] == {"duplicate": False}


def test_a_duplicate_answers_with_the_first_event_and_without_this_runs_measurements():
    body = json.loads(capture(FakeStore(receipt=REPLAY), BASE_TEXT.encode()).body)
    event = body["decision_event"]
    assert event["execution_ref"] == FIRST
    assert (
        event["timestamp"]
        == body["output"]["capture_timestamp"]
        == event["outputs"]["capture_timestamp"]
        == "2026-01-01T00:00:00Z"
    )
    assert not {"telemetry", "stored_inputs_hash", "inputs"} & set(event)
    assert body["receipt"]["duplicate"] is True


def test_an_event_that_an_earlier_attempt_stored_is_this_invocations_own():
    own = REPLAY._replace(execution_ref=EXECUTION_REF, timestamp=NOW_TEXT)
    answer = capture(FakeStore(receipt=own), BASE_TEXT.encode())
    body = json.loads(answer.body)
    assert (answer.duplicate, answer.execution_ref) == (False, EXECUTION_REF)
    assert body["receipt"] == {"duplicate": False, "event_id": "e-1", "position": 7}
    assert {"telemetry", "stored_inputs_hash"} <= set(body["decision_event"])


def test_a_duplicate_of_a_store_that_names_no_first_event_keeps_this_runs_reference():
    silent = Receipt("e-1", duplicate=True, position=None, turns=None, execution_ref=None, timestamp=None, latency_ms=2)
    answer = capture(FakeStore(receipt=silent), BASE_TEXT.encode())
    assert answer.execution_ref == json.loads(answer.body)["decision_event"]["execution_ref"] == EXECUTION_REF


def test_a_refused_payload_writes_nothing():
    store = FakeStore()
    with pytest.raises(ValidationError):
        capture(store, b"{}")
    assert store.appended == []


def test_a_callers_key_goes_to_the_store_and_its_conflict_is_the_callers():
    store = FakeStore()
    capture(store, BASE_TEXT.encode(), key="order-7")
    assert store.keys == ["order-7"]
    store.error = StoreWriteError("no", upstream_status=409)
    with pytest.raises(IdempotencyConflict):
        capture(store, BASE_TEXT.encode(), key="order-7")


@pytest.mark.parametrize(("status", "key"), [(409, None), (422, "order-7")])
def test_any_other_refusal_of_the_store_stays_a_write_error(status, key):
    store = FakeStore(error=StoreWriteError("no", upstream_status=status))
    with pytest.raises(StoreWriteError):
        capture(store, BASE_TEXT.encode(), key=key)


def test_what_the_store_raises_is_passed_on():
    with pytest.raises(RateLimitExceeded):
        capture(FakeStore(error=RateLimitExceeded("later")), BASE_TEXT.encode())


def test_there_are_three_spans_with_counts_and_no_content():
    spans = FakeSpans()
    capture(FakeStore(), BASE_TEXT.encode(), spans)
    assert spans.steps == ["validate", "build", "append"]
    assert set(spans.attributes) == {"duplicate", "turns", "bytes", "conversation"}
    assert spans.attributes["conversation"] == (base()["conversation_id"], 12, 4)


def test_the_step_that_appends_names_its_place_in_the_trace_to_the_store():
    store = FakeStore()
    traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    capture(store, BASE_TEXT.encode(), FakeSpans(traceparent=traceparent))
    capture(store, BASE_TEXT.encode(), FakeSpans())
    assert store.traceparents == [traceparent, None]


def test_derived_ids_are_stored_as_the_payload_that_it_became():
    store = FakeStore()
    vector = next(vector for vector in vectors() if vector["name"] == "21-derived-ids")
    capture(store, encoded(vector["input"]))
    event = store.appended[0]["payload"]
    assert event["inputs_hash"] == vector["expected"]["inputs_hash"] != event["stored_inputs_hash"]
    assert event["inputs"]["native_session_id"] == vector["input"]["session_id"]
    assert event["constraints_applied"] == ["lineage_creation_enabled", "ids_derived"]


CHAT = {"session_id": "s", "messages": [{"role": "user", "content": "hi"}]}


def test_a_foreign_format_hashes_the_body_as_sent_beside_its_name():
    from agent.core.canonical import inputs_hash

    store = FakeStore()
    capture(store, encoded(CHAT), name="openai-chat")
    event = store.appended[0]["payload"]
    assert event["inputs_hash"] == inputs_hash({"body": CHAT, "format": "openai-chat"})
    assert event["stored_inputs_hash"] == inputs_hash(event["inputs"])
    assert "ids_derived" in event["constraints_applied"]


def test_a_wrapped_foreign_body_is_the_same_capture_as_the_bare_one():
    store = FakeStore()
    capture(store, encoded(CHAT), name="openai-chat")
    capture(store, encoded({"payload": CHAT}), name="openai-chat")
    bare, wrapped = (envelope["payload"] for envelope in store.appended)
    assert bare == wrapped


def test_a_snapshot_that_rewrote_its_history_is_warned_about():
    store = FakeStore(
        receipt=Receipt(
            "e",
            duplicate=False,
            position=1,
            turns=TurnCounts(0, 1, 2, 0),
            execution_ref=None,
            timestamp=None,
            latency_ms=1,
        )
    )
    body = json.loads(capture(store, encoded(CHAT), name="openai-chat").body)
    assert {"path": "$.messages", "rule": "history_rewritten"} in body["warnings"]


def test_a_native_revision_is_no_rewritten_history():
    store = FakeStore(
        receipt=Receipt(
            "e",
            duplicate=False,
            position=1,
            turns=TurnCounts(0, 1, 2, 0),
            execution_ref=None,
            timestamp=None,
            latency_ms=1,
        )
    )
    assert json.loads(capture(store, BASE_TEXT.encode()).body)["warnings"] == []


def test_an_unknown_field_is_kept_and_warned_about():
    store = FakeStore()
    payload = {**base(), "contxt": {"a": 1}}
    assert json.loads(capture(store, encoded(payload)).body)["warnings"] == [
        {"path": "$.contxt", "rule": "unknown_field"}
    ]
    assert store.appended[0]["payload"]["inputs"] == payload


def test_a_token_sum_beyond_64_bits_keeps_its_digits():
    payload = base()
    for turn in payload["turns"]:
        turn["token_usage"] = {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 2**63 - 1}
    payload["turns"] += [
        {**turn, "turn_id": turn["turn_id"].replace("-", "-", 1)[:-4] + "beef"} for turn in payload["turns"][:1]
    ]
    assert json.loads(capture(FakeStore(), encoded(payload)).body)["output"]["total_tokens"] == 3 * (2**63 - 1)
