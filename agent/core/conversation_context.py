"""The end of a conversation as plain text, a line for each message: for a prompt that takes no list of messages.

It is an excerpt by rule, and refuses nothing: the newest messages, long answers cut, and of all that the end. Whoever
needs the messages whole, or a token budget kept, takes the history.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Final

from agent.core.turn import SessionTurn

_MESSAGES: Final = 6
_ANSWER_LENGTH: Final = 200
_CUT: Final = "..."
_ROLES: Final = frozenset({"user", "assistant"})


def last_said(history: Sequence[SessionTurn]) -> Sequence[SessionTurn]:
    """The last 6 messages of users and assistants, in order, with or without their content.

    What has no words is passed over: an erased message, and an answer that only calls tools.
    """
    said = (turn for turn in reversed(history) if turn.role in _ROLES and not turn.erased and turn.content != "")
    return list(islice(said, _MESSAGES))[::-1]


def conversation_context(said: Sequence[SessionTurn], agents: Mapping[str, str], *, max_chars: int) -> str:
    """``said``, with its content, in at most ``max_chars`` characters; ``agents`` are the speakers by ``turn_id``.

    An answer beyond 200 characters is cut there and ends with ``...``. Where the whole is too long, its end is kept.
    """
    # One that was erased since its content was left aside comes as a skeleton.
    text = "\n".join(_line(turn.role, turn.content, agents.get(turn.turn_id)) for turn in said if turn.content)
    return text[max(0, len(text) - max(0, max_chars)) :]


def _line(role: str, content: str, agent: str | None) -> str:
    if role == "user":
        return f"User: {content}"
    cut = content if len(content) <= _ANSWER_LENGTH else content[:_ANSWER_LENGTH] + _CUT
    return f"Assistant: {cut}" if agent is None else f"Assistant ({agent}): {cut}"
