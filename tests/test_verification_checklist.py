"""The published verification checklist of the Conversation Memory Agent, one test an item."""

import json
import os
import subprocess
import sys
import uuid

import httpx
import jsonschema
import pytest

from tests.conftest import REPOSITORY, vectors
from tests.deploy import test_as_deployed
from tests.deploy.as_platform import IMAGE_DATE, deploy
from tests.live.collector import collecting
from tests.live.host import Reply, function_host, stub_store
from tests.live.payloads import base, encoded, own_session
from tests.live.stored import served, stored
from tests.published import check_response
from tests.strategies import fresh_payload


def post(host, payload, **more):
    answer = httpx.post(f"{host.url}/", content=encoded(payload), timeout=30, **more)
    check_response(answer)
    return answer


def test_inputs_are_validated_against_the_published_contract(tmp_path, published_schema):
    validator = jsonschema.Draft202012Validator({**published_schema, "$ref": "#/definitions/ConversationCaptureInput"})
    bad = [
        {},
        {**base(), "turns": []},
        {**base(), "session_id": 7},
        {**base(), "turns": [{"role": "user"}]},
        {**base(), "context": {"tags": "x"}},
    ]
    with stub_store() as store, function_host(tmp_path, store=store.url) as host:
        for payload in bad:
            assert not validator.is_valid(payload)
            assert post(host, payload).status_code == 400
        assert store.writes == []
        for vector in vectors():
            if not vector["input"].get("capture_options", {}).get("derive_ids"):
                assert validator.is_valid(vector["input"])
                answer = post(host, vector["input"]).json()
                for definition, part in (
                    ("ConversationCaptureOutput", answer["output"]),
                    ("DecisionEvent", answer["decision_event"]),
                ):
                    jsonschema.Draft202012Validator(
                        {**published_schema, "$ref": f"#/definitions/{definition}"}
                    ).validate(part)


def test_every_invocation_that_succeeds_sends_exactly_one_decision_event(tmp_path):
    with stub_store() as store, function_host(tmp_path, store=store.url) as host:
        for count in range(1, 6):
            answer = post(host, own_session())
            assert answer.status_code == 200
            assert len(store.writes) == count
            assert store.writes[-1].envelope["runId"] == answer.headers["x-execution-ref"]
        assert post(host, {}).status_code == 400
        assert len(store.writes) == 5


def test_the_decision_event_persists(tmp_path):
    payload = own_session()
    database = tmp_path / "memory.db"
    with function_host(tmp_path, store=f"embedded:{database}") as host:
        answer = post(host, payload)
        host.kill()
    with stored(database) as reader:
        envelope = reader.event(answer.json()["decision_event"]["execution_ref"])
        assert envelope["payload"]["inputs"] == payload
        assert envelope["position"] == answer.json()["receipt"]["position"]
        assert reader.events(payload["session_id"]) == [envelope]


def test_telemetry_arrives(tmp_path):
    trace = uuid.uuid4().hex
    with collecting() as collector, stub_store() as store:
        with function_host(tmp_path, store=store.url, LLM_OBSERVATORY_URL=collector.url) as host:
            payload = own_session()
            payload["turns"][0]["content"] = "CANARY-IN-CONTENT"
            assert post(host, payload, headers={"traceparent": f"00-{trace}-00f067aa0ba902b7-01"}).status_code == 200
        spans = [span for span in collector.spans if span.trace_id.hex() == trace]
        assert {span.name.rpartition(".")[2] for span in spans} >= {"validate", "build", "append"}
        assert not any(b"CANARY" in raw for raw in collector.raw)
        event = store.writes[0].envelope["payload"]
        assert {"duration_ms", "memory_bytes"} <= set(event["telemetry"])


def test_the_command_line_captures_and_shows_health(tmp_path):
    database = tmp_path / "memory.db"
    source = tmp_path / "payload.json"
    source.write_bytes(encoded(base()))
    environ = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    command = [sys.executable, "-m", "agent", "agent", "conversation-memory"]
    captured = subprocess.run(
        [*command, "capture", "--input", str(source), "--store", f"embedded:{database}", "--format", "json"],
        env=environ,
        cwd=tmp_path,
        capture_output=True,
        check=False,
    )
    assert captured.returncode == 0, captured.stderr.decode()
    assert json.loads(captured.stdout)["receipt"]["duplicate"] is False
    health = subprocess.run(
        [*command, "health", "--store", f"embedded:{database}", "--format", "json"],
        env=environ,
        cwd=tmp_path,
        capture_output=True,
        check=False,
    )
    assert health.returncode == 0, health.stderr.decode()
    assert json.loads(health.stdout)["status"] == "ok"


def test_the_graph_is_deterministic(tmp_path):
    payload = own_session()
    graphs = []
    for seed in ("0", "1"):
        with stub_store() as store, function_host(tmp_path, store=store.url, PYTHONHASHSEED=seed) as host:
            output = post(host, payload).json()["output"]
            graphs.append((output["nodes_created"], output["edges_created"]))
    assert graphs[0] == graphs[1]


