"""The session that a command cuts a window of, and the conversation of it, as people name them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import NamedTuple

from agent.bootstrap import store_client
from agent.cli.embedded_path import check_embedded_store
from agent.cli.invocation import Invocation
from agent.cli.memory.names import both, conversation_id, session_id
from agent.config import Settings
from agent.core.window.policy import check_strategy
from agent.errors import ConfigurationError, NotFound, StoreNotFound
from agent.recall.context import LONGEST_MODEL, LONGEST_QUERY, ContextRequest, ContextSettings, SessionWindows
from agent.recall.opened_windows import opened_windows
from agent.recall.source import Source
from agent.recall.view import SeenSession, View
from agent.window_settings import LONGEST_MARKER


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
    """A session as it is now, where it was read, and how windows of it are cut."""

    session: SeenSession
    source: Source
    settings: ContextSettings
    windows: SessionWindows


@contextmanager
def seen_for(invocation: Invocation, named: Named, request: ContextRequest) -> Iterator[Seen]:
    """The session that is ``named``, while its store is open. Raises StoreNotFound for what is not there.

    And what ``request`` may not ask, before a store is opened: wrong usage is that, whatever is there. Raises
    ValidationError for a strategy that there is not, ConfigurationError for a text that is empty or too long.
    """
    _check(request)
    environ = invocation.settings()
    settings, how, windows = Settings.from_env(environ), ContextSettings.from_env(environ), opened_windows(environ)
    check_embedded_store(settings.store)
    with closing(store_client(settings)) as client:
        source = Source.of(client.reads)
        yield Seen(_seen(source, named), source, how, windows)


def _check(request: ContextRequest) -> None:
    """The ranges are those of the read side."""
    if request.strategy is not None:
        check_strategy(request.strategy)
    for option, text, longest in (
        ("--query", request.query, LONGEST_QUERY),
        ("--model", request.model, LONGEST_MODEL),
        ("--marker", request.marker, LONGEST_MARKER),
    ):
        if text is not None and not (text and len(text) <= longest):
            raise ConfigurationError(option, f"must have 1 to {longest} characters")


def _seen(source: Source, named: Named) -> SeenSession:
    try:
        held = source.held.session(named.session)
    except StoreNotFound as error:
        raise StoreNotFound(f"there is no session {both(named.given_session, named.session)} in this store") from error
    try:
        return SeenSession(held, View(conversation_id=named.conversation), source)
    except NotFound as error:
        only = both(named.given_conversation or "", named.conversation or "")
        raise StoreNotFound(f"there is no conversation {only} in this session") from error
