"""How far an import came, in a small file of the user's own, so that ``--resume`` skips what an earlier run finished.

It saves time and nothing else: every conversation that is imported again is found to be there. So it counts only where
nothing can be missed by it: the same command line, each file as it was, and a store that has the last event that the
earlier run saw. In any doubt everything is read again.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeAlias

from agent.cli.memory.importing.account import Account
from agent.cli.memory.importing.file_walk import Mark
from agent.cli.memory.importing.sources import Source

_EVERY_S: Final = 2.0
# What a file that somebody else wrote may raise; RecursionError is for what is nested deeply.
_NO_STATE: Final = (OSError, ValueError, TypeError, LookupError, AttributeError, RecursionError)

# Of a file: device, inode, size and time of change; None where it cannot be said.
State: TypeAlias = list[int] | None


class Reached(NamedTuple):
    """How far one file came: ``mark`` is None where all of it is done. ``account`` are the sums up to there."""

    mark: Mark | None
    account: Account


class Checkpoint:
    """The state of one import: of ``command``, all that its results depend on. Without a ``folder`` nothing is kept."""

    def __init__(
        self, folder: Path | None, command: Sequence[str | None], *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        name = hashlib.sha256(json.dumps(list(command)).encode(errors="surrogatepass")).hexdigest()
        self._file = None if folder is None else folder / f"import-{name[:32]}.json"
        self._clock = clock
        self._saved_at = clock()
        self._files: dict[str, dict[str, Any]] = {}
        self._reference: str | None = None

    def load(self, has_event: Callable[[str], bool]) -> None:
        """Take up what an earlier run left, if ``has_event`` says that the store has the last event it saw."""
        if self._file is None:
            return
        with suppress(*_NO_STATE):
            saved = json.loads(self._file.read_bytes())
            files, reference = dict(saved["files"]), saved["reference"]
            if saved["digest"] == _digest(reference, files) and isinstance(reference, str) and has_event(reference):
                self._files, self._reference = files, reference

    def of(self, source: Source, state: State) -> Reached | None:
        """How far an earlier run came with ``source`` as it is now; None where nothing can be skipped."""
        with suppress(*_NO_STATE):
            saved = self._files[_name(source)]
            if state is not None and saved["file"] == state:
                return Reached(None if saved["done"] is True else _mark(saved["mark"]), Account.of(saved["account"]))
        return None

    def reached(self, source: Source, state: State, mark: Mark | None, account: Account, reference: str | None) -> None:
        """Note that ``source`` is done up to ``mark``, or all of it; written from time to time.

        ``state`` is what it was before it was opened: another file may have its name by now.
        """
        if self._file is None:
            return
        self._reference = reference or self._reference
        now = self._clock()
        is_due = now - self._saved_at >= _EVERY_S
        if mark is not None and not is_due:
            return
        self.note(source, state, mark, account)
        if is_due:
            self.save()

    def note(self, source: Source, state: State, mark: Mark | None, account: Account) -> None:
        """Note it for whoever saves."""
        if state is not None:
            self._files[_name(source)] = {
                "file": state,
                "done": mark is None,
                "mark": None if mark is None else list(mark),
                "account": account.as_dict(),
            }

    def save(self) -> None:
        """Write what was noted. A folder that takes nothing is no reason to stop."""
        self._saved_at = self._clock()
        if self._file is None or self._reference is None:
            return
        document: Mapping[str, Any] = {
            "reference": self._reference,
            "files": self._files,
            "digest": _digest(self._reference, self._files),
        }
        beside = self._file.with_name(f"{self._file.name}.{os.getpid()}")
        with suppress(OSError):
            self._file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            handle = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            with os.fdopen(handle, "w") as file:
                json.dump(document, file)
            beside.replace(self._file)

    def remove(self) -> None:
        """Forget it: the import came to its end."""
        if self._file is not None:
            with suppress(OSError):
                self._file.unlink(missing_ok=True)


def state_folder(environ: Mapping[str, str]) -> Path | None:
    """Where the state of imports is kept (XDG Base Directory); None for who has no home."""
    if state := environ.get("XDG_STATE_HOME"):
        return Path(state) / "memory-graph"
    home = environ.get("HOME")
    return Path(home) / ".local" / "state" / "memory-graph" if home else None


def _name(source: Source) -> str:
    return json.dumps([os.path.realpath(source.path), source.member, source.name])


def state_of(source: Source) -> State:
    """What tells the file of ``source`` from what it may be later; None where it cannot be said."""
    with suppress(OSError):
        found = source.path.stat()
        return [found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns]
    return None


def _mark(saved: Any) -> Mark:
    offset, place = saved
    if type(offset) is not int or type(place) is not int or min(offset, place) < 0:
        raise TypeError("no mark")
    return Mark(offset, place)


def _digest(reference: Any, files: Mapping[str, Any]) -> str:
    """What tells that nobody wrote it by hand: places may look right, and what stands before them would be missed."""
    return hashlib.sha256(json.dumps([reference, files], sort_keys=True).encode()).hexdigest()
