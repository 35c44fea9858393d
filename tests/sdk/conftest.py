"""A memory, and a session of it, for a test that needs no more."""

from collections.abc import Iterator

import pytest

from agent.sdk import ConversationMemory, SessionHandle
from tests.sdk.memories import in_memory


@pytest.fixture
def memory() -> Iterator[ConversationMemory]:
    with in_memory() as opened:
        yield opened


@pytest.fixture
def session(memory: ConversationMemory) -> SessionHandle:
    return memory.for_session("chat-7")
