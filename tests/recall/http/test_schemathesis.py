"""Schemathesis against the running recall function: whatever it sends is answered as the OpenAPI document says, with no
status, content type, header or body that does not stand there.

SCHEMATHESIS_EXAMPLES and SCHEMATHESIS_SEED as for the store. It is run as the command that it is.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import pytest

import schemas
from tests.cli.streams import process_environment
from tests.live.host import FunctionHost, function_host
from tests.recall.http.examples import CAPTURES, INTENTS

EXAMPLES = os.environ.get("SCHEMATHESIS_EXAMPLES", "5")
SEED = os.environ.get("SCHEMATHESIS_SEED", "20261128")
KEY = "the-key-that-schemathesis-has"
# Ids and cursors that are made up are 404 and 400, however well they are formed.
CONFIGURATION = """
[checks]
positive_data_acceptance.enabled = false
"""

pytestmark = pytest.mark.slow


class Look(NamedTuple):
    """One run: its exit code, all that was printed, its report; and what the function logged meanwhile."""

    code: int
    printed: str
    report: dict[str, Any]
    logged: list[dict[str, Any]]


@pytest.fixture(scope="module")
def look(tmp_path_factory: pytest.TempPathFactory) -> Look:
    folder = tmp_path_factory.mktemp("schemathesis")
    store = f"embedded:{folder / 'memory.db'}"
    with (
        function_host(folder, store=store) as capture,
        function_host(folder, store=store, target="recall", RECALL_API_KEYS=KEY, INTENTS_CONFIG=str(INTENTS)) as recall,
    ):
        for payload in CAPTURES:
            # By ids that it knows from the document's examples.
            assert httpx.post(capture.url, content=payload, timeout=30).status_code == 200
        return looked(folder, recall)


def looked(folder: Path, recall: FunctionHost) -> Look:
    (folder / "openapi.json").write_text(json.dumps(without_waiting(json.loads(schemas.recall_openapi_bytes()))))
    (folder / "schemathesis.toml").write_text(CONFIGURATION)
    command = [str(Path(sys.executable).with_name("st")), "run", "openapi.json", "--url", recall.url]
    command += ["--header", f"Authorization: Bearer {KEY}", "--request-timeout", "60", "--continue-on-failure"]
    command += ["--max-examples", EXAMPLES, "--seed", SEED, "--generation-database", "none"]
    # How fast this machine makes examples is no finding.
    command += ["--suppress-health-check", "too_slow"]
    command += ["--no-color", "--report", "json", "--report-json-path", "report.json"]
    environ = {name: value for name, value in process_environment().items() if not name.startswith("COV")}
    ended = subprocess.run(command, cwd=folder, env=environ, capture_output=True, text=True, check=False)
    report = folder / "report.json"
    assert report.exists(), ended.stdout + ended.stderr
    return Look(ended.returncode, ended.stdout + ended.stderr, json.loads(report.read_bytes()), recall.log_lines())


def without_waiting(document: dict[str, Any]) -> dict[str, Any]:
    """The document without ``min_version``: each request with one that is made up would wait for 2 s.

    And with few sessions in the paths of what is read: of one that is made up nothing is there.
    """
    parameters = document["components"]["parameters"]
    known = {**parameters["session_id"], "schema": {"enum": ["chat-7", "chat-8", "nobody", "a/b"]}}
    for item in document["paths"].values():
        for method, operation in item.items():
            kept = [each for each in operation.get("parameters", []) if "min_version" not in each["$ref"]]
            if method != "post":
                kept = [known if "session_id" in each["$ref"] else each for each in kept]
            operation["parameters"] = kept
    return document


def test_every_answer_is_one_that_the_document_has(look: Look) -> None:
    assert (look.report["failures"], look.report["errors"], look.code) == ([], [], 0), look.printed
    assert look.report["complete"]


def test_every_operation_is_met_and_takes_what_it_should(look: Look) -> None:
    paths = json.loads(schemas.recall_openapi_bytes())["paths"]
    documented = {f"{method.upper()} {path}" for path, item in paths.items() for method in item}
    rates = look.report["valid_rates"].items()
    assert {name for name, phases in rates if any(phase["accepted"] for phase in phases.values())} == documented


def test_nothing_failed_in_the_function(look: Look) -> None:
    assert [line for line in look.logged if line["severity"] == "ERROR"] == []
