"""Failures of requests in the log: type and frames, never a message, which could hold what a caller sent."""

from __future__ import annotations

import logging
import traceback
from http import HTTPStatus

from store.errors import StoreAnswerError

_log = logging.getLogger("store")


def log_fault(what: str, fault: Exception) -> None:
    """What is the caller's fault is no matter for the log, what the store foresaw is told by its type."""
    if not isinstance(fault, StoreAnswerError):
        frames = [f"{frame.name}:{frame.lineno}" for frame in traceback.extract_tb(fault.__traceback__)]
        _log.error(f"{what}: {type(fault).__name__} at {' > '.join(frames)}")
    elif fault.status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        _log.warning(f"{what}: {type(fault).__name__}")
