"""What an append writes for its session: the rows of its turns, and the session's own row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from agent.core.receipt import TurnCounts
from store.capture import SentCapture, SentTurn
from store.connection import Connection
from store.envelope import encode_sent, parse_kept
from store.event_body import TurnPlace
from store.record import RevisionPlace, read_members
from store.schema import turn_key
from store.session_rows import DatabaseSession
from store.turns import Placement, place

_INSERT_TURN: Final = """
INSERT INTO turns (turn_key, session_key, seq, tenant, turn_id, conversation_id, parent_turn_id, waits_for, names_leaf,
    is_leaf, first_position, revision_position, version, revisions, narrowness, body_sha256, chunk, chunk_bytes, start,
    size)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 1, ?, ?, ?, ?, ?, ?)
"""
_REVISE_TURN: Final = """
UPDATE turns SET names_leaf = ?, revision_position = ?, version = ?, revisions = revisions + 1, narrowness = ?,
    body_sha256 = ?, chunk = ?, chunk_bytes = ?, start = ?, size = ?, body = ?
WHERE turn_key = ?
"""
_REVISION: Final = """
SELECT revision_position, chunk, chunk_bytes, start, size, body FROM turns WHERE turn_key = ?
"""
_AWAIT_PARENT: Final = """
INSERT OR IGNORE INTO awaited_parents (tenant, session_key, turn_id, conversation_id) VALUES (?, ?, ?, ?)
"""


@dataclass(frozen=True, slots=True)
class SessionRow:
    """A session as the append finds it; ``is_new``: its row is still to be written."""

    session_id: bytes
    key: int
    last_seq: int
    is_new: bool

    def write(self, connection: Connection, tenant: str, *, last_seq: int, version: int) -> None:
        """Write the row; ``version`` is the position of the last change of a turn."""
        if self.is_new:
            connection.execute(
                "INSERT INTO sessions (session_id, tenant, session_key, last_seq, version) VALUES (?, ?, ?, ?, ?)",
                (self.session_id, tenant, self.key, last_seq, version),
            )
        else:
            connection.execute(
                "UPDATE sessions SET last_seq = ?, version = ? WHERE session_id = ? AND tenant = ?",
                (last_seq, version, self.session_id, tenant),
            )


def append_turns(
    connection: Connection,
    tenant: str,
    position: int,
    session: SessionRow,
    sent: tuple[SentCapture, Sequence[TurnPlace]],
) -> TurnCounts:
    """Write the turns of the event at ``position``: what was ``sent``, with the turns' places in the event's body."""
    capture, places = sent
    wanted = dict.fromkeys(turn.turn_id for turn in capture.turns)
    wanted.update(dict.fromkeys(turn.parent for turn in capture.turns if turn.parent is not None))
    placement = place(
        DatabaseSession(connection, None if session.last_seq == 0 else session.key, list(wanted)),
        capture.turns,
        conversation_id=capture.conversation_id,
        narrowness=capture.narrowness,
        last_seq=session.last_seq,
    )
    if placement.new or placement.revised:
        session.write(connection, tenant, last_seq=session.last_seq + len(placement.new), version=position)
    place_of = {turn.turn_id: place for turn, place in zip(capture.turns, places, strict=True)}
    writer = _TurnWriter(connection, tenant, session.key, position, capture, place_of)
    writer.insert(placement)
    writer.revise(placement)
    writer.connect(placement)
    return TurnCounts(new=len(placement.new), known=placement.known, revised=len(placement.revised), erased=0)


@dataclass(frozen=True, slots=True)
class _TurnWriter:
    """Writes a placement into the rows of one session."""

    connection: Connection
    tenant: str
    session_key: int
    position: int
    capture: SentCapture
    places: Mapping[bytes, TurnPlace]

    def insert(self, placement: Placement) -> None:
        session_key, tenant, position, places = self.session_key, self.tenant, self.position, self.places
        conversation_id, narrowness = self.capture.conversation_id, self.capture.narrowness
        rows = []
        for turn_id, turn in placement.new.items():
            at, sent = places[turn_id], turn.sent
            identity = (turn_key(session_key, turn.seq), session_key, turn.seq, tenant, turn_id, conversation_id)
            tree = (turn.parent, turn.waits_for, sent.names_leaf, turn.is_leaf)
            revision = (position, position, position, narrowness, sent.body_sha256)
            rows.append((*identity, *tree, *revision, at.chunk, at.chunk_bytes, at.start, at.size))
        self.connection.executemany(_INSERT_TURN, rows)

    def revise(self, placement: Placement) -> None:
        for stored, sent in placement.revised:
            at = self.places[sent.turn_id]
            revision = (sent.names_leaf, self.position, self.position, self.capture.narrowness, sent.body_sha256)
            where = (at.chunk, at.chunk_bytes, at.start, at.size, self._with_what_stays(stored.seq, sent))
            self.connection.execute(_REVISE_TURN, (*revision, *where, turn_key(self.session_key, stored.seq)))

    def connect(self, placement: Placement) -> None:
        """Write what the new turns change for turns that were there: leaves, awaited parents, ends of paths."""
        execute_many, session_key = self.connection.executemany, self.session_key
        if placement.no_longer_leaves:
            execute_many(
                "UPDATE turns SET is_leaf = 0 WHERE turn_key = ?",
                [(turn_key(session_key, seq),) for seq in placement.no_longer_leaves],
            )
        if placement.arrived:
            execute_many(
                "DELETE FROM awaited_parents WHERE session_key = ? AND turn_id = ?",
                [(session_key, turn_id) for turn_id in placement.arrived],
            )
        if placement.awaited:
            execute_many(
                _AWAIT_PARENT,
                [(self.tenant, session_key, turn_id, self.capture.conversation_id) for turn_id in placement.awaited],
            )
        if placement.shortened:
            execute_many(
                "UPDATE turns SET waits_for = ? WHERE session_key = ? AND turn_id = ?",
                [(end, session_key, turn_id) for turn_id, end in placement.shortened.items()],
            )

    def _with_what_stays(self, seq: int, sent: SentTurn) -> bytes | None:
        """The members of a revision with the derived texts (times, a model) as they first arrived (CONTRACT 10).

        None where that is what was sent. A derived structure goes with the body it was derived from: the calls that a
        result names belong to the text and the native id that it came with.
        """
        if not sent.derived:
            return None
        row = self.connection.execute(_REVISION, (turn_key(self.session_key, seq),)).fetchone()
        first = parse_kept(b"{" + read_members(self.connection, RevisionPlace(*row)))
        now = parse_kept(b"{" + sent.tail)
        staying = {name: first[name] for name in sent.derived if _is_text(first, name) and _is_text(now, name)}
        return encode_sent({**now, **staying})[1:]


def _is_text(members: dict[str, Any], name: str) -> bool:
    return isinstance(members.get(name), str)
