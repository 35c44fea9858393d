"""What ``verify`` finds of events that it cannot replay: the store cannot read them, or has lost them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple, Self

from agent.errors import StoreDamaged

_DETAILS: Final = {
    "damaged_event": "the store cannot read it",
    "lost_position": "no event and no erasure stands there",
    "damaged_database": "the store cannot read all of it",
}


class Finding(NamedTuple):
    """As those of ``store verify``: what kind of thing, where, and what of it. ``position``: of the one that it is."""

    kind: str
    subject: str
    detail: str
    position: int | None = None

    @classmethod
    def of(cls, error: StoreDamaged) -> Self:
        """What the store said of an event, or of all that it keeps."""
        detail = _DETAILS[error.rule]
        if error.through is not None:
            detail += f", as turns of it stand in position {error.through}"
        subject = "the database" if error.position is None else f"position {error.position}"
        return cls(error.rule, subject, detail, error.position)

    @classmethod
    def lost(cls, first: int, last: int) -> Self:
        """Positions where nothing stands."""
        if first == last:
            return cls("lost_position", f"position {first}", _DETAILS["lost_position"], first)
        return cls("lost_position", f"positions {first} to {last}", _DETAILS["lost_position"])

    def document(self) -> dict[str, Any]:
        """As a document says it."""
        return self._asdict()


@dataclass(slots=True)
class Findings:
    """All counted, and the first ``limit`` kept."""

    limit: int
    count: int = 0
    shown: list[Finding] = field(default_factory=list)

    def add(self, finding: Finding) -> None:
        """Count it."""
        self.count += 1
        if len(self.shown) < self.limit:
            self.shown.append(finding)
