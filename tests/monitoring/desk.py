"""The runbook as who was woken types it: a shell on a machine that has gcloud, memory-graph and the page's variables.

``Desk.type`` runs lines of the page after those of "Tools". gcloud is a fake that answers out of a ``World``; all else
is real, unless it is named in ``stubs``.
"""

from __future__ import annotations

import dataclasses
import json
import re
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from tests.cli.streams import process_environment
from tests.conftest import REPOSITORY
from tests.monitoring.queries import RUNBOOK

# The sections that no alert leads to, where it is about what people said.
CONTENT = ("Erase a person", "A secret was captured in clear", "Content seen in a log")
_BLOCK = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_GCLOUD = Path(__file__).with_name("gcloud_of_files.py")
# Nothing of the page takes so long: what is not over by then waits for ever.
_NEVER_S = 300


@dataclass(frozen=True)
class World:
    """The project: addresses and logs of services, values of secrets, variables of the store, dead letters."""

    services: dict[str, str] = field(default_factory=dict)
    secrets: dict[str, str] = field(default_factory=dict)
    logs: dict[str, str] = field(default_factory=dict)
    variables: dict[str, str] = field(default_factory=dict)
    dead: list[dict[str, Any]] = field(default_factory=list)
    # Names of secrets and the versions that they were given.
    added: list[list[str]] = field(default_factory=list)


class Said(NamedTuple):
    code: int
    out: str
    err: str


def part(name: str) -> str:
    """The text of the page under the heading ``name``, of an alert or of a part, to the next heading."""
    (text,) = re.findall(rf"^##+ {name}\n(.*?)(?=^##|\Z)", RUNBOOK.read_text(), re.MULTILINE | re.DOTALL)
    return str(text)


def typed(name: str, number: int) -> str:
    """One block of commands of the part ``name``."""
    return lines(name)[number]


def lines(name: str) -> list[str]:
    """The blocks of commands of the part ``name``, in their order."""
    return _BLOCK.findall(part(name))


class Desk:
    """A machine in ``folder``, from which all of ``world`` is reached."""

    def __init__(self, folder: Path, world: World, *, stubs: tuple[str, ...] = ()) -> None:
        self.folder = folder
        self.home = folder / "conversation-memory"
        (self.home / ".venv/bin").mkdir(parents=True)
        (self.home / "deploy").symlink_to(REPOSITORY / "deploy")
        self._program(self.home / ".venv/bin/memory-graph", f'exec "{sys.executable}" -m agent "$@"')
        self._program(folder / "bin/gcloud", f'exec "{sys.executable}" -IS "{_GCLOUD}" "$@"')
        for name in stubs:
            where = self.home / ".venv/bin" if name == "memory-graph" else folder / "bin"
            self._program(where / name, "exit 0")
        self.world = world

    def type(self, commands: str) -> Said:
        """Run ``commands`` after those of "Tools"; the code is that of the last one, or of a variable never set.

        Raises subprocess.TimeoutExpired for what does not end.
        """
        return self._typed(typed("Tools", 0), commands)

    def type_alone(self, commands: str) -> Said:
        """The same without "Tools"."""
        return self._typed(commands)

    @property
    def calls(self) -> list[list[str]]:
        """What gcloud was asked so far."""
        return [json.loads(line) for line in (self.folder / "calls").read_text().splitlines()]

    @property
    def acknowledged(self) -> list[str]:
        """The ids of dead letters that were taken away."""
        return [call[-1] for call in self.calls if call[:3] == ["pubsub", "subscriptions", "ack"]]

    def _typed(self, *scripts: str) -> Said:
        (self.folder / "world.json").write_text(json.dumps(dataclasses.asdict(self.world)))
        temporary = self.folder / "tmp"
        temporary.mkdir(exist_ok=True)
        path = f"{self.folder}/bin:{process_environment()['PATH']}"
        ran = subprocess.run(
            ["bash", "-uc", "\n".join(scripts)],
            cwd=self.home,
            env=process_environment(GCLOUD_WORLD=str(self.folder), PATH=path, TMPDIR=str(temporary)),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_NEVER_S,
            check=False,
        )
        self.world.added[:] = json.loads((self.folder / "world.json").read_text())["added"]
        return Said(ran.returncode, ran.stdout, ran.stderr)

    def _program(self, path: Path, line: str) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"#!/bin/sh\n{line}\n")
        path.chmod(0o755)
