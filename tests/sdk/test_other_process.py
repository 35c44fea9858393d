"""A memory belongs to the process that made it: after a fork, the child is told so at once."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from agent.errors import StoreConnectionError
from agent.sdk import ConversationMemory, Message, SessionHandle
from tests.sdk.memories import in_memory, texts

OTHER_PROCESS = "this memory was opened in another process: make a ConversationMemory after the fork"


def everything(memory: ConversationMemory, session: SessionHandle) -> list[Callable[[], object]]:
    return [
        session.history,
        session.params,
        session.state,
        session.clear,
        session.resume,
        lambda: session.append(Message("user", "hello")),
        lambda: session.merge({"a": 1}),
        lambda: session.answer("hello"),
        lambda: session.record_tool("track", "done"),
        lambda: memory.for_session("new").append(Message("user", "hello")),
        lambda: list(memory.sessions()),
    ]


def test_a_memory_of_another_process_refuses_everything_at_once():
    processes = [1]
    with in_memory(process_id=lambda: processes[0]) as memory:
        session = memory.for_session("s")
        session.append(Message("user", "before"))
        processes[0] = 2
        for each in everything(memory, session):
            with pytest.raises(StoreConnectionError, match=OTHER_PROCESS):
                each()
        processes[0] = 1
        assert texts(session) == ["before"]


def test_a_memory_that_another_process_closes_stays_open_for_its_own():
    processes = [1]
    closed: list[str] = []
    memory = in_memory(process_id=lambda: processes[0])
    closing = memory.store.client.close
    memory.store.client.close = lambda: closed.append("closed")
    processes[0] = 2
    memory.close()
    assert closed == []
    processes[0] = 1
    memory.close()
    assert closed == ["closed"]
    closing()
