"""The container's recipe: what it copies is what a deploy uploads, and what it runs works in an empty folder."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import zipfile
from pathlib import Path

import pathspec
import pytest

from benchmarks.runtime import function_environment
from tests.conftest import REPOSITORY
from tests.deploy.uploaded import uploaded

DOCKERFILE = REPOSITORY / "deploy/Dockerfile"


def instructions() -> list[tuple[str, str]]:
    """Each instruction with its argument, without comments, continued lines joined."""
    lines = [line for line in DOCKERFILE.read_text().splitlines() if not line.lstrip().startswith("#")]
    joined = re.sub(r"\\\n\s*", " ", "\n".join(lines))
    return [(name, argument) for name, _, argument in (line.partition(" ") for line in joined.splitlines()) if name]


def copied() -> list[tuple[list[str], str]]:
    """Sources and target of each COPY."""
    return [
        (words[:-1], words[-1]) for name, argument in instructions() if name == "COPY" for words in [argument.split()]
    ]


def test_what_is_copied_is_what_a_deploy_uploads() -> None:
    sources = {source for names, _ in copied() for source in names}
    files = {
        str(path.relative_to(REPOSITORY))
        for source in sources
        for path in ([REPOSITORY / source] if (REPOSITORY / source).is_file() else (REPOSITORY / source).rglob("*"))
        if path.is_file() and path.suffix != ".pyc"
    }
    assert all((REPOSITORY / source).exists() for source in sources)
    assert files == set(uploaded())


def test_a_build_is_sent_those_files_and_the_recipe() -> None:
    ignored = pathspec.GitIgnoreSpec.from_lines((REPOSITORY / ".dockerignore").read_text().splitlines())
    some = [*uploaded(), "deploy/Dockerfile", "deploy/deploy.sh", "tests/conftest.py", "README.md", ".env"]
    some += ["agent/__pycache__/errors.cpython-311.pyc", "store/log/__pycache__/a.pyc", ".git/config"]
    assert sorted(name for name in some if not ignored.match_file(name)) == sorted([*uploaded(), "deploy/Dockerfile"])


@pytest.mark.slow
def test_each_command_of_the_recipe_works_in_an_empty_folder(tmp_path: Path) -> None:
    """pip finds all of requirements.txt there already: what is installed is the environment of the benchmarks."""
    environ = {"PATH": f"{function_environment() / 'bin'}:{os.environ['PATH']}", "HOME": str(tmp_path)}
    ran = 0
    for name, argument in instructions():
        if name == "COPY":
            *sources, target = argument.split()
            for source in sources:
                copy(REPOSITORY / source, tmp_path / target if target != "./" else tmp_path / source)
        elif name == "RUN":
            done = subprocess.run(
                ["sh", "-c", argument], cwd=tmp_path, env=environ, capture_output=True, text=True, check=False
            )
            assert done.returncode == 0, (argument, done.stdout, done.stderr)
            ran += 1
    assert ran == 2
    compiled = sorted((tmp_path / "agent/__pycache__").glob("bootstrap.*.pyc"))
    # PEP 552: the flags say that a hash decides, and that nobody asks.
    assert [int.from_bytes(file.read_bytes()[4:8], "little") for file in compiled] == [0b01]


def copy(source: Path, target: Path) -> None:
    """As COPY does, bytecode left out."""
    if source.is_dir():
        shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
    else:
        shutil.copy(source, target)


def test_it_is_nobody_s_root_and_its_command_is_the_platform_s() -> None:
    last = dict(instructions())
    assert re.fullmatch(r"python:3\.\d+-slim@sha256:[0-9a-f]{64}", last["FROM"])
    assert last["USER"] == "65532:65532"
    assert last["CMD"] == '["functions-framework"]'
    assert "FUNCTION_TARGET=handler" in last["ENV"].split()


def test_the_source_archive_holds_what_a_deploy_uploads_and_is_the_same_each_time(tmp_path: Path) -> None:
    archives = []
    for name in ("once.zip", "again.zip"):
        done = subprocess.run(
            ["sh", "deploy/source_zip.sh", str(tmp_path / name)],
            cwd=REPOSITORY,
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stdout == f"{tmp_path / name}\n"
        archives.append((tmp_path / name).read_bytes())
    assert archives[0] == archives[1]
    with zipfile.ZipFile(tmp_path / "once.zip") as archive:
        assert archive.namelist() == uploaded()
        assert archive.read("main.py") == (REPOSITORY / "main.py").read_bytes()


@pytest.mark.skipif(
    shutil.which("gcloud") is None, reason="no gcloud here: its own reading of .gcloudignore is not known"
)
@pytest.mark.parametrize("ignore", [".gcloudignore", ".dockerignore"])
def test_gcloud_reads_the_lists_as_we_do(tmp_path: Path, ignore: str) -> None:
    names = [
        "tests/conftest.py",
        "README.md",
        "deploy/Dockerfile",
        "deploy/deploy.sh",
        "agent/__pycache__/a.pyc",
        ".env",
    ]
    for name in [*uploaded(), *names]:
        (tmp_path / "source" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "source" / name).touch()
    shutil.copy(REPOSITORY / ignore, tmp_path / "source/.gcloudignore")
    listed = subprocess.run(
        ["gcloud", "meta", "list-files-for-upload", str(tmp_path / "source")],
        capture_output=True,
        text=True,
        check=True,
    )
    recipe = ["deploy/Dockerfile"] if ignore == ".dockerignore" else []
    assert sorted(listed.stdout.split()) == sorted([*uploaded(), *recipe])
