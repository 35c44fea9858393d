"""What a start imports and what only a capture needs: an instance answers for itself before it loads a parser.

Not timed: the modules that are loaded after a start, after the first answer that needs no store, and after a capture.
"""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tests.conftest import REPOSITORY
from tests.live.host import stub_store

pytestmark = pytest.mark.slow

# What a capture alone needs, by the beginnings of its modules' names.
OF_A_CAPTURE = (
    "agent.capture.service",
    "agent.capture.validation",
    "agent.core.canonical",
    "agent.core.decision",
    "agent.core.graph",
    "agent.core.ids",
    "agent.edge.document",
    "agent.formats",
    "agent.ruvector",
    "httptools",
    "jiter",
    "jsonschema_rs",
    "rfc8785",
)
# What not even a capture needs that nothing is wrong with, and nobody watches.
OF_NEITHER = (
    "agent.capture.events",
    "agent.capture.explanation",
    "agent.callers",
    "agent.content.narrowing",
    "agent.edge.refusal",
    "agent.edge.wrapper",
    "agent.entities",
    "agent.ruvector.health",
    "agent.ruvector.over_httpx",
    "agent.ruvector.reads",
    "httpx",
    "isal",
    "jsonschema.",
    "opentelemetry",
    "pydantic",
    "requests",
    "tenacity",
    "yaml",
)

SCRIPT = """
import json, sys
import functions_framework

client = functions_framework.create_app("handler", "main.py").test_client()
loaded = {"start": sorted(sys.modules)}
answer = client.get("/openapi.json")
assert answer.status_code == 200, answer.status_code
loaded["description"] = sorted(sys.modules)
if sys.argv[1:]:
    with open(sys.argv[1], "rb") as body:
        answer = client.post("/", data=body.read())
    assert answer.status_code == 200, answer.get_data()
    loaded["capture"] = sorted(sys.modules)
print(json.dumps(loaded))
"""


def loaded(*arguments: str, **environ: str) -> dict[str, list[str]]:
    """The names of the modules that are loaded at each stage, in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, *arguments],
        cwd=REPOSITORY,
        env={"PATH": "/usr/bin:/bin", **environ},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout))


@pytest.fixture(scope="module")
def stages():
    with stub_store() as store:
        return loaded("examples/native.json", RUVECTOR_SERVICE_URL=store.url)


def those(modules, beginnings):
    return [name for name in modules if name.startswith(beginnings)]


@pytest.mark.parametrize("stage", ["start", "description"])
def test_nothing_that_only_a_capture_needs_is_loaded_before_one(stages, stage):
    assert those(stages[stage], OF_A_CAPTURE + OF_NEITHER) == []


def test_a_capture_loads_what_it_needs_and_nothing_for_refusals_reads_or_telemetry(stages):
    found = {beginning for beginning in OF_A_CAPTURE if those(stages["capture"], (beginning,))}
    assert found == set(OF_A_CAPTURE)
    assert those(stages["capture"], OF_NEITHER) == []


def test_a_start_adds_few_modules_to_those_of_the_host(stages):
    ours = those(stages["description"], ("agent", "schemas", "store", "main"))
    # A budget, not a law: whoever needs more says here why. The guard has five: how much content stays and who may
    # call is asked at the start, and a start that is refused is told of in one place.
    assert len(ours) <= 44, ours
