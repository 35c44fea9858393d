"""How long a request may be held by the export of what it says about itself: ``TELEMETRY_BUDGET_MS``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from agent.errors import ConfigurationError

BUDGET: Final = "TELEMETRY_BUDGET_MS"
DEFAULT_MS: Final = 200
_MOST_MS: Final = 5000
_WHOLE: Final = re.compile(r"[0-9]{1,4}\Z", re.ASCII)


def budget_s(environ: Mapping[str, str]) -> float:
    """The budget in seconds. Raises ConfigurationError for what is no whole number of milliseconds from 1 to 5000."""
    given = environ.get(BUDGET, "").strip() or str(DEFAULT_MS)
    if not _WHOLE.match(given) or not 1 <= int(given) <= _MOST_MS:
        raise ConfigurationError(BUDGET, f"must be a whole number of milliseconds from 1 to {_MOST_MS}")
    return int(given) / 1000
