"""A caller's ``Idempotency-Key`` (CONTRACT 7): 1 to 255 visible ASCII characters, or none at all."""

from __future__ import annotations

import re
from typing import Final

from agent.errors import Problem, ValidationError

_KEY: Final = re.compile(r"[\x21-\x7e]{1,255}\Z", re.ASCII)


def checked_idempotency_key(key: str | None) -> str | None:
    """``key`` as it came. Raises ValidationError for one that no header should carry."""
    if key is not None and not _KEY.match(key):
        raise ValidationError(
            "the Idempotency-Key must be 1 to 255 visible ASCII characters", [Problem("$", "pattern")]
        )
    return key
