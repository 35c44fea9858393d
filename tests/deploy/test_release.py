"""What scripts/release.sh makes: packages that install, the same bytes twice, and lists of what runs with them."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import zipfile
from pathlib import Path

import jsonschema_rs
import pytest
from packaging.requirements import Requirement

from agent import __version__
from tests.conftest import REPOSITORY

PINNED = re.compile(r"^([a-z0-9-]+)==(\S+)", re.MULTILINE)


def release(*options: str) -> subprocess.CompletedProcess[str]:
    """Run the release script on this tree."""
    command = ["bash", "scripts/release.sh", *options]
    return subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def released(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if not (REPOSITORY / ".git").exists():
        pytest.skip("no git checkout: which files belong to the project is not known")
    folder = tmp_path_factory.mktemp("release") / "dist"
    done = release("--into", str(folder))
    assert done.returncode == 0, done.stderr
    return folder


@pytest.mark.slow
def test_a_release_has_its_five_files_and_their_digests(released: Path) -> None:
    names = {file.name for file in released.iterdir()}
    packages = {f"conversation_memory-{__version__}-py3-none-any.whl", f"conversation_memory-{__version__}.tar.gz"}
    assert names == {*packages, "sbom.cdx.json", "licences.md", "SHA256SUMS"}
    sums = dict(reversed(line.split()) for line in (released / "SHA256SUMS").read_text().splitlines())
    assert sums == {name: hashlib.sha256((released / name).read_bytes()).hexdigest() for name in names - {"SHA256SUMS"}}


@pytest.mark.slow
def test_the_bill_of_materials_and_the_licences_name_what_requirements_txt_pins(released: Path) -> None:
    pins = dict(PINNED.findall((REPOSITORY / "requirements.txt").read_text()))
    bill = json.loads((released / "sbom.cdx.json").read_text())
    assert (bill["bomFormat"], bill["metadata"]["component"]["version"]) == ("CycloneDX", __version__)
    assert {folded(part["name"]): part["version"] for part in bill["components"]} == pins
    rows = [line.split("|")[1:4] for line in (released / "licences.md").read_text().splitlines()[2:]]
    assert {folded(name.strip()): version.strip() for name, version, _ in rows} == pins
    assert all(licence.strip() not in {"", "UNKNOWN"} for *_, licence in rows)


@pytest.mark.slow
def test_the_bill_of_materials_fits_the_schema_of_its_version(released: Path) -> None:
    """By the files of the library that wrote it, and a validator that takes no ten seconds for it."""
    (folder,) = REPOSITORY.glob(".venv-release/lib/python*/site-packages/cyclonedx/schema/_res")
    bill = json.loads((released / "sbom.cdx.json").read_text())
    schema = json.loads((folder / f"bom-{bill['specVersion']}.SNAPSHOT.schema.json").read_text())
    others = ("jsf-0.82", "spdx")
    names = [f"{name}.SNAPSHOT.schema.json" for name in others]
    registry = jsonschema_rs.Registry(
        [(f"http://cyclonedx.org/schema/{name}", json.loads((folder / name).read_text())) for name in names]
    )
    validator = jsonschema_rs.validator_for(schema, registry=registry)
    assert [error.message for error in validator.iter_errors(bill)] == []
    assert not validator.is_valid({**bill, "components": [{"name": "without a type"}]})


def folded(name: str) -> str:
    """A package's name as locks have it (PEP 503)."""
    return re.sub(r"[-_.]+", "-", name).lower()


@pytest.mark.slow
def test_the_wheel_holds_our_code_and_no_tests(released: Path) -> None:
    (wheel,) = released.glob("*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    assert {"main.py", "agent/py.typed", "store/server.py", "schemas/openapi.json"} <= set(names)
    assert {name.split("/")[0] for name in names} == {
        "main.py", "agent", "store", "schemas", f"conversation_memory-{__version__}.dist-info",
    }  # fmt: skip
    (sdist,) = released.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        assert {(member.uid, member.gid, member.uname) for member in archive} == {(0, 0, "")}


@pytest.mark.slow
def test_what_the_source_archive_makes_is_the_release_byte_for_byte(released: Path, tmp_path: Path) -> None:
    (sdist,) = released.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        archive.extractall(tmp_path, filter="data")
        epochs = {member.mtime for member in archive}
    assert len(epochs) == 1
    source, out = tmp_path / sdist.name.removesuffix(".tar.gz"), tmp_path / "out"
    out.mkdir()
    # What setuptools put into it: it lists the one in the other, if it finds them.
    (source / "setup.cfg").unlink()
    shutil.rmtree(source / "conversation_memory.egg-info")
    # Who runs it may make files that others cannot read: that is not to be seen in what is made.
    command = ["bash", "-c", 'umask 077; exec scripts/build_packages.sh "$0" "$1"', source, out]
    environ = {**os.environ, "SOURCE_DATE_EPOCH": str(epochs.pop())}
    subprocess.run(command, cwd=REPOSITORY, env=environ, check=True)
    digests = {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in out.iterdir()}
    assert len(digests) == 2
    assert digests == {name: hashlib.sha256((released / name).read_bytes()).hexdigest() for name in digests}


@pytest.mark.slow
def test_the_wheel_installs_in_a_fresh_environment_and_the_command_starts(released: Path, tmp_path: Path) -> None:
    """What it depends on is lent by the environment of the tests; our own code there is an editable one, and is not."""
    venv = tmp_path / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(venv)], check=True)
    (wheel,) = released.glob("*.whl")
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", str(venv / "bin/python")]
    subprocess.run([*pip, "install", "-qq", "--no-deps", "--no-index", str(wheel)], check=True)
    (packages,) = venv.glob("lib/python*/site-packages")
    (packages / "lent.pth").write_text(sysconfig.get_path("purelib") + "\n")
    shown = subprocess.run(
        [venv / "bin/memory-graph", "--help"], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert "agent" in shown.stdout
    command = [venv / "bin/python", "-c", "import agent, schemas, store; print(agent.__file__)"]
    where = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert where.stdout.strip().startswith(str(packages))


@pytest.mark.slow
def test_the_wheel_asks_for_what_the_project_declares(released: Path) -> None:
    (wheel,) = released.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        (name,) = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
        metadata = archive.read(name).decode()
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]
    asked = {line for line in re.findall(r"^Requires-Dist: (.+)$", metadata, re.MULTILINE) if "extra ==" not in line}
    assert {Requirement(line) for line in asked} == {Requirement(line) for line in project["dependencies"]}


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--tag", "v999.0.0"), "the tag is v999.0.0, the version "),
        (("--tag",), "--tag needs a value"),
        (("--push", "x"), "there is no option --push"),
    ],
)
def test_a_release_that_is_none_is_refused(options: tuple[str, ...], said: str) -> None:
    done = release(*options)
    assert done.returncode == 2
    assert said in done.stderr


def test_a_tag_on_a_tree_with_changes_is_refused(tmp_path: Path) -> None:
    for name in ("agent/__init__.py", "scripts/release.sh"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(REPOSITORY / name, tmp_path / name)
    subprocess.run(["git", "init", "--quiet", str(tmp_path)], check=True)
    command = ["bash", "scripts/release.sh", "--tag", f"v{__version__}"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "in no commit" in done.stderr
