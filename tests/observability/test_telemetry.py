"""One request's logs and spans, as the HTTP surface asks for them."""

from __future__ import annotations

import pytest

from agent.errors import ConfigurationError, InternalError, Problem, ValidationError
from agent.observability import Telemetry
from tests.observability.conftest import RecordedLog
from tests.observability.peers import SpanCollector

REF, FIRST_REF = "3f0c9a1e-0000-4000-8000-000000000001", "3f0c9a1e-0000-4000-8000-000000000002"
TRACE, SPAN = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
HEADERS = {"REQUEST_METHOD": "POST", "HTTP_TRACEPARENT": f"00-{TRACE}-{SPAN}-01"}


def test_an_acknowledged_capture_is_one_line_of_ids_and_counts(log: RecordedLog) -> None:
    request = Telemetry.from_env({"GOOGLE_CLOUD_PROJECT": "memory-prod"}).begin(HEADERS, REF)
    request.captured(execution_ref=FIRST_REF, duplicate=True, turns=3, received_bytes=640, latency_ms=4)
    request.end()
    (entry,) = log.entries()
    del entry["time"]
    assert entry == {
        "severity": "INFO",
        "message": "capture acknowledged",
        "execution_ref": FIRST_REF,
        "invocation_ref": REF,
        "trace": f"projects/memory-prod/traces/{TRACE}",
        "logging.googleapis.com/trace": f"projects/memory-prod/traces/{TRACE}",
        "logging.googleapis.com/spanId": SPAN,
        "duplicate": True,
        "turns": 3,
        "received_bytes": 640,
        "ruvector_latency_ms": 4,
    }


@pytest.mark.parametrize(
    "headers", [HEADERS, {"HTTP_X_CLOUD_TRACE_CONTEXT": f"{TRACE}/{int(SPAN, 16)};o=1", "HTTP_TRACEPARENT": "nonsense"}]
)
def test_a_failure_names_the_trace_of_either_header(headers: dict[str, str], log: RecordedLog) -> None:
    request = Telemetry.from_env({}).begin(headers, REF)
    request.failed(ValidationError("refused", [Problem("$.turns", "required")]))
    request.failed(InternalError("failed"))
    assert [(entry["severity"], entry["trace"], entry["execution_ref"]) for entry in log.entries()] == [
        ("WARNING", TRACE, REF),
        ("ERROR", TRACE, REF),
    ]


@pytest.mark.parametrize(
    ("message_id", "told"),
    [
        ("2070443601311540", "2070443601311540"),
        ("5", "5"),
        ("18446744073709551615", "18446744073709551615"),
        ("184467440737095516150", None),
        ("order-77", None),
        ("ann@example.com", None),
        ("3f0c9a1e-0000-4000-8000-000000000001", None),
        ("٣٣٣", None),
        ("7\n", None),
        ("", None),
        (None, None),
    ],
)
def test_the_lines_of_a_message_tell_the_id_that_pubsub_made_and_no_other(
    message_id: str | None, told: str | None, log: RecordedLog
) -> None:
    for said in (None, ValidationError("no", [Problem("$.turns", "required")]), InternalError("no")):
        request = Telemetry.from_env({}, trigger="event").begin(HEADERS, REF)
        request.delivered(age_s=1.0, attempt=2, message_id=message_id, published="2026-03-02T08:14:30.500000Z")
        if said is None:
            request.captured(execution_ref=REF, duplicate=False, turns=1, received_bytes=1, latency_ms=1)
        else:
            request.failed(said)
        request.end()
    entries = log.entries()
    assert [entry["message"] for entry in entries] == ["capture acknowledged", "request refused", "request failed"]
    assert [entry.get("message_id") for entry in entries] == [told] * 3
    assert [entry["published"] for entry in entries] == ["2026-03-02T08:14:30.500000Z"] * 3


def test_what_no_queue_brought_has_neither_id_nor_publication(log: RecordedLog) -> None:
    request = Telemetry.from_env({}, trigger="event").begin(HEADERS, REF)
    request.delivered(age_s=None, attempt=None)
    request.failed(ValidationError("no", [Problem("$.turns", "required")]))
    assert {"message_id", "published"}.isdisjoint(log.entries()[0])


def test_a_request_without_headers_has_no_trace(log: RecordedLog) -> None:
    Telemetry.from_env({"GOOGLE_CLOUD_PROJECT": " "}).begin({}, REF).failed(InternalError("failed"))
    assert "trace" not in log.entries()[0]


def test_the_end_of_a_request_exports_its_spans(collector: SpanCollector) -> None:
    telemetry = Telemetry.from_env({"LLM_OBSERVATORY_URL": collector.url, "TELEMETRY_BUDGET_MS": "5000"})
    request = telemetry.begin(HEADERS, REF)
    with request.spans.span("validate"):
        pass
    assert collector.bodies == []
    request.end()
    telemetry.close()
    assert [(span.name, span.trace_id.hex()) for span in collector.spans()] == [
        ("validate", TRACE),
        ("capture", TRACE),
    ]


def test_an_endpoint_that_is_no_url_is_refused_at_start() -> None:
    with pytest.raises(ConfigurationError):
        Telemetry.from_env({"LLM_OBSERVATORY_URL": "observatory"})
