"""The conversation memory of a program: sessions of one store, each by a handle.

What a store is, and what refuses to be one, is for ``agent.sdk.opened_store``; what a session does is for
``agent.sdk.session``.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from types import TracebackType
from typing import TYPE_CHECKING, Self

from agent.ambient import new_id as random_id
from agent.ambient import utc_now
from agent.errors import Problem, ValidationError
from agent.recall.sessions import Sessions
from agent.sdk.arguments import check_count
from agent.sdk.opened_store import IN_MEMORY, open_store
from agent.sdk.other_names import OtherNames
from agent.sdk.session import SessionHandle
from agent.sdk.session_list import session_filters
from agent.sdk.session_name import SessionName

if TYPE_CHECKING:
    from agent.intents import Intents
    from agent.ruvector.models import SessionRow

# Who says so in the log, beside the function and the command line.
_SOURCE = "agent.sdk"


class ConversationMemory(OtherNames):
    """The sessions of one store; any thread may use it, and no process but the one that made it.

    ``store`` is a path of an embedded database, an ``http(s)`` address, or None for what ``environ`` names (the
    process's, unless given). ``api_key`` is the store's, for an address. ``agent_id`` and ``user_id`` go with what is
    captured, and ``source_system`` says through what. ``intents`` hold the hints that answers are read with, or are
    the path of the file that does; without them those of ``INTENTS_CONFIG``. Nothing is opened before it is used, and
    no database made before the first write.
    """

    def __init__(
        self,
        store: str | os.PathLike[str] | None = None,
        *,
        api_key: str | None = None,
        agent_id: str | None = None,
        user_id: str | None = None,
        source_system: str = _SOURCE,
        intents: Intents | str | os.PathLike[str] | None = None,
        environ: Mapping[str, str] | None = None,
        clock: Callable[[], datetime] = utc_now,
        new_id: Callable[[], str] = random_id,
        process_id: Callable[[], int] = os.getpid,
    ) -> None:
        self._context = _context(agent_id=agent_id, user_id=user_id, source_system=source_system)
        self.store = open_store(
            store,
            api_key=api_key,
            intents=intents,
            environ=os.environ if environ is None else environ,
            clock=clock,
            new_id=new_id,
            process_id=process_id,
        )

    def for_session(
        self,
        session_id: str,
        conversation_id: str | None = None,
        *,
        agent_id: str | None = None,
        user_id: str | None = None,
    ) -> SessionHandle:
        """The session ``session_id``, any string; one that nobody wrote to is empty.

        With ``conversation_id`` the handle reads and writes that conversation alone; without, it reads all of them and
        writes to the one with the newest turn. ``agent_id`` and ``user_id`` stand in place of the memory's own.
        """
        name = SessionName.of(session_id, conversation_id)
        return SessionHandle(self.store, name, self._context | _context(agent_id=agent_id, user_id=user_id))

    def sessions(
        self,
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        tag: str | None = None,
        conversation_id: str | None = None,
        q: str | None = None,
        since: str | datetime | None = None,
        until: str | datetime | None = None,
        limit: int | None = None,
    ) -> Iterator[SessionRow]:
        """The sessions of the store, newest activity first, page after page behind the scenes; at most ``limit``.

        Those that have the user, the agent, the tag and the conversation that are named, and all the words of ``q`` in
        one of their messages; with their last activity at ``since`` or later, and before ``until``.
        """
        which = session_filters(
            user_id=user_id,
            agent_id=agent_id,
            tag=tag,
            conversation_id=conversation_id,
            q=q,
            since=since,
            until=until,
        )
        if limit is not None:
            check_count("limit", limit, least=1)
        return Sessions(self.store.reads, limit=sys.maxsize if limit is None else limit, **which)

    def close(self) -> None:
        """Close the store's connections, or the embedded store. What is read or written after it is refused."""
        self.store.close()

    def __repr__(self) -> str:
        return f"<{type(self).__name__}, {self.store.kind} store>"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()


class InMemoryConversationMemory(ConversationMemory):
    """The same on an embedded store in memory, which goes with the object: for tests, and for a first look."""

    def __init__(
        self,
        *,
        agent_id: str | None = None,
        user_id: str | None = None,
        source_system: str = _SOURCE,
        intents: Intents | str | os.PathLike[str] | None = None,
        environ: Mapping[str, str] | None = None,
        clock: Callable[[], datetime] = utc_now,
        new_id: Callable[[], str] = random_id,
        process_id: Callable[[], int] = os.getpid,
    ) -> None:
        super().__init__(
            IN_MEMORY,
            agent_id=agent_id,
            user_id=user_id,
            source_system=source_system,
            intents=intents,
            environ=environ,
            clock=clock,
            new_id=new_id,
            process_id=process_id,
        )


def _context(**given: str | None) -> dict[str, str]:
    for name, value in given.items():
        if value is not None and not isinstance(value, str):
            raise ValidationError(f"{name} must be a string", [Problem(f"$.context.{name}", "type")])
    return {name: value for name, value in given.items() if value is not None}
