"""A session's history as a document: what the session is listed by is read with its turns, once."""

import json

import pytest

from agent.core.session import fold
from agent.errors import NotFound
from agent.recall.conversation_document import conversation_document
from agent.recall.held import HeldSession
from agent.recall.source import Source
from agent.recall.view import SeenSession, View
from tests.live.payloads import BASE_TEXT
from tests.recall.embedded import SESSION, Watched, embedded


def test_the_row_comes_with_the_turns_and_is_not_asked_for_again() -> None:
    with embedded() as memory:
        memory.capture(json.loads(BASE_TEXT))
        watched = Watched(memory.client.reads)
        source = Source.of(watched)
        seen = SeenSession(source.held.session(SESSION), View(), source)
        made = conversation_document(source, seen, seen.history)
    row = seen.held.row
    assert row is not None
    assert (made["created_at"], made["last_activity"]) == (row.created_at, row.last_activity)
    assert watched.taken() == ["row", "turns"]


def test_a_session_that_is_not_there_is_no_document() -> None:
    with embedded() as memory:
        source = Source.of(memory.client.reads)
        seen = SeenSession(HeldSession(SESSION, fold(()), 0), View(), source)
        with pytest.raises(NotFound):
            conversation_document(source, seen, ())
