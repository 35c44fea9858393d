"""Which published contract an event keeps, and whether this release can read it (CONTRACT 6)."""

from __future__ import annotations

import re
from typing import Any, Final

from agent.core.decision import AGENT_VERSION
from agent.errors import NewerContract

_VERSION: Final = re.compile(r"(\d{1,9})\.\d{1,9}\.\d{1,9}\Z", re.ASCII)


def major_version(version: Any) -> int | None:
    """The major of ``version`` (``1.0.0``); None for what is no version."""
    match = _VERSION.match(version) if isinstance(version, str) else None
    return None if match is None else int(match[1])


_OURS: Final = major_version(AGENT_VERSION)


def refuse_newer(version: Any) -> None:
    """Raise NewerContract for an ``agent_version`` that breaks with the contract of this release."""
    major = major_version(version)
    if major is not None and _OURS is not None and major > _OURS:
        raise NewerContract(major)
