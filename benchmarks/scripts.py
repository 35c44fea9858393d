"""Runs a script of this package as the function would run: compiled, in an environment of requirements.txt alone."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

from benchmarks.rows import Stage


def run_script(stage: Stage, module: str, *arguments: str, python: Path | None = None) -> Any:
    """What ``module`` prints as JSON. Its errors go to stderr, and a failure is raised.

    ``python`` is that of another environment, for what the function has not.
    """
    path = f"{stage.runtime.source('function')}:{stage.runtime.source('tools')}"
    finished = subprocess.run(
        [python or stage.runtime.python, "-m", module, *arguments],
        cwd=stage.folder,
        env={"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "PYTHONPATH": path},
        check=True,
        stdout=subprocess.PIPE,
    )
    return json.loads(finished.stdout)
