"""The real function host told to end in bad moments, and with more than one worker: every count is there, once."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from tests.live.collector import Collector, collecting
from tests.live.host import FunctionHost, function_host, stub_store
from tests.live.payloads import encoded, own_session
from tests.observability.peers import StuckPeer

pytestmark = pytest.mark.slow

CAPTURES = "conversation_memory.captures"


def post(host: FunctionHost) -> int:
    return httpx.post(host.url, content=encoded(own_session()), timeout=30).status_code


def counted(collector: Collector) -> dict[str, float]:
    """What each instance has captured, as it said at last."""
    return {point.resource["service.instance.id"]: point.value for point in collector.points if point.name == CAPTURES}


@pytest.mark.parametrize("to_all", [False, True], ids=["to the host", "to the whole process group"])
def test_the_last_counts_are_there_though_the_signal_comes_twice(to_all: bool, tmp_path: Path) -> None:
    with collecting() as collector, stub_store() as store:
        with function_host(tmp_path, store=store.url, LLM_OBSERVATORY_URL=collector.url) as host:
            assert [post(host) for _ in range(3)] == [200] * 3
            for _ in range(2):
                (os.killpg if to_all else os.kill)(host.process.pid, signal.SIGTERM)
            assert host.process.wait(10) == 0
        assert list(counted(collector).values()) == [3]


@pytest.mark.parametrize("trickle", [False, True])
def test_a_capture_whose_spans_are_being_sent_is_answered_when_the_host_is_told_to_end(
    trickle: bool, tmp_path: Path, stuck_peer: Callable[..., StuckPeer]
) -> None:
    peer = stuck_peer(trickle=trickle)
    # Long enough for the signal to come in the middle of it.
    told = {"LLM_OBSERVATORY_URL": peer.url, "TELEMETRY_BUDGET_MS": "3000"}
    with stub_store() as store, function_host(tmp_path, store=store.url, **told) as host:
        with ThreadPoolExecutor() as pool:
            answer = pool.submit(post, host)
            while not peer.accepted:
                threading.Event().wait(0.01)
                assert not answer.done()
            host.process.send_signal(signal.SIGTERM)
            assert answer.result() == 200
        assert host.process.wait(10) == 0


def test_two_workers_of_one_host_are_two_instances_whose_counts_add_up(tmp_path: Path) -> None:
    workers = {"WORKERS": "2", "THREADS": "1"}
    with collecting() as collector, stub_store() as store:
        with function_host(tmp_path, store=store.url, LLM_OBSERVATORY_URL=collector.url, **workers) as host:
            sent = 0
            while sent < 400 and len(counted(collector)) < 2:
                with ThreadPoolExecutor(8) as pool:
                    assert set(pool.map(lambda _: post(host), range(20))) == {200}
                sent += 20
            host.process.send_signal(signal.SIGTERM)
            assert host.process.wait(10) == 0
        counts = counted(collector)
        assert (len(counts), sum(counts.values())) == (2, sent)


def test_methods_paths_and_formats_that_nobody_knows_make_no_series(tmp_path: Path) -> None:
    with collecting() as collector, stub_store() as store:
        for target in ("handler", "capture_event", "recall"):
            with function_host(
                tmp_path, store=store.url, target=target, LLM_OBSERVATORY_URL=collector.url
            ) as host, httpx.Client(base_url=host.url, timeout=30) as client:  # fmt: skip
                for number in range(6):
                    client.request(f"BREW{number}", "/")
                    client.get(f"/api/canary-{number}")
                    client.get(f"/api/conversation/canary-{number}/canary-{number}")
                    client.get(f"/api/conversation/canary-{number}?canary-{number}=canary-{number}")
                    client.post(f"/?format=canary-{number}", content=b"{}", headers={"Idempotency-Key": f"c-{number}"})
                    client.post("/", content=b"{", headers={"ce-type": f"canary-{number}"})
                host.process.send_signal(signal.SIGTERM)
                host.process.wait(10)
        said = {str(value) for point in collector.points for value in point.attributes.values()}
        assert {"http", "event", "refused", "VALIDATION_ERROR"} <= said
        assert not [value for value in said if any(sign in value for sign in ("canary", "BREW", "/"))]
        assert len({tuple(sorted(point.attributes.items())) for point in collector.points}) < 20
