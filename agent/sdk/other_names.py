"""The names that people coming from other conversation memories look for: thin, each a line or two on what is here.

docs/python-aliases.md has them in one table, with what each stands for. None of them keeps anything of its own, and a
read that fails raises, as everywhere. Refused, by ValidationError, is what the handle of a session refuses.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final, Protocol

from agent.ambient import utc_now
from agent.recall.held import HeldSession
from agent.sdk.arguments import check_count, checked_text
from agent.sdk.message import Message
from agent.sdk.opened_store import OpenedStore
from agent.sdk.session import SessionHandle
from agent.sdk.session_name import SessionName, may_be_sent
from agent.sdk.view import NO_SESSION

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent.core.references import Reference
    from agent.ruvector.models import SessionRow

_OF_AN_ID: Final = "abcdefghijklmnopqrstuvwxyz0123456789"
_ID_LENGTH: Final = 9


class Conversations(Protocol):
    """What these names need of the class that has them."""

    @property
    def store(self) -> OpenedStore: ...
    def for_session(self, session_id: str) -> SessionHandle: ...
    def sessions(self, *, until: str) -> Iterator[SessionRow]: ...


class OtherNames:
    """Of a memory: what other libraries call what a session's handle does, and the figures of the store."""

    # The class that inherits this keeps an OpenedStore here.
    store: OpenedStore

    def add_message(
        self: Conversations, session_id: str, role: str, message: str, agent_type: str | None = None
    ) -> None:
        """Keep one message; ``agent_type`` is who spoke."""
        self.for_session(session_id).append(Message(role, message, agent=agent_type))

    def get_history(self: Conversations, session_id: str, limit: int | None = None) -> list[Message]:
        """The newest ``limit`` messages in their order (None: all)."""
        return self.for_session(session_id).history(limit)

    def get_params(self: Conversations, session_id: str) -> dict[str, Any]:
        """The parameters that the session knows."""
        return self.for_session(session_id).params()

    def merge_params(self: Conversations, session_id: str, params: Mapping[str, Any]) -> None:
        """Merge ``params`` by name; None takes one away."""
        self.for_session(session_id).merge(params)

    def set_waiting_param(self: Conversations, session_id: str, name: str | None) -> None:
        """Wait for the parameter ``name``, or (None) for none any longer."""
        self.for_session(session_id).set_waiting(name)

    def get_conversation_context(self: Conversations, session_id: str, max_chars: int = 2000) -> str:
        """The last 6 user and assistant messages as text, at most ``max_chars`` characters of its end.

        Lines of ``User: ...`` and ``Assistant (agent): ...``; ``""`` for a session that nobody wrote to.
        """
        from agent.core.conversation_context import conversation_context, last_said
        from agent.recall.speakers import speakers

        check_count("max_chars", max_chars, least=0)
        held = _held(self.store, session_id)
        said = last_said(held.state.history)
        agents = speakers(self.store.reads, held.session_id, said)
        return conversation_context(tuple(held.whole(said)), agents, max_chars=max_chars)

    def get_conversation_summary(self: Conversations, session_id: str) -> dict[str, Any]:
        """``message_count``, ``last_activity`` and ``session_started``; the times are None where nobody wrote to it."""
        return self.for_session(session_id).summary()

    def get_conversation_insights(self: Conversations, session_id: str) -> dict[str, Any]:
        """``session_id``, ``message_count``, ``duration`` (seconds), ``topics``, ``agents_used``, ``user_messages`` and
        ``assistant_messages``.
        """
        from agent.recall.insights import insights

        return insights(self.store.reads, session_id, _held(self.store, session_id))

    def get_memory_stats(self: Conversations) -> dict[str, Any]:
        """``total_sessions``, ``total_messages`` and ``avg_messages_per_session`` of the whole store.

        As the store counts, without reading a session: turns that only carry state, branches and what was erased are
        among the messages.
        """
        stats = self.store.reads.stats()
        average = stats.turns / stats.sessions if stats.sessions else 0.0
        return {
            "total_sessions": stats.sessions,
            "total_messages": stats.turns,
            "avg_messages_per_session": average,
        }

    def cleanup_old_sessions(self: Conversations, hours: float = 24) -> int:
        """Erase the sessions whose last capture is longer ago than ``hours``, above 0; return how many that were.

        Their content is gone from the store for good, as ``memory-graph store expire`` does it: no undo. Never called
        by itself. What was erased before a failure stays erased; called again it goes on.
        """
        from agent.sdk.old_sessions import erase_older

        return erase_older(self.store, self.sessions, hours)

    @staticmethod
    def generate_session_id(
        *, clock: Callable[[], datetime] = utc_now, choose: Callable[[str], str] = secrets.choice
    ) -> str:
        """As the function of this name."""
        return generate_session_id(clock=clock, choose=choose)

    @staticmethod
    def is_valid_session_id(session_id: object) -> bool:
        """As the function of this name."""
        return is_valid_session_id(session_id)

    @staticmethod
    def references_earlier(text: str, history: Iterable[object]) -> Reference:
        """As the function of this name."""
        return references_earlier(text, history)


def generate_session_id(
    *, clock: Callable[[], datetime] = utc_now, choose: Callable[[str], str] = secrets.choice
) -> str:
    """A new session id: ``session_<milliseconds>_<9 of a-z0-9>``. ``choose`` takes one character of many."""
    milliseconds = int(clock().timestamp() * 1000)
    return f"session_{milliseconds}_{''.join(choose(_OF_AN_ID) for _ in range(_ID_LENGTH))}"


def is_valid_session_id(session_id: object) -> bool:
    """Whether a capture may carry ``session_id``: any string of 1 to 256 characters, a UUID or not (CONTRACT 1).

    A handle takes more: a session that is called otherwise is told apart by the UUID that its name becomes.
    """
    if not isinstance(session_id, str) or not may_be_sent(session_id):
        return False
    try:
        session_id.encode()
    except UnicodeEncodeError:
        return False
    return True


def references_earlier(text: str, history: Iterable[object]) -> Reference:
    """Whether ``text`` leans on what ``history`` said, true or false by itself; its ``words`` are those that decided.

    ``history`` are messages as a session takes and gives them, or texts. System messages are not said.
    """
    from agent.core.references import references_earlier as leans_on

    return leans_on(checked_text(text, "text"), _texts(history))


def _held(store: OpenedStore, session_id: str) -> HeldSession:
    """The session, an empty one where the store never had it."""
    session = SessionName.of(session_id, None).session
    return store.session(session) or HeldSession(session, NO_SESSION, 0)


def _texts(history: Iterable[object]) -> Sequence[str]:
    """What was said in ``history``, a text for each message."""
    from agent.sdk.foreign import document_of

    texts: list[str] = []
    for message in history:
        if isinstance(message, str):
            texts.append(message)
            continue
        document = (
            {"role": message.role, "text": message.text} if isinstance(message, Message) else document_of(message)
        )
        if isinstance(document, Mapping) and document.get("role") != "system":
            text = document.get("text", document.get("content"))
            texts.append(text if isinstance(text, str) else "")
    return texts
