"""What a deploy uploads, built and started as the platform does: all targets on PostgreSQL, writing nothing."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

import httpx
import pytest

from tests.conftest import REPOSITORY
from tests.deploy.as_platform import Deployment, deploy
from tests.deploy.fake_gcloud import CONNECTED, Project, deployed, flag
from tests.deploy.uploaded import uploaded
from tests.live.payloads import BASE_TEXT, encoded, own_session
from tests.store import postgres_server

WRITE, READ, ADMIN = ("w" * 24, "r" * 24, "a" * 24)
KEYS = f"acme:{WRITE}:write,acme:{READ}:read,acme:{ADMIN}:admin"


class Addresses(NamedTuple):
    """Where each target listens."""

    store: str
    capture: str
    recall: str
    events: str


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    """A folder that another user can reach, which pytest's own are not."""
    path = Path(tempfile.mkdtemp(prefix="as-deployed-"))
    yield path
    for each in path.rglob("*"):
        if each.is_dir():
            each.chmod(0o755)
    shutil.rmtree(path)


@pytest.fixture(scope="module")
def build_environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The build variables that deploy.sh sets."""
    _, calls = Project(tmp_path_factory.mktemp("gcloud")).deploy(*CONNECTED)
    pairs = flag(deployed(calls)["conversation-memory"], "set-build-env-vars").split(",")
    return dict(pair.split("=", 1) for pair in pairs)


@pytest.fixture(scope="module")
def deployment(folder: Path, build_environment: dict[str, str]) -> Deployment:
    return deploy(folder / "deployed", **build_environment)


@pytest.fixture(scope="module")
def addresses(deployment: Deployment) -> Iterator[Addresses]:
    """Store, capture, recall and events, each a process of its own, on a database of a real PostgreSQL."""
    with ExitStack() as stack:
        database = stack.enter_context(postgres_server.server().database())
        open_socket()
        store = stack.enter_context(
            deployment.running("store", RUVECTOR_STORE=database, RUVECTOR_KEYS=KEYS, THREADS="16")
        )
        # By a path of the source folder, as config/ is uploaded for.
        intents = {"INTENTS_CONFIG": "config/intents.example.yaml"}
        writer = {"RUVECTOR_SERVICE_URL": store, "RUVECTOR_API_KEY": WRITE, "THREADS": "8", **intents}
        reader = {**writer, "RUVECTOR_API_KEY": READ}
        yield Addresses(
            store,
            stack.enter_context(deployment.running("handler", **writer)),
            stack.enter_context(deployment.running("recall", **reader)),
            stack.enter_context(deployment.running("capture_event", **writer)),
        )


def open_socket() -> None:
    """Let the other user reach the server's socket: its folder is the server's own."""
    if os.geteuid() == 0:
        for path in (postgres_server.server().sockets, postgres_server.server().folder):
            Path(path).chmod(0o755)


@pytest.mark.slow
def test_a_conversation_goes_through_all_targets_and_nothing_is_written(
    deployment: Deployment, addresses: Addresses
) -> None:
    before = deployment.files()
    answer = httpx.post(addresses.capture, content=BASE_TEXT, timeout=30)
    assert answer.status_code == 200, answer.text
    captured = answer.json()["output"]
    read = httpx.get(f"{addresses.recall}/api/conversation/{captured['session_id']}", timeout=30)
    assert read.status_code == 200, read.text
    assert len(read.json()["messages"]) == captured["turn_count"]
    event = {"specversion": "1.0", "id": "1", "source": "//queue", "type": "conversation.capture"}
    headers = {f"ce-{name}": value for name, value in event.items()} | {"content-type": "application/json"}
    again = httpx.post(addresses.events, content=BASE_TEXT, headers=headers, timeout=30)
    assert again.is_success, again.text
    with_key = {"Authorization": f"Bearer {READ}"}
    stats = httpx.get(f"{addresses.store}/v1/stats", headers=with_key, timeout=30).json()
    assert stats["events"] >= 1
    assert deployment.writes() == []
    assert deployment.files() == before


@pytest.mark.slow
def test_what_the_uploaded_config_says_of_an_answer_is_what_recall_reads(addresses: Addresses) -> None:
    payload = own_session()
    payload["turns"][-1]["metadata"] = {"memory": {"waiting_for_param": "order_id"}}
    assert httpx.post(addresses.capture, content=encoded(payload), timeout=30).status_code == 200
    path = f"/api/conversation/{payload['session_id']}/hydrate"
    read = httpx.post(addresses.recall + path, json={"user_message": "it's o-12345"}, timeout=30)
    assert read.json()["resolution"]["params"] == {"order_id": "O-12345"}


@pytest.mark.slow
def test_the_smoke_test_passes_and_leaves_nothing(addresses: Addresses) -> None:
    environ = {"PATH": os.environ["PATH"], "SMOKE_STORE_URL": addresses.store, "SMOKE_STORE_KEY": ADMIN}
    command = ["sh", "deploy/smoke_test.sh", addresses.capture, addresses.recall]
    done = subprocess.run(command, cwd=REPOSITORY, env=environ, capture_output=True, text=True, check=False)
    checks = [line.split(":")[0].split() for line in done.stdout.splitlines()]
    assert done.returncode == 0, done.stdout + done.stderr
    assert checks == [
        ["ok", "health"], ["ok", "capture"], ["ok", "duplicate"], ["ok", "bad", "input"], ["ok", "read", "back"],
        ["ok", "clean", "up"],
    ]  # fmt: skip
    found = httpx.get(f"{addresses.store}/v1/sessions?q=smoke", headers={"Authorization": f"Bearer {READ}"}, timeout=30)
    assert found.json()["sessions"] == []


@pytest.mark.slow
def test_a_function_without_a_store_does_not_start_and_says_what_to_set(deployment: Deployment) -> None:
    process = deployment.start("handler", PORT="0")
    assert process.wait(timeout=60) != 0
    assert "RUVECTOR_SERVICE_URL" in deployment.log("handler")


@pytest.mark.slow
def test_bytecode_that_is_checked_by_date_would_be_made_again_at_each_start(folder: Path) -> None:
    dated = deploy(folder / "dated")
    with dated.running("handler", RUVECTOR_SERVICE_URL="http://127.0.0.1:9"):
        pass
    compiled = [path for path in dated.writes() if path.startswith(f"{dated.source}/") and ".pyc" in path]
    assert f"{dated.source}/agent/__pycache__" in {str(Path(path).parent) for path in compiled}


def test_only_what_the_functions_run_is_uploaded(tmp_path: Path) -> None:
    wanted = [
        "LICENSE", "NOTICE", "agent/core/ids.py", "config/intents.yaml", "main.py", "requirements.txt",
        "schemas/openapi.json", "store/engines/sqlite.py",
    ]  # fmt: skip
    unwanted = [
        ".env", ".github/workflows/ci.yml", "README.md", "agent/__pycache__/errors.cpython-311.pyc",
        "deploy/key.json", "examples/run.py", "memory-graph.db", "pyproject.toml", "requirements-dev.txt",
        "secrets.json", "tests/store/test_sqlite.py",
    ]  # fmt: skip
    for name in wanted + unwanted:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    shutil.copy(REPOSITORY / ".gcloudignore", tmp_path)
    assert uploaded(tmp_path) == wanted
