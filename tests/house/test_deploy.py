"""What a deploy uploads starts, captures and writes no file: by .gcloudignore, requirements.txt and the host alone."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from tests.live.host import StubStore, free_port, stub_store
from tests.live.payloads import BASE_TEXT

PROJECT = Path(__file__).resolve().parents[2]
START_TIMEOUT_S = 60
# What reaches a function's process on the platform is what we set there, and nothing of this test run.
INHERITED = ("HOME", "LANG", "PATH", "TMPDIR")


def uploaded(source: Path, scratch: Path) -> list[str]:
    """The files of ``source`` that its .gcloudignore leaves: git reads that syntax, in an empty repository."""
    repository = ["git", f"--git-dir={scratch / 'empty.git'}", f"--work-tree={source}"]
    subprocess.run(["git", "init", "--quiet", "--bare", str(scratch / "empty.git")], check=True)
    listed = subprocess.run(
        [
            *repository,
            "-c",
            "core.bare=false",
            "ls-files",
            "-z",
            "--others",
            f"--exclude-from={source / '.gcloudignore'}",
        ],
        cwd=source,
        capture_output=True,
        check=True,
    )
    return sorted(name for name in listed.stdout.decode().split("\0") if name)


@dataclass(frozen=True)
class Deployed:
    """A source folder as the platform has it, and the environment beside it."""

    source: Path
    bin: Path

    def start(self, target: str = "handler", **variables: str) -> subprocess.Popen[str]:
        """The host's own start command, in the source folder."""
        return subprocess.Popen(
            [self.bin / "functions-framework", "--target", target],
            cwd=self.source,
            env={name: os.environ[name] for name in INHERITED if name in os.environ} | variables,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def files(self) -> dict[str, tuple[int, int]]:
        """Size and modification time of each file and folder."""
        found = {path: path.stat() for path in [self.source, *self.source.rglob("*")]}
        return {str(path): (stat.st_size, stat.st_mtime_ns) for path, stat in found.items()}


def install(python: Path, requirements: Path) -> None:
    """Install ``requirements`` with pip; skip the test where no package index answers."""
    pip = [str(python), "-m", "pip", "--quiet", "--disable-pip-version-check"]
    done = subprocess.run([*pip, "install", "-r", str(requirements)], capture_output=True, text=True, check=False)
    if done.returncode:
        probe = [*pip, "download", "--no-deps", "--no-cache-dir", "--dest", str(python.parent), "pip"]
        if subprocess.run(probe, capture_output=True, check=False).returncode:
            pytest.skip("no package index can be reached, so requirements.txt cannot be installed afresh")
        pytest.fail(f"requirements.txt cannot be installed: {done.stderr}")


@pytest.fixture(scope="module")
def deployed(tmp_path_factory: pytest.TempPathFactory) -> Deployed:
    """The uploaded files in a folder of their own, with nothing but requirements.txt installed; read-only."""
    folder = tmp_path_factory.mktemp("deployed")
    source = folder / "source"
    for name in uploaded(PROJECT, folder):
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(PROJECT / name, source / name)
    subprocess.run([sys.executable, "-m", "venv", str(folder / "venv")], check=True)
    python = folder / "venv/bin/python"
    install(python, source / "requirements.txt")
    subprocess.run([python, "-m", "compileall", "-q", str(source)], check=True)
    for path in [*source.rglob("*"), source]:
        path.chmod(0o555 if path.is_dir() else 0o444)
    return Deployed(source, python.parent)


@contextmanager
def running(deployed: Deployed, store: StubStore) -> Iterator[str]:
    """The deployed function's address, for the length of a block."""
    variables = {"RUVECTOR_SERVICE_URL": store.url, "RUVECTOR_API_KEY": "key-of-the-store"}
    with running_target(deployed, "handler", K_SERVICE="capture", **variables) as url:
        yield url


@contextmanager
def running_target(deployed: Deployed, target: str, **variables: str) -> Iterator[str]:
    """The address of one deployed target, for the length of a block."""
    port = free_port()
    process = deployed.start(target, PORT=str(port), **variables)
    try:
        wait_until_listening(process, port)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.communicate(timeout=30)


def wait_until_listening(process: subprocess.Popen[str], port: int) -> None:
    """Return when somebody answers on ``port``."""
    deadline = time.monotonic() + START_TIMEOUT_S
    while time.monotonic() < deadline:
        if process.poll() is not None:
            pytest.fail(f"the host ended with {process.returncode}: {process.communicate()[1]}")
        try:
            httpx.get(f"http://127.0.0.1:{port}/openapi.json", timeout=START_TIMEOUT_S)
        except httpx.TransportError:
            threading.Event().wait(0.02)  # the host sends no word when it listens
        else:
            return
    pytest.fail(f"nobody listened on the port within {START_TIMEOUT_S} s")


def test_only_what_the_function_runs_is_uploaded(tmp_path: Path) -> None:
    source = tmp_path / "source"
    shutil.copytree(PROJECT / "schemas", source / "schemas", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(PROJECT / ".gcloudignore", source)
    wanted = [
        "LICENSE", "NOTICE", "agent/core/ids.py", "config/intents.yaml", "main.py", "requirements.txt",
        "store/engines/sqlite.py",
    ]  # fmt: skip
    unwanted = [
        ".env", ".git/config", ".venv/bin/python", "README.md", "agent/__pycache__/errors.cpython-311.pyc",
        "deploy/key.json", "examples/run.py", "memory-graph.db", "pyproject.toml", "requirements-dev.txt",
        "secrets.json", "tests/store/test_sqlite.py",
    ]  # fmt: skip
    for name in wanted + unwanted:
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).touch()
    schemas = [str(path.relative_to(source)) for path in (source / "schemas").iterdir()]
    assert uploaded(source, tmp_path) == sorted(wanted + schemas)


@pytest.mark.slow
def test_a_deployed_function_captures_and_writes_no_file(deployed: Deployed) -> None:
    before = deployed.files()
    with stub_store() as store, running(deployed, store) as url:
        answer = httpx.post(url, content=BASE_TEXT, timeout=30)
    assert answer.status_code == 200, answer.text
    assert answer.json()["success"] is True
    assert [(write.path, write.headers["Authorization"]) for write in store.writes] == [
        ("/v1/decision-events", "Bearer key-of-the-store")
    ]
    assert store.writes[0].envelope["runId"] == answer.headers["X-Execution-Ref"]
    assert deployed.files() == before


@pytest.mark.slow
def test_what_a_deployed_function_captures_a_deployed_recall_reads_back(deployed: Deployed, tmp_path: Path) -> None:
    intents = {"INTENTS_CONFIG": "config/intents.example.yaml"}
    before = deployed.files()
    with running_target(deployed, "store", RUVECTOR_STORE=f"sqlite:///{tmp_path / 'memory.db'}") as store:
        there = {"RUVECTOR_SERVICE_URL": store, "K_SERVICE": "of-the-platform", **intents}
        with running_target(deployed, "handler", **there) as url:
            captured = httpx.post(url, content=BASE_TEXT, timeout=30).json()["output"]
        with running_target(deployed, "recall", **there) as url:
            answer = httpx.get(f"{url}/api/conversation/{captured['session_id']}", timeout=30)
    assert answer.status_code == 200, answer.text
    assert len(answer.json()["messages"]) == captured["turn_count"]
    assert deployed.files() == before


@pytest.mark.slow
def test_a_deployed_function_without_a_store_does_not_start_and_says_what_to_set(deployed: Deployed) -> None:
    before = deployed.files()
    process = deployed.start(PORT=str(free_port()), K_SERVICE="capture")
    _, complaint = process.communicate(timeout=START_TIMEOUT_S)
    assert process.returncode != 0
    assert "RUVECTOR_SERVICE_URL" in complaint
    assert deployed.files() == before
