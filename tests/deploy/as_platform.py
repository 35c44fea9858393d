"""Starts a target as the platform starts it: its own command and variables, files that it may read and not write.

As root (CI) the process is another user, with the one right to read everything: this machine's Python may lie in root's
own home. Anybody else is no root already, and the modes of the files are enough.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from benchmarks.runtime import function_environment
from tests.deploy.uploaded import unpack
from tests.live.host import free_port

START_TIMEOUT_S = 60
NOBODY = 65534
# The builder's commands for our files, as its source has them (GoogleCloudPlatform/buildpacks, functions_framework).
COMPILE = ("-m", "compileall", "-f", "-q", ".")
# The date that the builder's lifecycle gives to each file of the image: 1980-01-01T00:00:01Z.
IMAGE_DATE = 315532801


@dataclass(frozen=True)
class Deployment:
    """The uploaded files as an image has them, an environment of requirements.txt alone, and what was written."""

    folder: Path
    bin: Path

    @property
    def source(self) -> Path:
        return self.folder / "source"

    @property
    def temporary(self) -> Path:
        return self.folder / "tmp"

    def writes(self) -> list[str]:
        """What a process opened for writing, made or removed outside of its temporary folder."""
        recorded = (self.folder / "writes").read_text().splitlines()
        return sorted({path for path in recorded if not path.startswith((f"{self.temporary}/", "/dev/null"))})

    def files(self) -> dict[str, tuple[int, int]]:
        """Size and date of each file and folder of the source."""
        found = {path: path.stat() for path in [self.source, *self.source.rglob("*")]}
        return {str(path): (stat.st_size, stat.st_mtime_ns) for path, stat in found.items()}

    def command(self, target: str) -> list[str]:
        start = [str(self.bin / "functions-framework"), "--target", target]
        if os.geteuid() != 0:
            return start
        rights = ["--inh-caps", "+dac_read_search", "--ambient-caps", "+dac_read_search"]
        user = ["--reuid", str(NOBODY), "--regid", str(NOBODY), "--clear-groups"]
        return ["setpriv", *user, *rights, "--bounding-set", "-all,+dac_read_search", *start]

    def start(self, target: str, **variables: str) -> subprocess.Popen[str]:
        """The host's own start command, in the source folder, with the variables of the platform and these."""
        environ = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.folder),
            "TMPDIR": str(self.temporary),
            "PYTHONPATH": str(self.folder / "watch"),
            "WRITES_RECORDED_IN": str(self.folder / "writes"),
            "K_SERVICE": target.replace("_", "-"),
            "K_REVISION": "00001-abc",
        }
        with (self.temporary.parent / f"{target}.log").open("a") as log:
            return subprocess.Popen(
                self.command(target), cwd=self.source, env=environ | variables, stdout=log, stderr=log, text=True
            )

    def log(self, target: str) -> str:
        return (self.folder / f"{target}.log").read_text()

    @contextmanager
    def running(self, target: str, **variables: str) -> Iterator[str]:
        """The address of a target, for the length of a block."""
        port = free_port()
        process = self.start(target, PORT=str(port), **variables)
        try:
            self._wait_until_listening(process, target, port)
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()
            process.wait(timeout=30)

    def _wait_until_listening(self, process: subprocess.Popen[str], target: str, port: int) -> None:
        deadline = time.monotonic() + START_TIMEOUT_S
        while time.monotonic() < deadline:
            if process.poll() is not None:
                pytest.fail(f"the host ended with {process.returncode}: {self.log(target)}")
            try:
                httpx.get(f"http://127.0.0.1:{port}/openapi.json", timeout=START_TIMEOUT_S)
            except httpx.TransportError:
                threading.Event().wait(0.02)  # the host sends no word when it listens
            else:
                return
        pytest.fail(f"nobody listened within {START_TIMEOUT_S} s: {self.log(target)}")


def deploy(folder: Path, **build_environment: str) -> Deployment:
    """Build the uploaded files as the platform does, in ``folder``, which must be new.

    Compiled with ``build_environment``, then all dated as in an image, then read-only.
    """
    if os.geteuid() == 0 and shutil.which("setpriv") is None:
        pytest.skip("no setpriv (util-linux) here: root could not be kept from writing the source folder")
    deployment = Deployment(folder, function_environment() / "bin")
    unpack(deployment.source)
    subprocess.run(
        [deployment.bin / "python", *COMPILE],
        cwd=deployment.source,
        env={"PATH": os.environ["PATH"], **build_environment},
        check=True,
    )
    for path in [*deployment.source.rglob("*"), deployment.source]:
        os.utime(path, (IMAGE_DATE, IMAGE_DATE))
        path.chmod(0o555 if path.is_dir() else 0o444)
    (folder / "watch").mkdir()
    shutil.copy(Path(__file__).parent / "write_watch.py", folder / "watch/sitecustomize.py")
    subprocess.run([sys.executable, "-m", "compileall", "-q", folder / "watch"], check=True)
    (folder / "writes").touch()
    deployment.temporary.mkdir()
    if os.geteuid() == 0:
        for path in (folder / "writes", deployment.temporary):
            os.chown(path, NOBODY, NOBODY)
        folder.chmod(0o755)
    return deployment
