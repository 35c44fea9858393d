"""The files that a deploy uploads, by our own reading of .gcloudignore (a reading of git's, pathspec)."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pathspec

from tests.conftest import REPOSITORY

# Whole folders that are no part of a checkout, and slow to walk.
_NEVER = {".git", ".venv", "build", "dist"}


def uploaded(source: Path = REPOSITORY) -> list[str]:
    """The files of ``source`` that its .gcloudignore leaves, sorted."""
    lines = (source / ".gcloudignore").read_text().splitlines()
    ignored = pathspec.GitIgnoreSpec.from_lines(lines)
    return sorted(name for name in _files(source) if not ignored.match_file(name))


def _files(source: Path) -> Iterator[str]:
    for entry in source.iterdir():
        if entry.name in _NEVER or entry.name.startswith(".venv-"):
            continue
        if entry.is_dir():
            yield from (str(path.relative_to(source)) for path in entry.rglob("*") if path.is_file())
        else:
            yield entry.name


def unpack(folder: Path, source: Path = REPOSITORY) -> None:
    """Copy those files into ``folder``, which is made."""
    for name in uploaded(source):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source / name, folder / name)
