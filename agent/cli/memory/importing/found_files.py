"""The files that an import was asked to read: as they were named, in folders, by patterns, and standard input.

What is packed is known by its first bytes. What a name on the command line does not lead to is refused before anything
is read.

Sessions without an id are named by their file, so no two files have one name: below a named folder or in a named
archive a file's name is its path there, else its own name, and as many folders before it as tell equal ones apart.
"""

from __future__ import annotations

import glob
import os
import stat
import zipfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO, Final, NamedTuple

from agent.cli.memory.importing.sources import BROKEN, DAMAGED, NO_JSON, Source, reason_of
from agent.cli.memory.importing.spool import Spool
from agent.errors import ValidationError

_STDIN: Final = "-"
_NAMES: Final = (".json", ".jsonl", ".ndjson")
_SUFFIXES: Final = (*_NAMES, *(f"{name}.gz" for name in _NAMES), ".zip")
_GZIP: Final = b"\x1f\x8b"
_ZIP: Final = (b"PK\x03\x04", b"PK\x05\x06")
# Of a name that is refused.
_SHOWN: Final = 200
_PATTERN: Final = frozenset("*?[")


class _Found(NamedTuple):
    """A path; ``depth`` is how many of its last parts are its name below a folder that was named, else 0."""

    path: Path
    depth: int = 0


class _Named(NamedTuple):
    """A source whose name is the last ``depth`` of ``parts``, or more."""

    source: Source
    parts: tuple[str, ...]
    depth: int


def sources_of(names: Sequence[str], stdin: BinaryIO | None, spool: Spool) -> list[Source]:
    """What ``names`` lead to: files, folders with all that is below them, and patterns, each once, in this order.

    What is no regular file is read to its end, into ``spool``. Raises ValidationError for a name that leads to nothing.
    """
    found: dict[str, _Found] = {}
    for name in names:
        for each in _paths(name, stdin):
            key = _STDIN if name == _STDIN else os.path.realpath(each.path)
            found.setdefault(key, each)
    named = [
        source
        for key, each in found.items()
        for source in (_sources(each, spool) if key != _STDIN else _of_stdin(stdin, spool))
    ]
    return _told_apart(named)


def _paths(name: str, stdin: BinaryIO | None) -> list[_Found]:
    if name == _STDIN:
        if stdin is None:
            raise ValidationError("there is no standard input")
        return [_Found(Path(name))]
    path = Path(name)
    mode = _mode(name)
    if mode is not None and stat.S_ISDIR(mode):
        found = _below(path)
        if not found:
            raise ValidationError(f"{name} holds no file that an import reads: {', '.join(_SUFFIXES)}")
        return found
    if mode is not None:
        return [_Found(path)]
    if name and _PATTERN.intersection(name):
        named = [Path(each) for each in sorted(_matching(name))]
        found = [
            below
            for each in named
            for below in (_below(each) if each.is_dir() else [_Found(each)] if _is_regular(each) else [])
        ]
        if not found:
            raise ValidationError(f"no file matches {_short(name)}")
        return found
    raise ValidationError(f"cannot read {_short(name) or 'a file without a name'}: there is no such file")


def _mode(name: str) -> int | None:
    """What stands there; None where nothing does. Raises ValidationError where the system does not say."""
    try:
        return Path(name).stat().st_mode if name else None
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return None
    except OSError as error:
        if _PATTERN.intersection(name):
            return None
        raise ValidationError(f"cannot read {_short(name)}: {reason_of(error)}") from error


def _is_regular(path: Path) -> bool:
    """Whether it is a file as others: what nobody named is not waited for. What cannot be asked is told later."""
    try:
        return stat.S_ISREG(path.stat().st_mode)
    except OSError:
        return True


def _matching(pattern: str) -> list[str]:
    """What ``pattern`` matches. Below ``**`` no link to a folder is followed: two of them may lead in circles."""
    parts = Path(pattern).parts
    if "**" not in parts:
        return glob.glob(pattern)  # noqa: PTH207 - of any root
    place = parts.index("**")
    rest = parts[place:]
    while rest and rest[0] == "**":
        rest = rest[1:]
    tops = glob.glob(str(Path(*parts[:place])))  # noqa: PTH207 - of any root
    found: dict[str, None] = {}
    for top in tops:
        if not rest:
            found[top] = None
        for at, folders, _ in os.walk(top):
            folders[:] = (each for each in folders if not each.startswith("."))
            found.update(dict.fromkeys(_matching(os.path.join(glob.escape(at), *(rest or "*")))))  # noqa: PTH118 - text
    return list(found)


