"""The snippets of a page of the docs, run as the one program that they are together."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.cli.streams import process_environment


def printed_by(program: str, folder: Path) -> list[str]:
    """The lines that ``program`` prints, run in ``folder`` by a process of its own; a warning is an error there."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program],
        cwd=folder,
        env=process_environment(),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()
