"""What people name on the command line: sessions and conversations by any id, instants by a date or a date-time.

Whoever captured a session as ``chat-7`` asks for ``chat-7``: what is no UUID becomes the one that the capture derived
(CONTRACT 3).
"""

from __future__ import annotations

import re
from typing import Final

from agent.core.ids import conversation_uuid, session_uuid
from agent.core.timestamps import is_date_time
from agent.errors import ConfigurationError

_DATE: Final = re.compile(r"\d{4}-\d{2}-\d{2}\Z", re.ASCII)
_LONGEST: Final = 256


def session_id(given: str) -> str:
    """The UUID of the session ``given``, in lower case. Raises ConfigurationError for what can be no id."""
    return session_uuid(_checked("--session-id", given))


def conversation_id(given: str) -> str:
    """The UUID of the conversation ``given``, in lower case. Raises ConfigurationError for what can be no id."""
    return conversation_uuid(_checked("--conversation-id", given))


def instant(option: str, given: str) -> str:
    """``given`` as an RFC 3339 date-time; a date alone is its first instant in UTC. Raises ConfigurationError."""
    text = f"{given}T00:00:00Z" if _DATE.match(given) else given
    if not is_date_time(text):
        raise ConfigurationError(option, "is neither a date (2026-03-02) nor an RFC 3339 time with an offset")
    return text


def _checked(option: str, given: str) -> str:
    if not 1 <= len(given) <= _LONGEST:
        raise ConfigurationError(option, f"must have 1 to {_LONGEST} characters")
    try:
        given.encode()
    except UnicodeEncodeError:
        # An argument in another encoding than the process's arrives as half surrogate pairs.
        raise ConfigurationError(option, "is not text in this terminal's encoding") from None
    return given
