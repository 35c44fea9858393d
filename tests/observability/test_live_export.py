"""The real function host against a real receiver: what is there when the process is gone, and what it waits for."""

from __future__ import annotations

import json
import os
import signal
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from agent.observability.budget import DEFAULT_MS
from tests.live.collector import Collector, collecting
from tests.live.host import FunctionHost, Reply, StubStore, function_host, stub_store
from tests.live.payloads import base, encoded, own_session
from tests.observability.peers import SpanCollector, StuckPeer, refusing_url

pytestmark = pytest.mark.slow

SCOPE = "conversation_memory"
# A capture that waits for nobody, on a machine that is busy with other things, and the budget of a fifth of a second.
HELD_S = 2.0


def post(host: FunctionHost, payload: Any = None, **headers: str) -> httpx.Response:
    return httpx.post(host.url, content=encoded(payload or own_session()), headers=headers, timeout=30)


def ended_by_sigterm(host: FunctionHost) -> int:
    """The exit code; the platform waits for ten seconds."""
    host.process.send_signal(signal.SIGTERM)
    return host.process.wait(10)


def test_a_span_is_there_though_the_process_group_is_killed_as_soon_as_the_answer_came(tmp_path: Path) -> None:
    trace = uuid.uuid4().hex
    with collecting() as collector, stub_store() as store:
        with function_host(tmp_path, store=store.url, LLM_OBSERVATORY_URL=collector.url) as host:
            answer = post(host, base(), traceparent=f"00-{trace}-00f067aa0ba902b7-01", tracestate="vendor=secret")
            host.kill()
        assert answer.status_code == 200
        spans = {span.name: span for span in collector.spans}
        assert set(spans) == {"capture", "validate", "build", "append"}
        assert {span.trace_id.hex() for span in spans.values()} == {trace}
        whole = {each.key: each.value for each in spans["capture"].attributes}
        assert whole["gen_ai.conversation.id"].string_value == base()["conversation_id"]
        assert whole["gen_ai.usage.input_tokens"].int_value == 12
        assert whole["gen_ai.usage.output_tokens"].int_value == 4
        assert whole["http.response.status_code"].int_value == 200
        # The first request of a process sends its metrics, too.
        assert collector.value(f"{SCOPE}.captures", outcome="captured", trigger="http") == 1
        (sent,) = store.writes
        assert sent.headers["traceparent"] == f"00-{trace}-{spans['append'].span_id.hex()}-01"
        assert "tracestate" not in {name.lower() for name in sent.headers}


def test_the_last_counts_are_there_after_a_sigterm(tmp_path: Path) -> None:
    with collecting() as collector, stub_store() as store:
        with function_host(tmp_path, store=store.url, LLM_OBSERVATORY_URL=collector.url) as host:
            for _ in range(5):
                assert post(host).status_code == 200
            assert post(host, {"turns": []}).status_code == 400
            assert ended_by_sigterm(host) == 0
        assert collector.value(f"{SCOPE}.captures", outcome="captured", trigger="http") == 5
        refused = {"outcome": "refused", "trigger": "http", "error_type": "VALIDATION_ERROR"}
        assert collector.value(f"{SCOPE}.captures", **refused) == 1


def test_a_failure_of_the_store_is_seen_in_its_span_its_metrics_and_its_log_line(tmp_path: Path) -> None:
    with collecting() as collector, stub_store() as store:
        store.reply = lambda _: Reply(500, b"{}")
        with function_host(tmp_path, store=store.url, LLM_OBSERVATORY_URL=collector.url) as host:
            assert post(host).status_code == 502
            (line,) = [line for line in host.log_lines() if line["message"] == "request failed"]
        whole = next(span for span in collector.spans if span.name == "capture")
        told = {each.key: each.value for each in whole.attributes}
        assert told["error.type"].string_value == "RUVECTOR_WRITE_ERROR"
        assert told["http.response.status_code"].int_value == 502
        # Nobody sent a trace: the log names the one that began here.
        assert (line["trace"], line["logging.googleapis.com/spanId"]) == (whole.trace_id.hex(), whole.span_id.hex())
        failed = {"outcome": "failed", "trigger": "http", "error_type": "RUVECTOR_WRITE_ERROR"}
        assert collector.value(f"{SCOPE}.captures", **failed) == 1
        assert collector.value(f"{SCOPE}.store.duration", outcome="failed") == 1


