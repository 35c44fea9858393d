r"""The format ``text``: a history as plain text, from which every text can be read back exactly.

Lines end with a line feed. A turn begins with a line at the first column, ``<seq>. <role>``; a line that begins with
four blanks is the rest of that line of its text; one that begins with two and a word is a thing as JSON: ``says`` the
text as a JSON string, where it holds what a reader of lines would act on, ``calls`` or ``answers`` an invocation.
``  erased`` stands in a turn that was; one without a line of its text says nothing. So no text can begin a line at the
first column.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Final

from agent.core.turn import SessionTurn
from agent.formats.plain_text import instant, is_plain, json_line, name
from agent.formats.writing import Session, Written, agent_of, model_of, not_shown, unsaid

_INDENT: Final = "    "


def write(session: Session) -> Written:
    """The history of ``session`` as one document."""
    lines = list(_head(session))
    lost = Counter(not_in_history=not_shown(session))
    for turn in session.shown:
        lines += ["", _first_line(session, turn)]
        if turn.erased:
            lines.append("  erased")
            continue
        lines += _body(turn)
        lost += unsaid(session, turn, has_heading=True)
    text = "\n".join(lines) + "\n"
    return Written((text,), len(session.shown), sum(turn.erased for turn in session.shown), +lost)


def _head(session: Session) -> Iterator[str]:
    yield " ".join(["session", session.session_id, *_names(session.native_session_id)])
    if session.conversation_id is not None:
        native = session.native_conversation_id(session.conversation_id)
        yield " ".join(["conversation", session.conversation_id, *_names(native)])


def _names(native: str | None) -> tuple[str, ...]:
    return () if native is None else (name(native),)


def _first_line(session: Session, turn: SessionTurn) -> str:
    said = [name(turn.role)]
    if turn.timestamp is not None:
        said.append(instant(turn.timestamp))
    agent, model = (None, None) if turn.erased else (agent_of(session, turn), model_of(turn))
    if agent is not None:
        said.append(f"by {name(agent)}")
    if model is not None:
        said.append(f"with {name(model)}")
    return f"{turn.seq}. {', '.join(said)}"


def _body(turn: SessionTurn) -> Iterator[str]:
    if turn.content is not None and is_plain(turn.content):
        # An empty text is no line: four blanks with nothing behind them are what editors take away.
        lines = turn.content.split("\n") if turn.content else []
        yield from (f"{_INDENT}{line}" for line in lines)
    else:
        yield f"  says {json_line(turn.content)}"
    word = "answers" if turn.role == "tool" else "calls"
    yield from (f"  {word} {json_line(entry)}" for entry in turn.invocations)
