"""The format ``markdown``: a history for people, from which every text can be read back exactly.

By CommonMark: each turn is a section under ``## <seq>. <role>``, and all that its speaker had a hand in stands in
fenced code blocks, each fence longer than any run of backticks in it (4.5), so that nothing in a text is markup. A
``text`` block is the text as it is. A ``json`` block is an invocation where it holds an object; else it is the text, as
a JSON string, where a reader of Markdown would change it. A turn that only calls has an empty text and no block for it.
A section without a block is an erased turn.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any, Final

from agent.core.turn import SessionTurn
from agent.formats.plain_text import instant, is_plain, json_line, name, one_line
from agent.formats.writing import Session, Written, agent_of, model_of, not_shown, unsaid

_ROLES: Final = frozenset({"user", "assistant", "system", "tool"})
_TICKS: Final = re.compile("`+")


def write(session: Session) -> Written:
    """The history of ``session`` as one document."""
    blocks = list(_head(session))
    lost = Counter(not_in_history=not_shown(session))
    for turn in session.shown:
        blocks.append(_heading(session, turn))
        if turn.erased:
            blocks.append("*This turn was erased.*")
            continue
        blocks += _body(turn)
        lost += unsaid(session, turn, has_heading=True)
    text = "\n\n".join(blocks) + "\n"
    return Written((text,), len(session.shown), sum(turn.erased for turn in session.shown), +lost)


def _head(session: Session) -> Iterator[str]:
    yield f"# Session {session.session_id}"
    if session.native_session_id is not None:
        yield f"Captured as {_code(name(session.native_session_id))}."
    if session.conversation_id is not None:
        native = session.native_conversation_id(session.conversation_id)
        known = "" if native is None else f", captured as {_code(name(native))}"
        yield f"Conversation {session.conversation_id}{known}."


def _heading(session: Session, turn: SessionTurn) -> str:
    said = [turn.role if turn.role in _ROLES else _code(name(turn.role))]
    if turn.timestamp is not None:
        told = instant(turn.timestamp)
        said.append(told if told == turn.timestamp else _code(told))
    agent, model = (None, None) if turn.erased else (agent_of(session, turn), model_of(turn))
    if agent is not None:
        said.append(f"by {_code(name(agent))}")
    if model is not None:
        said.append(f"with {_code(name(model))}")
    return f"## {turn.seq}. {', '.join(said)}"


def _body(turn: SessionTurn) -> Iterator[str]:
    if turn.content is not None and is_plain(turn.content):
        # An empty block is needed only where nothing else says that the turn is there.
        if turn.content or not turn.invocations:
            yield _fenced("text", turn.content)
    else:
        yield _fenced("json", json_line(turn.content))
    if turn.invocations:
        yield "Result of:" if turn.role == "tool" else "Calls:"
    for entry in turn.invocations:
        yield _fenced("json", _pretty(entry))


def _pretty(value: Any) -> str:
    return one_line(json.dumps(value, ensure_ascii=False, indent=2))


def _fenced(info: str, text: str) -> str:
    """A fenced code block at the first column: what is in it is taken as it is, line by line."""
    fence = "`" * max(3, _longest_run(text) + 1)
    return f"{fence}{info}\n{text}\n{fence}"


def _code(text: str) -> str:
    """A code span (6.1) for a ``text`` without line breaks that neither begins nor ends with a backtick or a blank."""
    ticks = "`" * (_longest_run(text) + 1)
    return f"{ticks}{text}{ticks}"


def _longest_run(text: str) -> int:
    return max((len(run) for run in _TICKS.findall(text)), default=0)
