"""The README is executed: its commands run as written, its examples are valid, its links lead somewhere."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest

from schemas import bundle
from tests.conftest import REPOSITORY
from tests.live.host import function_host

README = (REPOSITORY / "README.md").read_text()
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
COMMANDS = "\n".join(text for language, text in BLOCKS if language == "sh").replace("\\\n", " ")
# A curl command may go on over several lines: up to the line that closes its quote.
CURLS = re.findall(r"^curl [^'\n]*(?:'[^']*')?$", COMMANDS, re.MULTILINE)
MEMORY_GRAPHS = re.findall(r"^\.venv/bin/memory-graph .*$", COMMANDS, re.MULTILINE)
SESSION = "6f1d2c3a-8b4e-4f70-9a51-0c2d3e4f5a61"


def run(command: str, **env: str) -> subprocess.CompletedProcess[str]:
    environ = {name: value for name, value in os.environ.items() if not name.startswith("RUVECTOR")} | env
    return subprocess.run(
        ["bash", "-euo", "pipefail", "-c", command],
        cwd=REPOSITORY,
        env=environ,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


@pytest.fixture(scope="module")
def database(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("readme") / "memory.db"


@pytest.fixture(scope="module")
def port(database) -> int:
    with function_host(database.parent, store=f"embedded:{database}") as host:
        yield host.port


def test_the_readme_has_the_commands_that_these_tests_run():
    assert (len(CURLS), len(MEMORY_GRAPHS)) == (4, 5)


@pytest.mark.parametrize("command", CURLS)
def test_a_curl_command_works_as_written(command, port):
    ran = run(command.replace("127.0.0.1:8080", f"127.0.0.1:{port}"))
    assert ran.returncode == 0, ran.stderr
    answer = json.loads(ran.stdout)
    assert answer.get("success", answer.get("status") == "ok") is True, ran.stdout


@pytest.mark.parametrize("command", MEMORY_GRAPHS)
def test_a_memory_graph_command_works_as_written(command, database):
    here = command.replace(".venv/bin/memory-graph", f"{sys.executable} -m agent")
    ran = run(here, RUVECTOR_SERVICE_URL=f"embedded:{database}")
    assert ran.returncode == 0, ran.stderr


def test_the_payload_shown_is_valid_and_has_the_hash_shown(port):
    payload = next(text for language, text in BLOCKS if language == "json" and '"session_id"' in text)
    jsonschema.Draft202012Validator(bundle("capture-input")).validate(json.loads(payload))
    answer = json.loads(run(f"curl -sS http://127.0.0.1:{port}/ -d '{payload}'").stdout)
    shown = next(text for language, text in BLOCKS if language == "json" and "inputs_hash" in text)
    prefix = json.loads(shown)["decision_event"]["inputs_hash"].rstrip(".")
    assert answer["decision_event"]["inputs_hash"].startswith(prefix)
    assert set(json.loads(shown)) == set(answer)


def test_the_python_that_reads_back_works_as_written(database, port):
    payload = next(text for language, text in BLOCKS if language == "json" and '"session_id"' in text)
    assert json.loads(run(f"curl -sS http://127.0.0.1:{port}/ -d '{payload}'").stdout)["success"]
    [snippet] = [text for language, text in BLOCKS if language == "python"]
    ran = subprocess.run(
        [sys.executable, "-c", snippet],
        cwd=REPOSITORY,
        env={**os.environ, "RUVECTOR_SERVICE_URL": f"embedded:{database}"},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.splitlines() == ["1 user Where is parcel 4471?", "2 assistant Let me check."]


def test_the_settings_section_names_every_variable_of_ours_that_the_code_reads():
    section = README.partition("## Settings")[2].partition("\n## ")[0]
    shown = set(re.findall(r"^\| `([A-Z_]+)` \|", section, re.MULTILINE))
    refused = README.partition("refused rather than ignored")[2].partition("## Settings")[0]
    shown |= set(re.findall(r"`([A-Z_]+)`", refused))
    read = set(re.findall(r'"([A-Z]+_[A-Z_]+)"', (REPOSITORY / "agent" / "config.py").read_text()))
    read |= {"LLM_OBSERVATORY_URL", "GOOGLE_CLOUD_PROJECT"}
    assert shown == read - {"K_SERVICE"}


@pytest.mark.parametrize(
    "document", [REPOSITORY / "README.md", *sorted(REPOSITORY.glob("docs/**/*.md"))], ids=lambda path: path.name
)
def test_every_link_to_a_file_of_ours_leads_to_one(document):
    for target in re.findall(r"\]\((?!https?://|#)([^)#]+)", document.read_text()):
        assert (document.parent / target).exists(), target


def test_every_make_target_that_is_named_exists():
    targets = set(re.findall(r"^([a-z]+):", (REPOSITORY / "Makefile").read_text(), re.MULTILINE))
    assert set(re.findall(r"`?make ([a-z]+)", README)) <= targets
