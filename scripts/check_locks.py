"""Whether the lock files still are what their ``.in`` files compile to, as far as can be told without a network.

Told: every line of every lock pins one version and the SHA-256 of its files, and none names an index. Of those that are
in .venv: the pins satisfy the ``.in`` files and pyproject.toml; every pin is needed, and all that a pin needs is pinned
(both by the metadata of the installed packages); the locks agree.
Not told: whether a newer version is out. ``make lock`` asks the index that.
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Iterable, Mapping
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

# The Python that the locks are compiled with: another one may leave out what it has itself.
LOCKED_WITH = (3, 11)
DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
# Those whose packages lie in .venv: the others are judged where theirs lie (vendors/test_lock.py), or only read here.
INSTALLED = ("requirements", "requirements-cli", "requirements-dev")


def read_requirements(file: Path) -> list[Requirement]:
    """The requirements of an ``.in`` file and of those that it includes with ``-r``."""
    found = []
    for line in _requirement_lines(file):
        if line.startswith("-r "):
            found += read_requirements(file.with_name(line.removeprefix("-r ").strip()))
        elif not line.startswith("-c "):
            found.append(Requirement(line))
    return found


def read_lock(file: Path) -> dict[str, Version]:
    """Each pinned package and its version. Raises ValueError for a line that is no single pin with digests."""
    pins: dict[str, Version] = {}
    for line in _requirement_lines(file):
        if line.startswith("-"):
            raise ValueError(f"{file.name}: an option, which belongs to who installs: {line.split(maxsplit=1)[0]}")
        text, *digests = line.split(" --hash=")
        requirement = Requirement(text)
        pin = list(requirement.specifier)
        if len(pin) != 1 or pin[0].operator != "==":
            raise ValueError(f"{file.name}: {requirement.name} is not pinned to one version")
        if not digests or not all(DIGEST.fullmatch(digest.strip()) for digest in digests):
            raise ValueError(f"{file.name}: {requirement.name} has no SHA-256 of its files")
        pins[canonicalize_name(requirement.name)] = Version(pin[0].version)
    return pins


def unmet(roots: Iterable[Requirement], pins: Mapping[str, Version]) -> list[str]:
    """The requirements that ``pins`` leaves out or pins to a version that they refuse."""
    found = []
    for root in roots:
        pin = pins.get(canonicalize_name(root.name))
        if pin is None:
            found.append(f"{root} is not locked")
        elif not root.specifier.contains(pin, prereleases=True):
            found.append(f"{root} is locked at {pin}")
    return found


def needed(roots: Iterable[Requirement]) -> list[Requirement]:
    """``roots`` and all that they need, on this platform, by the metadata of what is installed."""
    pending = list(roots)
    found: dict[str, Requirement] = {}
    while pending:
        requirement = pending.pop()
        if str(requirement) in found:
            continue
        found[str(requirement)] = requirement
        for text in metadata.requires(requirement.name) or []:
            child = Requirement(text)
            # The marker "extra == ..." holds for one of the extras that are asked for, or for none of them.
            extras = requirement.extras or {""}
            if child.marker is None or any(child.marker.evaluate({"extra": extra}) for extra in extras):
                pending.append(child)
    return list(found.values())


def problems(folder: Path) -> list[str]:
    """What is wrong with the locks of the project in ``folder``, a sentence each; empty where nothing is."""
    try:
        locks = {file.stem: read_lock(file) for file in sorted(folder.glob("requirements*.txt"))}
    except ValueError as error:
        return [str(error)]
    found = []
    for name in INSTALLED:
        pins = locks[name]
        try:
            wanted = needed(read_requirements(folder / f"{name}.in"))
        except metadata.PackageNotFoundError as error:
            found.append(f"{name}.in: {error.name} is not installed, so nobody knows what it needs")
            continue
        found += [f"{name}.txt: {problem}" for problem in unmet(wanted, pins)]
        if sys.version_info[:2] == LOCKED_WITH:
            spare = pins.keys() - {canonicalize_name(requirement.name) for requirement in wanted}
            found += [f"{name}.txt: nothing needs {package}" for package in sorted(spare)]
    development = locks["requirements-dev"]
    found += [
        f"{package} is {version} in {name}.txt, {development.get(package)} in requirements-dev.txt"
        for name in INSTALLED[:2]
        for package, version in locks[name].items()
        if development.get(package) != version
    ]
    project = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    declared = [Requirement(text) for text in project["dependencies"]]
    return found + [f"pyproject.toml: {problem}" for problem in unmet(declared, development)]


def _requirement_lines(file: Path) -> list[str]:
    """The lines without comments, those that a backslash carries on put together."""
    lines = (line.partition("#")[0].strip() for line in file.read_text(encoding="utf-8").splitlines())
    return [line for line in "\n".join(lines).replace("\\\n", " ").splitlines() if line.strip()]


def main() -> int:
    """Print the problems; the exit code says whether there are any."""
    found = problems(Path(__file__).resolve().parents[1])
    for problem in found:
        print(problem, file=sys.stderr)
    if found:
        print("The locks do not fit their .in files: run make lock.", file=sys.stderr)
    else:
        print("locks: as their .in files ask")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
