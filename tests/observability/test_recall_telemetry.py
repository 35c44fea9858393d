"""What a request of a reader says of itself: three lines and two spans of ids, counts and names."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from agent.core.ids import session_uuid
from agent.core.memory import Memory
from agent.errors import ConfigurationError, InternalError, StoreNotFound
from agent.observability.recall_telemetry import RecallTelemetry
from tests.observability.conftest import RecordedLog
from tests.observability.peers import SpanCollector

REF = "3f0c9a1e-0000-4000-8000-000000000001"
SESSION = "6f1d2c3a-8b4e-4f70-9a51-0c2d3e4f5a61"
TRACE, SPAN = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
HEADERS = {"HTTP_TRACEPARENT": f"00-{TRACE}-{SPAN}-01"}
CANARY = "canary my password is hunter2"
MEMORY = Memory(params={"order_id": CANARY, "city": CANARY}, waiting_for_param="delivery_date", last_intent_id=CANARY)


def entries(log: RecordedLog) -> list[dict[str, Any]]:
    """What was logged, without the instants."""
    return [{name: value for name, value in entry.items() if name != "time"} for entry in log.entries()]


def attributes(span: Any) -> dict[str, Any]:
    return {each.key: getattr(each.value, each.value.WhichOneof("value") or "") for each in span.attributes}


def test_the_stages_carry_counts_and_names_and_the_name_that_is_waited_for(log: RecordedLog) -> None:
    request = RecallTelemetry.from_env({}).begin({}, REF)
    request.received("hydrate", SESSION, memory=MEMORY, history_count=12)
    request.respond("hydrate", SESSION, memory=MEMORY, history_count=10)
    told = {
        "severity": "INFO",
        "operation": "hydrate",
        "session_id": SESSION,
        "waiting_for_param": "delivery_date",
        "execution_ref": REF,
    }
    memory = {"params_keys": ["city", "order_id"]}
    assert entries(log) == [
        {"message": "received", "stage": "received", "memory": {"history_count": 12, **memory}, **told},
        {"message": "respond", "stage": "respond", "memory": {"history_count": 10, **memory}, **told},
    ]
    assert "canary" not in log.text


def test_a_session_without_state_has_no_names(log: RecordedLog) -> None:
    request = RecallTelemetry.from_env({}).begin({}, REF)
    request.received("history", SESSION, memory=Memory(), history_count=0)
    (entry,) = log.entries()
    assert entry["memory"] == {"history_count": 0, "params_keys": []}
    assert "waiting_for_param" not in entry


def test_a_name_that_may_be_a_value_is_counted_and_not_told(log: RecordedLog) -> None:
    memory = Memory(params={"4111 1111 1111 1111": 1, "order_id": 2, CANARY: 3}, waiting_for_param=CANARY)
    RecallTelemetry.from_env({}).begin({}, REF).received("state", SESSION, memory=memory, history_count=1)
    (entry,) = log.entries()
    assert entry["memory"] == {"history_count": 1, "params_keys": ["order_id"], "params_others": 2}
    assert entry["waiting_for_param"] == "<str>"


@pytest.mark.parametrize("native", ["ann@example.org", "canary 7", "GPT", "6F1D2C3A-8B4E-4F70-9A51-0C2D3E4F5A61"])
def test_a_session_is_named_by_its_uuid_never_by_a_text_of_its_caller(native: str, log: RecordedLog) -> None:
    request = RecallTelemetry.from_env({}).begin({}, REF)
    request.received("history", native, memory=Memory(), history_count=0)
    request.context_loaded(native, total_messages=0, contents=())
    request.respond("history", native, memory=Memory(), history_count=0)
    assert [entry["session_id"] for entry in log.entries()] == [session_uuid(native)] * 3
    assert native not in log.text


def test_the_context_is_told_in_numbers(log: RecordedLog) -> None:
    request = RecallTelemetry.from_env({"GOOGLE_CLOUD_PROJECT": "memory-prod"}).begin(HEADERS, REF)
    request.context_loaded(SESSION, total_messages=120, contents=iter([CANARY, None, "订单号"]))
    assert entries(log) == [
        {
            "severity": "INFO",
            "message": "conversation_context_loaded",
            "trace_id": TRACE,
            "session_id": SESSION,
            "total_messages_in_db": 120,
            "messages_loaded": 3,
            "messages_truncated": 117,
            "estimated_tokens": 8 + 3,
            "execution_ref": REF,
            "trace": f"projects/memory-prod/traces/{TRACE}",
            "logging.googleapis.com/trace": f"projects/memory-prod/traces/{TRACE}",
            "logging.googleapis.com/spanId": SPAN,
        }
    ]


def test_without_a_trace_the_context_is_found_by_the_requests_own_reference(log: RecordedLog) -> None:
    RecallTelemetry.from_env({}).begin({}, REF).context_loaded(SESSION, total_messages=0, contents=())
    (entry,) = log.entries()
    assert entry["trace_id"] == REF.replace("-", "")
    assert "trace" not in entry


def test_a_message_that_came_meanwhile_is_not_a_truncation_below_zero(log: RecordedLog) -> None:
    RecallTelemetry.from_env({}).begin({}, REF).context_loaded(SESSION, total_messages=1, contents=["a", "b"])
    (entry,) = log.entries()
    assert (entry["messages_loaded"], entry["messages_truncated"]) == (2, 0)


def test_load_and_respond_are_children_of_the_callers_trace_with_ids_and_counts(collector: SpanCollector) -> None:
    telemetry = RecallTelemetry.from_env({"LLM_OBSERVATORY_URL": collector.url, "TELEMETRY_BUDGET_MS": "5000"})
    request = telemetry.begin(HEADERS, REF)
    with request.spans.span("load"):
        request.received("hydrate", SESSION, memory=MEMORY, history_count=3)
    with request.spans.span("respond"):
        request.context_loaded(SESSION, total_messages=3, contents=[CANARY, CANARY])
        request.respond("hydrate", SESSION, memory=MEMORY, history_count=2)
    request.end()
    telemetry.close()
    spans = collector.spans()
    assert [(span.name, span.trace_id.hex()) for span in spans] == [
        ("load", TRACE),
        ("respond", TRACE),
        ("recall", TRACE),
    ]
    shared = {
        "conversation_memory.execution_ref": REF,
        "conversation_memory.operation": "hydrate",
        "conversation_memory.session_id": SESSION,
    }
    assert attributes(spans[0]) == {**shared, "conversation_memory.history_count": 3}
    assert attributes(spans[1]) == {
        **shared,
        "conversation_memory.history_count": 2,
        "conversation_memory.total_messages_in_db": 3,
        "conversation_memory.messages_loaded": 2,
        "conversation_memory.messages_truncated": 1,
        "conversation_memory.estimated_tokens": 16,
    }
    assert b"canary" not in collector.bodies[0]


def test_a_refusal_and_a_failure_are_told_as_those_of_a_capture(log: RecordedLog) -> None:
    request = RecallTelemetry.from_env({}).begin(HEADERS, REF)
    request.failed(StoreNotFound(CANARY))
    request.failed(InternalError(CANARY))
    assert [(entry["message"], entry["status"], entry["execution_ref"], entry["trace"]) for entry in log.entries()] == [
        ("request refused", 404, REF, TRACE),
        ("request failed", 500, REF, TRACE),
    ]
    assert "canary" not in log.text


def broken() -> Iterator[str]:
    yield "a"
    raise RuntimeError(CANARY)


def test_nothing_of_it_raises_into_a_request(log: RecordedLog) -> None:
    request = RecallTelemetry.from_env({}).begin({}, REF)
    request.context_loaded(SESSION, total_messages=2, contents=broken())
    request.received("history", "\ud800", memory=Memory(), history_count=1)
    assert log.text == ""


def test_an_endpoint_that_is_no_url_is_refused_at_start() -> None:
    with pytest.raises(ConfigurationError):
        RecallTelemetry.from_env({"LLM_OBSERVATORY_URL": "observatory"})


def test_a_window_that_leaves_turns_out_is_told_in_numbers(log: RecordedLog) -> None:
    request = RecallTelemetry.from_env({}).begin(HEADERS, REF)
    request.context_pruned("ann@example.org", kept=35, dropped=10, tokens=3900, strategy="truncate")
    # Of a list that no session has.
    request.context_pruned(None, kept=1, dropped=2, tokens=30, strategy="hybrid")
    of_a_session, of_a_list = entries(log)
    told = {"severity": "INFO", "message": "context_pruned", "trace_id": TRACE, "execution_ref": REF}
    figures = {"kept": 35, "dropped": 10, "tokens": 3900, "strategy": "truncate"}
    assert of_a_session.items() >= (told | figures | {"session_id": session_uuid("ann@example.org")}).items()
    assert of_a_list.items() >= (told | {"kept": 1, "dropped": 2, "tokens": 30, "strategy": "hybrid"}).items()
    assert "session_id" not in of_a_list
