"""A program sets ``CAPTURE_CONTENT``: a message that asks for less by itself is refused, and nothing of it is kept."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agent.errors import Problem, ValidationError
from agent.sdk import ConversationMemory

ASKS = {"capture_options": {"content": "none"}}
SAID = {"role": "user", "content": "I am ann@example.org"}
BLOCKS = {"role": "user", "content": [{"type": "text", "text": "I am ann@example.org"}]}
CALL = {"request": {"model": "m", "messages": [BLOCKS], "stop_sequences": []} | ASKS, "response": {}}


@pytest.mark.parametrize(
    "asked",
    [
        [SAID | ASKS],
        [BLOCKS | ASKS],
        [{"messages": [BLOCKS], "system": "Be kind."} | ASKS],
        [CALL],
        [SAID, BLOCKS | ASKS],
    ],
)
def test_options_of_a_message_are_refused(asked: list[dict[str, Any]], tmp_path: Path) -> None:
    with ConversationMemory(tmp_path / "store.db") as memory:
        session = memory.for_session("s-1")
        with pytest.raises(
            ValidationError, match=r"^capture_options are no part of a message: CAPTURE_CONTENT"
        ) as error:
            session.extend(asked)
        assert error.value.problems == (Problem("$.capture_options", "unsupported"),)
        assert list(session.history()) == []
