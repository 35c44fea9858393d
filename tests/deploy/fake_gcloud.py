"""A gcloud that writes down what it is asked, and knows a project in which only some things are there yet."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

from tests.conftest import REPOSITORY

DEPLOY = REPOSITORY / "deploy/deploy.sh"
CONNECTED = ("--vpc-connector", "inside")
PLACE = ("--project", "my-project", "--region", "europe-west6")
# One call is one record: its words end with a byte that none of them can hold, the record with an empty word.
_SCRIPT = r"""#!/bin/bash
printf '%s\0' "$@" "" >>"$GCLOUD_CALLS"
if [[ " $* " == *" --data-file=- "* ]]; then cat >/dev/null; fi
case " $* " in
*"run services describe"*) echo "https://$4.example" ;;
*"run services list"*) printf '%s' "$DEPLOYED" ;;
*"projects describe"*) echo 4711 ;;
*"sql instances describe"*) echo 10.8.1.3 ;;
*"config get-value account"*) echo ada@example.com ;;
esac
[[ " $* " == *" describe "* && -n $ABSENT && " $* " =~ $ABSENT ]] && exit 1
[[ -n $BROKEN && " $* " =~ $BROKEN ]] && exit 1
exit 0
"""


@dataclass(frozen=True)
class Project:
    """A folder with the fake on the path.

    ``absent``: a pattern of what is looked for in vain; ``broken``: of what fails. ``there``: the variables of deployed
    services as gcloud prints them: service, name, value, with tabs between; no value where it is a secret's.
    """

    folder: Path
    absent: str = ""
    broken: str = ""
    there: tuple[str, ...] = ()

    def deploy(self, *options: str) -> tuple[subprocess.CompletedProcess[str], list[list[str]]]:
        """Run deploy.sh; what it said, and the calls it made."""
        return self._watched(["bash", str(DEPLOY), *PLACE, *options])

    def paste(self, commands: str) -> tuple[subprocess.CompletedProcess[str], list[list[str]]]:
        """Run printed commands as a shell takes them."""
        return self._watched(["bash", "-euo", "pipefail", "-c", commands])

    def _watched(self, command: list[str]) -> tuple[subprocess.CompletedProcess[str], list[list[str]]]:
        fake = self.folder / "bin/gcloud"
        fake.parent.mkdir(exist_ok=True)
        fake.write_text(_SCRIPT)
        fake.chmod(0o755)
        calls = self.folder / "calls"
        calls.write_text("")
        environ = {
            "PATH": f"{fake.parent}:{os.environ['PATH']}",
            "GCLOUD_CALLS": str(calls),
            "ABSENT": self.absent,
            "BROKEN": self.broken,
            "DEPLOYED": "".join(f"{line}\n" for line in self.there),
        }
        done = subprocess.run(command, env=environ, cwd=REPOSITORY, capture_output=True, text=True, check=False)
        records = calls.read_text().split("\0\0")
        return done, [record.split("\0") for record in records if record]


def flag(call: list[str], name: str) -> str:
    """The value of ``--name=value`` in a call."""
    (found,) = [word.removeprefix(f"--{name}=") for word in call if word.startswith(f"--{name}=")]
    return found


def deployed(calls: list[list[str]]) -> dict[str, list[str]]:
    """The call that deploys each function, by the function's name."""
    return {call[2]: call for call in calls if call[:2] == ["functions", "deploy"]}
