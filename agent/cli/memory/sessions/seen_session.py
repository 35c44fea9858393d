"""The session that a command cuts a window of, and the conversation of it, as people name them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from agent.cli.memory.names import both, conversation_id, session_id
from agent.core.window.policy import check_strategy
from agent.errors import ConfigurationError, NotFound, StoreNotFound
from agent.recall.context import LONGEST_MODEL, LONGEST_QUERY, ContextRequest
from agent.recall.source import Source
from agent.recall.view import SeenSession, View
from agent.window_settings import LONGEST_MARKER

if TYPE_CHECKING:
    from agent.ruvector.reads import StoreReads


class Named(NamedTuple):
    """A session and a conversation of it (None: the newest) as they were ``given``, and the UUIDs that they became."""

    given_session: str
    given_conversation: str | None
    session: str
    conversation: str | None

    @classmethod
    def of(cls, session: str, conversation: str | None) -> Named:
        """Raises ConfigurationError for what can be no id."""
        only = None if conversation is None else conversation_id(conversation)
        return cls(session, conversation, session_id(session), only)


class Seen(NamedTuple):
    """A session as it is now, and where it was read."""

    session: SeenSession
    source: Source


def check_asked(request: ContextRequest) -> None:
    """Raise ValidationError for a strategy that there is not, ConfigurationError for a text that is empty or too long.

    The ranges are those of the read side.
    """
    if request.strategy is not None:
        check_strategy(request.strategy)
    for option, text, longest in (
        ("--query", request.query, LONGEST_QUERY),
        ("--model", request.model, LONGEST_MODEL),
        ("--marker", request.marker, LONGEST_MARKER),
    ):
        if text is not None and not (text and len(text) <= longest):
            raise ConfigurationError(option, f"must have 1 to {longest} characters")


def seen_session(reads: StoreReads, named: Named) -> Seen:
    """The session that is ``named``. Raises StoreNotFound for what is not there."""
    source = Source.of(reads)
    try:
        held = source.held.session(named.session)
    except StoreNotFound as error:
        raise StoreNotFound(f"there is no session {both(named.given_session, named.session)} in this store") from error
    try:
        return Seen(SeenSession(held, View(conversation_id=named.conversation), source), source)
    except NotFound as error:
        only = both(named.given_conversation or "", named.conversation or "")
        raise StoreNotFound(f"there is no conversation {only} in this session") from error
