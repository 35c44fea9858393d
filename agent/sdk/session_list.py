"""Which sessions a list has, checked before the store is asked: a store refuses what its client should have seen."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Final

from agent.core.ids import conversation_uuid
from agent.errors import Problem, ValidationError
from agent.sdk.arguments import checked_instant, checked_text

if TYPE_CHECKING:
    from agent.ruvector.reads import SessionFilters

# The store refuses a longer search.
_LONGEST_SEARCH: Final = 500


def session_filters(
    *,
    user_id: str | None,
    agent_id: str | None,
    tag: str | None,
    conversation_id: str | None,
    q: str | None,
    since: str | datetime | None,
    until: str | datetime | None,
) -> SessionFilters:
    """The filters of a list, None where one is not wanted. Raises ValidationError for a value that is none."""
    return {
        "user_id": None if user_id is None else checked_text(user_id, "user_id"),
        "agent_id": None if agent_id is None else checked_text(agent_id, "agent_id"),
        "tag": None if tag is None else checked_text(tag, "tag"),
        "conversation_id": (
            None if conversation_id is None else conversation_uuid(checked_text(conversation_id, "conversation_id"))
        ),
        "q": None if q is None else _words(q),
        "since": None if since is None else checked_instant(since, "since"),
        "until": None if until is None else checked_instant(until, "until"),
    }


def _words(given: object) -> str:
    words = checked_text(given, "q")
    if not words.strip() or len(words) > _LONGEST_SEARCH:
        rule = "maxLength" if len(words) > _LONGEST_SEARCH else "minLength"
        message = f"q must have 1 to {_LONGEST_SEARCH} characters, and not white space alone"
        raise ValidationError(message, [Problem("$.q", rule)])
    return words
