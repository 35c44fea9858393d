"""The real function host: what ``handler`` has captured, ``recall`` reads back from the same store file.

Secrets stand wherever a caller can put one, and the logs of both say nothing of them.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import pytest

from agent.core.ids import session_uuid
from tests.leak_watch import SECRET
from tests.live.collector import Collector, collecting
from tests.live.host import FunctionHost, function_host
from tests.planted_capture import MEMORY, SESSION, payload, turn

pytestmark = pytest.mark.slow

TRACE, SPAN = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
TRACED = {"traceparent": f"00-{TRACE}-{SPAN}-01"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("recall")


@pytest.fixture(scope="module")
def collector() -> Iterator[Collector]:
    with collecting() as running:
        yield running


@pytest.fixture(scope="module")
def hosts(folder: Path, collector: Collector) -> Iterator[tuple[FunctionHost, FunctionHost]]:
    """The two functions, each in its own process, on one store file."""
    store = f"embedded:{folder / 'memory.db'}"
    variables = {"LLM_OBSERVATORY_URL": collector.url, "LOG_LEVEL": "DEBUG"}
    with (
        function_host(folder, store=store, **variables) as capture,
        function_host(folder, store=store, target="recall", **variables) as recall,
    ):
        captured = httpx.post(capture.url, json=payload(), timeout=30)
        assert captured.status_code == 200, captured.text
        assert captured.json()["receipt"]["turns"]["new"] == 5
        yield capture, recall


@pytest.fixture
def recall(hosts: tuple[FunctionHost, FunctionHost]) -> FunctionHost:
    return hosts[1]


def ask(host: FunctionHost, path: str = "", **params: Any) -> httpx.Response:
    url = f"{host.url}/api/conversation/{quote(SESSION, safe='')}{path}"
    return httpx.get(url, params=params, headers=TRACED, timeout=30)


def lines_of(host: FunctionHost, message: str, operation: str | None = None) -> list[dict[str, Any]]:
    found = [line for line in host.log_lines() if line["message"] == message]
    return [line for line in found if operation is None or line["operation"] == operation]


def test_what_was_captured_is_read_back(recall: FunctionHost) -> None:
    answer = ask(recall)
    assert answer.status_code == 200, answer.text
    assert [(message["role"], message["content"]) for message in answer.json()["messages"]] == [
        (each["role"], each["content"]) for each in payload()["turns"]
    ]
    state = ask(recall, "/state").json()
    folded = ("params", "waiting_for_param", "last_intent_id", "last_result", "plan_execution")
    assert {name: state[name] for name in folded} == {name: MEMORY[name] for name in folded}


def test_what_one_process_captures_the_other_answers_at_once(hosts: tuple[FunctionHost, FunctionHost]) -> None:
    capture, recall = hosts
    session = str(uuid.uuid4())
    for number in range(3):
        said = {"session_id": session, "conversation_id": session, "turns": [turn(number, "user", f"say {number}")]}
        answer = httpx.post(capture.url, json={**said, "capture_options": {"derive_ids": True}}, timeout=30)
        assert answer.status_code == 200, answer.text
        read = httpx.get(f"{recall.url}/api/conversation/{session}", timeout=30).json()
        assert [message["content"] for message in read["messages"]] == [f"say {each}" for each in range(number + 1)]


def test_a_hydration_is_told_in_two_stages_and_what_it_loaded(recall: FunctionHost) -> None:
    url = f"{recall.url}/api/conversation/{quote(SESSION, safe='')}/hydrate"
    answer = httpx.post(url, json={"user_message": f"Tomorrow, {SECRET}"}, headers=TRACED, timeout=30)
    assert answer.status_code == 200, answer.text
    for stage in ("received", "respond"):
        line = lines_of(recall, stage, "hydrate")[-1]
        assert line["stage"] == stage
        assert line["session_id"] == session_uuid(SESSION)
        assert line["memory"]["params_keys"] == ["order_id"]
        assert line["memory"]["params_others"] == 2
        assert line["memory"]["history_count"] == 5
        assert line["waiting_for_param"] == "delivery_date"
    loaded = lines_of(recall, "conversation_context_loaded")[-1]
    assert (loaded["trace_id"], loaded["session_id"]) == (TRACE, session_uuid(SESSION))
    assert loaded["total_messages_in_db"] == 5
    assert loaded["messages_loaded"] == 5
    assert loaded["messages_truncated"] == 0
    assert loaded["estimated_tokens"] > 10


PATHS = ["", "/state", "/summary", "/insights", "/stats", "/graph", "/export"]


def test_no_answer_and_no_refusal_of_either_leaves_a_secret_in_a_log_or_a_span(
    hosts: tuple[FunctionHost, FunctionHost], collector: Collector
) -> None:
    capture, recall = hosts
    for path in PATHS:
        assert ask(recall, path).status_code == 200, path
    for form in ("openai-chat", "anthropic", "langchain"):
        assert ask(recall, format=form).status_code in {200, 400}
    refused = [
        ask(recall, format=SECRET),
        ask(recall, leaf=SECRET, conversation_id=SECRET),
        ask(recall, limit=SECRET),
        ask(recall, **{SECRET: SECRET}),
        ask(recall, f"/{SECRET}"),
        httpx.get(f"{recall.url}/api/conversation/{SECRET}", timeout=60),
        httpx.get(f"{recall.url}/{SECRET}", timeout=60),
        httpx.post(f"{recall.url}/api/conversation/{SECRET}/hydrate", content=f'{{"{SECRET}": "{SECRET}"', timeout=60),
        httpx.post(f"{recall.url}/api/conversation/{SECRET}/hydrate", json={"user_message": [SECRET]}, timeout=60),
        httpx.post(capture.url, json={**payload(), "session_id": [SECRET]}, timeout=60),
        httpx.post(capture.url, content=f'{{"{SECRET}": {SECRET}', timeout=60),
    ]
    assert [answer.status_code // 100 for answer in refused] == [4] * len(refused)
    found = httpx.get(f"{recall.url}/api/conversations", params={"user_id": SECRET}, timeout=30)
    assert [session["session_id"] for session in found.json()["sessions"]] == [session_uuid(SESSION)]
    assert SECRET in json.dumps(found.json())
    assert {span.name for span in collector.spans} >= {"validate", "build", "append", "load", "respond"}
    assert len(lines_of(capture, "capture acknowledged")) >= 1
    assert len(lines_of(recall, "request refused")) >= 8
    for host in hosts:
        assert SECRET not in host.log
        assert "ann@example" not in host.log
    assert all(SECRET.encode() not in body and b"ann@example" not in body for body in collector.raw)
