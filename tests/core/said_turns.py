"""Turns with what they say: content, times, tokens and who spoke."""

from typing import Any

from agent.core.turn import SessionTurn
from tests.core.session_turns import turn


def said(
    number: int,
    role: str = "user",
    content: str | None = "words",
    *,
    agent: str | None = None,
    after: int | None = None,
    erased: bool = False,
    **fields: Any,
) -> SessionTurn:
    """Turn ``number`` with these ``fields``, behind ``after``, else behind the turn before it."""
    made = turn(number, role=role, content=content, erased=erased, after=after or (number - 1) or None)
    more = {} if agent is None else {"metadata": {"agent": agent}}
    return SessionTurn(
        made.turn_id,
        made.seq,
        made.conversation_id,
        made.parent_turn_id,
        role,
        made.content,
        erased,
        {**fields, **more},
    )


def talk(*contents: str) -> list[SessionTurn]:
    """A user and an assistant in turn."""
    return [said(number, "user" if number % 2 else "assistant", content) for number, content in enumerate(contents, 1)]
