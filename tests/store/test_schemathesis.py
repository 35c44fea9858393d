"""Schemathesis against the store's running server, on both engines: whatever it sends is answered as the OpenAPI
document says, with no status, content type, header or body that does not stand there.

SCHEMATHESIS_EXAMPLES says how many examples an operation gets (10 in the suite; `make test SCHEMATHESIS_EXAMPLES=500`
for a longer look), SCHEMATHESIS_SEED which ones. It is run as the command that it is, in a process of its own.
"""

import json
import os
import subprocess
import sys
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
LISTS = ("/v1/decision-events", "/v1/sessions")
# Checks that ask for what CONTRACT 10 does not say; all others are made.
CHECKS = """
[checks]
# What was erased keeps its skeleton (10a): a session is there after its DELETE.
use_after_free.enabled = false
# What an append makes is found at the path of its runId, and an empty one is no path.
ensure_resource_availability.enabled = false
"""
# Cursors are opaque: one that is made up is refused, however well it is formed.
CURSORS = """
[[operations]]
include-path = ["/v1/decision-events", "/events/decisions", "/v1/sessions"]
include-method = ["GET", "HEAD"]
checks.positive_data_acceptance.enabled = false
"""

pytestmark = pytest.mark.slow


@dataclass(frozen=True)
class Look:
    """One run of Schemathesis: its exit code, all that was printed, and its report."""

    code: int
    printed: str
    report: dict[str, Any]


@dataclass(frozen=True)
class Looks:
    """At the lists without their cursors, at everything; what the server logged, and what its verification says."""

    lists: Look
    everything: Look
    logged: str
    verified: Finished


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def looks(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Looks:
    folder = tmp_path_factory.mktemp("schemathesis")
    document = json.loads(schemas.ruvector_openapi_bytes())
    names = [f"--include-name={method} {path}" for path in LISTS for method in ("GET", "HEAD")]
    names.append("--include-name=POST /v1/decision-events")
    with ExitStack() as stack:
        url = f"sqlite:///{folder}/store.db"
        if request.param == "postgresql":
            url = stack.enter_context(server().database())
        with store_server(folder, RUVECTOR_STORE=url, RUVECTOR_KEYS=f"acme:{KEY}:admin") as running:
            lists = look(folder, running.url, without_cursors(document), CHECKS, *names)
            everything = look(folder, running.url, document, CHECKS + CURSORS)
        verified = run_process(folder, "store", "verify", "--store", url)
        return Looks(lists, everything, running.err, verified)


def without_cursors(document: dict[str, Any]) -> dict[str, Any]:
    """A made-up cursor in each request would have every list refused before its filters are looked at."""
    paths = dict(document["paths"])
    for path in LISTS:
        paths[path] = {
            method: {**operation, "parameters": [p for p in operation["parameters"] if "cursor" not in p["$ref"]]}
            for method, operation in paths[path].items()
        }
    return {**document, "paths": paths}


def look(folder: Path, url: str, document: dict[str, Any], configuration: str, *selected: str) -> Look:
    """Run it in ``folder`` on the server at ``url``."""
    # From a file: of a document that it fetches it leaves that path out.
    (folder / "openapi.json").write_text(json.dumps(document))
    (folder / "schemathesis.toml").write_text(configuration)
    (folder / "report.json").unlink(missing_ok=True)
    command = [str(Path(sys.executable).with_name("st")), "run", "openapi.json", "--url", url, *selected]
    command += ["--header", f"Authorization: Bearer {KEY}", "--request-timeout", "60", "--continue-on-failure"]
    command += ["--max-examples", EXAMPLES, "--seed", SEED, "--generation-database", "none"]
    # How fast this machine makes examples is no finding.
    command += ["--suppress-health-check", "too_slow"]
    command += ["--no-color", "--report", "json", "--report-json-path", "report.json"]
    # It runs nothing of ours, and being measured would slow it down.
    environ = {name: value for name, value in process_environment().items() if not name.startswith("COV")}
    ended = subprocess.run(command, cwd=folder, env=environ, capture_output=True, text=True, check=False)
    printed = ended.stdout + ended.stderr
    assert (folder / "report.json").exists(), printed
    return Look(ended.returncode, printed, json.loads((folder / "report.json").read_bytes()))


def test_every_answer_is_one_that_the_document_has(looks: Looks) -> None:
    report = looks.everything.report
    assert (report["failures"], report["errors"], looks.everything.code) == ([], [], 0), looks.everything.printed
    assert report["complete"]


def test_every_list_takes_all_that_the_document_says_of_its_filters(looks: Looks) -> None:
    report = looks.lists.report
    assert (report["failures"], report["errors"], looks.lists.code) == ([], [], 0), looks.lists.printed
    assert report["complete"]


def test_every_operation_is_met_and_takes_what_it_should(looks: Looks) -> None:
    document = json.loads(schemas.ruvector_openapi_bytes())
    documented = {f"{m.upper()} {path}" for path, item in document["paths"].items() for m in METHODS if m in item}
    rates = looks.everything.report["valid_rates"].items()
    taken = {name for name, phases in rates if any(phase["accepted"] for phase in phases.values())}
    assert taken == documented


def test_the_store_is_whole_after_it(looks: Looks) -> None:
    assert "ERROR" not in looks.logged
    assert looks.verified.code == 0, looks.verified.out
