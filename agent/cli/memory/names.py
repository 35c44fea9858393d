"""What people name on the command line: sessions and conversations by any id, instants by a date or a date-time.

Whoever captured a session as ``chat-7`` asks for ``chat-7``: what is no UUID becomes the one that the capture derived
(CONTRACT 3). A turn is named by its UUID alone: its own id counts within one session only.
"""

from __future__ import annotations

import re
from typing import Final

from agent.core.ids import conversation_uuid, is_uuid, session_uuid, turn_uuid
from agent.core.timestamps import is_date_time
from agent.errors import ConfigurationError

_DATE: Final = re.compile(r"\d{4}-\d{2}-\d{2}\Z", re.ASCII)
_LONGEST: Final = 256
# What our store takes: quoted for an address, one of any script still fits into a request line.
_LONGEST_SEARCH: Final = 500
_NO_INSTANT: Final = "is neither a date (2026-03-02) nor an RFC 3339 time with an offset (2026-03-02T08:15:00Z)"


def session_id(given: str) -> str:
    """The UUID of the session ``given``, in lower case. Raises ConfigurationError for what can be no id."""
    return session_uuid(_checked("--session-id", given))


def conversation_id(given: str) -> str:
    """The UUID of the conversation ``given``, in lower case. Raises ConfigurationError for what can be no id."""
    return conversation_uuid(_checked("--conversation-id", given))


def leaf_id(given: str, *, session: str) -> str:
    """The UUID of the turn ``given`` of a ``session`` (its UUID). Raises ConfigurationError for what can be no id."""
    return turn_uuid(session, _checked("--leaf", given))


def both(given: str, uuid: str) -> str:
    """What was ``given`` and the ``uuid`` that it became, for who wonders what was looked for."""
    return uuid if given.lower() == uuid else f"{given} ({uuid})"


def turn_id(given: str) -> str:
    """The turn ``given``, in lower case. Raises ConfigurationError for what is no UUID."""
    if not is_uuid(given):
        raise ConfigurationError("--turn-id", "is not a UUID; a turn's own id counts within one session only")
    return given.lower()


def user_id(given: str) -> str:
    """The user ``given``, exactly as captures name them. Raises ConfigurationError for what can be no name."""
    return label("--user-id", given)


def label(option: str, given: str) -> str:
    """A name as events hold it, exactly as ``given``. Raises ConfigurationError for what can be none."""
    if not given:
        raise ConfigurationError(option, "is empty")
    return _text(option, given)


def words(option: str, given: str) -> str:
    """Words to look for. Raises ConfigurationError for what finds nothing, or is more than an address holds."""
    if not given.strip() or len(given) > _LONGEST_SEARCH:
        raise ConfigurationError(option, f"must have 1 to {_LONGEST_SEARCH} characters, and not white space alone")
    return _text(option, given)


def instant(option: str, given: str) -> str:
    """``given`` as an RFC 3339 date-time; a date alone is its first instant in UTC. Raises ConfigurationError."""
    text = f"{given}T00:00:00Z" if _DATE.match(given) else given
    if not is_date_time(text):
        raise ConfigurationError(option, _NO_INSTANT)
    return text


def _checked(option: str, given: str) -> str:
    if not 1 <= len(given) <= _LONGEST:
        raise ConfigurationError(option, f"must have 1 to {_LONGEST} characters")
    return _text(option, given)


def _text(option: str, given: str) -> str:
    try:
        given.encode()
    except UnicodeEncodeError:
        # An argument in another encoding than the process's arrives as half surrogate pairs.
        raise ConfigurationError(option, "is not text in this terminal's encoding") from None
    return given
