"""Whether a package of the locks has a known vulnerability, by pip-audit.

``audit.py [--required] LOCK...``. Asks osv.dev (or PIP_AUDIT_OSV_URL), then PyPI; the first that knows all packages is
enough. Fails where there is a finding, and where a lock is none: each line has to be a pin with its hash. Where neither
can be asked it says that nothing was audited, and fails only with ``--required``, as in continuous integration.
pip-audit by itself finds nothing wrong where an index answers 404 to everything; here that is nobody who answered.
"""

from __future__ import annotations

import argparse
import json
import subprocess  # nosec B404 # pip-audit is a program: it has no interface for others
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

SOURCES: Final = ("osv", "pypi")
# Findings that do not concern us: the id, and the reason why not.
ACCEPTED: Final[Mapping[str, str]] = {}
_TIMEOUT_S: Final = 10
_SHOWN: Final = 200


class NotAsked(Exception):
    """A source gave no answer, or none about these packages."""


class NoLock(Exception):
    """pip-audit refuses a file: a pin is missing, or its hash. The message is pip-audit's."""


class Audit(NamedTuple):
    """How many packages were looked up, and what was found, a sentence each."""

    packages: int
    findings: tuple[str, ...]


def read_report(text: str) -> Audit:
    """What pip-audit's JSON report says. Raises NotAsked where packages were left out of it."""
    packages = json.loads(text)["dependencies"]
    found = []
    for package in packages:
        for finding in package.get("vulns", ()):
            remedy = f"fixed in {', '.join(finding['fix_versions'])}" if finding["fix_versions"] else "no fix yet"
            found.append(f"{package['name']} {package['version']}: {finding['id']}, {remedy}")
    unknown = [package["name"] for package in packages if "skip_reason" in package]
    if unknown and not found:
        raise NotAsked(f"{len(unknown)} of {len(packages)} packages are not known there, such as {unknown[0]}")
    return Audit(len(packages), tuple(dict.fromkeys(found)))


def ask(source: str, locks: Sequence[Path]) -> Audit:
    """What ``source`` says of the locks. Raises NotAsked."""
    accepted = [option for finding in ACCEPTED for option in ("--ignore-vuln", finding)]
    done = _pip_audit(locks, "--vulnerability-service", source, "--format", "json", *accepted)
    if not done.stdout.strip():
        # Its last line: what the network said, by type.
        raise NotAsked((done.stderr.strip().splitlines() or ["no answer"])[-1][:_SHOWN])
    return read_report(done.stdout)


def check_locks(locks: Sequence[Path]) -> None:
    """Raises NoLock where pip-audit would not take a file, which no network is needed for."""
    done = _pip_audit(locks, "--dry-run")
    if done.returncode:
        raise NoLock(done.stderr.strip())


def _pip_audit(locks: Sequence[Path], *options: str) -> subprocess.CompletedProcess[str]:
    files = [option for lock in locks for option in ("--requirement", str(lock))]
    command = [sys.executable, "-m", "pip_audit", "--require-hashes", "--disable-pip", "--progress-spinner", "off"]
    command += ["--timeout", str(_TIMEOUT_S), *options, *files]
    done = subprocess.run(  # noqa: S603  # nosec B603 # our own words and the names of our files
        command, capture_output=True, text=True, check=False
    )
    if done.returncode > 1:
        raise RuntimeError(f"pip-audit was asked wrongly: {done.stderr.strip()}")
    return done


def _arguments(words: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="audit.py", description="Known vulnerabilities of what the locks pin.")
    parser.add_argument("--required", action="store_true", help="fail where nobody could be asked")
    parser.add_argument("locks", nargs="+", type=Path, metavar="LOCK")
    return parser.parse_args(words)


def main(words: Sequence[str]) -> int:
    """Print the findings; the exit code says whether there are any."""
    arguments = _arguments(words)
    try:
        check_locks(arguments.locks)
    except NoLock as refusal:
        print(f"audit: a lock is none: {refusal}", file=sys.stderr)
        return 1
    names = ", ".join(lock.name for lock in arguments.locks)
    silent = []
    for source in SOURCES:
        try:
            audit = ask(source, arguments.locks)
        except NotAsked as reason:
            silent.append(f"{source}: {reason}")
            continue
        for finding in audit.findings:
            print(finding, file=sys.stderr)
        print(f"audit: {audit.packages} packages of {names} by {source}, {len(audit.findings)} findings")
        return bool(audit.findings)
    print(f"audit: NOTHING WAS AUDITED of {names}: nobody who knows could be asked", file=sys.stderr)
    print(*(f"  {reason}" for reason in silent), sep="\n", file=sys.stderr)
    return int(arguments.required)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
