"""A session as a command reads it: all its turns and their order, and what was asked of it by people's names.

What is not there is refused in the words that it was asked for in. A read makes no store where none is.
"""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, NamedTuple

from agent.bootstrap import store_client
from agent.cli.embedded_path import check_embedded_store
from agent.cli.memory.names import both, conversation_id, session_id
from agent.config import Settings
from agent.core.paths import SessionPaths
from agent.core.turn import SessionTurn
from agent.errors import StoreNotFound
from agent.recall.turns import session_turns

if TYPE_CHECKING:
    from agent.cli.invocation import Invocation
    from agent.ruvector.reads import StoreReads


class StoredSession(NamedTuple):
    """One session, and the conversation of it that was asked for (None: all); ids are UUIDs in lower case.

    ``turns`` in ``seq`` order, of every conversation and branch.
    """

    session_id: str
    conversation_id: str | None
    turns: tuple[SessionTurn, ...]
    paths: SessionPaths


def stored_session(reads: StoreReads, session: str, conversation: str | None) -> StoredSession:
    """The session, and the conversation of it, as people name them.

    Raises ConfigurationError for what can be no id, StoreNotFound for what is not there.
    """
    wanted = session_id(session)
    only = None if conversation is None else conversation_id(conversation)
    try:
        turns = session_turns(reads, wanted)
    except StoreNotFound as error:
        raise StoreNotFound(f"there is no session {both(session, wanted)} in this store") from error
    paths = SessionPaths.of(turns)
    if only is not None and only not in paths.leaves:
        raise StoreNotFound(f"there is no conversation {both(conversation or only, only)} in this session")
    return StoredSession(wanted, only, turns, paths)


def read_session(invocation: Invocation, session: str, conversation: str | None) -> StoredSession:
    """The same, from the store that the command line names."""
    # Before the store is opened: what can be no id is wrong usage, whatever is there.
    session_id(session)
    if conversation is not None:
        conversation_id(conversation)
    settings = Settings.from_env(invocation.settings())
    check_embedded_store(settings.store)
    with closing(store_client(settings)) as client:
        return stored_session(client.reads, session, conversation)
