"""A start that a setting ends: one line that names the variable, and a process that is gone."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from agent.errors import ConfigurationError
from agent.observability import log_refused_start


@contextmanager
def refused_start_logged() -> Iterator[None]:
    """End the start of a function where a setting does not hold, with the one line that names it: SystemExit."""
    try:
        yield
    except ConfigurationError as error:
        log_refused_start(sys.stderr, error)
        raise SystemExit(1) from error
