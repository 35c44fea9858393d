"""A turn of an event that keeps an older major of the published contract, in this release's shape (CONTRACT 6).

One step a major, one after the other. There is one so far, and it changes nothing: what a 0.x writer sends has the
shape of 1.x. A newer major is refused: what it changed is nothing that this release could know.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from agent.core.contract_version import major_version, refuse_newer

Record = dict[str, Any]


def upcast(record: Record, version: Any) -> Record:
    """``record`` of an event with this ``agent_version``. Raises NewerContract; what is no version says nothing."""
    refuse_newer(version)
    major = major_version(version)
    for step in () if major is None else STEPS[major:]:
        record = step(record)
    return record


def _from_0(record: Record) -> Record:
    return record


# The step at place n leads from major n to the next.
STEPS: Final[tuple[Callable[[Record], Record], ...]] = (_from_0,)
