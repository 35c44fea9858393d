"""The turns of a session, page after page behind the scenes."""

from __future__ import annotations

from typing import Final

from agent.core.turn import SessionTurn
from agent.ruvector.models import TurnRecord
from agent.ruvector.reads import StoreReads

_PAGE: Final = 1000


def session_turns(reads: StoreReads, session_id: str, *, at_seq: int | None = None) -> tuple[SessionTurn, ...]:
    """All turns of a session in ``seq`` order, of every conversation and branch; ``at_seq``: only up to that one.

    Raises StoreNotFound for a session that the store never had.
    """
    turns: list[SessionTurn] = []
    after = 0
    while True:
        page = reads.turns(session_id, after_seq=after, limit=_PAGE, at_seq=at_seq).turns
        # Only an empty page is the end: a store may end one early, where its turns are large.
        if not page:
            return tuple(turns)
        turns += map(_turn, page)
        after = page[-1].seq


def _turn(record: TurnRecord) -> SessionTurn:
    fields = record.model_dump(exclude_unset=True)
    return SessionTurn(
        turn_id=record.turn_id.lower(),
        seq=record.seq,
        conversation_id=record.conversation_id.lower(),
        parent_turn_id=None if record.parent_turn_id is None else record.parent_turn_id.lower(),
        role=record.role or "",
        content=None if record.erased else record.content,
        erased=record.erased,
        fields=fields,
    )