def guarded(payloads, **env):
    """Run captures under an audit hook and return what they touched."""
    environ = {
        **{
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("RUVECTOR", "OTEL", "LLM_", "K_", "COV"))
        },
        "PYTHONPATH": str(REPOSITORY),
        **env,
    }
    ran = subprocess.run(
        [sys.executable, "-m", "tests.guarded_capture"],
        env=environ,
        input=b"\n".join(json.dumps(payload).encode() for payload in payloads),
        capture_output=True,
        check=False,
        timeout=120,
        cwd=REPOSITORY,
    )
    assert ran.returncode == 0, ran.stderr.decode()
    return json.loads(ran.stdout.splitlines()[-1])


def test_it_orchestrates_nothing_and_talks_to_the_store_and_the_telemetry_endpoint_only():
    with collecting() as collector, stub_store() as store:
        touched = guarded(
            [own_session() for _ in range(3)], RUVECTOR_SERVICE_URL=store.url, LLM_OBSERVATORY_URL=collector.url
        )
        assert touched["statuses"] == [200, 200, 200]
        ports = {port for _, port in (address[:2] for address in touched["connected"])}
        assert {address[0] for address in touched["connected"]} == {"127.0.0.1"}
        assert ports == {collector.port, int(store.url.rpartition(":")[2])}
        assert touched["started"] == []
        assert len(store.writes) == 3


def test_a_refusal_of_the_store_is_passed_on_and_neither_enforced_nor_retried_for_anybody():
    with stub_store() as store:
        store.reply = lambda _count: Reply(403, b"{}")
        touched = guarded([own_session()], RUVECTOR_SERVICE_URL=store.url)
        assert touched["statuses"] == [502]
        assert len(store.writes) == 1


def test_no_file_is_written_in_function_mode():
    with stub_store() as store:
        touched = guarded(
            [own_session(), {}], RUVECTOR_SERVICE_URL=store.url, RUVECTOR_API_KEY="k", K_SERVICE="capture"
        )
        assert touched["statuses"] == [200, 400]
        assert touched["written"] == []


def captures_of_one_session():
    """Six captures of one session: grown snapshots, a branch, a late continuation."""
    whole = fresh_payload(8)
    first = {**whole, "turns": whole["turns"][:2]}
    grown = {**whole, "turns": whole["turns"][:4]}
    branch = fresh_payload(1)
    branch.update(session_id=whole["session_id"], conversation_id=whole["conversation_id"])
    branch["turns"][0]["parent_turn_id"] = whole["turns"][0]["turn_id"]
    rest = [{**whole, "turns": [turn]} for turn in whole["turns"][4:7]]
    return [first, grown, branch, *rest]


def table(reader, session_id):
    return [
        {name: turn[name] for name in ("turn_id", "seq", "parent_turn_id", "revisions", "content")}
        for turn in reader.turns(session_id)
    ]


def test_it_is_stateless_two_instances_in_turn_killed_after_every_capture_equal_one(tmp_path):
    captures = captures_of_one_session()
    session_id = captures[0]["session_id"]
    outputs = {"one": [], "many": []}
    for name in outputs:
        (tmp_path / name).mkdir()
    with served(tmp_path / "many.db") as url:
        for capture in captures:
            with function_host(tmp_path / "many", store=url) as host:
                outputs["many"].append(post(host, capture).json()["output"])
                host.kill()
    with served(tmp_path / "one.db") as url, function_host(tmp_path / "one", store=url) as host:
        outputs["one"] = [post(host, capture).json()["output"] for capture in captures]
    for output in (*outputs["one"], *outputs["many"]):
        del output["capture_timestamp"]
    assert outputs["one"] == outputs["many"]
    with stored(tmp_path / "one.db") as one, stored(tmp_path / "many.db") as many:
        assert table(one, session_id) == table(many, session_id)
        assert len(table(one, session_id)) == 8


folder = test_as_deployed.folder


def test_it_deploys(folder):
    """A fresh folder by .gcloudignore, requirements.txt only, the host's own start command, read-only sources."""
    deployment = deploy(folder / "deployed", SOURCE_DATE_EPOCH=str(IMAGE_DATE))
    with stub_store() as store:
        variables = {"RUVECTOR_SERVICE_URL": store.url, "RUVECTOR_API_KEY": "key-of-the-store"}
        with deployment.running("handler", **variables) as url:
            answer = httpx.post(url, content=encoded(base()), timeout=30)
    check_response(answer)
    assert answer.status_code == 200
    [write] = store.writes
    assert (write.path, write.headers["Authorization"]) == ("/v1/decision-events", "Bearer key-of-the-store")
    assert write.envelope["runId"] == answer.headers["X-Execution-Ref"]
    assert deployment.writes() == []


@pytest.mark.parametrize("path", ["/health", "/conversation-memory/health"])
def test_health_says_who_it_is_and_how_the_store_is(tmp_path, path):
    with stub_store() as store, function_host(tmp_path, store=store.url) as host:
        body = httpx.get(f"{host.url}{path}", timeout=60).json()
        assert (body["status"], body["classification"], body["store"]["kind"]) == ("ok", "MEMORY_WRITE", "http")
