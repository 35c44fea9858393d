"""What a queue is told, and what is told of it: statuses, headers, reports."""

import io
import json
from datetime import timedelta

import pytest

from agent.capture.events.app import EventApp
from agent.core.receipt import Receipt, TurnCounts
from agent.errors import RateLimitExceeded, StoreConnectionError, StoreWriteError
from tests.capture.events.conftest import body_of, events_on, problems_of
from tests.capture.events.envelopes import ENVELOPES, Posted, bare, event, pubsub, structured
from tests.capture.fakes import EXECUTION_REF, NOW, FakeStore, FakeTelemetry, room, service
from tests.live.payloads import BASE_HASH, BASE_TEXT

PAYLOAD = BASE_TEXT.encode()
TRACE = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
PUBLISHED_UTC = "2026-03-02T08:14:30.500000Z"


@pytest.mark.parametrize("name", ENVELOPES)
def test_a_delivery_is_answered_as_a_capture_over_http(handle, store, name):
    answer = handle(ENVELOPES[name](PAYLOAD))
    assert (answer.status_code, answer.headers["X-Execution-Ref"]) == (200, EXECUTION_REF)
    assert (answer.headers["X-Agent-Id"], answer.content_type) == ("conversation-memory-agent", "application/json")
    assert body_of(answer)["receipt"]["event_id"] == "e-1"
    [envelope] = store.appended
    assert envelope["payload"]["inputs_hash"] == envelope["payload"]["stored_inputs_hash"] == BASE_HASH
    assert store.keys == [BASE_HASH]


def test_a_message_that_comes_again_is_acknowledged_as_a_duplicate(handle, store):
    turns = TurnCounts(0, 2, 0, 0)
    store.receipt = Receipt("e", duplicate=True, position=1, turns=turns, execution_ref="first",
                            timestamp="2026-01-01T00:00:00Z", latency_ms=1)  # fmt: skip
    answer = handle(pubsub(PAYLOAD))
    assert (answer.status_code, answer.headers["Idempotency-Replayed"]) == (200, "true")
    assert answer.headers["X-Execution-Ref"] == "first"


@pytest.mark.parametrize("path", ["/", "/push", "/conversation-memory", "/a/b//c"])
def test_a_push_endpoint_may_have_any_path(store, telemetry, path):
    assert events_on(store, telemetry).handle(pubsub(PAYLOAD).environ(path)).status_code == 200


def test_a_key_of_the_sender_does_not_bind_a_payload(handle, store):
    posted = pubsub(PAYLOAD)
    handle(Posted(posted.body, {**posted.headers, "Idempotency-Key": "no key\n"}))
    assert store.keys == [BASE_HASH]


@pytest.mark.parametrize("name", ENVELOPES)
def test_a_foreign_format_is_read_as_the_envelope_says(handle, store, name):
    chat = json.dumps({"session_id": "chat-7", "messages": [{"role": "user", "content": "hi"}]}).encode()
    assert handle(ENVELOPES[name](chat, format="openai-chat")).status_code == 200
    assert store.appended[0]["payload"]["inputs"]["native"] == {"format": "openai-chat"}
    unknown = handle(ENVELOPES[name](chat, format="nonsense"))
    assert (unknown.status_code, problems_of(unknown)) == (400, [("$", "enum")])


def test_the_endpoints_query_names_the_format_of_a_message_that_does_not(handle, store):
    chat = json.dumps({"session_id": "chat-7", "messages": [{"role": "user", "content": "hi"}]}).encode()
    wrapped = pubsub(chat)
    assert handle(wrapped._replace(query="format=openai-chat")).status_code == 200
    named = pubsub(PAYLOAD, format="native")
    assert handle(named._replace(query="format=openai-chat")).status_code == 200


