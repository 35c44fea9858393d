"""secrets.sh, against a gcloud that keeps what it is given: the store takes what it writes, and nothing is shown."""

from __future__ import annotations

import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from agent.core.api_keys import digest_of
from store.http.access import ROLES
from store.settings import StoreSettings
from tests.deploy.terraform_module import TERRAFORM

# Keeps each secret in a file of its name; its calls, without what came on standard input, in another; and a log beside
# them, as gcloud has one that its user never asked for.
FAKE = r"""#!/bin/bash
printf '%s\n' "$*" >>"$KEPT/calls"
[[ $CLOUDSDK_CORE_DISABLE_FILE_LOGGING == true ]] || printf '%s\n' "$*" >>"$KEPT/../log"
case $* in
"secrets versions add "*) cat >"$KEPT/$4" ;;
"secrets versions list "*) [[ ! -e $KEPT/$4 ]] || echo 1 ;;
"sql users "*) cat >"$KEPT/../flags"; [[ $3 != "$TAKEN" ]] || exit 1 ;;
esac
"""
KEYS = {"conversation-store-keys", "conversation-store-write-key", "conversation-store-read-key"}


@dataclass(frozen=True)
class Secrets:
    """A project whose secrets are files of a folder. ``taken``: the verb of ``sql users`` that fails."""

    folder: Path
    taken: str = ""

    def fill(self, *options: str) -> subprocess.CompletedProcess[str]:
        fake = self.folder / "bin/gcloud"
        fake.parent.mkdir(exist_ok=True)
        fake.write_text(FAKE)
        fake.chmod(0o755)
        (self.folder / "kept").mkdir(exist_ok=True)
        return subprocess.run(
            ["bash", str(TERRAFORM / "secrets.sh"), *options],
            env={"PATH": f"{fake.parent}:{os.environ['PATH']}", "KEPT": str(self.folder / "kept"), "TAKEN": self.taken},
            capture_output=True,
            text=True,
            check=False,
        )

    def kept(self) -> dict[str, str]:
        """The values by secret."""
        return {path.name: path.read_text() for path in (self.folder / "kept").iterdir() if path.name != "calls"}

    def log(self) -> str:
        return (self.folder / "log").read_text()

    def calls(self) -> str:
        return (self.folder / "kept/calls").read_text()


@pytest.fixture
def secrets(tmp_path: Path) -> Secrets:
    return Secrets(tmp_path)


def test_the_store_takes_what_was_written_and_the_callers_keys_are_among_its_own(secrets: Secrets) -> None:
    done = secrets.fill("--project", "p", "--database-host", "10.20.0.3", "--tenant", "acme", "--metrics-key")
    assert done.returncode == 0, done.stderr
    kept = secrets.kept()
    settings = StoreSettings.from_env(
        {
            "K_SERVICE": "conversation-store",
            "RUVECTOR_STORE": kept["conversation-store-url"],
            "RUVECTOR_KEYS": kept["conversation-store-keys"],
            "METRICS_KEY": kept["conversation-store-metrics-key"],
        }
    )
    assert settings.url.startswith("postgresql+psycopg://memory:")
    assert settings.url.endswith("@10.20.0.3/memory?sslmode=require")
    rights = {key.digest: key.rights for key in settings.keys}
    assert {key.tenant for key in settings.keys} == {"acme"}
    assert sorted(map(sorted, rights.values())) == sorted(sorted(ROLES[role]) for role in ("admin", "read", "write"))
    assert rights[digest_of(kept["conversation-store-write-key"])] == ROLES["write"]
    assert rights[digest_of(kept["conversation-store-read-key"])] == ROLES["read"]


def test_no_value_is_shown_and_none_is_an_argument(secrets: Secrets) -> None:
    done = secrets.fill("--project", "p", "--database-host", "10.20.0.3")
    shown = done.stdout + done.stderr + secrets.calls()
    for value in secrets.kept().values():
        assert all(part not in shown for part in re.split("[:,@]", value) if len(part) == 48)


@pytest.mark.parametrize("taken", ["", "create"], ids=["a new user", "a user of an earlier run"])
def test_the_database_s_user_has_the_password_that_the_store_is_given(tmp_path: Path, taken: str) -> None:
    secrets = Secrets(tmp_path, taken)
    assert secrets.fill("--project", "p", "--database-host", "10.20.0.3").returncode == 0
    password = secrets.kept()["conversation-store-url"].split(":")[2].partition("@")[0]
    assert (tmp_path / "flags").read_text() == f"--password: {password}\n"
    assert [line.split()[2] for line in secrets.calls().splitlines() if line.startswith("sql users")] == (
        ["create", "set-password"] if taken else ["create"]
    )


def test_a_database_of_ones_own_is_left_alone(secrets: Secrets) -> None:
    done = secrets.fill("--project", "p", "--no-database")
    assert done.returncode == 0, done.stderr
    assert set(secrets.kept()) == KEYS
    assert "sql users" not in secrets.calls()


def test_a_secret_that_has_a_value_is_never_written_over(secrets: Secrets) -> None:
    secrets.fill("--project", "p", "--no-database")
    before = secrets.kept()
    again = secrets.fill("--project", "p", "--database-host", "10.20.0.3")
    assert again.returncode == 2
    assert "conversation-store-keys has a value already" in again.stderr
    assert "gcloud secrets versions destroy 1 --secret=conversation-store-keys" in again.stderr
    assert secrets.kept() == before


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ((), "--project"),
        (("--project", "p"), "--database-host HOST, or --no-database"),
        (("--project", "p", "--database-host", "a b"), "--database-host is a name"),
        (("--project", "p", "--no-database", "--tenant", "a:b"), "--tenant takes"),
        (("--project",), "--project needs a value"),
        (("--projects", "p"), "there is no option --projects"),
    ],
)
def test_an_option_that_does_not_hold_is_refused_before_anything_is_done(
    secrets: Secrets, options: tuple[str, ...], said: str
) -> None:
    done = secrets.fill(*options)
    assert (done.returncode, secrets.kept()) == (2, {})
    assert said in done.stderr


def test_the_password_of_the_database_is_in_no_log_of_gcloud(secrets: Secrets) -> None:
    assert secrets.fill("--project", "p", "--database-host", "10.20.0.3").returncode == 0
    assert "secrets versions add" in secrets.log()
    assert "sql users" not in secrets.log()
