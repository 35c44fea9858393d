"""Turns of a session read for who folds them: straight from the store's JSON, every digit of every integer kept.

A history is mostly this, so no model stands between. What the store says of a turn is checked by hand, as strictly as
``models`` does. What its writer said may be anything: the store takes turns of any writer, and nothing after the edge
may fail on what the edge accepted (CONTRACT 2). A content that is no string is its JSON text (RFC 8785): readers have a
string, and nothing is lost. A role that is no string is empty. All members are kept as they came, but that the
``execution_ref`` is in lower case where it is a UUID. A turn of a newer contract is refused, one of an older brought
up to this one's (CONTRACT 6).
"""

from __future__ import annotations

from types import NoneType
from typing import Any, Final, NamedTuple

import jiter

from agent.core.canonical import canonical
from agent.core.ids import is_uuid
from agent.core.turn import SessionTurn
from agent.core.upcast import upcast

_TEXT: Final = frozenset({str, NoneType})
_COUNT: Final = frozenset({int, NoneType})


class TurnRows(NamedTuple):
    """One page of turns in ``seq`` order, and how many bytes it was."""

    turns: tuple[SessionTurn, ...]
    size: int


def read_turn_rows(body: bytes, *, limit: int) -> TurnRows:  # noqa: ARG001 - as every page is read; a short one says nothing
    """The page in an answer's ``body``. Raises ValueError for what is no page, NewerContract."""
    page = jiter.from_json(body, allow_inf_nan=False)
    rows = page.get("turns") if type(page) is dict else None
    if type(rows) is not list:
        raise ValueError("no page of turns")
    return TurnRows(tuple(map(_turn, rows)), len(body))


def _turn(row: Any) -> SessionTurn:
    if type(row) is not dict:
        raise ValueError("no turn")
    if row.get("agent_version") is not None:
        row = upcast(row, row["agent_version"])
    get = row.get
    turn_id, seq, conversation_id, parent = get("turn_id"), get("seq"), get("conversation_id"), get("parent_turn_id")
    role, content, erased, ref = get("role"), get("content"), get("erased", False), get("execution_ref")
    # Exact types: true is no seq. Written out, and not a loop over names: it is the inner loop of every history.
    if (
        type(turn_id) is not str
        or type(seq) is not int
        or type(conversation_id) is not str
        or type(erased) is not bool
        or type(parent) not in _TEXT
        or type(get("captured_at")) not in _TEXT
        or type(ref) not in _TEXT
        or type(get("version")) not in _COUNT
        or type(get("revisions", 1)) is not int
    ):
        raise ValueError("no turn")
    if ref is not None and ref != ref.lower() and is_uuid(ref):
        row = {**row, "execution_ref": ref.lower()}
    return SessionTurn(
        turn_id.lower(),
        seq,
        conversation_id.lower(),
        None if parent is None else parent.lower(),
        role if type(role) is str else "",
        None if erased else content if type(content) in _TEXT else canonical(content).decode(),
        erased,
        row,
    )
