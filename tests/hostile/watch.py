"""A server's worker as the kernel sees it, and an ordinary caller who goes on calling while something is done to it."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

import httpx

_LISTENING = "0A"
_GENEROUS_S = 40.0


class Held(NamedTuple):
    """What a process holds: threads, connections of its callers, and descriptors of anything but sockets."""

    threads: int
    callers: int
    files: int


def held(pid: int, port: int) -> Held:
    """What the worker ``pid``, which listens on ``port``, holds now."""
    links = list(_descriptors(pid))
    sockets = {link[len("socket:[") : -1] for link in links if link.startswith("socket:[")}
    callers = sum(inode in sockets for inode in _connected(pid, port))
    return Held(len(list(Path(f"/proc/{pid}/task").iterdir())), callers, len(links) - len(sockets))


def peak_mib(pid: int) -> float:
    """The peak resident size of a process, in MiB."""
    found = re.search(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())
    assert found is not None
    return int(found[1]) / 1024


def forget_peak(pid: int) -> None:
    """Begin the peak anew (proc(5), clear_refs)."""
    Path(f"/proc/{pid}/clear_refs").write_text("5")


def settled(pid: int, port: int, before: Held, *, threads: int) -> Held:
    """What is held once nobody is connected any more, or after a generous time; ``threads`` may have been started."""
    end = time.monotonic() + _GENEROUS_S
    while True:
        now = held(pid, port)
        if (
            now.callers <= before.callers and now.files <= before.files and now.threads <= threads
        ) or time.monotonic() > end:
            return now
        threading.Event().wait(0.1)


class Beside:
    """The answers that a caller had: statuses, the name of what went wrong where there was none, and the slowest."""

    def __init__(self) -> None:
        self.said: list[int | str] = []
        self.slowest_s = 0.0

    def all_served(self) -> bool:
        return bool(self.said) and set(self.said) == {200}


@contextmanager
def calling(ask: Callable[[], int], *, pause_s: float = 0.1) -> Iterator[Beside]:
    """Call ``ask`` again and again, each time on a connection of its own, until the block ends, and once behind it."""
    beside = Beside()
    is_over = threading.Event()

    def once() -> None:
        began = time.monotonic()
        try:
            beside.said.append(ask())
        except httpx.HTTPError as error:
            beside.said.append(type(error).__name__)
        beside.slowest_s = max(beside.slowest_s, time.monotonic() - began)

    def call() -> None:
        while not is_over.wait(pause_s):
            once()
        once()

    caller = threading.Thread(target=call)
    caller.start()
    try:
        yield beside
    finally:
        is_over.set()
        caller.join(_GENEROUS_S)


def _descriptors(pid: int) -> Iterator[str]:
    for entry in Path(f"/proc/{pid}/fd").iterdir():
        # Some are gone by the time that somebody looks at them.
        with suppress(FileNotFoundError):
            yield str(entry.readlink())


def _connected(pid: int, port: int) -> Iterator[str]:
    """The inodes of the sockets on the local ``port`` that do not listen."""
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/{pid}/net/{table}").read_text().splitlines()[1:]:
            fields = line.split()
            if int(fields[1].rpartition(":")[2], 16) == port and fields[3] != _LISTENING:
                yield fields[9]
