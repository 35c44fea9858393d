"""The release before: a tag where there is one, and nothing where the history does not reach it."""

import subprocess
from pathlib import Path

from tests.chaos.old_release import old_release, revision_of


def git(repository: Path, *arguments: str) -> None:
    named = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", "-C", str(repository), *named, *arguments], check=True, capture_output=True)


def repository(folder: Path) -> Path:
    folder.mkdir()
    git(folder, "init", "--quiet")
    (folder / "main.py").write_text("first")
    git(folder, "add", "main.py")
    git(folder, "commit", "--quiet", "--message", "first")
    return folder


def test_the_last_tag_is_the_old_release(tmp_path: Path) -> None:
    ours = repository(tmp_path / "ours")
    git(ours, "tag", "v1")
    (ours / "main.py").write_text("second")
    git(ours, "commit", "--all", "--quiet", "--message", "second")
    found = old_release(tmp_path / "old", ours)
    assert found is not None
    assert (found.revision, (found.folder / "main.py").read_text()) == ("v1", "first")
    commit = revision_of(ours)
    (ours / "main.py").write_text("third")
    assert revision_of(ours) == f"{commit}+"


def test_without_a_tag_and_without_the_history_there_is_none(tmp_path: Path) -> None:
    assert old_release(tmp_path / "old", repository(tmp_path / "ours")) is None
    assert old_release(tmp_path / "old", tmp_path) is None
    assert revision_of(tmp_path) == "unknown"
