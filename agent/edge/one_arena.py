"""All threads of a function's process share one heap.

glibc gives each thread an arena of its own, and what a large body leaves free in one is of no use to the next thread:
after eight large bodies, one after the other, a process has the memory of eight (mallopt(3), M_ARENA_MAX). Python
holds its lock wherever memory is asked for, so nobody waits for the one arena. Where the C library has no such option
(musl, macOS) there is nothing to do.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Final

# malloc.h of glibc; no module has the name.
_M_ARENA_MAX: Final = -8


def one_arena() -> None:
    """Allow no arena but the main one from now on; call it before there are threads."""
    import ctypes  # late: only a host's process needs it

    with suppress(AttributeError, OSError):
        ctypes.CDLL(None).mallopt(_M_ARENA_MAX, 1)
