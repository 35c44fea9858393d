"""Which events a command is about, as people name them: by session, conversation and time of capture."""

from __future__ import annotations

from agent.cli.memory import names
from agent.core.timestamps import instant
from agent.errors import ConfigurationError
from agent.ruvector.reads import EventFilters


def event_filters(
    *, session_id: str | None, conversation_id: str | None, since: str | None, until: str | None
) -> EventFilters:
    """The filters that are given, and no others. Raises ConfigurationError for what can name nothing."""
    filters: EventFilters = {}
    if session_id is not None:
        filters["session_id"] = names.session_id(session_id)
    if conversation_id is not None:
        filters["conversation_id"] = names.conversation_id(conversation_id)
    if since is not None:
        filters["since"] = names.instant("--from", since)
    if until is not None:
        filters["until"] = names.instant("--to", until)
    first, last = filters.get("since"), filters.get("until")
    if first is not None and last is not None and instant(first) > instant(last):
        raise ConfigurationError("--from", "is after --to")
    return filters
