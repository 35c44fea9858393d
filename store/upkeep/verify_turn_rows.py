"""The rows of a session's turns among themselves: ``seq`` without gaps, parents, leaves; and what they sum up to."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from store.engines.engine import Connection
from store.engines.schema import turn_key
from store.upkeep.verify_tally import Tally, Tenant

_ROWS_AT_ONCE: Final = 500

# A turn with its parent's row, who waits for the parent, its tombstone, and the erasure at its version.
_TURNS: Final = """
SELECT turns.turn_key, turns.seq, turns.turn_id, turns.conversation_id, turns.tenant, turns.parent_turn_id,
    turns.waits_for, turns.first_position, turns.revision_position, turns.version, turns.revisions, turns.is_user,
    turns.instant_us, turns.tokens, turns.erased, parents.is_leaf, parents.conversation_id,
    awaited_parents.turn_id, tombstones.turn_id, erasures.erasure_key
FROM turns
LEFT JOIN turns AS parents
    ON parents.session_key = turns.session_key AND parents.turn_id = turns.parent_turn_id
LEFT JOIN awaited_parents
    ON awaited_parents.session_key = turns.session_key AND awaited_parents.turn_id = turns.parent_turn_id
    AND awaited_parents.conversation_id = turns.conversation_id
LEFT JOIN tombstones ON tombstones.turn_id = turns.turn_id AND tombstones.tenant = turns.tenant
LEFT JOIN erasures ON erasures.erasure_key = ? + turns.version
WHERE turns.turn_key > ? AND turns.turn_key < ?
ORDER BY turns.turn_key LIMIT ?
"""
# Turns that something in their own conversation continues, as rows say it and as the parents say it.
_CONTINUED: Final = """
SELECT (SELECT count(*) FROM turns WHERE turn_key > ? AND turn_key < ? AND is_leaf = 0),
    (SELECT count(DISTINCT parents.turn_id) FROM turns
     JOIN turns AS parents ON parents.session_key = turns.session_key AND parents.turn_id = turns.parent_turn_id
     WHERE turns.turn_key > ? AND turns.turn_key < ? AND parents.conversation_id = turns.conversation_id)
"""


class _Row(NamedTuple):
    key: int
    seq: int
    turn_id: bytes
    conversation_id: bytes
    tenant: int
    parent: bytes | None
    waits_for: bytes | None
    first_position: int
    revision_position: int
    version: int
    revisions: int
    is_user: int
    instant_us: int | None
    tokens: int | None
    erased: int
    parent_is_leaf: int | None
    parent_conversation: bytes | None
    awaited: bytes | None
    tombstone: bytes | None
    erasure: int | None


class TurnRows:
    """Looks at the rows of one session, and sums them up. ``session`` is the session's name in findings."""

    def __init__(self, connection: Connection, tenant: Tenant, session_key: int, session: str, tally: Tally) -> None:
        self._connection = connection
        self._tenant = tenant
        self._span = (turn_key(session_key, 0), turn_key(session_key + 1, 0))
        self._session = session
        self._tally = tally
        self._first_lost = 0
        self._next_seq = 1
        self._tokens: int | None = None
        self._first_user_seq: int | None = None
        self._first_us: int | None = None
        self._last_us: int | None = None
        self.count = 0
        self.lost = 0
        self.version = 0
        self.revisions = 0
        self.has_content = False

    def check(self, last_seq: int, *, lost: int) -> None:
        """Look at all rows, of which there should be ``last_seq``; ``lost`` are missed already."""
        after, end = self._span
        while True:
            parameters = (self._tenant.log_start, after, end, _ROWS_AT_ONCE)
            rows = [_Row(*row) for row in self._connection.execute(_TURNS, parameters).fetchall()]
            for row in rows:
                self._add(row)
            if len(rows) < _ROWS_AT_ONCE:
                break
            after = rows[-1].key
        self._pass(last_seq + 1)
        if self.lost > lost:
            self._tally.found("lost_turn", self._session, f"it has no turn of seq {self._first_lost}")
        self._tally.turns += self.count
        kept, continued = self._connection.execute(_CONTINUED, self._span * 2).fetchone()
        if kept != continued and not self.lost:
            self._tally.found("wrong_session", self._session, "turns count as continued that are not")

    def columns(self) -> dict[str, Any]:
        """What the session's row has to say of its turns."""
        return {
            "last_seq": self._next_seq - 1,
            "first_turn_us": self._first_us,
            "last_turn_us": self._last_us,
            "total_tokens": self._tokens,
            "first_user_seq": self._first_user_seq,
        }

    def _add(self, row: _Row) -> None:
        self._pass(row.key - self._span[0])
        self._next_seq = row.key - self._span[0] + 1
        self.count += 1
        self.version = max(self.version, row.version)
        self.revisions += row.revisions
        if not row.erased:
            self.has_content = True
            self._sum_up(row)
        wrong = [*self._wrong_place(row), *_wrong_state(row)]
        if wrong:
            self._tally.found("wrong_turn", self._tenant.turn(row.turn_id, self._session), f"{', '.join(wrong)}")

    def _pass(self, seq: int) -> None:
        """Go on to ``seq``; the rows between are not there."""
        if seq > self._next_seq:
            self._first_lost = self._first_lost or self._next_seq
            self.lost += seq - self._next_seq

    def _sum_up(self, row: _Row) -> None:
        if row.tokens is not None:
            self._tokens = (self._tokens or 0) + row.tokens
        if row.instant_us is not None:
            self._first_us = row.instant_us if self._first_us is None else min(self._first_us, row.instant_us)
            self._last_us = row.instant_us if self._last_us is None else max(self._last_us, row.instant_us)
        if row.is_user and self._first_user_seq is None:
            self._first_user_seq = row.seq

    def _wrong_place(self, row: _Row) -> list[str]:
        wrong = []
        if row.seq != row.key - self._span[0]:
            wrong.append("it stands at the place of another seq")
        if row.tenant != self._tenant.key:
            wrong.append("it is of another tenant than its session")
        if row.parent is None:
            if row.waits_for is not None:
                wrong.append("it is a root and waits for a parent")
        elif row.parent_conversation is None:
            # The parent is in another session, or still to come.
            if row.awaited is None:
                wrong.append("its parent is not there, and nothing waits for it")
            elif row.waits_for != row.parent:
                wrong.append("its path waits for something else than its parent")
        elif row.parent_is_leaf and row.parent_conversation == row.conversation_id:
            wrong.append("its parent counts as a leaf")
        return wrong


def _wrong_state(row: _Row) -> list[str]:
    if not row.erased:
        wrong = [] if row.version == row.revision_position else ["its version is not that of its latest revision"]
    else:
        # Erased where it stands, or erased before it came.
        right = row.erasure is not None or row.version == row.first_position
        wrong = [] if right else ["it is erased and its version is that of no erasure"]
        if row.tombstone is None:
            wrong.append("it is erased and may come back: its tombstone is lost")
    if not row.first_position <= row.revision_position <= row.version:
        wrong.append("it was revised before it came")
    return wrong
