"""Standard streams under a test's control, and the command line run on them in this process."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from agent.cli.invocation import Invocation
from agent.cli.output_format import Format
from agent.cli.terminal import Terminal
from tests.conftest import REPOSITORY
from tests.leak_watch import WATCH

EXAMPLE = REPOSITORY / "examples" / "native.json"
BOOKING = REPOSITORY / "examples" / "data" / "tau-airline-booking.json"
PREFIX = ("agent", "conversation-memory")


class Screen(io.TextIOWrapper):
    """An output stream that remembers what was written, with any encoding, as a terminal or as a pipe."""

    def __init__(self, encoding: str = "utf-8", *, tty: bool = False) -> None:
        super().__init__(io.BytesIO(), encoding=encoding, newline="")
        self._tty = tty

    def isatty(self) -> bool:
        return self._tty

    def bytes(self) -> bytes:
        self.flush()
        assert isinstance(self.buffer, io.BytesIO)
        return self.buffer.getvalue()

    def text(self) -> str:
        return self.bytes().decode(self.encoding)


class Lost(Screen):
    """A stream whose writes fail with ``error``."""

    def __init__(self, error: OSError) -> None:
        super().__init__()
        self._error = error

    def write(self, text: str) -> int:
        raise self._error


def terminal(
    *, environ: Mapping[str, str] | None = None, stdin: bytes | None = b"", stdout: Screen | None = None
) -> Terminal:
    """A terminal of screens; ``stdin`` None is a process without standard input."""
    source = None if stdin is None else io.BytesIO(stdin)
    return Terminal(environ or {}, source, stdout or Screen(), Screen())


def printed(at: Terminal) -> tuple[str, str]:
    """What a terminal of screens holds: results, and all else."""
    assert isinstance(at.stdout, Screen)
    assert isinstance(at.stderr, Screen)
    return at.stdout.text(), at.stderr.text()


def invocation(
    at: Terminal, output_format: Format = Format.TABLE, *, store: str | None = None, debug: bool = False
) -> Invocation:
    """An invocation at a fixed instant, under a reference of its own."""
    return Invocation(
        terminal=at,
        format=output_format,
        debug=debug,
        store=store,
        execution_ref=str(uuid.uuid4()),
        clock=lambda: datetime(2026, 3, 2, 8, 15, tzinfo=UTC),
    )


@dataclass(frozen=True)
class Finished:
    """A command line that has ended."""

    code: int
    out: bytes
    err: str


def process_environment(**variables: str) -> dict[str, str]:
    """The environment of a child: this one's, without what would set the product up, and with ``variables``."""
    ours = (
        "RUVECTOR",
        "OTEL",
        "LLM_",
        "K_",
        "CAPTURE",
        "PORT",
        "COLUMNS",
        "PYTHONIOENCODING",
        "NO_COLOR",
        "FORCE_COLOR",
    )
    kept = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    return {**kept, "PYTHONPATH": str(REPOSITORY), **variables}


def command_line(*arguments: str) -> list[str]:
    """The command line as a process of its own."""
    return [sys.executable, "-m", "agent", *arguments]


def run_process(folder: Path, *arguments: str, stdin: bytes = b"", **variables: str) -> Finished:
    """Run the command line in ``folder``, to its end."""
    done = subprocess.run(
        command_line(*arguments),
        cwd=folder,
        env=process_environment(**variables),
        input=stdin,
        capture_output=True,
        timeout=60,
        check=False,
    )
    WATCH.look("standard error of the command line", done.stderr.decode())
    return Finished(done.returncode, done.stdout, done.stderr.decode())
