"""The rows of a session's turns against the events that brought them: each where it should be, and as it was sent.

Every turn that an event brings finds its row, and as many rows are found as there are: so a row that no event brought
is seen too, without a second reading of the log.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, Final

from store.engines.engine import Connection
from store.engines.schema import turn_key
from store.errors import DamagedDatabase
from store.log.capture import SentTurn
from store.log.envelope import encode_sent, parse_kept
from store.log.event_rows import id_of
from store.log.layout import NEW, REVISED
from store.log.record import Chunks
from store.log.session_row import turn_columns
from store.log.session_rows import batches
from store.log.turn_rows import NO_BODY
from store.upkeep.verify_event import OpenEvent
from store.upkeep.verify_narrowness import NarrownessChecks
from store.upkeep.verify_tally import Tally, Tenant


@dataclass(frozen=True, slots=True)
class TurnRow:
    """Columns of a turn's row."""

    turn_id: bytes
    seq: int
    conversation_id: bytes
    parent_turn_id: bytes | None
    names_leaf: bytes | None
    first_position: int
    revision_position: int
    narrowness: int
    body_sha256: bytes
    lower_case: int
    own_index: int
    is_user: int
    instant_us: int | None
    tokens: int | None
    erased: int
    body: bytes | None


_COLUMNS: Final = ", ".join(field.name for field in fields(TurnRow))
_PLACES: Final = """
SELECT turn_key, turn_id, revision_position, own_index FROM turns
WHERE turn_key > ? AND turn_key < ? ORDER BY turn_key LIMIT ?
"""
_ROWS_AT_ONCE: Final = 500


