"""``scripts/environment.sh``: who cannot make an environment is told what to do, and nothing is made half."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[2]


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    (tmp_path / "scripts").mkdir()
    shutil.copy(PROJECT / "scripts/environment.sh", tmp_path / "scripts")
    for name in ("pyproject.toml", "requirements-dev.txt"):
        shutil.copy(PROJECT / name, tmp_path)
    return tmp_path


def script(folder: Path, name: str, body: str) -> Path:
    """An executable shell script ``folder/name``."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / name
    file.write_text(f"#!/bin/sh\n{body}\n")
    file.chmod(0o755)
    return file


def environment(tree: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["sh", "scripts/environment.sh"],
        cwd=tree,
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_python_that_is_too_old_is_said_with_one_that_would_do(tree: Path) -> None:
    commands = tree / "commands"
    old = script(commands, "python-old", "exit 1")
    script(commands, "python3.13", "exit 0")
    done = environment(tree, PYTHON=str(old), PATH=f"{commands}:{os.environ['PATH']}")
    assert done.returncode == 1
    assert "older than 3.11" in done.stderr
    assert "PYTHON=python3.13" in done.stderr
    assert not (tree / ".venv").exists()


def test_no_python_at_all_is_said_with_what_to_install(tree: Path) -> None:
    commands = tree / "commands"
    for name in ("python3.11", "python3.12", "python3.13"):
        script(commands, name, "exit 1")
    done = environment(tree, PYTHON="no-such-python", PATH=f"{commands}:{os.environ['PATH']}")
    assert done.returncode == 1
    assert "Python 3.11 or newer is needed" in done.stderr
    assert "apt-get install python3 python3-venv" in done.stderr


def test_a_python_without_its_venv_module_is_said_with_what_to_install(tree: Path) -> None:
    # As on a bare Debian: the interpreter is there, ensurepip is not.
    bare = script(
        tree / "commands", "python-bare", f'case "$2" in *ensurepip*) exit 1;; esac\nexec {sys.executable} "$@"'
    )
    done = environment(tree, PYTHON=str(bare))
    assert done.returncode == 1
    assert "apt-get install python3-venv" in done.stderr
    assert not (tree / ".venv").exists()


def test_an_environment_that_is_current_is_left_alone(tree: Path) -> None:
    calls = tree / "calls"
    script(tree / ".venv/bin", "python", f'echo "$*" >>{calls}')
    stamp = tree / ".venv/.installed"
    ingredients = f"{tree}\n{(tree / 'pyproject.toml').read_text()}{(tree / 'requirements-dev.txt').read_text()}"
    stamp.write_text(ingredients)
    done = environment(tree, PYTHON="no-such-python")
    assert done.returncode == 0, done.stderr
    assert "pip" not in calls.read_text()
    assert stamp.read_text() == ingredients


def test_a_changed_lock_is_installed_into_the_environment_that_is_there(tree: Path) -> None:
    calls = tree / "calls"
    script(tree / ".venv/bin", "python", f'echo "$*" >>{calls}')
    stamp = tree / ".venv/.installed"
    stamp.write_text(f"{tree}\nan older lock\n")
    done = environment(tree, PYTHON=sys.executable)
    assert done.returncode == 0, done.stderr
    assert "-m pip install -qq --require-hashes --requirement requirements-dev.txt" in calls.read_text()
    assert "-m venv" not in calls.read_text()
    assert stamp.read_text().endswith((tree / "requirements-dev.txt").read_text())


def test_an_install_that_fails_leaves_no_stamp(tree: Path) -> None:
    script(tree / ".venv/bin", "python", 'case "$*" in *requirement*) exit 3;; esac')
    (tree / ".venv/.installed").write_text(f"{tree}\nan older lock\n")
    assert environment(tree, PYTHON=sys.executable).returncode == 3
    assert not (tree / ".venv/.installed").exists()
