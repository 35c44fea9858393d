"""One stored event looked at: does it open, is it what its hash, its columns, its keys and its graph say."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from agent.core.agent_identity import AGENT_ID
from agent.core.canonical import stored_inputs_hash
from agent.core.decision import DECISION_TYPE
from store.engines.engine import Connection
from store.engines.schema import event_key, position_of
from store.errors import BadRequest, DamagedDatabase
from store.lists import labels
from store.log.capture import SentCapture, read_capture
from store.log.envelope import Envelope, read_envelope
from store.log.event_body import event_text, open_body
from store.log.event_keys import EventKeys
from store.log.event_rows import turn_texts
from store.log.layout import Layout, unpack
from store.log.record import Chunks
from store.log.session_rows import batches
from store.upkeep.verify_outputs import graph_problem, outputs_problem
from store.upkeep.verify_tally import Tally, Tenant

_HASH: Final = re.compile("[0-9a-f]{64}")
_COLUMNS: Final = (
    "execution_ref",
    "type",
    "agent_id",
    "decision_type",
    "inputs_hash",
    "ours",
    "conversation_id",
    "user_digest",
    "timestamp",
    "instant_us",
    "turn_count",
    "agent_version",
)
_SELECT: Final = f"SELECT tenant, erased, layout, body, {', '.join(_COLUMNS)} FROM events WHERE event_key = ?"  # noqa: S608 - constants
_STORED: Final = "SELECT event_key FROM events WHERE session_key = ? AND event_key IN ({marks})"
_MARKS: Final = 64
# What reading a body that is not what it was may meet, beside what it refuses itself.
_UNREADABLE: Final = (ValueError, KeyError, TypeError, AttributeError, IndexError)


@dataclass(frozen=True, slots=True)
class OpenEvent:
    """An event that could be read. ``capture`` is None where it makes no turns."""

    key: int
    erased: bool
    layout: Layout
    envelope: Envelope
    capture: SentCapture | None

    @property
    def position(self) -> int:
        return position_of(self.key)


@dataclass(slots=True)
class EventChecks:
    """Looks at events of one tenant, and within it of one session (``session_key`` None: of none)."""

    connection: Connection
    tenant: Tenant
    tally: Tally
    session_key: int | None = None
    session_id: bytes | None = None
    # The positions of this session whose events are not what they were.
    damaged: set[int] = field(default_factory=set)

    def check(self, key: int) -> OpenEvent | None:
        """Look at the event ``key``, which is there; None where it cannot be read."""
        tenant, erased, layout, kept, *columns = self.connection.execute(_SELECT, (key,)).fetchone()
        name = self.tenant.event(key, columns[0])
        self.tally.events += 1
        self.tally.erased += int(erased > 0)
        opened: Layout | None = None
        try:
            opened = unpack(layout)
            event = self._open(key, bool(erased), opened, kept)
        except DamagedDatabase as error:
            through = self._through(opened) if opened is not None else ""
            self.tally.found("damaged_event", name, error.message + through)
            self.damaged.add(position_of(key))
            return None
        self._check_hash(event, name)
        self._check_columns(event, name, tenant, columns)
        self._check_references(event, name)
        self._check_keys(event, name)
        if _is_ours(event):
            self._check_outputs(event, name)
        return event

    def _through(self, layout: Layout) -> str:
        """Says which damaged event is the cause, where turns of this one stand there."""
        named = self.damaged.intersection(reference.position for reference in layout.turns if reference is not None)
        return f", as turns of it stand in position {min(named)}" if named else ""

    def _open(self, key: int, erased: bool, layout: Layout, kept: bytes) -> OpenEvent:  # noqa: FBT001 - a column
        own = sum(len(chunk.sizes) for chunk in layout.chunks)
        if not own == 2 * len(layout.kinds) == 2 * layout.turns.count(None) or (layout.turns and not layout.has_turns):
            raise DamagedDatabase("the layout of a stored event does not fit its turns")
        chunks = Chunks(self.connection, self.tenant.key)
        try:
            body = open_body(layout, kept)
            envelope = read_envelope(event_text(body, turn_texts(chunks, body), b"{"))
            capture = read_capture(envelope)
        except BadRequest as error:
            raise DamagedDatabase("a stored event is none any more") from error
        except _UNREADABLE as error:
            raise DamagedDatabase("a stored body is not the JSON that was written") from error
        if layout.has_turns != (capture is not None):
            raise DamagedDatabase("a stored event does not make the turns that it made")
        return OpenEvent(key, erased, layout, envelope, capture)

    def _check_hash(self, event: OpenEvent, name: str) -> None:
        payload = event.envelope.payload
        stored = payload.get("stored_inputs_hash")
        if event.erased:
            return
        if not isinstance(stored, str) or "inputs" not in payload:
            self.tally.without_hash += 1
            return
        if stored != stored_inputs_hash(payload["inputs"], exact_numbers=True):
            detail = "its inputs do not have its stored_inputs_hash"
            self.tally.found("wrong_hash", name, detail + self._through(event.layout))
            self.damaged.add(event.position)
        elif _is_ours(event) and not _HASH.fullmatch(event.envelope.inputs_hash or ""):
            self.tally.found("wrong_hash", name, "its inputs_hash is no SHA-256")

    def _check_outputs(self, event: OpenEvent, name: str) -> None:
        """Of an event that our agent wrote. A graph that is not kept is made of the inputs: it is right by itself."""
        envelope = event.envelope
        payload = envelope.payload
        twice = [
            payload.get("execution_ref") == envelope.members["runId"],
            payload.get("timestamp") == envelope.timestamp,
        ]
        if not all(twice):
            self.tally.found("wrong_event", name, "its envelope and its payload differ in execution_ref or timestamp")
        problem = outputs_problem(payload, erased=event.erased)
        if problem is not None:
            self.tally.found("wrong_event", name, problem)
        problem = graph_problem(payload, erased=event.erased) if event.layout.graph_at is None else None
        if problem is not None:
            self.tally.found("wrong_graph", name, problem)

    def _check_columns(self, event: OpenEvent, name: str, tenant: int, columns: Sequence[Any]) -> None:
        pairs = zip(_COLUMNS, columns, _columns_of(event), strict=True)
        wrong = [column for column, there, expected in pairs if there != expected]
        # An erased event goes on being found by whose it was; its body names nobody.
        if event.erased and event.envelope.user_id is None and "user_digest" in wrong:
            wrong.remove("user_digest")
        if tenant != self.tenant.key:
            wrong.append("tenant")
        if event.envelope.session_id != self.session_id:
            wrong.append("session_key")
        if wrong:
            self.tally.found("wrong_event", name, f"its row says something else than its body: {', '.join(wrong)}")

    def _check_references(self, event: OpenEvent, name: str) -> None:
        """Each turn that stands elsewhere stands in an earlier event of the session (reading it found it there)."""
        named = {ref.position for ref in event.layout.turns if ref is not None}
        found: set[int] = set()
        positions = sorted(named)
        for start in range(0, len(positions), _MARKS):
            keys = [event_key(self.tenant.key, position) for position in positions[start : start + _MARKS]]
            keys += [keys[-1]] * (_MARKS - len(keys))
            sql = _STORED.format(marks=", ".join("?" * _MARKS))
            found.update(position_of(key) for (key,) in self.connection.execute(sql, (self.session_key, *keys)))
        strange = sorted(position for position in named if position not in found or position >= event.position)
        if strange:
            detail = f"turns of it are looked for in position {strange[0]}, which is no earlier event of its session"
            self.tally.found("wrong_event", name, detail)

    def _check_keys(self, event: OpenEvent, name: str) -> None:
        keys = EventKeys.of(self.tenant.name, event.envelope, None)
        names = {keys.execution_ref: "execution_ref"} | ({} if keys.payload is None else {keys.payload: "payload"})
        (marks, some), *_ = batches(list(names))
        sql = f"SELECT key, tenant, event_key FROM event_keys WHERE key IN ({marks})"  # noqa: S608 - marks only
        rows = {key: (tenant, to) for key, tenant, to in self.connection.execute(sql, some)}
        for key, by in names.items():
            if key not in rows:
                self.tally.found("lost_key", name, f"it is not found by its {by}")
            elif rows[key] != (self.tenant.key, event.key):
                self.tally.found("wrong_key", name, f"another event is found by its {by}")


def _columns_of(event: OpenEvent) -> tuple[Any, ...]:
    """What the row of COLUMNS has to say."""
    envelope = event.envelope
    return (
        envelope.execution_ref.encode(),
        envelope.type.encode(),
        _encoded(envelope.agent_id),
        _encoded(envelope.decision_type),
        _encoded(envelope.inputs_hash),
        int(envelope.type == envelope.decision_type == DECISION_TYPE and envelope.agent_id == AGENT_ID),
        envelope.conversation_id,
        None if envelope.user_id is None else labels.digest(envelope.user_id),
        envelope.timestamp.encode(),
        envelope.instant_us,
        0 if event.capture is None else len(event.capture.turns),
        None if event.capture is None else _encoded(envelope.other_version),
    )


def _is_ours(event: OpenEvent) -> bool:
    """Whether our agent wrote it: others use its name too, and know nothing of ``stored_inputs_hash``."""
    envelope = event.envelope
    same = event.capture is not None and envelope.type == envelope.decision_type == DECISION_TYPE
    return same and envelope.agent_id == AGENT_ID and isinstance(envelope.payload.get("stored_inputs_hash"), str)


def _encoded(text: str | None) -> bytes | None:
    return None if text is None else text.encode()
