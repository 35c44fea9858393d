"""The release before: the last tag, or where there is none a commit that is named here, laid beside the run."""

from __future__ import annotations

import io
import subprocess
import tarfile
from pathlib import Path
from typing import NamedTuple

from tests.conftest import REPOSITORY

# What stood before the guard (issue 9).
_BEFORE = "e4eadd034c37d3fefdfe7b768cf57a9609a18712"


class OldRelease(NamedTuple):
    """Its ``revision`` as one would type it, and the ``folder`` of its files."""

    revision: str
    folder: Path


def old_release(folder: Path, repository: Path = REPOSITORY) -> OldRelease | None:
    """Lay it into ``folder``; None where this copy of the repository has no history that reaches it."""
    tag = _git(repository, "describe", "--tags", "--abbrev=0")
    revision = tag.decode().strip() if tag else _BEFORE[:7]
    archive = _git(repository, "archive", "--format=tar", revision)
    if archive is None:
        return None
    with tarfile.open(fileobj=io.BytesIO(archive)) as files:
        files.extractall(folder, filter="data")
    return OldRelease(revision, folder)


def revision_of(repository: Path = REPOSITORY) -> str:
    """What is run: the commit, with ``+`` where files differ from it."""
    commit = _git(repository, "rev-parse", "--short", "HEAD")
    if commit is None:
        return "unknown"
    changed = _git(repository, "status", "--porcelain", "--untracked-files=no")
    return commit.decode().strip() + ("+" if changed else "")


def _git(repository: Path, *arguments: str) -> bytes | None:
    """What git prints; None where it fails, or is not there."""
    try:
        done = subprocess.run(["git", "-C", str(repository), *arguments], capture_output=True, check=False)
    except FileNotFoundError:
        return None
    return done.stdout if done.returncode == 0 else None
