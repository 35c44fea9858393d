"""Schemathesis against the store's running server, on both engines: whatever it sends is answered as the OpenAPI
document says, with no status, content type, header or body that does not stand there.

SCHEMATHESIS_EXAMPLES says how many examples an operation gets (10 in the suite; `make test SCHEMATHESIS_EXAMPLES=500`
for a longer look), SCHEMATHESIS_SEED which ones. It is run as the command that it is, in a process of its own.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import schemas
from tests.cli.store.server import store_server
from tests.cli.streams import Finished, process_environment, run_process
from tests.store.postgres_server import server

EXAMPLES = os.environ.get("SCHEMATHESIS_EXAMPLES", "10")
SEED = os.environ.get("SCHEMATHESIS_SEED", "20261128")
KEY = "the-key-that-schemathesis-has"
METHODS = ("get", "head", "post", "delete")
# Three checks ask for what CONTRACT 10 does not say; all others are made.
CONFIGURATION = """
[checks]
# What was erased keeps its skeleton (10a): a session is there after its DELETE.
use_after_free.enabled = false
# What an append makes is found at the path of its runId, and an empty one is no path.
ensure_resource_availability.enabled = false

# Cursors are opaque: one that is made up is refused, however well it is formed.
[[operations]]
include-path = ["/v1/decision-events", "/events/decisions", "/v1/sessions"]
include-method = ["GET", "HEAD"]
checks.positive_data_acceptance.enabled = false
"""

pytestmark = pytest.mark.slow


@dataclass(frozen=True)
class Run:
    """What Schemathesis found in one server, and what that server's own verification found afterwards."""

    code: int
    printed: str
    report: dict[str, Any]
    verified: Finished


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def run(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    folder = tmp_path_factory.mktemp("schemathesis")
    with ExitStack() as stack:
        url = f"sqlite:///{folder}/store.db"
        if request.param == "postgresql":
            url = stack.enter_context(server().database())
        with store_server(folder, RUVECTOR_STORE=url, RUVECTOR_KEYS=f"acme:{KEY}:admin") as running:
            ended, report = schemathesis(folder, running.url)
        verified = run_process(folder, "store", "verify", "--store", url)
        yield Run(ended.returncode, f"{ended.stdout}\n{ended.stderr}\n{running.err}", report, verified)


def schemathesis(folder: Path, url: str) -> tuple[subprocess.CompletedProcess[str], dict[str, Any]]:
    """Run it in ``folder`` on the server at ``url``; how it ended, and its report."""
    configuration, document, report = folder / "schemathesis.toml", folder / "openapi.json", folder / "report.json"
    configuration.write_text(CONFIGURATION)
    # From a file: of a document that it fetches it leaves that path out.
    document.write_bytes(schemas.ruvector_openapi_bytes())
    command = [Path(sys.executable).with_name("st"), "--config-file", configuration, "run", document, "--url", url]
    command += ["--header", f"Authorization: Bearer {KEY}", "--request-timeout", "60", "--continue-on-failure"]
    command += ["--max-examples", EXAMPLES, "--seed", SEED, "--generation-database", "none"]
    # How fast this machine makes examples is no finding.
    command += ["--suppress-health-check", "too_slow"]
    command += ["--no-color", "--report", "json", "--report-json-path", report]
    # It runs nothing of ours, and being measured would slow it down.
    environ = {name: value for name, value in process_environment().items() if not name.startswith("COV")}
    ended = subprocess.run(command, cwd=folder, env=environ, capture_output=True, text=True, check=False)
    assert report.exists(), ended.stdout + ended.stderr
    return ended, json.loads(report.read_bytes())


def test_every_answer_is_one_that_the_document_has(run: Run) -> None:
    assert (run.report["failures"], run.report["errors"], run.code) == ([], [], 0), run.printed
    assert run.report["complete"]


def test_every_operation_is_met_and_takes_what_it_should(run: Run) -> None:
    document = json.loads(schemas.ruvector_openapi_bytes())
    documented = {f"{m.upper()} {path}" for path, item in document["paths"].items() for m in METHODS if m in item}
    phases = run.report["valid_rates"].items()
    taken = {name for name, rates in phases if any(rate["accepted"] for rate in rates.values())}
    assert taken == documented


def test_the_store_is_whole_after_it(run: Run) -> None:
    assert run.verified.code == 0, run.verified.out
