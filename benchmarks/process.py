"""What a process has used, read from the kernel: CPU time by its clock, memory from ``/proc``. Linux only."""

from __future__ import annotations

import ctypes
import os
import time
from contextlib import suppress
from pathlib import Path

_LIBC = ctypes.CDLL(None, use_errno=True)


def tree(pid: int) -> list[int]:
    """``pid`` and all processes below it; one that ends meanwhile is left out."""
    found = [pid]
    for task in Path(f"/proc/{pid}/task").iterdir():
        for child in (task / "children").read_text().split():
            with suppress(FileNotFoundError, ProcessLookupError):
                found.extend(tree(int(child)))
    return found


def cpu_seconds(pid: int) -> float:
    """User and system time of ``pid``, its threads included, to the nanosecond (clock_getcpuclockid(3))."""
    clock = ctypes.c_int()
    error = _LIBC.clock_getcpuclockid(pid, ctypes.byref(clock))
    if error:
        raise OSError(error, os.strerror(error))
    return time.clock_gettime(clock.value)


def tree_cpu_seconds(pid: int) -> float:
    """User and system time of ``pid`` and of all processes below it."""
    used = cpu_seconds(pid)
    for each in tree(pid)[1:]:
        with suppress(ProcessLookupError):
            used += cpu_seconds(each)
    return used


def keep_to(pid: int, cores: set[int]) -> None:
    """Let all threads of ``pid`` run on these cores only; those that they start later inherit it."""
    for task in Path(f"/proc/{pid}/task").iterdir():
        os.sched_setaffinity(int(task.name), cores)


def pss_bytes(pid: int) -> int:
    """Proportional set size: pages shared with other processes count by their share."""
    return _kib(Path(f"/proc/{pid}/smaps_rollup"), "Pss:") * 1024


def peak_rss_bytes(pid: int) -> int:
    """The most that was ever resident (VmHWM)."""
    return _kib(Path(f"/proc/{pid}/status"), "VmHWM:") * 1024


def filesystem(path: Path) -> str:
    """The type of the filesystem that holds ``path``: ``tmpfs`` is no disk."""
    best = ("", "unknown")
    for line in Path("/proc/mounts").read_text().splitlines():
        _, mount, kind, *_ = line.split()
        if path.resolve().is_relative_to(mount) and len(mount) >= len(best[0]):
            best = (mount, kind)
    return best[1]


def _kib(file: Path, field: str) -> int:
    for line in file.read_text().splitlines():
        if line.startswith(field):
            return int(line.split()[1])
    raise LookupError(f"{file} has no {field}")
