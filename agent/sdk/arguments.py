"""Arguments of a call, checked where it is made, so that the line that is wrong is the line that fails.

Refuses, by ValidationError with the argument's path. A message says what is allowed, and never what was given.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from agent.core.timestamps import is_date_time, utc_text
from agent.errors import Problem, ValidationError
from agent.sdk.json_value import json_copy

# What an instant may be given as.
AN_INSTANT: Final = (
    "must be an RFC 3339 date-time with an offset, such as 2026-03-02T08:15:00Z, or a datetime with a time zone"
)


def checked_text(given: object, member: str) -> str:
    """``given`` as text, which may be empty."""
    if not isinstance(given, str):
        raise ValidationError(f"{member} must be a string", [Problem(f"$.{member}", "type")])
    return str(json_copy(given, f"$.{member}"))


def checked_name(given: object, member: str) -> str:
    """``given`` as the name of something."""
    name = checked_text(given, member)
    if not name:
        raise ValidationError(f"{member} must not be empty", [Problem(f"$.{member}", "minLength")])
    return name


def checked_params(params: object) -> dict[str, Any]:
    """``params`` as they are merged: by name, where None takes one away."""
    if not isinstance(params, Mapping):
        message = "params must be a mapping of names to JSON values"
        raise ValidationError(message, [Problem("$.params", "type")])
    copied: dict[str, Any] = json_copy(params, "$.params")
    return copied


def check_count(member: str, given: object, *, least: int, most: int | None = None) -> None:
    """``given`` must be a whole number from ``least`` on, and not above ``most``: never "all" by mistake."""
    message = f"{member} must be a whole number of at least {least}"
    if most is not None:
        message = f"{message} and at most {most}"
    if isinstance(given, bool) or not isinstance(given, int):
        raise ValidationError(message, [Problem(f"$.{member}", "type")])
    if given < least:
        raise ValidationError(message, [Problem(f"$.{member}", "minimum")])
    if most is not None and given > most:
        raise ValidationError(message, [Problem(f"$.{member}", "maximum")])


def checked_instant(given: object, member: str) -> str:
    """``given`` as text that names an instant."""
    written = _written(given) if isinstance(given, datetime) else given
    if isinstance(written, str) and is_date_time(written):
        return written
    rule = "format" if isinstance(given, str | datetime) else "type"
    raise ValidationError(f"{member} {AN_INSTANT}", [Problem(f"$.{member}", rule)])


def _written(moment: datetime) -> str | None:
    """None where it names no instant, for want of an offset, or leaves the years that there are by it."""
    try:
        return None if moment.tzinfo is None else utc_text(moment)
    except OverflowError:
        return None
