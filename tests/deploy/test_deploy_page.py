"""docs/operate/deploy.md: what can be run without a cloud is run, and gcloud's own parser takes the rest."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

from tests.conftest import REPOSITORY
from tests.deploy.fake_gcloud import Project, deployed, flag
from tests.deploy.test_deploy_sh import LOOKED_FOR, unknown_to_gcloud

PAGE = REPOSITORY / "docs/operate/deploy.md"
BLOCKS = [
    block.replace("\\\n", " ")
    for block in re.findall(r"^```sh\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
]
LINES = [line.strip() for block in BLOCKS for line in block.splitlines()]


@dataclass(frozen=True)
class Run:
    """The page, run: where, how it ended, and what gcloud was asked."""

    folder: Path
    done: subprocess.CompletedProcess[str]
    calls: list[list[str]]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """All blocks in one shell, from the first line to the removal, in a copy of the repository.

    The smoke test has no peer here (test_as_deployed.py has one), and git no other side.
    """
    folder = tmp_path_factory.mktemp("page")
    copied = folder / "clone"
    shutil.copytree(REPOSITORY / "deploy", copied / "deploy", ignore=shutil.ignore_patterns(".terraform*"))
    (folder / "bin").mkdir()
    (folder / "bin/git").write_text("#!/bin/sh\necho abc1234\n")
    (folder / "bin/git").chmod(0o755)
    (copied / "deploy/smoke_test.sh").write_text('#!/bin/sh\necho "smoke test of $*"\n')
    return Run(copied, *Project(folder, absent=LOOKED_FOR).paste("\n".join([f"cd {copied}", *BLOCKS])))


def test_the_page_can_be_followed_in_one_shell_from_the_first_line_to_the_removal(run: Run) -> None:
    assert run.done.returncode == 0, run.done.stderr
    assert "smoke test of https://conversation-memory.example https://conversation-recall.example" in run.done.stdout
    services = ["conversation-memory", "conversation-memory-events", "conversation-recall", "conversation-store"]
    assert sorted(deployed(run.calls)) == services
    assert sorted({call[2] for call in run.calls if call[:2] == ["functions", "delete"]}) == services


def test_whatever_the_page_and_its_scripts_make_the_removal_removes(run: Run) -> None:
    made: dict[tuple[str, ...], set[str]] = {
        tuple(call[: call.index("create")]): set() for call in run.calls if "create" in call
    }
    removed: dict[tuple[str, ...], set[str]] = {kind: set() for kind in made}
    for call in run.calls:
        for verb, found in (("create", made), ("delete", removed)):
            if verb in call and (kind := tuple(call[: call.index(verb)])) in found:
                names = [word for word in call[call.index(verb) + 1 :] if not word.startswith("--")]
                found[kind] |= {name.partition("@")[0] for name in names}
    # The database's goes with its instance, and the user with the database; the image's place is said in a sentence.
    for within in (("sql", "databases"), ("sql", "users"), ("artifacts", "repositories")):
        assert made.pop(within)
        del removed[within]
    assert removed == made


def test_the_secrets_that_the_page_makes_are_filled_and_are_those_that_a_deploy_asks_for(run: Run) -> None:
    made = {call[2] for call in run.calls if call[:2] == ["secrets", "create"]}
    assert made == {call[3] for call in run.calls if call[:3] == ["secrets", "versions", "add"]}
    assert made == {flag(call, "secret") for call in run.calls if call[:3] == ["secrets", "versions", "describe"]}


def test_no_name_of_the_service_file_is_left_to_fill_in(run: Run) -> None:
    service = yaml.safe_load((run.folder / "build/service.yaml").read_text())
    (container,) = service["spec"]["template"]["spec"]["containers"]
    assert (
        container["image"] == "europe-west6-docker.pkg.dev/my-project/conversation-memory/conversation-memory:abc1234"
    )
    left = re.compile(r"PROJECT_ID|REGION|CONNECTOR|STORE_URL|VERSION")
    values = re.sub(r"RUVECTOR_SERVICE_URL", "", yaml.safe_dump(service))
    assert left.findall(values) == []


@pytest.mark.slow
@pytest.mark.skipif(
    shutil.which("gcloud") is None, reason="no gcloud here: its list of commands and flags is not known"
)
def test_gcloud_takes_each_command_of_the_page(run: Run, tmp_path: Path) -> None:
    commands = {shlex.join(["gcloud", *call]) for call in run.calls}
    assert len(commands) > 60
    assert unknown_to_gcloud(sorted(commands), tmp_path) == []


def test_each_file_of_the_page_is_there_and_each_option_too() -> None:
    text = PAGE.read_text()
    links = re.findall(r"\]\(([^)#]+)", text)
    assert [link for link in links if not (PAGE.parent / link).exists()] == []
    scripts = set(re.findall(r"\b(?:deploy|scripts)/[\w/]+\.\w+", text))
    assert [name for name in scripts if not (REPOSITORY / name).exists()] == []
    usage = subprocess.run(
        ["bash", "deploy/deploy.sh", "--help"], cwd=REPOSITORY, capture_output=True, text=True, check=True
    )
    for line in LINES:
        if line.startswith("deploy/deploy.sh"):
            assert set(re.findall(r" (--[a-z-]+)", line)) <= set(re.findall(r"--[a-z-]+", usage.stdout))
    prose = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    for option in re.findall(r"`(--[a-z-]+)", prose):
        where = usage.stdout + (REPOSITORY / "deploy/terraform/secrets.sh").read_text()
        assert option in where, option


def test_the_dry_run_of_the_page_needs_nothing_but_a_shell(tmp_path: Path) -> None:
    (line,) = [line for line in LINES if "--dry-run" in line]
    for tool in ("bash", "dirname", "cat"):
        (tmp_path / tool).symlink_to(shutil.which(tool) or "")
    done = subprocess.run(
        [shutil.which("bash") or "", "-c", f"bash {line}"],
        cwd=REPOSITORY,
        env={"PATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.count("gcloud functions deploy") == 4


def test_what_the_page_shows_of_the_smoke_test_is_what_it_says() -> None:
    shown = re.search(r"^```\n(ok .*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    assert shown is not None
    script = (REPOSITORY / "deploy/smoke_test.sh").read_text()
    for line in shown[1].splitlines():
        words = re.sub(r"[0-9a-f]{8}-[0-9a-f-]{27}|recall has", "\0", line[6:])
        for part in words.split("\0"):
            assert part.strip() in script, part
    assert os.access(REPOSITORY / "deploy/smoke_test.sh", os.X_OK)
