"""What ``store.upkeep.verify`` counts and finds, and the names by which it says where.

A finding names a position, an ``execution_ref``, a session or a turn. It never repeats what anybody wrote.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from store.engines.engine import Connection
from store.engines.schema import event_key, position_of
from store.log.identifiers import unpacked
from store.port import DEFAULT_TENANT

# A foreign runId may be any string (CONTRACT 10): as much of it as tells one from another.
_LONGEST_REF: Final = 64


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is not as it was acknowledged: what kind of thing, where, and what of it."""

    kind: str
    subject: str
    detail: str


@dataclass(slots=True)
class Tally:
    """Counts and findings of a part of the database."""

    events: int = 0
    turns: int = 0
    sessions: int = 0
    erased: int = 0
    without_hash: int = 0
    findings: list[Finding] = field(default_factory=list)

    def found(self, kind: str, subject: str, detail: str) -> None:
        self.findings.append(Finding(kind, subject, detail))

    def add(self, part: Tally) -> None:
        """Add the counts of ``part``."""
        self.events += part.events
        self.turns += part.turns
        self.sessions += part.sessions
        self.erased += part.erased
        self.without_hash += part.without_hash


@dataclass(frozen=True, slots=True)
class Tenant:
    """A tenant, and how its rows are named in findings."""

    key: int
    name: str
    is_lost: bool = False

    @classmethod
    def read(cls, connection: Connection, key: int) -> Tenant:
        """The tenant ``key``; by its number where its row is lost."""
        row = connection.execute("SELECT name FROM tenants WHERE tenant = ?", (key,)).fetchone()
        return cls(key, f"number {key}", is_lost=True) if row is None else cls(key, row[0].decode(errors="replace"))

    @property
    def log_start(self) -> int:
        """What a position is added to, to be the key of an event or of an erasure."""
        return event_key(self.key, 0)

    def named(self, subject: str) -> str:
        return subject if self.name == DEFAULT_TENANT else f"tenant {self.name}, {subject}"

    def event(self, key: int, execution_ref: bytes | None = None) -> str:
        position = position_of(key)
        if execution_ref is None:
            return self.named(f"position {position}")
        ref = execution_ref.decode(errors="replace")
        return self.named(f"position {position} ({ref[:_LONGEST_REF]})")

    def positions(self, first: int, last: int) -> str:
        return self.named(f"position {first}" if first == last else f"positions {first} to {last}")

    def session(self, session_id: bytes | None, session_key: int) -> str:
        """By its id; by its number where no row and no event says the id."""
        return self.named(f"session number {session_key}" if session_id is None else f"session {_id(session_id)}")

    def turn(self, turn_id: bytes, session: str) -> str:
        """``session`` is what ``session`` gave."""
        return f"turn {_id(turn_id)} of {session}"


def _id(value: bytes) -> str:
    return unpacked(value)
