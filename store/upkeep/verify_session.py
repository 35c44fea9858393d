"""One session looked at whole: its events, the rows of its turns, its own row, and what it is found by.

All of it in one reading transaction, so that what is written meanwhile makes no difference look like damage. Rows come
in batches, and an event at a time.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from store.engines.engine import Connection
from store.engines.schema import DEFAULT_TENANT_KEY, turn_key
from store.errors import DamagedDatabase
from store.lists import labels
from store.log.envelope import parse_kept
from store.log.record import Chunks, RevisionPlace
from store.log.session_row import COLUMNS, SessionRow, preview, read_row, turn_agent
from store.upkeep.verify_event import EventChecks, OpenEvent
from store.upkeep.verify_tally import Tally, Tenant
from store.upkeep.verify_turn_rows import TurnRows
from store.upkeep.verify_turns import TurnChecks

_KEYS_AT_ONCE: Final = 1000
_ROW: Final = f"SELECT tenant, {COLUMNS} FROM sessions WHERE session_key = ?"  # noqa: S608 - constants only
_TENANT: Final = """
SELECT tenant FROM events WHERE session_key = ? UNION ALL SELECT tenant FROM turns WHERE turn_key > ? AND turn_key < ?
LIMIT 1
"""
_EVENTS: Final = "SELECT event_key FROM events WHERE session_key = ? AND event_key > ? ORDER BY event_key LIMIT ?"
_CAPTURED: Final = "SELECT min(instant_us), max(instant_us) FROM events WHERE session_key = ? AND turn_count > 0"
_PREVIEWED: Final = "SELECT revision_position, own_index, body FROM turns WHERE turn_key = ?"
_IS_ERASURE: Final = "SELECT 1 FROM erasures WHERE erasure_key = ?"
_LISTED_BY: Final = {
    labels.USER: "user",
    labels.AGENT: "agent",
    labels.TAG: "tag",
    labels.CONVERSATION: "conversation",
}
_LABELS_ARE_BEHIND: Final = """
SELECT 1 FROM events WHERE session_key = ? AND event_key > ? + coalesce(
    (SELECT labels FROM indexed WHERE tenant = ?), 0) LIMIT 1
