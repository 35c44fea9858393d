"""Memories on a store of this process, with times and ids that a test knows."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from agent.core.waiting import Hint, Hints
from agent.formats.writers import writer
from agent.intents import Intents
from agent.recall.exported_session import exported_session
from agent.ruvector.models import EventEnvelope
from agent.sdk import ConversationMemory, InMemoryConversationMemory, SessionHandle

START = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
ORDER_ID = Hint(
    name="order_id",
    type="string",
    pattern=r"O-\d{5}",
    values=(),
    examples=("O-12345",),
    prompt="Which order is it?",
    description="the number on the invoice",
)
INTENTS = Intents(hints=Hints({"order_id": ORDER_ID}), redacted_params=frozenset())


def ticking(start: datetime = START) -> Callable[[], datetime]:
    """A clock that is a second later each time."""
    seconds = itertools.count()
    return lambda: start + timedelta(seconds=next(seconds))


def standing() -> datetime:
    """A clock that stands still."""
    return START


def in_memory(**given: Any) -> ConversationMemory:
    return InMemoryConversationMemory(**{"environ": {}, "clock": ticking(), "intents": INTENTS, **given})


def events_of(memory: ConversationMemory, session: SessionHandle) -> list[EventEnvelope]:
    """The events that the store has of a session, in the order in which they were captured."""
    return list(memory.store.reads.events(session_id=session.session_uuid).events)


def inputs_of(memory: ConversationMemory, session: SessionHandle) -> list[dict[str, Any]]:
    return [event.payload["inputs"] for event in events_of(memory, session)]


def texts(session: SessionHandle, limit: int | None = None) -> list[str]:
    return [message.text for message in session.history(limit)]


def exported(
    memory: ConversationMemory, session: SessionHandle, name: str
) -> tuple[list[dict[str, Any]], dict[str, int]]:
    """The messages of the session in the format ``name``, and what that format, or a provider, loses of it."""
    held = memory.store.held.session(session.session_uuid)
    found = exported_session(
        memory.store.reads,
        held.session_id,
        None,
        shown=held.whole(held.state.history),
        turns=held.whole(held.state.turns),
    )
    written = writer(name)(found)
    (document,) = written.documents
    messages: list[dict[str, Any]] = json.loads(document)["messages"]
    return messages, dict(written.lost)