def _short(name: str) -> str:
    return name if len(name) <= _SHOWN else f"{name[:_SHOWN]}..."


def _below(folder: Path) -> list[_Found]:
    found = []
    for at, folders, files in os.walk(folder):
        folders[:] = sorted(each for each in folders if not each.startswith("."))
        depth = len(Path(at).relative_to(folder).parts) + 1
        read = (each for each in sorted(files) if each.lower().endswith(_SUFFIXES) and not each.startswith("."))
        found += [_Found(path, depth) for path in (Path(at, each) for each in read) if _is_regular(path)]
    return found


def _of_stdin(stdin: BinaryIO | None, spool: Spool) -> list[_Named]:
    assert stdin is not None  # noqa: S101 - refused before
    try:
        return _packed(spool.copy(stdin), "stdin", ("stdin",), 0)
    except OSError as error:
        return [_Named(Source(Path(_STDIN), "stdin", "", fault=reason_of(error)), ("stdin",), 1)]


def _sources(found: _Found, spool: Spool) -> list[_Named]:
    path, shown = found.path, str(found.path)
    parts = path.absolute().parts[1:]
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            with path.open("rb") as stream:
                path = spool.copy(stream)
        return _packed(path, shown, parts, found.depth)
    except OSError as error:
        # Said in its place among the others, when its turn comes.
        return [_Named(Source(path, shown, "", fault=reason_of(error)), parts, found.depth or 1)]


def _packed(path: Path, shown: str, parts: tuple[str, ...], depth: int) -> list[_Named]:
    """The sources in the file ``path``. Raises OSError."""
    with path.open("rb") as file:
        start = file.read(4)
    whole = Source(path, shown, "", is_gzip=start.startswith(_GZIP))
    if not start.startswith(_ZIP):
        return [_Named(whole, parts, depth or 1)]
    try:
        with zipfile.ZipFile(path) as archive:
            members = [(index, each.filename) for index, each in enumerate(archive.infolist()) if not each.is_dir()]
    except BROKEN:
        return [_Named(whole._replace(fault=DAMAGED), parts, depth or 1)]
    # The exports of ChatGPT and of Claude: conversations.json, or conversations-000.json and on, beside what is none.
    read = [(index, name) for index, name in members if _is_read(name)]
    chosen = [each for each in read if each[1].rpartition("/")[2].startswith("conversations")] or read
    if not chosen:
        return [_Named(whole._replace(fault=NO_JSON), parts, depth or 1)]
    found = []
    met: Counter[str] = Counter()
    for place, (index, name) in enumerate(chosen):
        # An archive may hold several members of one name.
        called = _numbered(name, met)
        inner = [part for part in called.split("/") if part]
        left_out = 0 if place else len(members) - len(chosen)
        source = Source(path, f"{shown}/{called}", "", member=name, number=index, left_out=left_out)
        found.append(_Named(source, (*parts, *inner), depth + len(inner)))
    return found


def _numbered(name: str, met: Counter[str]) -> str:
    """``name`` for the first that has it, and for each other one of its own."""
    met[name] += 1
    return name if met[name] == 1 else f"{name} ({met[name]})"


def _is_read(member: str) -> bool:
    return member.lower().endswith(_NAMES)


def _told_apart(named: Sequence[_Named]) -> list[Source]:
    """The sources by names of which no two are equal."""
    while True:
        # A name that is no text in the system's encoding stands for its bytes.
        names = [
            "/".join(each.parts[-each.depth :]).encode(errors="surrogateescape").decode(errors="backslashreplace")
            for each in named
        ]
        counts = Counter(names)
        grown = [
            each._replace(depth=each.depth + 1) if counts[name] > 1 and each.depth < len(each.parts) else each
            for name, each in zip(names, named, strict=True)
        ]
        if grown == list(named):
            met: Counter[str] = Counter()
            return [each.source._replace(name=_numbered(name, met)) for name, each in zip(names, named, strict=True)]
        named = grown
