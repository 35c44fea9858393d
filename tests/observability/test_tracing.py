"""Spans reach whoever is to have them, hold no content, and never hold a request up."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import pytest
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status

from agent.errors import InternalError, StoreConnectionError, ValidationError
from agent.observability.trace_context import TraceContext
from agent.observability.tracing import Tracing
from tests.observability.captures import REF, TRACE, MakeTracing, capture
from tests.observability.conftest import Clock, RecordedLog, destinations_for
from tests.observability.peers import SpanCollector, StuckPeer, refusing_url

UNSAMPLED = TraceContext(TRACE.trace_id, TRACE.span_id, sampled=False)
CANARY = "canary my password is hunter2"
PAUSED = "telemetry paused: the collector does not take spans"
# Twice the two seconds that a request may wait, and some more for a busy machine.
BOUNDED_S = 6.0
STEPS = ("validate", "build", "append")


def foreign(caplog: pytest.LogCaptureFixture) -> list[str]:
    """What other loggers than ours have said."""
    return [record.getMessage() for record in caplog.records if record.name != "agent"]


def attributes(span: Span) -> dict[str, Any]:
    return {each.key: getattr(each.value, each.value.WhichOneof("value") or "") for each in span.attributes}


def test_a_collector_receives_the_span_of_the_capture_under_the_incoming_trace_and_its_steps_under_it(
    collector: SpanCollector, tracing_for: MakeTracing
) -> None:
    capture(tracing_for({"LLM_OBSERVATORY_URL": collector.url}))
    assert collector.paths == ["/v1/traces"]
    spans = collector.spans()
    assert [span.name for span in spans] == [*STEPS, "capture"]
    assert {span.trace_id.hex() for span in spans} == {TRACE.trace_id}
    *steps, whole = spans
    assert whole.parent_span_id.hex() == TRACE.span_id
    assert {step.parent_span_id for step in steps} == {whole.span_id}
    assert [step.kind for step in steps] == [Span.SPAN_KIND_INTERNAL, Span.SPAN_KIND_INTERNAL, Span.SPAN_KIND_CLIENT]
    assert whole.kind == Span.SPAN_KIND_SERVER
    first, *_, last = steps
    assert whole.start_time_unix_nano <= first.start_time_unix_nano <= last.end_time_unix_nano
    assert last.end_time_unix_nano <= whole.end_time_unix_nano
    assert all(span.status.code == Status.STATUS_CODE_UNSET for span in spans)
    assert [attributes(span) for span in (*spans[:2], whole)] == [{"conversation_memory.execution_ref": REF}] * 3
    assert attributes(spans[2]) == {
        "conversation_memory.execution_ref": REF,
        "conversation_memory.duplicate": False,
        "conversation_memory.turns": 10,
        "conversation_memory.bytes": 6400,
    }
    assert collector.resource()["service.name"] == "conversation-memory-agent"


@pytest.mark.parametrize("variable", ["OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"])
def test_the_standard_variables_name_a_collector_too(
    variable: str, collector: SpanCollector, tracing_for: MakeTracing
) -> None:
    suffix = "/custom" if variable.endswith("TRACES_ENDPOINT") else ""
    capture(tracing_for({variable: collector.url + suffix, "OTEL_SERVICE_NAME": "memory-of-ours"}))
    assert collector.paths == [suffix or "/v1/traces"]
    assert collector.resource()["service.name"] == "memory-of-ours"


def test_a_connection_is_used_again_and_what_was_sent_is_not_sent_again(
    collector: SpanCollector, tracing_for: MakeTracing
) -> None:
    tracing = tracing_for({"LLM_OBSERVATORY_URL": collector.url})
    for _ in range(5):
        capture(tracing)
    spans = tracing.request(TRACE, REF)
    with spans.span("validate"):
        pass
    spans.end()
    spans.end()
    assert len(collector.spans()) == 5 * 4 + 2
    assert len(collector.connections) == 1


@pytest.mark.parametrize("trace", [None, TraceContext(TRACE.trace_id, None, sampled=True)])
def test_without_an_incoming_span_the_capture_is_a_root(
    trace: TraceContext | None, collector: SpanCollector, tracing_for: MakeTracing
) -> None:
    capture(tracing_for({"LLM_OBSERVATORY_URL": collector.url}), trace)
    *steps, whole = collector.spans()
    assert whole.parent_span_id == b""
    assert {step.parent_span_id for step in steps} == {whole.span_id}


def test_a_trace_that_is_not_sampled_is_not_exported(collector: SpanCollector, tracing_for: MakeTracing) -> None:
    tracing = tracing_for({"LLM_OBSERVATORY_URL": collector.url})
    capture(tracing, UNSAMPLED)
    assert collector.bodies == []
    capture(tracing)
    assert len(collector.spans()) == 4


@pytest.mark.parametrize(
    ("error", "error_type", "status"),
    [
        (ValidationError(CANARY), "VALIDATION_ERROR", Status.STATUS_CODE_UNSET),
        (StoreConnectionError(CANARY), "RUVECTOR_CONNECTION_ERROR", Status.STATUS_CODE_ERROR),
        (InternalError(CANARY), "INTERNAL_ERROR", Status.STATUS_CODE_ERROR),
        (ValueError(CANARY), "ValueError", Status.STATUS_CODE_ERROR),
        (SystemExit(CANARY), "SystemExit", Status.STATUS_CODE_ERROR),
    ],
)
def test_a_step_that_fails_tells_the_type_of_its_error_and_nothing_else_of_it(
    error: BaseException, error_type: str, status: int, collector: SpanCollector, tracing_for: MakeTracing
) -> None:
    spans = tracing_for({"LLM_OBSERVATORY_URL": collector.url}).request(TRACE, REF)
    with pytest.raises(type(error)) as caught, spans.span("append"):
        raise error
    assert caught.value is error
    spans.end()
    span, _ = collector.spans()
    assert attributes(span)["error.type"] == error_type
    assert span.status.code == status
    assert (span.status.message, list(span.events)) == ("", [])
    assert b"canary" not in collector.bodies[0]


def test_an_attribute_that_is_no_id_and_no_count_is_told_by_its_type(
    collector: SpanCollector, tracing_for: MakeTracing
) -> None:
    spans = tracing_for({"LLM_OBSERVATORY_URL": collector.url}).request(TRACE, REF)
    spans.set(turns=1)  # no span is open: nothing to put it on
    with spans.span("validate"):
        spans.set(turns=2, content=CANARY)
    spans.end()
    assert attributes(collector.spans()[0])["conversation_memory.content"] == "<str>"
    assert attributes(collector.spans()[0])["conversation_memory.turns"] == 2
    assert b"canary" not in collector.bodies[0]


def test_a_step_inside_another_is_its_sibling_and_takes_the_attributes_while_it_is_open(
    collector: SpanCollector, tracing_for: MakeTracing
) -> None:
    spans = tracing_for({"LLM_OBSERVATORY_URL": collector.url}).request(TRACE, REF)
    with spans.span("build"):
        with spans.span("validate"):
            spans.set(turns=1)
        spans.set(bytes=2)
    spans.end()
    inner, outer, _ = collector.spans()
    assert (inner.name, outer.name) == ("validate", "build")
    assert attributes(inner)["conversation_memory.turns"] == 1
    assert attributes(outer)["conversation_memory.bytes"] == 2


@pytest.mark.parametrize("status", [302, 400, 404, 429, 500, 503])
def test_a_collector_that_refuses_is_left_alone_after_three_times_and_tried_again_later(
    status: int,
    collector: SpanCollector,
    tracing_for: MakeTracing,
    clock: Clock,
    log: RecordedLog,
    caplog: pytest.LogCaptureFixture,
) -> None:
    collector.status = status
    collector.headers = {"Retry-After": "30", "Location": f"{collector.url}/elsewhere"}
    tracing = tracing_for({"LLM_OBSERVATORY_URL": collector.url})
    assert max(capture(tracing) for _ in range(5)) < BOUNDED_S
    assert len(collector.bodies) == 3
    collector.status = 200
    clock.now += 31
    assert capture(tracing) < BOUNDED_S
    assert len(collector.bodies) == 4
    assert [(entry["message"], entry["spans_dropped"]) for entry in log.entries() if "spans_dropped" in entry] == [
        (PAUSED, 12),
        ("telemetry resumed", 20),
    ]
    # The exporter's own log lines repeat the collector's text.
    assert foreign(caplog) == []


def test_a_collector_that_asks_to_be_asked_again_at_once_is_asked_within_the_bound(
    collector: SpanCollector, tracing_for: MakeTracing
) -> None:
    collector.status = 429
    collector.headers = {"Retry-After": "0"}
    assert capture(tracing_for({"LLM_OBSERVATORY_URL": collector.url})) < BOUNDED_S


def test_a_collector_that_answers_at_length_is_cut_off(collector: SpanCollector, tracing_for: MakeTracing) -> None:
    collector.body = b"x" * 5_000_000
    tracing = tracing_for({"LLM_OBSERVATORY_URL": collector.url})
    assert max(capture(tracing) for _ in range(2)) < BOUNDED_S
    assert len(collector.bodies) == 2
    assert len(collector.connections) == 2


def test_nobody_at_the_address_costs_no_request_its_answer(
    tracing_for: MakeTracing, log: RecordedLog, caplog: pytest.LogCaptureFixture
) -> None:
    tracing = tracing_for({"LLM_OBSERVATORY_URL": refusing_url()})
    assert max(capture(tracing) for _ in range(5)) < BOUNDED_S
    assert log.messages() == [PAUSED]
    assert foreign(caplog) == []


@pytest.mark.parametrize("trickle", [False, True])
def test_a_collector_that_accepts_and_never_comes_to_an_end_costs_two_seconds_three_times(
    trickle: bool,
    stuck_peer: Callable[..., StuckPeer],
    tracing_for: MakeTracing,
    clock: Clock,
    log: RecordedLog,
) -> None:
    peer = stuck_peer(trickle=trickle)
    tracing = tracing_for({"LLM_OBSERVATORY_URL": peer.url})
    capture(tracing, UNSAMPLED)  # pays for the import of the SDK
    times = [capture(tracing) for _ in range(5)]
    assert max(times) < BOUNDED_S
    assert min(times[:3]) > 1.2
    assert log.messages() == [PAUSED]
    accepted = peer.accepted
    capture(tracing)
    assert peer.accepted == accepted
    clock.now += 31
    assert capture(tracing) < BOUNDED_S
    assert peer.accepted == accepted + 1


def test_the_steps_name_their_own_place_in_the_trace_for_who_is_called_in_them(
    collector: SpanCollector, tracing_for: MakeTracing
) -> None:
    callers = f"00-{TRACE.trace_id}-{TRACE.span_id}-01"
    tracing = tracing_for({"LLM_OBSERVATORY_URL": collector.url})
    spans = tracing.request(TRACE, REF, callers)
    assert (spans.traceparent, spans.trace) == (callers, None)
    with spans.span("append"):
        inside, own = spans.traceparent, spans.trace
    spans.end()
    append, whole = collector.spans()
    assert inside == f"00-{TRACE.trace_id}-{append.span_id.hex()}-01"
    assert own == TraceContext(TRACE.trace_id, whole.span_id.hex(), sampled=True)


def test_a_trace_that_is_not_sampled_goes_on_as_such(collector: SpanCollector, tracing_for: MakeTracing) -> None:
    spans = tracing_for({"LLM_OBSERVATORY_URL": collector.url}).request(UNSAMPLED, REF)
    with spans.span("append"):
        assert str(spans.traceparent).startswith(f"00-{TRACE.trace_id}-")
        assert str(spans.traceparent).endswith("-00")
    spans.end()
    assert collector.bodies == []


@pytest.mark.parametrize(
    ("error", "status", "code"),
    [(ValidationError(CANARY), 400, Status.STATUS_CODE_UNSET), (InternalError(CANARY), 500, Status.STATUS_CODE_ERROR)],
)
def test_the_span_of_the_request_tells_what_came_of_it_though_no_step_was_made(
    error: ValidationError | InternalError, status: int, code: int, collector: SpanCollector, tracing_for: MakeTracing
) -> None:
    spans = tracing_for({"LLM_OBSERVATORY_URL": collector.url}).request(TRACE, REF)
    spans.answered(status, error)
    spans.end()
    (whole,) = collector.spans()
    told = attributes(whole)
    assert (told["error.type"], told["http.response.status_code"]) == (error.error_code, status)
    assert whole.status.code == code
    assert b"canary" not in collector.bodies[0]


def test_the_conversation_is_named_on_the_span_of_the_request_and_tokens_where_there_are_any(
    collector: SpanCollector, tracing_for: MakeTracing
) -> None:
    tracing = tracing_for({"LLM_OBSERVATORY_URL": collector.url})
    for tokens in ((12, 4), (None, None)):
        spans = tracing.request(TRACE, REF)
        with spans.span("build"):
            spans.conversation(REF, input_tokens=tokens[0], output_tokens=tokens[1])
        spans.end()
    _, with_tokens, _, without = (attributes(span) for span in collector.spans())
    named = {"conversation_memory.execution_ref": REF, "gen_ai.conversation.id": REF}
    assert with_tokens == {**named, "gen_ai.usage.input_tokens": 12, "gen_ai.usage.output_tokens": 4}
    assert without == named


def test_no_span_ends_before_it_begins_though_the_clock_is_put_back(collector: SpanCollector) -> None:
    wall, steady = iter([5_000_000_000, 1]), itertools.count(100, 10)
    destinations = destinations_for({"LLM_OBSERVATORY_URL": collector.url}, Clock(), {})
    capture(Tracing(destinations, name="capture", wall_ns=lambda: next(wall), steady_ns=lambda: next(steady)))
    destinations.close()
    *steps, whole = collector.spans()
    times = [(span.start_time_unix_nano, span.end_time_unix_nano) for span in steps]
    assert [end - start for start, end in times] == [10, 10, 10]
    assert whole.start_time_unix_nano == 5_000_000_010
    assert whole.start_time_unix_nano <= min(times)[0]
    assert max(times)[1] <= whole.end_time_unix_nano
