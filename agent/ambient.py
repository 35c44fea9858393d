"""Time, ids and memory as the process has them: what everything else takes as parameters."""

from __future__ import annotations

import resource
import sys
import uuid
from datetime import UTC, datetime


def utc_now() -> datetime:
    """The wall clock, aware, in UTC."""
    return datetime.now(UTC)


def new_id() -> str:
    """A random UUID as text."""
    return str(uuid.uuid4())


def peak_memory_bytes() -> int:
    """The peak resident size of this process in bytes (getrusage counts kilobytes on Linux, bytes on macOS)."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024