@pytest.mark.parametrize(
    ("error", "status", "code"),
    [
        (StoreConnectionError("gone"), 502, "RUVECTOR_CONNECTION_ERROR"),
        (StoreWriteError("no key", upstream_status=401), 502, "RUVECTOR_WRITE_ERROR"),
        (StoreWriteError("no", upstream_status=422), 502, "RUVECTOR_WRITE_ERROR"),
        (StoreWriteError("no", upstream_status=409), 502, "RUVECTOR_WRITE_ERROR"),
        (RateLimitExceeded("later", headers={"Retry-After": "7"}), 503, "RATE_LIMIT_EXCEEDED"),
        (KeyError("CANARY"), 500, "INTERNAL_ERROR"),
    ],
)
def test_what_may_go_better_later_is_a_5xx(handle, store, telemetry, error, status, code):
    store.error = error
    answer = handle(pubsub(PAYLOAD))
    assert (answer.status_code, body_of(answer)["error"]["error_code"]) == (status, code)
    assert answer.headers["X-Execution-Ref"] == body_of(answer)["error"]["execution_ref"] == EXECUTION_REF
    assert answer.headers.get("Retry-After") == ("7" if status == 503 else None)
    assert b"CANARY" not in answer.get_data()
    assert [name for name, _ in telemetry.reports] == ["begin", "delivered", "failed", "end"]


REFUSED = {
    "empty": (b"", 400, "empty"),
    "not json": (b"hello", 400, "json"),
    "not utf-8": (b'{"a":"\xff"}', 400, "utf8"),
    "no object": (b"[]", 400, "object"),
    "not a number": (PAYLOAD.replace(b"12,", b"NaN,"), 400, "json"),
    "a key twice": (PAYLOAD.replace(b'"role":"user"', b'"role":"user","role":"user"'), 400, "duplicate_key"),
    "half a surrogate": (PAYLOAD.replace(b"Where", rb"\ud800"), 400, "surrogate"),
    "too deep": (b'{"a":' + b"[" * 200 + b"]" * 200 + b"}", 400, "depth"),
    "too many values": (b'{"a":[' + b"1," * 250_000 + b"1]}", 413, "values"),
    "no session": (PAYLOAD.replace(b"session_id", b"session"), 400, "required"),
}


@pytest.mark.parametrize("name", ["pubsub", "bare", "eventarc", "binary", "structured base64"])
@pytest.mark.parametrize("case", REFUSED)
def test_what_is_refused_over_http_is_refused_in_an_envelope(handle, store, telemetry, name, case):
    payload, status, rule = REFUSED[case]
    answer = handle(ENVELOPES[name](payload))
    assert answer.status_code == status
    assert problems_of(answer)[0][1] == rule
    assert store.appended == []
    assert telemetry.reports[-2][0] == "failed"


@pytest.mark.parametrize("case", sorted(set(REFUSED) - {"empty", "not json", "not utf-8"}))
def test_the_data_of_an_event_are_held_to_the_same_rules(handle, case):
    payload, status, rule = REFUSED[case]
    answer = handle(structured(payload))
    assert (answer.status_code, problems_of(answer)[0][1]) == (status, rule)


@pytest.mark.parametrize(
    ("posted", "status", "problem"),
    [
        (Posted(b"[]", {"Content-Type": "application/cloudevents-batch+json"}), 400, ("$", "unsupported")),
        (Posted(event(id=7), {}), 400, ("$.id", "type")),
        (Posted(b'{"message":{"data":"%"}}', {}), 400, ("$.message.data", "encoding")),
        (Posted(b"x", {"Content-Encoding": "br"}), 400, ("$", "encoding")),
    ],
)
def test_an_envelope_that_does_not_hold_is_refused_and_told(handle, telemetry, posted, status, problem):
    answer = handle(posted)
    assert (answer.status_code, problems_of(answer)) == (status, [problem])
    assert [name for name, _ in telemetry.reports] == ["begin", "failed", "end"]


def test_what_is_left_of_a_refused_body_is_read_behind_the_answer(store, telemetry):
    sent = io.BytesIO(b"A" * (16 * 2**20))
    environ = {**pubsub(b"").environ(), "CONTENT_LENGTH": str(16 * 2**20), "wsgi.input": sent}
    pieces = iter(events_on(store, telemetry).handle(environ).response)
    assert (next(pieces)[:16], sent.tell()) == (b'{"success":false', 0)
    assert list(pieces) == []
    assert sent.read() == b""


def test_the_age_and_the_attempt_of_a_delivery_are_told(handle, telemetry):
    handle(pubsub(PAYLOAD, attempt=3))
    assert telemetry.reports[1] == ("delivered", (29.5, 3, "2070443601311540", PUBLISHED_UTC))
    name, counts = telemetry.reports[2]
    assert (name, counts["received_bytes"]) == ("captured", len(PAYLOAD))


