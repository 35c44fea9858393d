"""What is measured, as it would be deployed: an environment of requirements.txt alone, and a compiled copy of the code.

The environment lies in the user's cache folder and is made again when requirements.txt changes; rich or pytest beside
the function would make its imports slower than they are where it runs. The copy keeps a run of minutes steady while
files are being edited.
"""

from __future__ import annotations

import dataclasses
import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

_REPOSITORY = Path(__file__).resolve().parents[1]
_FUNCTION = ("main.py", "agent", "store", "schemas")


@dataclasses.dataclass(frozen=True, slots=True)
class Runtime:
    """``environment`` has the function's packages and no others; ``folder`` holds one compiled source folder a name."""

    environment: Path
    folder: Path

    @property
    def python(self) -> Path:
        return self.environment / "bin" / "python"

    @property
    def host_command(self) -> Path:
        return self.environment / "bin" / "functions-framework"

    def source(self, name: str) -> Path:
        """The folder of ``function``, ``baseline``, ``servers_worker``, ``trivial`` or ``tools``."""
        return self.folder / name


def prepare(folder: Path) -> Runtime:
    """Make the environment where it is missing, and compiled copies of function, baselines and tools in ``folder``."""
    runtime = Runtime(function_environment(), folder)
    ignore = shutil.ignore_patterns("__pycache__")
    function = runtime.source("function")
    function.mkdir(parents=True)
    for name in _FUNCTION:
        source = _REPOSITORY / name
        if source.is_dir():
            shutil.copytree(source, function / name, ignore=ignore)
        else:
            shutil.copy2(source, function / name)
    for name in ("baseline", "servers_worker", "trivial"):
        shutil.copytree(_REPOSITORY / "benchmarks" / name, runtime.source(name), ignore=ignore)
    shutil.copytree(_REPOSITORY / "benchmarks", runtime.source("tools") / "benchmarks", ignore=ignore)
    _compile(runtime.python, folder)
    return runtime


def function_environment() -> Path:
    """The environment of requirements.txt alone, made where it is missing."""
    requirements = _REPOSITORY / "requirements.txt"
    key = hashlib.sha256(requirements.read_bytes() + sys.version.encode()).hexdigest()[:16]
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "conversation-memory"
    environment = cache / f"benchmarks-{key}"
    complete = environment / "complete"
    cache.mkdir(parents=True, exist_ok=True)
    with (cache / "lock").open("w") as lock:
        # Two test processes may want it at once: the second waits, and finds it made.
        fcntl.flock(lock, fcntl.LOCK_EX)
        _make_environment(environment, requirements, complete)
    return environment


def _make_environment(environment: Path, requirements: Path, complete: Path) -> None:
    """Make it, unless it is complete."""
    if not complete.exists():
        print(f"making {environment} (once for each requirements.txt) ...", file=sys.stderr, flush=True)
        shutil.rmtree(environment, ignore_errors=True)
        subprocess.run([sys.executable, "-m", "venv", environment], check=True)
        pip = [str(environment / "bin" / "python"), "-m", "pip", "--disable-pip-version-check", "install"]
        # The first q drops the progress, the second warnings about package indexes that this machine may have.
        subprocess.run(
            [*pip, "-qq", "--require-hashes", "--requirement", str(requirements)], check=True, cwd=_REPOSITORY
        )
        _compile(environment / "bin" / "python", environment / "lib")
        complete.touch()


def _compile(python: Path, folder: Path) -> None:
    # Some packages carry files for other Python versions, which do not compile: the exit code says nothing here.
    subprocess.run([python, "-m", "compileall", "-q", folder], check=False, stdout=subprocess.DEVNULL)