class TurnChecks:
    """Looks at the turns that the events of one session bring. ``session`` is the session's name in findings."""

    def __init__(self, connection: Connection, tenant: Tenant, session_key: int, session: str, tally: Tally) -> None:
        self._connection = connection
        self._tenant = tenant
        self._session_key = session_key
        self._session = session
        self._tally = tally
        self._narrowness = NarrownessChecks(connection, session_key)
        # Rows whose first arrival, and whose latest revision, was found where the row says; revisions of all.
        self.arrived = 0
        self.latest = 0
        self.revisions = 0
        self.lost = 0

    def check(self, event: OpenEvent) -> None:
        """Look at the turns that stand in ``event``."""
        if event.capture is None:
            return
        turns = event.capture.turns
        own = [place for place, reference in enumerate(event.layout.turns) if reference is None]
        rows = self._rows([turns[place].turn_id for place in own])
        said_otherwise = f"its row says something else than position {event.position}: "
        for turn_id in self._narrowness.too_narrow(event):
            self._found("wrong_turn", turn_id, said_otherwise + "narrowness")
        for own_index, (place, kind) in enumerate(zip(own, event.layout.kinds, strict=True)):
            turn = turns[place]
            row = rows.get(turn.turn_id)
            self.revisions += kind in (NEW, REVISED)
            if row is None:
                # Where it came first is the one place to tell it.
                if kind == NEW:
                    self.lost += 1
                    self._found("lost_turn", turn.turn_id, f"position {event.position} brought it, and it has no row")
                continue
            wrong = self._arrival(event, place, row) if kind == NEW else []
            wrong += self._revision(event, turn, row, own_index, kind)
            if wrong:
                self._found("wrong_turn", turn.turn_id, said_otherwise + ", ".join(wrong))

    def name_too_full(self) -> None:
        """Tell the rows that count as fuller than any event that brought their body."""
        for turn_id, position in self._narrowness.too_full():
            self._found("wrong_turn", turn_id, f"its row says something else than position {position}: narrowness")

    def name_strays(self, count: int) -> None:
        """Tell the rows that no event was found to bring, where there are any; ``count`` is the number of rows."""
        if self.arrived == count and self.latest == count:
            return
        last = turn_key(self._session_key, 0)
        while True:
            span = (last, turn_key(self._session_key + 1, 0), _ROWS_AT_ONCE)
            rows = self._connection.execute(_PLACES, span).fetchall()
            chunks = Chunks(self._connection, self._tenant.key)
            for key, turn_id, position, own_index in rows:
                last = key
                if not _stands_at(chunks, turn_id, position, own_index):
                    self._found(
                        "wrong_turn", turn_id, f"position {position} has not, or not readably, what its row says"
                    )
            if len(rows) < _ROWS_AT_ONCE:
                return

    def _rows(self, turn_ids: Sequence[bytes]) -> dict[bytes, TurnRow]:
        found: dict[bytes, TurnRow] = {}
        for marks, some in batches(turn_ids):
            sql = f"SELECT {_COLUMNS} FROM turns WHERE session_key = ? AND turn_id IN ({marks})"  # noqa: S608 - constants and marks
            rows = (TurnRow(*row) for row in self._connection.execute(sql, (self._session_key, *some)))
            found.update({row.turn_id: row for row in rows})
        return found

    def _arrival(self, event: OpenEvent, place: int, row: TurnRow) -> list[str]:
        """The columns that the first arrival of a turn decides, where they are wrong."""
        if row.first_position != event.position:
            return ["first_position"]
        self.arrived += 1
        wrong = []
        if event.capture is not None and row.conversation_id != event.capture.conversation_id:
            wrong.append("conversation_id")
        if not self._parent_is_right(event, place, row):
            wrong.append("parent_turn_id")
        return wrong

    def _parent_is_right(self, event: OpenEvent, place: int, row: TurnRow) -> bool:
        """CONTRACT 10, order of a session: the parent given, else the turn before, else a leaf of that time."""
        turns = event.capture.turns if event.capture is not None else ()
        turn = turns[place]
        if not turn.names_parent and place == 0:
            return row.parent_turn_id is None or self._seq(row.parent_turn_id) < row.seq
        candidate = turn.parent if turn.names_parent else turns[place - 1].turn_id
        if row.parent_turn_id is None and candidate is not None:
            return self._leads_to(candidate, row.turn_id)
        return row.parent_turn_id == candidate

    def _revision(self, event: OpenEvent, turn: SentTurn, row: TurnRow, own_index: int, kind: str) -> list[str]:
        """The columns that the latest revision of a turn decides, where they are wrong."""
        if (row.revision_position, row.own_index) != (event.position, own_index):
            overlooked = kind in (NEW, REVISED) and row.revision_position <= event.position
            return ["revision_position"] if overlooked else []
        self.latest += 1
        if kind not in (NEW, REVISED):
            return ["revision_position"]
        narrowness = 0 if event.capture is None else event.capture.narrowness
        wrong = _wrong_body(turn, row)
        if not row.erased and row.narrowness != narrowness and not self._narrowness.may_be(row, narrowness):
            wrong.append("narrowness")
        return wrong

    def _seq(self, turn_id: bytes) -> int:
        """The ``seq`` of a turn of the session; one beyond all where it has none such."""
        row = self._step(turn_id)
        return 1 << 62 if row is None else int(row[0])

    def _leads_to(self, start: bytes, end: bytes) -> bool:
        """Whether the path up from ``start`` comes to ``end``: then ``start`` is no parent for ``end``."""
        passed: set[bytes] = set()
        current: bytes | None = start
        while current is not None and current != end and current not in passed:
            passed.add(current)
            row = self._step(current)
            current = None if row is None else row[1]
        return current == end

    def _step(self, turn_id: bytes) -> tuple[int, bytes | None] | None:
        sql = "SELECT seq, parent_turn_id FROM turns WHERE session_key = ? AND turn_id = ?"
        row: tuple[int, bytes | None] | None
        row = self._connection.execute(sql, (self._session_key, turn_id)).fetchone()
        return row

    def _found(self, kind: str, turn_id: bytes, detail: str) -> None:
        self._tally.found(kind, self._tenant.turn(turn_id, self._session), detail)


def _stands_at(chunks: Chunks, turn_id: bytes, position: int, own_index: int) -> bool:
    """Whether the own turn at this place can be read, and is the turn."""
    try:
        return id_of(chunks.whole(position, own_index)) == turn_id
    except (DamagedDatabase, ValueError):
        return False


def _wrong_body(turn: SentTurn, row: TurnRow) -> list[str]:
    if row.erased:
        is_user, _, _ = turn_columns(turn.fields)
        expected: dict[str, Any] = {
            "names_leaf": turn.names_leaf,
            "body_sha256": NO_BODY,
            "is_user": is_user,
            "instant_us": None,
            "tokens": None,
            "body": None,
        }
        return [name for name, value in expected.items() if getattr(row, name) != value]
    shown = turn.fields if row.body is None else parse_kept(b"{" + row.body)
    is_user, instant_us, tokens = turn_columns(shown)
    expected = {
        "names_leaf": turn.names_leaf,
        "body_sha256": turn.body_sha256,
        "lower_case": int(turn.lower_case),
        "is_user": is_user,
        "instant_us": instant_us,
        "tokens": tokens,
    }
    wrong = [name for name, value in expected.items() if getattr(row, name) != value]
    if row.body is not None and _others(shown, turn) != _others(parse_kept(b"{" + turn.text()[1]), turn):
        wrong.append("body")
    return wrong


def _others(members: dict[str, Any], turn: SentTurn) -> bytes:
    """The members but the derived ones, which stay as they first came (CONTRACT 10)."""
    return encode_sent({name: members[name] for name in sorted(members) if name not in turn.derived})
