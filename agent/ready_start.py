"""A start that succeeded: one line that says what started, and one for what was set and does nothing."""

from __future__ import annotations

import logging
from typing import Final

from agent import __version__
from agent.config import Settings
from agent.observability import log_event

_NOT_REDACTED: Final = (
    "redaction.params names parameters that are stored as they are: only CAPTURE_CONTENT=redacted redacts them"
)


def log_ready(side: str, settings: Settings, *, writes: bool = True) -> None:
    """Say what started; ``keys`` and ``limit`` tell an open function from a guarded one.

    Of content only a side that ``writes`` has something to say: the other shows what is stored.
    """
    callers, content = settings.callers, settings.content
    said: dict[str, str | bool | int] = {
        "store": settings.store.kind,
        "keys": callers is not None and callers.need_a_key,
        "limit": callers is not None and bool(callers.limits),
    }
    if writes:
        said |= {"content": content.mode, "redacted_params": len(content.params)}
    log_event(f"{side} function ready", fields={**said, "release": __version__})
    if writes and content.params and content.mode == "full":
        log_event(_NOT_REDACTED, level=logging.WARNING, fields={"redacted_params": len(content.params)})
