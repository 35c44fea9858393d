"""What every file of the project keeps to, whoever wrote it."""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[2]
# Written with a class of one letter, so that this file does not hold what it looks for.
UNFINISHED = re.compile(r"[T]ODO|[F]IXME|[N]otImplementedError")
# Two processes share out the tests: a set gives its cases to each in another order.
CASES_OF_A_SET = re.compile(r"parametrize\([^,\n]*, *(?:set\(|\{[^:\n]*\}\))")
MACHINE_PATH = re.compile(r"(?<![\w.])/[w]ork/")


def project_files() -> list[Path]:
    """The files that are tracked, or would be by a plain ``git add``."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=PROJECT,
        capture_output=True,
        check=True,
    )
    return sorted(file for name in listed.stdout.decode().split("\0") if name and (file := PROJECT / name).is_file())


@pytest.fixture(scope="module")
def files() -> list[Path]:
    if not (PROJECT / ".git").exists():
        pytest.skip("no git checkout: which files belong to the project is not known")
    found = project_files()
    assert PROJECT / "pyproject.toml" in found
    return found


def is_source(file: Path) -> bool:
    return file.suffix in {".py", ".sh", ".toml", ".in", ".md", ".yaml", ".yml"} or file.name in {"Makefile", "run"}


def test_no_source_file_is_longer_than_330_lines(files: list[Path]) -> None:
    long = {
        str(file.relative_to(PROJECT)): lines
        for file in files
        if file.suffix in {".py", ".sh"}
        and file.relative_to(PROJECT).parts[0] not in {"tests", "benchmarks"}
        and (lines := len(file.read_text().splitlines())) > 330
    }
    assert long == {}


def test_nothing_is_left_unfinished(files: list[Path]) -> None:
    found = [
        f"{file.relative_to(PROJECT)}:{number}"
        for file in files
        if is_source(file)
        for number, line in enumerate(file.read_text().splitlines(), 1)
        if UNFINISHED.search(line)
    ]
    assert found == []


def test_no_file_names_a_path_of_the_machine_it_was_written_on(files: list[Path]) -> None:
    found = [str(file.relative_to(PROJECT)) for file in files if MACHINE_PATH.search(file.read_text(errors="replace"))]
    assert found == []


def test_a_suppression_names_its_rule_and_its_reason(files: list[Path]) -> None:
    bare = re.compile(r"[#] (?:noqa(?:: ?[A-Z0-9, ]+)?|type: ignore(?:\[[\w, -]+\])?|pragma: no (?:cover|branch))\s*$")
    found = [
        f"{file.relative_to(PROJECT)}:{number}"
        for file in files
        if file.suffix == ".py"
        for number, line in enumerate(file.read_text().splitlines(), 1)
        if bare.search(line)
    ]
    assert found == []


@pytest.mark.parametrize(
    "name",
    [
        "README.md", "CHANGELOG.md", "CONTRIBUTING.md", "LICENSE", "Makefile", ".ci/run", ".gcloudignore",
        "requirements.txt", "requirements-dev.txt", "docs/architecture.md", "docs/glossary.md",
    ],
)  # fmt: skip
def test_the_house_has_what_a_visitor_looks_for(name: str) -> None:
    assert (PROJECT / name).stat().st_size > 0


def test_the_ci_script_has_its_run_bit() -> None:
    assert (PROJECT / ".ci/run").stat().st_mode & 0o111


def test_the_cases_of_a_test_have_an_order(files: list[Path]) -> None:
    assert CASES_OF_A_SET.search('@pytest.mark.parametrize("name", set' + "(NAMES))")
    tests = [file for file in files if file.suffix == ".py"]
    assert [file.name for file in tests if CASES_OF_A_SET.search(file.read_text())] == []


def test_the_licence_is_the_verbatim_apache_2_0_text() -> None:
    # The digest of what apache.org serves as LICENSE-2.0.txt.
    digest = hashlib.sha256((PROJECT / "LICENSE").read_bytes()).hexdigest()
    assert digest == "cfc7749b96f63bd31c3c42b5c471bf756814053e847c10f3eb003417bc523d30"


def test_make_without_a_target_prints_each_target_with_what_it_does() -> None:
    make = shutil.which("make")
    assert make is not None
    done = subprocess.run([make, "--no-print-directory"], cwd=PROJECT, capture_output=True, text=True, check=True)
    targets = re.findall(r"^  make (\w+) +\S", done.stdout, re.MULTILINE)
    assert {"run", "test", "check", "bench", "fmt", "lock", "crash", "fuzz", "help"} <= set(targets)


def test_every_word_of_the_contract_is_in_the_glossary() -> None:
    words = [
        "capture", "turn", "invocation", "node", "edge", "decision event", "receipt", "append", "position", "seq",
        "version", "fold", "session state", "window", "prune", "marker", "erase",
    ]  # fmt: skip
    rows = re.findall(r"^\| \*\*(.+?)\*\* \| (.+) \|$", (PROJECT / "docs/glossary.md").read_text(), re.MULTILINE)
    assert [word for word, _ in rows] == words
    assert [word for word, meaning in rows if not re.fullmatch(r"[A-Z].{20,}\.", meaning)] == []
