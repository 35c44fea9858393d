"""The end of a conversation as plain text, a line for each message: for a prompt that takes no list of messages.

It is an excerpt by rule, and refuses nothing: the newest messages, long answers cut, and of all that the end. Whoever
needs the messages whole, or a token budget kept, takes the history.

A line is a message: line breaks inside of one, and in the name of an agent, become a blank each, so that no text can
look as if somebody else had said its second line. Where the end is kept, the first line may begin anywhere.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Final

from agent.core.turn import SessionTurn

_MESSAGES: Final = 6
_ANSWER_LENGTH: Final = 200
_CUT: Final = "..."
# All that a reader may take for the end of a line, as ``str.splitlines`` does.
_LINE_BREAK: Final = re.compile(r"\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]")
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
    said = _in_one_line(content)
    if role == "user":
        return f"User: {said}"
    cut = said if len(said) <= _ANSWER_LENGTH else said[:_ANSWER_LENGTH] + _CUT
    return f"Assistant: {cut}" if agent is None else f"Assistant ({_in_one_line(agent)}): {cut}"


def _in_one_line(text: str) -> str:
    return _LINE_BREAK.sub(" ", text)
