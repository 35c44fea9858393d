"""The session that a command exports, and the conversation of it, as people name them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent.cli.memory.sessions.stored_session import stored_session
from agent.core.history import shown
from agent.formats.writing import Session
from agent.recall import exported_session as recalled

if TYPE_CHECKING:
    from agent.ruvector.reads import StoreReads


def exported_session(reads: StoreReads, session: str, conversation: str | None) -> Session:
    """What a format's writer is given.

    Raises ConfigurationError for what can be no id, StoreNotFound for what is not there.
    """
    wanted, only, turns, paths = stored_session(reads, session, conversation)
    return recalled.exported_session(reads, wanted, only, shown=shown(paths.path(only)), turns=turns)
