"""Routes, methods and headers of the function, without a host in front."""

import io
import json

import pytest

from agent.core.receipt import Receipt, TurnCounts
from agent.edge.host import TypedAnswers
from agent.errors import RateLimitExceeded
from tests.capture.fakes import EXECUTION_REF, app, environ
from tests.live.payloads import BASE_TEXT
from tests.published import check_answer

BASE_BODY = BASE_TEXT.encode()


@pytest.fixture
def handle(store, telemetry):
    return app(store, telemetry).handle


def body_of(response):
    body = json.loads(response.get_data())
    if "success" in body:
        check_answer(body)
    return body


@pytest.mark.parametrize("path", ["/", "/conversation-memory", "/v1/memory-graph/conversation"])
def test_every_capture_path_captures(handle, store, path):
    response = handle(environ(path=path))
    assert response.status_code == 200
    assert response.headers["X-Execution-Ref"] == EXECUTION_REF
    assert response.headers["X-Agent-Id"] == "conversation-memory-agent"
    assert response.headers["X-Agent-Version"] == "1.0.0"
    assert len(store.appended) == 1


def test_a_replayed_capture_says_so_in_its_headers(handle, store):
    store.receipt = Receipt(
        "e",
        duplicate=True,
        position=1,
        turns=TurnCounts(0, 2, 0, 0),
        execution_ref="first",
        timestamp="2026-01-01T00:00:00Z",
        latency_ms=1,
    )
    response = handle(environ())
    assert response.headers["Idempotency-Replayed"] == "true"
    assert response.headers["X-Execution-Ref"] == "first"


def test_an_unknown_path_is_404_and_typed(handle, store):
    response = handle(environ(path="/nowhere"))
    assert response.status_code == 404
    assert body_of(response)["error"]["error_code"] == "VALIDATION_ERROR"
    assert "X-Execution-Ref" not in response.headers
    assert store.appended == []


@pytest.mark.parametrize(("path", "method", "allow"), [("/", "GET", "POST"), ("/health", "DELETE", "GET, HEAD")])
def test_a_wrong_method_is_405_with_the_right_ones(handle, path, method, allow):
    response = handle(environ(method, path))
    assert (response.status_code, response.headers["Allow"]) == (405, allow)


def test_a_failure_names_its_execution_and_counts(handle, store, telemetry):
    store.error = RateLimitExceeded("later", headers={"Retry-After": "7"})
    response = handle(environ())
    assert (response.status_code, response.headers["Retry-After"]) == (429, "7")
    assert body_of(response)["error"]["execution_ref"] == response.headers["X-Execution-Ref"] == EXECUTION_REF
    assert [name for name, _ in telemetry.reports] == ["begin", "failed", "end"]


def test_what_nobody_foresaw_is_a_typed_500_without_its_text(handle, store, telemetry):
    store.error = KeyError("CANARY")
    response = handle(environ())
    assert response.status_code == 500
    error = body_of(response)["error"]
    assert error["error_code"] == "INTERNAL_ERROR"
    assert "CANARY" not in json.dumps(error)
    (reported,) = [said for kind, said in telemetry.reports if kind == "failed"]
    assert isinstance(reported.__cause__, KeyError)


def test_a_success_is_reported_with_counts_only(handle, telemetry):
    handle(environ())
    name, counts = telemetry.reports[1]
    assert name == "captured"
    assert counts == {
        "execution_ref": EXECUTION_REF,
        "duplicate": False,
        "turns": 2,
        "received_bytes": len(BASE_TEXT.encode()),
        "latency_ms": 3,
        "counts": TurnCounts(2, 0, 0, 0),
        "attempts": 1,
    }


def test_a_body_that_is_too_large_is_read_on_so_that_its_sender_sees_the_answer(store, telemetry):
    sent = io.BytesIO(b"A" * (11 * 1024 * 1024))
    response = app(store, telemetry).handle({**environ(), "CONTENT_LENGTH": str(11 * 1024 * 1024), "wsgi.input": sent})
    pieces = iter(response.response)
    assert (response.status_code, next(pieces)[:16]) == (413, b'{"success":false')
    assert sent.tell() == 0
    assert list(pieces) == []
    assert sent.read() == b""


