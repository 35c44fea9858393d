"""The session of a plain conversation, in which each turn continues the one before: what nearly every session is.

It comes to what ``fold`` makes of the same turns, at a part of the cost: an order that is there need not be found.
Whatever else a session may be is for ``fold``.
"""

from __future__ import annotations

from collections.abc import Sequence

from agent.core.growing import Growing, GrowingTurns
from agent.core.history import shown
from agent.core.memory import EMPTY, remembered
from agent.core.paths import named_leaf
from agent.core.session import SessionState, fold
from agent.core.turn import SessionTurn


def folded(turns: Sequence[SessionTurn]) -> SessionState:
    """``fold(turns)``."""
    if not _is_line(turns):
        return fold(turns)
    said = any(turn.fields.get("metadata") for turn in turns)
    first, last = turns[0], turns[-1]
    return SessionState(
        turns=GrowingTurns(turns),
        leaves={last.conversation_id: last.turn_id},
        # Only what metadata says hides a turn, or is remembered of it.
        history=Growing(shown(turns) if said else turns),
        memory=remembered(turns) if said else EMPTY,
        waited_for=frozenset() if first.parent_turn_id is None else frozenset({first.parent_turn_id}),
    )


def _is_line(turns: Sequence[SessionTurn]) -> bool:
    """Whether each of ``turns`` stands behind the one before it and continues it, and none names another leaf."""
    if not turns:
        return False
    names = {turn.turn_id for turn in turns}
    before = turns[0]
    if len(names) < len(turns) or before.parent_turn_id in names or named_leaf(before):
        return False
    conversation_id = before.conversation_id
    for turn in turns[1:]:
        if (
            turn.parent_turn_id != before.turn_id
            or turn.conversation_id != conversation_id
            or turn.seq <= before.seq
            or (turn.fields.get("metadata") and named_leaf(turn))
        ):
            return False
        before = turn
    return True
