"""A page of docs/operate as its reader meets it: its commands as one script, run in a shell of its own."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.cli.streams import process_environment
from tests.conftest import REPOSITORY

PAGES = REPOSITORY / "docs" / "operate"
_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_BIN = ".venv/bin/"


def text_of(name: str) -> str:
    """The page of this name, without its end."""
    return (PAGES / f"{name}.md").read_text()


def blocks(text: str, language: str = "sh") -> list[str]:
    """The blocks of code of one language, in their order."""
    return [block for each, block in _BLOCK.findall(text) if each == language]


def documents_in(text: str) -> list[dict[str, Any]]:
    """The JSON objects in ``text``, in their order, whatever stands between them."""
    found: list[dict[str, Any]] = []
    decoder = json.JSONDecoder()
    place = text.find("{")
    while place >= 0:
        try:
            document, place = decoder.raw_decode(text, place)
        except ValueError:
            place += 1
        else:
            found.append(document)
        place = text.find("{", place)
    return found


@dataclass(frozen=True)
class Ran:
    """A script that has ended."""

    code: int
    out: str
    err: str


def run_script(script: str, folder: Path, words: Mapping[str, str], **variables: str) -> Ran:
    """Run ``script`` in the repository as a reader would; ``words`` are all that is put in place of its own.

    ``folder`` takes its output and its temporary files. What it leaves running is ended.
    """
    for written, here in {_BIN: f"{Path(sys.executable).parent}/", **words}.items():
        assert written in script, written
        script = script.replace(written, here)
    out, err = folder / "script.out", folder / "script.err"
    environ = process_environment(TMPDIR=str(folder), XDG_STATE_HOME=str(folder / "state"), **variables)
    with out.open("wb") as stdout, err.open("wb") as stderr:
        # Files, not pipes: a pipe ends when the last of its servers does.
        process = subprocess.Popen(
            ["bash", "-euo", "pipefail", "-c", f"{script}\nwait"],
            cwd=REPOSITORY,
            env=environ,
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=stderr,
            start_new_session=True,
        )
        try:
            code = process.wait(240)
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    return Ran(code, out.read_text(), err.read_text())
