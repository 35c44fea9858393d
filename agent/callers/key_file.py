"""The keys of callers in a file that is looked at again while the function runs: changed, and nobody restarts.

Such a file is a mounted secret: a symbolic link that the platform sets anew, or a file system of its own. It holds what
the variable would, keys between commas or line ends, and no comments. A file that is bad at start ends it; one that
turns bad later (gone, empty, a key that is none) changes nothing: the last good keys hold, and a line of the log says
once which variable and which entry. An empty one never means that everybody may come in. A file that is written in
place may be read when half of it is there: who changes it puts another in its place, as mounted secrets and ``mv`` do.
"""

from __future__ import annotations

import logging
import os
import stat
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from agent.core.api_keys import ApiKeys
from agent.errors import ConfigurationError
from agent.observability import log_event
from agent.observability.logs import Field

_NS: Final = 10**9
_LOOK_AGAIN_NS: Final = 1 * _NS
# A file system that a platform makes need not tell by a date that a file changed; and where each reading is a call of
# Secret Manager, as on Cloud Run, one a minute costs next to nothing.
_READ_AGAIN_NS: Final = 60 * _NS
_MOST_BYTES: Final = 64 * 1024

# What tells one state of a file from another; None: there is no such file.
_Stamp = tuple[int, ...] | None


class KeyFile:
    """The keys of the file ``path``, which ``variable`` names. Safe to use from several threads.

    ``monotonic_ns`` never goes back. Raises ConfigurationError if the file is missing or bad now.
    """

    def __init__(self, variable: str, path: str, *, monotonic_ns: Callable[[], int]) -> None:
        self._variable = variable
        self._path = Path(path)
        self._monotonic_ns = monotonic_ns
        self._looking = threading.Lock()
        self._looked_ns = self._read_ns = monotonic_ns()
        self._stamp = _stamp(self._path)
        self._told: tuple[_Stamp, str] | None = None
        self._keys = self._read()

    @property
    def names(self) -> tuple[str, ...]:
        """What the keys are called that hold, in their order."""
        return self._keys.names

    def check(self, environ: Mapping[str, Any]) -> bytes:
        """The digest of the key in the request ``environ`` (WSGI). Raises Unauthorized."""
        now_ns = self._monotonic_ns()
        # One looks, and nobody waits for it: the others go by the keys that hold.
        if now_ns - self._looked_ns >= _LOOK_AGAIN_NS and self._looking.acquire(blocking=False):
            try:
                self._look(now_ns)
            finally:
                self._looking.release()
        return self._keys.check(environ)

    def _look(self, now_ns: int) -> None:
        self._looked_ns = now_ns
        # Before the file is read: what changes in between is another stamp at the next look.
        stamp = _stamp(self._path)
        if stamp == self._stamp and now_ns - self._read_ns < _READ_AGAIN_NS:
            return
        self._stamp, self._read_ns = stamp, now_ns
        try:
            keys = self._read()
        except ConfigurationError as fault:
            self._tell(fault, stamp)
            return
        self._told = None
        if keys != self._keys:
            self._keys = keys
            log_event("callers' keys taken over", fields={"variable": self._variable, "keys": len(keys.digests)})

    def _read(self) -> ApiKeys:
        """The keys that the file holds. Raises ConfigurationError with the place of one that is none."""
        try:
            # What is no file, such as a pipe, would be waited for: not even where it takes a file's place just now.
            with open(self._path, "rb", opener=_at_once) as file:
                if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                    raise ConfigurationError(self._variable, "names something that is no file")
                text = file.read(_MOST_BYTES + 1).decode()
        except FileNotFoundError:
            raise ConfigurationError(self._variable, "names no file that is there") from None
        except (OSError, ValueError):
            # ValueError: the text is not UTF-8, or the path has a NUL in it.
            raise ConfigurationError(self._variable, "names a file that cannot be read, or is no text") from None
        if len(text) > _MOST_BYTES:
            raise ConfigurationError(self._variable, f"names a file of more than {_MOST_BYTES} bytes")
        keys = ApiKeys.parse(self._variable, text)
        if not keys.digests:
            raise ConfigurationError(self._variable, "names a file that holds no key")
        return keys

    def _tell(self, fault: ConfigurationError, stamp: _Stamp) -> None:
        """One line for a change that is not taken over, however often it is looked at."""
        if self._told == (stamp, fault.message):
            return
        self._told = (stamp, fault.message)
        told: dict[str, Field] = {"variable": fault.variable, "is_there": stamp is not None}
        if fault.place is not None:
            told["entry"] = fault.place
        message = "callers' keys not taken over: the last good ones hold"
        log_event(message, level=logging.WARNING, fields={**told, "keys": len(self._keys.digests)})


def _at_once(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NONBLOCK)


def _stamp(path: Path) -> _Stamp:
    """What ``path`` leads to now, through all links; None where that is no file."""
    try:
        found = path.stat()
    except (OSError, ValueError):
        return None
    if not stat.S_ISREG(found.st_mode):
        return None
    return (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)
