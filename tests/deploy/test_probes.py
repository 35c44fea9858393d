"""The probes of deploy/service.yaml: what they ask is there, and a store that is away or slow costs no instance."""

from __future__ import annotations

import socket
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml

from agent import config
from tests.conftest import REPOSITORY
from tests.live.host import free_port, function_host
from tests.live.payloads import BASE_TEXT

KEY = "caller-key-0123456789"


def probes() -> dict[str, dict[str, Any]]:
    """Each probe of the service by its name."""
    written = yaml.safe_load((REPOSITORY / "deploy/service.yaml").read_text())
    (container,) = written["spec"]["template"]["spec"]["containers"]
    return {name: value for name, value in container.items() if name.endswith("Probe")}


def test_they_keep_to_what_cloud_run_takes() -> None:
    assert set(probes()) == {"startupProbe", "livenessProbe"}
    for probe in probes().values():
        assert probe["timeoutSeconds"] <= probe["periodSeconds"]
    startup = probes()["startupProbe"]
    assert startup["periodSeconds"] * startup["failureThreshold"] <= 240


def test_an_instance_has_longer_to_answer_than_a_thread_may_wait_for_the_store() -> None:
    assert probes()["livenessProbe"]["timeoutSeconds"] > config._LONGEST_DEADLINE_S


@pytest.mark.slow
def test_an_instance_whose_store_is_away_passes_and_needs_no_key_for_it(tmp_path: Path) -> None:
    away = f"http://127.0.0.1:{free_port()}"
    with function_host(tmp_path, store=away, CAPTURE_API_KEYS=KEY) as host:
        assert httpx.get(f"{host.url}/health", timeout=30).status_code == 503
        for probe in probes().values():
            assert httpx.get(host.url + probe["httpGet"]["path"], timeout=30).status_code == 200


@pytest.mark.slow
def test_an_instance_whose_threads_all_wait_for_a_store_that_hangs_passes(tmp_path: Path) -> None:
    probe = probes()["livenessProbe"]
    with socket.create_server(("127.0.0.1", 0)) as hanging, ThreadPoolExecutor(4) as callers:
        store = f"http://127.0.0.1:{hanging.getsockname()[1]}"
        with function_host(tmp_path, store=store, THREADS="2", RUVECTOR_DEADLINE_S="1") as host:
            captures = [callers.submit(httpx.post, host.url, content=BASE_TEXT, timeout=60) for _ in range(4)]
            answer = httpx.get(host.url + probe["httpGet"]["path"], timeout=probe["timeoutSeconds"])
            assert answer.status_code == 200
            assert [capture.result().status_code for capture in captures] == [502] * 4
