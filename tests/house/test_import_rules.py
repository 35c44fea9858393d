"""Each import rule of pyproject.toml stands, and breaks where it should: by lint-imports over a copy of the tree."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[2]
LINT_IMPORTS = Path(sys.executable).with_name("lint-imports")
CONTRACTS = [
    contract["name"]
    for contract in tomllib.loads((PROJECT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
]

CORE = "core: errors, the pure standard library, orjson and rfc8785 only"
SIBLINGS = "capture and recall: never each other"
STORE_IMPORTERS = "store: imported by bootstrap and cli.store only"
NO_SQL = "agent: no database driver, no SQL"
HTTP = "httpx and tenacity: in ruvector and bootstrap only"
STORE = "store: core and errors of the agent only"
FORMATS = "formats: core and errors of the project only"
SDK_IMPORTERS = "sdk: imported by the package's front and the command line only"
SDK = "sdk: no command line"

# Every impure corner of the standard library that a pure part is tempted by.
IMPURE = [
    "asyncio", "http.client", "io", "logging", "os", "pathlib", "random", "secrets", "shutil", "socket",
    "subprocess", "sys", "tempfile", "threading", "time", "urllib.request",
]  # fmt: skip


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A copy of what the rules speak of."""
    for package in ("agent", "store", "schemas"):
        shutil.copytree(PROJECT / package, tmp_path / package, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(PROJECT / "pyproject.toml", tmp_path)
    return tmp_path


def plant(tree: Path, module: str, line: str) -> None:
    """Add ``line`` to ``module`` (dotted), which is made, packages and all, where it is missing."""
    *packages, name = module.split(".")
    folder = tree
    for package in packages:
        folder /= package
        folder.mkdir(exist_ok=True)
        (folder / "__init__.py").touch()
    file = folder / name / "__init__.py" if (folder / name).is_dir() else folder / f"{name}.py"
    with file.open("a") as text:
        text.write(f"\n{line}\n")


def verdicts(tree: Path) -> tuple[int, dict[str, str]]:
    """The exit code of lint-imports in ``tree``, and KEPT or BROKEN for each contract."""
    done = subprocess.run(
        [LINT_IMPORTS, "--no-cache", "--no-logo"], cwd=tree, capture_output=True, text=True, timeout=60, check=False
    )
    found = dict(re.findall(r"^(.+?) (KEPT|BROKEN)", done.stdout, re.MULTILINE))
    assert found, done.stdout + done.stderr
    return done.returncode, found


def test_the_tree_as_it_stands_keeps_every_contract(tree: Path) -> None:
    assert verdicts(tree) == (0, dict.fromkeys(CONTRACTS, "KEPT"))


def test_what_the_contracts_allow_is_kept(tree: Path) -> None:
    plant(tree, "agent.core.allowed", "import hashlib, re, orjson, rfc8785, agent.errors, agent.core.ids")
    plant(tree, "agent.formats.allowed", "import agent.errors, agent.core.ids, agent.formats")
    plant(tree, "agent.ruvector.allowed", "import httpx, tenacity")
    plant(tree, "agent.bootstrap", "import httpx, store, store.sqlite")
    plant(tree, "agent.cli.store", "import store.engines.sqlite")
    plant(tree, "agent.recall.allowed", "import agent.core.ids, agent.edge.document, agent.formats.writers")
    plant(
        tree, "agent.sdk.allowed", "import agent.bootstrap, agent.capture.service, agent.recall.held, agent.sdk.memory"
    )
    plant(tree, "agent.cli.allowed", "import agent.sdk.memory")
    plant(tree, "store.allowed", "import sqlite3, agent.errors, agent.core.ids")
    assert verdicts(tree) == (0, dict.fromkeys(CONTRACTS, "KEPT"))


@pytest.mark.parametrize(
    ("module", "line", "broken"),
    [
        *[("agent.core.intruder", f"import {name}", {CORE}) for name in IMPURE],
        *[("agent.core.intruder", f"import {name}", {CORE}) for name in ("jsonschema", "pydantic", "yaml", "main")],
        ("agent.core.intruder", "import sqlite3", {CORE, NO_SQL}),
        ("agent.core.intruder", "from agent.edge import document", {CORE}),
        ("agent.core.intruder", "from schemas import anything", {CORE}),
        ("agent.core.intruder", "def late():\n    import os\n    return os", {CORE}),
        ("agent.errors", "import logging", {CORE}),
        ("agent.capture.intruder", "import agent.recall.windows", {SIBLINGS}),
        ("agent.recall.intruder", "from agent.capture import service", {SIBLINGS}),
        # What both sides stand on may know neither.
        ("agent.edge.document", "import agent.capture.service", {SIBLINGS}),
        ("agent.recall.intruder", "import store.engines.sqlite", {STORE_IMPORTERS}),
        ("agent.cli.memory.capturing.capture", "from store import server", {STORE_IMPORTERS}),
        ("agent.ruvector.intruder", "import store", {STORE_IMPORTERS}),
        *[
            ("agent.bootstrap", f"import {name}", {NO_SQL})
            for name in ("sqlite3", "psycopg", "sqlalchemy", "alembic", "asyncpg")
        ],
        ("agent.capture.intruder", "import httpx", {HTTP}),
        ("agent.cli.intruder", "import tenacity", {HTTP}),
        ("store.intruder", "import httpx", {HTTP}),
        ("store.intruder", "from agent import config", {STORE}),
        ("store.intruder", "import agent.edge.document", {STORE}),
        ("agent.formats.intruder", "import agent.capture.validation", {FORMATS}),
        ("agent.formats.intruder", "from agent import config", {FORMATS}),
        ("agent.formats.intruder", "import schemas", {FORMATS}),
        ("agent.recall.intruder", "import agent.sdk.memory", {SDK_IMPORTERS, SIBLINGS}),
        ("agent.bootstrap", "from agent.sdk import session", {SDK_IMPORTERS}),
        ("agent.sdk.intruder", "import agent.cli.app", {SDK}),
    ],
)
def test_one_offending_import_breaks_its_contract(tree: Path, module: str, line: str, broken: set[str]) -> None:
    plant(tree, "agent.recall.windows", "")
    plant(tree, module, line)
    code, found = verdicts(tree)
    assert code == 1
    assert {name for name, verdict in found.items() if verdict == "BROKEN"} == broken


def test_every_contract_of_pyproject_is_one_that_is_broken_above() -> None:
    assert {CORE, SIBLINGS, STORE_IMPORTERS, NO_SQL, HTTP, STORE, FORMATS, SDK_IMPORTERS, SDK} == set(CONTRACTS)