"""
_LABEL: Final = "SELECT 1 FROM labels WHERE tenant = ? AND kind = ? AND value = ? AND session_key = ?"


@dataclass(slots=True)
class _Said:
    """What the events of a session say of it, beside its turns. ``complete``: all of them could be read."""

    agents: set[str] = field(default_factory=set)
    users: set[str] = field(default_factory=set)
    tags: set[str] = field(default_factory=set)
    native_session_id: str | None = None
    conversations: set[bytes] = field(default_factory=set)
    complete: bool = True

    def add(self, event: OpenEvent | None) -> None:
        if event is None:
            self.complete = False
            return
        if event.envelope.conversation_id is not None:
            self.conversations.add(event.envelope.conversation_id)
        capture = event.capture
        if capture is None:
            return
        self.agents.update(name for turn in capture.turns if (name := turn_agent(turn.fields)) is not None)
        for names, name in ((self.agents, capture.agent_id), (self.users, capture.user_id)):
            if name is not None:
                names.add(name)
        self.tags.update(capture.tags)
        self.native_session_id = self.native_session_id or capture.native_session_id


class SessionCheck:
    """The look at the session ``key``. ``tally`` has what was found."""

    def __init__(self, connection: Connection, key: int) -> None:
        self.tally = Tally()
        self._connection = connection
        self._key = key
        row = connection.execute(_ROW, (key,)).fetchone()
        self._row: SessionRow | None = None if row is None else read_row(row[1:])
        tenant = self._tenant_of_rows() if row is None else int(row[0])
        self.tenant = Tenant.read(connection, tenant)
        self.session_id = self._id_in_events() if self._row is None else self._row.session_id
        self.name = self.tenant.session(self.session_id, key)

    def run(self) -> int:
        """Look at all of it. The number of rows that it was."""
        if self._row is None:
            self.tally.found("lost_session", self.name, "its events or turns are there, and its row is not")
        said = _Said()
        turns = TurnChecks(self._connection, self.tenant, self._key, self.name, self.tally)
        events = EventChecks(self._connection, self.tenant, self.tally, self._key, self.session_id)
        for key in self.event_keys():
            event = events.check(key)
            said.add(event)
            if event is not None:
                turns.check(event)
        last_seq = 0 if self._row is None else self._row.last_seq
        rows = TurnRows(self._connection, self.tenant, self._key, self.name, self.tally)
        rows.check(last_seq, lost=turns.lost)
        if said.complete:
            turns.name_too_full()
        turns.name_strays(rows.count)
        if self._row is not None:
            self.tally.sessions += 1
            self._check_row(self._row, said, rows, turns)
        return self.tally.events + rows.count + 1

    def event_keys(self) -> Iterator[int]:
        """The keys of the session's events, oldest first."""
        last = 0
        while True:
            keys = [key for (key,) in self._connection.execute(_EVENTS, (self._key, last, _KEYS_AT_ONCE)).fetchall()]
            yield from keys
            if len(keys) < _KEYS_AT_ONCE:
                return
            last = keys[-1]

    def _tenant_of_rows(self) -> int:
        span = (turn_key(self._key, 0), turn_key(self._key + 1, 0))
        row = self._connection.execute(_TENANT, (self._key, *span)).fetchone()
        return DEFAULT_TENANT_KEY if row is None else int(row[0])

    def _id_in_events(self) -> bytes | None:
        """The id that the events of a session without a row name."""
        looks = EventChecks(self._connection, self.tenant, Tally(), self._key)
        opened = (looks.check(key) for key in self.event_keys())
        return next((event.envelope.session_id for event in opened if event is not None), None)

    def _check_row(self, row: SessionRow, said: _Said, rows: TurnRows, turns: TurnChecks) -> None:
        expected: dict[str, Any] = {}
        has_turns = turns.lost == rows.lost == 0
        if row.version > 0 or rows.count > 0:
            created_us, activity_us = self._connection.execute(_CAPTURED, (self._key,)).fetchone()
            expected |= {"created_us": created_us, "activity_us": activity_us}
        if has_turns:
            expected |= rows.columns()
        if has_turns and said.complete:
            expected["first_user_content"] = self._preview(row.first_user_seq)
            if turns.revisions != rows.revisions:
                self.tally.found("wrong_session", self.name, "its turns have more or fewer revisions than came")
        if said.complete:
            native = said.native_session_id
            expected |= {
                "native_session_id": None if native is None else native.encode(),
                "agents": tuple(sorted(said.agents)),
                "users": tuple(sorted(said.users)),
                "tags": tuple(sorted(said.tags)),
            }
        wrong = [name for name, value in expected.items() if getattr(row, name) != value]
        if has_turns and not self._is_version(row.version, rows.version):
            wrong.append("version")
        if row.erased and rows.has_content:
            wrong.append("erased")
        if wrong:
            self.tally.found("wrong_session", self.name, f"its row is not what its events make: {', '.join(wrong)}")
        self._check_labels(row, said.conversations)

    def _is_version(self, version: int, last_change: int) -> bool:
        """The last change of a turn; or of the session beside its turns, which only an erasure makes."""
        if version == last_change:
            return True
        key = self.tenant.log_start + version
        return version > last_change > 0 and self._connection.execute(_IS_ERASURE, (key,)).fetchone() is not None

    def _preview(self, seq: int | None) -> bytes | None:
        """What a list shows of the turn ``seq``; None where there is none, or none that can be read."""
        row = None if seq is None else self._connection.execute(_PREVIEWED, (turn_key(self._key, seq),)).fetchone()
        if row is None:
            return None
        try:
            members = Chunks(self._connection, self.tenant.key).members(RevisionPlace(*row))
            return preview(parse_kept(b"{" + members))
        except (DamagedDatabase, ValueError):
            return None

    def _check_labels(self, row: SessionRow, conversations: set[bytes]) -> None:
        if self._connection.execute(_LABELS_ARE_BEHIND, (self._key, self.tenant.log_start, self.tenant.key)).fetchone():
            # The next list that asks for them writes them (store.lists.label_rows).
            return
        named = ((labels.USER, row.users), (labels.AGENT, row.agents), (labels.TAG, row.tags))
        expected = [(kind, labels.digest(name)) for kind, names in named for name in names]
        expected += [(labels.CONVERSATION, conversation) for conversation in sorted(conversations)]
        for kind, value in expected:
            if self._connection.execute(_LABEL, (self.tenant.key, kind, value, self._key)).fetchone() is None:
                self.tally.found("lost_label", self.name, f"it is not listed by a {_LISTED_BY[kind]} of its")
