"""``make bandit`` and ``make audit``: clean on the project, and each finds what was planted."""

from __future__ import annotations

import json
import os
import runpy
import subprocess
import sys
import threading
import tomllib
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

PROJECT = Path(__file__).resolve().parents[2]
PYPROJECT = tomllib.loads((PROJECT / "pyproject.toml").read_text())
HASH = f"--hash=sha256:{'0' * 64}"
LOCK = f"sound==1.0 {HASH}\nholed==2.0 {HASH}\n"
NOBODY = "http://127.0.0.1:9/"
HOLE: dict[str, Any] = {
    "id": "PYSEC-2026-1",
    "summary": "it has a hole",
    "affected": [
        {
            "package": {"name": "holed", "ecosystem": "PyPI"},
            "ranges": [{"type": "ECOSYSTEM", "events": [{"introduced": "0"}, {"fixed": "2.1"}]}],
        }
    ],
}


class Osv:
    """A service that speaks OSV's protocol: what ``known`` says of a package, or ``status``."""

    def __init__(self) -> None:
        self.known: dict[str, list[dict[str, Any]]] = {}
        self.status = 200
        self.asked: list[str] = []
        osv = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                query = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                osv.asked.append(query["package"]["name"])
                found = osv.known.get(query["package"]["name"])
                self.send_response(osv.status)
                self.end_headers()
                self.wfile.write(json.dumps({"vulns": found} if found else {}).encode())

            def log_message(self, *arguments: object) -> None:
                """Say nothing."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server.server_port}/v1/query"


@pytest.fixture
def osv() -> Iterator[Osv]:
    osv = Osv()
    yield osv
    osv.server.shutdown()
    osv.server.server_close()


def audit(folder: Path, url: str, *options: str, lock: str = LOCK) -> subprocess.CompletedProcess[str]:
    """The audit of one lock, with a service at ``url`` and an index that nobody reaches."""
    (folder / "requirements.txt").write_text(lock)
    environ = {**os.environ, "PIP_AUDIT_OSV_URL": url, "HTTPS_PROXY": NOBODY, "NO_PROXY": "127.0.0.1"}
    return subprocess.run(
        [sys.executable, PROJECT / "scripts/audit.py", *options, folder / "requirements.txt"],
        env=environ,
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_lock_without_findings_is_said_with_who_was_asked(tmp_path: Path, osv: Osv) -> None:
    done = audit(tmp_path, osv.url, "--required")
    assert (done.returncode, done.stdout) == (0, "audit: 2 packages of requirements.txt by osv, 0 findings\n")
    assert sorted(osv.asked) == ["holed", "sound"]


def test_a_finding_fails_the_audit_with_its_id_and_its_remedy(tmp_path: Path, osv: Osv) -> None:
    osv.known["holed"] = [HOLE]
    done = audit(tmp_path, osv.url)
    assert (done.returncode, done.stderr) == (1, "holed 2.0: PYSEC-2026-1, fixed in 2.1\n")


@pytest.mark.parametrize(("options", "code"), [((), 0), (("--required",), 1)])
@pytest.mark.parametrize("status", [None, 500])
def test_where_nobody_can_be_asked_that_is_said_and_fails_only_where_it_is_required(
    status: int | None, options: tuple[str, ...], code: int, tmp_path: Path, osv: Osv
) -> None:
    osv.status = status or 200
    done = audit(tmp_path, osv.url if status else NOBODY, *options)
    assert (done.returncode, done.stdout) == (code, "")
    assert "NOTHING WAS AUDITED of requirements.txt" in done.stderr
    assert [line.split(":")[0] for line in done.stderr.splitlines()[1:]] == ["  osv", "  pypi"]


@pytest.mark.parametrize("lock", ["sound==1.0\n", f"sound>=1.0 {HASH}\n"])
def test_a_lock_without_pin_or_digest_fails_whoever_can_be_asked(lock: str, tmp_path: Path) -> None:
    done = audit(tmp_path, NOBODY, lock=lock)
    assert done.returncode == 1
    assert "a lock is none" in done.stderr


def test_an_index_that_knows_no_package_has_not_answered() -> None:
    script = runpy.run_path(str(PROJECT / "scripts/audit.py"))
    unknown = {"name": "sound", "skip_reason": "not found"}
    found = {"id": "PYSEC-2026-1", "fix_versions": []}
    with pytest.raises(script["NotAsked"], match="1 of 1 packages are not known there, such as sound"):
        script["read_report"](json.dumps({"dependencies": [unknown]}))
    holed = {"name": "holed", "version": "2.0", "vulns": [found, found]}
    audit = script["read_report"](json.dumps({"dependencies": [unknown, holed]}))
    assert audit.findings == ("holed 2.0: PYSEC-2026-1, no fix yet",)


def bandit(*files: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "bandit", "-q", "-r", "-c", PROJECT / "pyproject.toml", *files]
    return subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, check=False)


def test_what_bandit_looks_for_is_found(tmp_path: Path) -> None:
    (tmp_path / "careless.py").write_text("import pickle\n\npickle.loads(b'')\n")
    done = bandit(tmp_path)
    assert done.returncode == 1
    assert "B301" in done.stdout


def test_what_bandit_skips_ruff_asks() -> None:
    lint = PYPROJECT["tool"]["ruff"]["lint"]
    rules = [skip.replace("B", "S") for skip in PYPROJECT["tool"]["bandit"]["skips"]]
    by_file = lint["per-file-ignores"]
    ignored = [*lint["ignore"], *by_file["deploy/**"], *by_file["scripts/**"]]
    assert "S" in lint["select"]
    assert [rule for rule in rules if any(rule.startswith(each) for each in ignored)] == []


def test_an_accepted_finding_has_its_reason() -> None:
    accepted = runpy.run_path(str(PROJECT / "scripts/audit.py"))["ACCEPTED"]
    assert all(len(reason) > 20 for reason in accepted.values())
