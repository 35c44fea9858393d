"""A batch is of the task or thread that opened it, and of its handle: what others keep meanwhile stays."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from agent.sdk import ConversationMemory, Message, SessionHandle
from tests.sdk.memories import events_of, inputs_of, texts


def test_a_task_whose_batch_fails_takes_nothing_of_another_task_with_it(
    memory: ConversationMemory, session: SessionHandle
):
    async def failing(may_end: asyncio.Event) -> None:
        with session.batch():
            session.append(Message("user", "a1"))
            await may_end.wait()
            assert texts(session) == ["b1", "b2", "a1"]
            raise RuntimeError("mine")

    async def writing(may_end: asyncio.Event) -> None:
        session.append(Message("user", "b1"))
        with session.batch():
            session.append(Message("user", "b2"))
            assert texts(session) == ["b1", "b2"]
        may_end.set()

    async def both() -> list[BaseException | None]:
        may_end = asyncio.Event()
        return await asyncio.gather(failing(may_end), writing(may_end), return_exceptions=True)

    failed, written = asyncio.run(both())
    assert (type(failed), written) == (RuntimeError, None)
    assert texts(session) == ["b1", "b2"]
    assert len(events_of(memory, session)) == 2


def in_a_thread(session: SessionHandle, text: str) -> None:
    thread = threading.Thread(target=session.append, args=[Message("user", text)])
    thread.start()
    thread.join()


def test_what_another_thread_keeps_while_a_batch_is_open_stays(session: SessionHandle):
    def failing() -> None:
        with session.batch():
            session.append(Message("user", "never said"))
            in_a_thread(session, "kept")
            assert texts(session) == ["kept", "never said"]
            raise RuntimeError("mine")

    with pytest.raises(RuntimeError, match="mine"):
        failing()
    assert texts(session) == ["kept"]


def test_a_task_that_is_started_inside_is_part_of_the_batch_until_that_ends(
    memory: ConversationMemory, session: SessionHandle
):
    async def child(has_ended: asyncio.Event) -> None:
        session.append(Message("user", "inside"))
        with session.batch():
            session.append(Message("user", "begun inside"))
            await has_ended.wait()
            assert texts(session) == ["before", "inside", "in a thread", "begun inside"]
        session.append(Message("user", "after"))
        with session.batch():
            session.append(Message("user", "of its own"))

    async def parent() -> None:
        has_ended = asyncio.Event()
        with session.batch():
            session.append(Message("user", "before"))
            task = asyncio.create_task(child(has_ended))
            await asyncio.sleep(0)
            await asyncio.to_thread(session.append, Message("user", "in a thread"))
            assert texts(session) == ["before", "inside", "in a thread"]
            assert list(memory.sessions()) == []
        has_ended.set()
        await task

    asyncio.run(parent())
    assert texts(session) == ["before", "inside", "in a thread", "begun inside", "after", "of its own"]
    assert [len(inputs["turns"]) for inputs in inputs_of(memory, session)] == [3, 1, 1, 1]


def test_a_block_that_ends_in_another_context_is_one_event_too(memory: ConversationMemory, session: SessionHandle):
    @asynccontextmanager
    async def request() -> AsyncIterator[None]:
        with session.batch():
            session.append(Message("user", "hi"))
            yield

    async def served() -> None:
        opened = request()
        await asyncio.create_task(opened.__aenter__())
        session.append(Message("user", "directly"))
        await asyncio.create_task(opened.__aexit__(None, None, None))

    asyncio.run(served())
    assert texts(session) == ["directly", "hi"]


def test_a_batch_is_of_one_handle(memory: ConversationMemory, session: SessionHandle):
    other = memory.for_session("chat-7")

    def failing() -> None:
        with session.batch():
            with other.batch():
                session.append(Message("user", "never said"))
                other.append(Message("user", "kept"))
            raise RuntimeError("mine")

    with pytest.raises(RuntimeError, match="mine"):
        failing()
    assert texts(session) == ["kept"]
