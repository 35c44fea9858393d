"""The checks of ``make check`` that we wrote ourselves: clean on the project, and each finds what was planted."""

from __future__ import annotations

import functools
import os
import re
import runpy
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import cast

import pytest

PROJECT = Path(__file__).resolve().parents[2]
DIGEST = f"sha256:{'0' * 64}"
DIALECT = '"$schema": "https://json-schema.org/draft/2020-12/schema"'

Check = Callable[[Path], list[str]]


def problems_of(script: str) -> Check:
    """The function ``problems`` of a script, which no package holds."""
    return cast("Check", runpy.run_path(str(PROJECT / "scripts" / script))["problems"])


@pytest.fixture(scope="module")
def check_locks() -> Check:
    return problems_of("check_locks.py")


@pytest.fixture(scope="module")
def check_schemas() -> Check:
    return problems_of("check_schemas.py")


@pytest.fixture
def locks(tmp_path: Path) -> Path:
    for file in (*PROJECT.glob("requirements*"), PROJECT / "pyproject.toml"):
        shutil.copy(file, tmp_path)
    return tmp_path


def edit(file: Path, old: str, new: str) -> None:
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new, 1))


def pinned(file: Path, package: str) -> str:
    """What ``file`` says to pin ``package``: its line, and the lines of digests that belong to it."""
    found = re.search(rf"^{package}==\S+( \\\n +--hash=\S+)+\n", file.read_text(), re.MULTILINE)
    assert found is not None
    return found[0]


def test_the_locks_fit_their_in_files(check_locks: Check) -> None:
    assert check_locks(PROJECT) == []


def test_a_requirement_that_was_not_compiled_is_found(locks: Path, check_locks: Check) -> None:
    with (locks / "requirements.in").open("a") as file:
        file.write("rich\n")
    assert any(found.startswith("requirements.txt: rich is not locked") for found in check_locks(locks))


def test_a_version_that_the_in_file_refuses_is_found(locks: Path, check_locks: Check) -> None:
    edit(locks / "requirements.in", "orjson\n", "orjson>=999\n")
    assert any(found.startswith("requirements.txt: orjson>=999 is locked at ") for found in check_locks(locks))


def test_a_need_of_a_need_that_is_not_pinned_is_found(locks: Path, check_locks: Check) -> None:
    edit(locks / "requirements.txt", pinned(locks / "requirements.txt", "werkzeug"), "")
    assert any("requirements.txt: werkzeug" in found and "not locked" in found for found in check_locks(locks))


@pytest.mark.skipif(
    sys.version_info[:2] != (3, 11), reason="the locks are compiled with Python 3.11; another one may need less"
)
def test_a_pin_that_nothing_needs_is_found(locks: Path, check_locks: Check) -> None:
    edit(locks / "requirements.in", "tenacity\n", "")
    edit(locks / "requirements-dev.in", "-r requirements.in\n", "-r requirements.in\ntenacity\n")
    assert "requirements.txt: nothing needs tenacity" in check_locks(locks)


def test_two_locks_with_two_versions_are_found(locks: Path, check_locks: Check) -> None:
    edit(locks / "requirements.txt", pinned(locks / "requirements.txt", "blinker"), f"blinker==1.8.2 --hash={DIGEST}\n")
    assert any(found.startswith("blinker is 1.8.2 in requirements.txt") for found in check_locks(locks))


def test_a_line_that_pins_no_single_version_is_found(locks: Path, check_locks: Check) -> None:
    edit(locks / "requirements.txt", pinned(locks / "requirements.txt", "blinker"), f"blinker>=1.8 --hash={DIGEST}\n")
    assert check_locks(locks) == ["requirements.txt: blinker is not pinned to one version"]


@pytest.mark.parametrize("digests", ["", " --hash=md5:d41d8cd98f00b204e9800998ecf8427e", f" --hash={DIGEST[:-1]}"])
@pytest.mark.parametrize("lock", ["requirements.txt", "requirements-vendors.txt"])
def test_a_pin_without_a_digest_is_found_in_each_lock(lock: str, digests: str, locks: Path, check_locks: Check) -> None:
    edit(locks / lock, pinned(locks / lock, "anyio"), f"anyio==4.0.0{digests}\n")
    assert check_locks(locks) == [f"{lock}: anyio has no SHA-256 of its files"]


@pytest.mark.parametrize("option", ["--index-url https://pypi.example/simple", "--trusted-host pypi.example", "-e ."])
def test_a_lock_that_says_where_to_fetch_from_is_found(option: str, locks: Path, check_locks: Check) -> None:
    lock = locks / "requirements.txt"
    lock.write_text(f"{option}\n{lock.read_text()}")
    (problem,) = check_locks(locks)
    assert problem == f"requirements.txt: an option, which belongs to who installs: {option.split(maxsplit=1)[0]}"


def test_a_dependency_of_the_project_that_the_lock_refuses_is_found(locks: Path, check_locks: Check) -> None:
    edit(locks / "pyproject.toml", '"tenacity>=9"', '"tenacity>=999"')
    assert any(found.startswith("pyproject.toml: tenacity>=999 is locked at ") for found in check_locks(locks))


def test_the_schemas_are_valid(check_schemas: Check) -> None:
    assert check_schemas(PROJECT / "schemas") == []


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (f'{{{DIALECT}, "type": "objekt"}}', "a.json: $.type breaks anyOf"),
        (f'{{{DIALECT}, "required": "id"}}', "a.json: $.required breaks type"),
        ('{"type": "object"}', "a.json: $schema is not https://json-schema.org/draft/2020-12/schema"),
        ("[]", "a.json: $schema is not https://json-schema.org/draft/2020-12/schema"),
        ("{", "a.json: not JSON"),
    ],
)
def test_a_schema_that_is_none_is_found(tmp_path: Path, check_schemas: Check, text: str, problem: str) -> None:
    (tmp_path / "a.json").write_text(text)
    assert check_schemas(tmp_path) == [problem]


def test_a_folder_without_schemas_is_no_success(tmp_path: Path, check_schemas: Check) -> None:
    (tmp_path / "openapi.json").write_text("{}")
    assert check_schemas(tmp_path) == [f"{tmp_path.name}: no JSON Schema"]


def test_a_shell_script_that_does_not_parse_or_is_careless_stops_the_check(tmp_path: Path) -> None:
    for folder in (".ci", "scripts"):
        (tmp_path / folder).mkdir()
    shutil.copy(PROJECT / "scripts/check_shell.sh", tmp_path / "scripts")
    environ = {"PATH": os.environ["PATH"], "BIN": str(Path(sys.executable).parent)}
    check = functools.partial(
        subprocess.run, ["sh", "scripts/check_shell.sh"], cwd=tmp_path, env=environ, capture_output=True, text=True
    )
    sound = check()
    assert (sound.returncode, sound.stdout) == (0, "shell scripts: 1\n")
    (tmp_path / ".ci/run").write_text("#!/usr/bin/env bash\nif true; then\n")
    broken = check()
    assert broken.returncode != 0
    assert ".ci/run" in broken.stderr
    (tmp_path / ".ci/run").write_text("#!/bin/sh\nrm -rf $1/*\n")
    careless = check()
    assert careless.returncode != 0
    assert "SC2115" in careless.stdout