@pytest.mark.parametrize("sent", ["00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-03", "nonsense"])
def test_without_telemetry_the_callers_own_trace_is_passed_on_as_it_is(sent: str, tmp_path: Path) -> None:
    with stub_store() as store, function_host(tmp_path, store=store.url) as host:
        assert post(host, traceparent=sent).status_code == 200
        assert store.writes[0].headers.get("traceparent") == (None if sent == "nonsense" else sent)


MISBEHAVING: dict[str, Callable[[SpanCollector], None]] = {
    "500": lambda peer: setattr(peer, "status", 500),
    "429": lambda peer: peer.__dict__.update(status=429, headers={"Retry-After": "0"}),
    "a redirect": lambda peer: peer.__dict__.update(status=302, headers={"Location": f"{peer.url}/elsewhere"}),
    "garbage": lambda peer: setattr(peer, "body", os.urandom(1000)),
    "ten megabytes": lambda peer: setattr(peer, "body", b"x" * 10_000_000),
}


@pytest.mark.parametrize("how", MISBEHAVING)
def test_a_collector_that_answers_badly_costs_no_capture_more_than_the_budget(
    how: str, tmp_path: Path, collector: SpanCollector
) -> None:
    MISBEHAVING[how](collector)
    with stub_store() as store:
        # It answers at once: the bound is not to be met, on a busy machine neither.
        six_captures(tmp_path, store, collector.url, budget_ms=1000)
    takes = how in {"garbage", "ten megabytes"}
    assert len(collector.bodies) == (6 if takes else 3)


def test_a_collector_that_is_down_costs_no_capture_more_than_the_budget(tmp_path: Path) -> None:
    with stub_store() as store:
        six_captures(tmp_path, store, refusing_url())


@pytest.mark.parametrize("trickle", [False, True])
def test_a_collector_that_never_comes_to_an_end_costs_three_captures_the_budget_and_no_exit_ten_seconds(
    trickle: bool, tmp_path: Path, stuck_peer: Callable[..., StuckPeer]
) -> None:
    peer = stuck_peer(trickle=trickle)
    with stub_store() as store:
        six_captures(tmp_path, store, peer.url)
    assert 3 <= peer.accepted <= 6  # an exporter that was left alone may try once more


def six_captures(folder: Path, store: StubStore, url: str, *, budget_ms: int = DEFAULT_MS) -> None:
    """Six captures with this collector, each kept, each answered in time; then the process ends when it is told to."""
    told = {"LLM_OBSERVATORY_URL": url, "TELEMETRY_BUDGET_MS": str(budget_ms)}
    with function_host(folder, store=store.url, **told) as host:
        answers = [post(host) for _ in range(6)]
        assert ended_by_sigterm(host) == 0
        assert [answer.status_code for answer in answers] == [200] * 6
        assert max(answer.elapsed.total_seconds() for answer in answers) < HELD_S
        assert len(store.writes) == 6
        assert len([line for line in host.log_lines() if line["message"] == "capture acknowledged"]) == 6


def test_two_functions_say_which_one_they_are(tmp_path: Path) -> None:
    session = own_session()
    store = f"embedded:{tmp_path / 'memory.db'}"
    with collecting() as collector:
        with function_host(
            tmp_path, store=store, LLM_OBSERVATORY_URL=collector.url, OTEL_SERVICE_NAME="memory"
        ) as host:
            assert post(host, session).status_code == 200
            assert ended_by_sigterm(host) == 0
        with function_host(
            tmp_path, store=store, target="recall", LLM_OBSERVATORY_URL=collector.url, OTEL_SERVICE_NAME="recall"
        ) as host:
            read = httpx.get(f"{host.url}/api/conversation/{session['session_id']}", timeout=30)
            assert (read.status_code, len(json.loads(read.content)["messages"])) == (200, 2)
            assert ended_by_sigterm(host) == 0
        assert services(collector, f"{SCOPE}.captures") == {"memory"}
        assert services(collector, f"{SCOPE}.recalls") == {"recall"}
        assert collector.value(f"{SCOPE}.recalls", operation="conversation", outcome="answered") == 1
        assert {"recall", "load"} <= {span.name for span in collector.spans}


def services(collector: Collector, name: str) -> set[str]:
    return {point.resource["service.name"] for point in collector.points if point.name == name}