@pytest.mark.parametrize(("time", "age"), [("2026-03-02T08:15:07Z", 0.0), ("yesterday", None), ("", None)])
def test_an_instant_that_lies_ahead_is_now_and_one_that_is_none_is_not_told(handle, telemetry, time, age):
    handle(Posted(event(data=json.loads(PAYLOAD), time=time), {}))
    assert telemetry.reports[1][1][:3] == (age, None, None)
    assert telemetry.reports[1][1][3] == (None if age is None else "2026-03-02T08:15:07.000000Z")


def test_a_message_that_cannot_be_unpacked_is_named_before_it_is_refused(handle, telemetry):
    answer = handle(pubsub(b"no gzip", content_encoding="gzip"))
    assert (answer.status_code, problems_of(answer)) == (400, [("$", "encoding")])
    assert [name for name, _ in telemetry.reports] == ["begin", "delivered", "failed", "end"]
    assert telemetry.reports[1][1][2:] == ("2070443601311540", PUBLISHED_UTC)


def test_a_capture_belongs_to_the_trace_of_its_publisher_before_that_of_the_request(store):
    begun = []

    class Traced(FakeTelemetry):
        def begin(self, environ, execution_ref):
            begun.append(environ.get("HTTP_TRACEPARENT"))
            return super().begin(environ, execution_ref)

    app = events_on(store, Traced())
    posted = pubsub(PAYLOAD, traceparent=TRACE)
    app.handle({**posted.environ(), "HTTP_TRACEPARENT": "of the front end"})
    app.handle({**pubsub(PAYLOAD).environ(), "HTTP_TRACEPARENT": "of the front end"})
    assert begun == [TRACE, "of the front end"]


@pytest.mark.parametrize("path", ["/health", "/conversation-memory/health"])
def test_health_is_that_of_the_capture(store, telemetry, path):
    up = events_on(store, telemetry).handle(bare(b"").environ(path, "GET"))
    assert (up.status_code, body_of(up)["classification"]) == (200, "MEMORY_WRITE")
    down = {"status": "unreachable", "latency_ms": 900, "kind": "http"}
    answer = events_on(store, telemetry, down).handle(bare(b"").environ(path, "GET"))
    assert (answer.status_code, body_of(answer)["store"]) == (503, down)


@pytest.mark.parametrize(
    ("method", "path", "allow"),
    [
        ("GET", "/", "POST"),
        ("OPTIONS", "/push", "POST"),
        ("GET", "/favicon.ico", "POST"),
        ("POST", "/health", "GET, HEAD"),
    ],
)
def test_another_method_is_405_with_the_right_ones(store, telemetry, method, path, allow):
    answer = events_on(store, telemetry).handle(bare(b"").environ(path, method))
    assert (answer.status_code, answer.headers["Allow"]) == (405, allow)
    assert body_of(answer)["error"]["error_code"] == "VALIDATION_ERROR"


def test_a_fault_of_ours_outside_of_a_capture_is_a_typed_500(store, telemetry):
    def broken():
        raise KeyError("CANARY")

    app = EventApp(
        service(store), telemetry=telemetry, health=broken, openapi=broken,
        clock=lambda: NOW + timedelta(0), new_id=lambda: EXECUTION_REF, release="9", room=room(),
    )  # fmt: skip
    answer = app.handle(bare(b"").environ("/health", "GET"))
    assert (answer.status_code, b"CANARY" in answer.get_data()) == (500, False)
    assert isinstance(telemetry.reports[1][1].__cause__, KeyError)


def test_it_is_a_wsgi_application_of_its_own(store, telemetry):
    seen = {}

    def start_response(status, headers, exc_info=None):
        seen.update(status=status, headers=dict(headers))
        return lambda data: None

    body = b"".join(events_on(store, telemetry)(bare(b"").environ("/openapi.json", "HEAD"), start_response))
    assert (seen["status"], seen["headers"]["Content-Length"], body) == ("200 OK", "2", b"")


def test_what_the_host_refuses_is_reported_under_the_reference_of_its_answer(telemetry):
    answer = events_on(FakeStore(), telemetry).refused_by_host(400)
    assert body_of(answer)["error"]["execution_ref"] == EXECUTION_REF
    assert [name for name, _ in telemetry.reports] == ["begin", "failed", "end"]