class GoneAfterTheFirstPiece(io.BytesIO):
    def read(self, size=-1):
        if self.tell() > 0:
            raise ConnectionResetError
        return super().read(size)


def test_a_sender_that_is_gone_while_we_read_on_is_no_fault_of_ours(store, telemetry):
    sent = GoneAfterTheFirstPiece(b"A" * (1024 * 1024))
    response = app(store, telemetry).handle({**environ(), "CONTENT_LENGTH": str(64 * 1024 * 1024), "wsgi.input": sent})
    assert body_of(response)["error"]["details"]["errors"] == [{"path": "$", "rule": "size"}]


def test_what_the_host_refuses_is_reported_under_the_reference_of_its_answer(store, telemetry):
    response = app(store, telemetry).refused_by_host(500)
    assert body_of(response)["error"]["execution_ref"] == EXECUTION_REF
    assert [name for name, _ in telemetry.reports] == ["begin", "failed", "end"]


def test_health_shows_what_is_down(store, telemetry):
    response = app(store, telemetry, health={"status": "unreachable", "latency_ms": 900, "kind": "http"}).handle(
        environ("GET", "/health", b"")
    )
    assert response.status_code == 503
    assert body_of(response) == {
        "status": "degraded",
        "agent_id": "conversation-memory-agent",
        "agent_version": "1.0.0",
        "classification": "MEMORY_WRITE",
        "release": "9.9.9",
        "store": {"status": "unreachable", "latency_ms": 900, "kind": "http"},
        "content": "full",
    }


def test_the_first_format_of_several_counts(handle):
    assert handle(environ(query="format=native&format=nonsense")).status_code == 200
    assert handle(environ(query="format=&x=1")).status_code == 400


def test_a_body_without_a_length_is_read_to_its_end(handle):
    without = environ()
    del without["CONTENT_LENGTH"]
    assert handle(without).status_code == 200


# The host's own pages


def run(application, request=None):
    seen = {}

    def start_response(status, headers, exc_info=None):
        seen.update(status=int(status.split()[0]), headers=dict(headers))
        return lambda data: None

    answer = application(request or environ("GET", "/robots.txt", b""), start_response)
    try:
        seen["body"] = b"".join(answer)
    finally:
        getattr(answer, "close", lambda: None)()
    return seen


def page(status, content_type="text/html; charset=utf-8", closed=None):
    class Page(list):
        def close(self):
            if closed is not None:
                closed.append(True)

    def application(environ, start_response):
        write = start_response(status, [("Content-Type", content_type)])
        write(b"")
        return Page([b"<html>CANARY</html>"])

    return application


@pytest.mark.parametrize(
    ("status", "typed", "code"),
    [
        ("404 NOT FOUND", 404, "VALIDATION_ERROR"),
        ("308 PERMANENT REDIRECT", 404, "VALIDATION_ERROR"),
        ("405 METHOD NOT ALLOWED", 405, "VALIDATION_ERROR"),
        ("400 BAD REQUEST", 400, "VALIDATION_ERROR"),
        ("413 REQUEST ENTITY TOO LARGE", 413, "VALIDATION_ERROR"),
        ("431 REQUEST HEADER FIELDS TOO LARGE", 400, "VALIDATION_ERROR"),
        ("501 NOT IMPLEMENTED", 400, "VALIDATION_ERROR"),
        ("500 INTERNAL SERVER ERROR", 500, "INTERNAL_ERROR"),
        ("503 SERVICE UNAVAILABLE", 500, "INTERNAL_ERROR"),
    ],
)
def test_a_page_of_the_hosts_own_becomes_typed_json(store, telemetry, status, typed, code):
    closed = []
    seen = run(TypedAnswers(page(status, closed=closed), app(store, telemetry).refused_by_host))
    assert seen["status"] == typed
    assert json.loads(seen["body"])["error"]["error_code"] == code
    assert b"CANARY" not in seen["body"]
    assert closed == [True]


def test_an_answer_that_is_json_goes_through_as_it_is(store, telemetry):
    seen = run(TypedAnswers(page("404 NOT FOUND", "application/json"), app(store, telemetry).refused_by_host))
    assert (seen["status"], seen["body"]) == (404, b"<html>CANARY</html>")
