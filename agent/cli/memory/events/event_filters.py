"""Which events a command is about, as people name them: by session, conversation and time of capture."""

from __future__ import annotations

from agent.cli.memory import names
from agent.core.timestamps import instant
from agent.errors import ConfigurationError, StoreNotFound
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
    first, last = time_range(since, until)
    if first is not None:
        filters["since"] = first
    if last is not None:
        filters["until"] = last
    return filters


def events_text(
    *, session_id: str | None = None, conversation_id: str | None = None, since: str | None, until: str | None
) -> str:
    """Which events those are, in words and by the names that were given; empty where all are meant."""
    words = []
    if session_id is not None:
        words.append(f"of session {names.both(session_id, names.session_id(session_id))}")
    if conversation_id is not None:
        words.append(f"of conversation {names.both(conversation_id, names.conversation_id(conversation_id))}")
    if since is not None:
        words.append(f"captured from {since}" + (" on" if until is None else ""))
    if until is not None:
        words.append(f"captured before {until}" if since is None else f"until {until}")
    return " ".join(words)


def none_found(
    *, session_id: str | None = None, conversation_id: str | None = None, since: str | None, until: str | None
) -> StoreNotFound:
    """Nothing is what the filters name: most often a name that was mistyped, which must not pass for a good result."""
    of = events_text(session_id=session_id, conversation_id=conversation_id, since=None, until=None)
    where = "in this store" if since is None and until is None else "in this range"
    return StoreNotFound(" ".join(["there is no event", *([of] if of else []), where]))


def time_range(since: str | None, until: str | None) -> tuple[str | None, str | None]:
    """Both ends as RFC 3339 date-times, None where none is given. Raises ConfigurationError for what is no range."""
    first = None if since is None else names.instant("--from", since)
    last = None if until is None else names.instant("--to", until)
    if first is not None and last is not None and instant(first) > instant(last):
        raise ConfigurationError("--from", "is after --to")
    return first, last
