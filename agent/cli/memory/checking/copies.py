"""Copies of replayed events: what became of each, in words for people and for documents."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any, Final, Self

from agent.cli.copied_event import Refusal, Writer, copy_event
from agent.cli.other_store import OtherStore
from agent.core.replay import Verdict
from agent.ruvector.feed import FedEvent

_NEW: Final = "new"
_DUPLICATE: Final = "duplicate"
_REFUSED: Final = "refused"
_NOT_MADE: Final = "not_made"


@dataclass(frozen=True, slots=True)
class Copy:
    """``status``: new, duplicate, refused or not_made; ``text`` says it to people."""

    status: str
    text: str
    position: int | None = None
    upstream_status: int | None = None

    @classmethod
    def not_made(cls, verdict: Verdict) -> Self:
        why = "it differs from what its inputs make" if verdict is Verdict.DIFFERS else "it cannot be rebuilt"
        return cls(_NOT_MADE, f"no: {why}")

    @property
    def is_refused(self) -> bool:
        return self.status == _REFUSED

    def document(self) -> dict[str, Any]:
        """As a document says it; what is not known is left out."""
        known = {"position": self.position, "upstream_status": self.upstream_status}
        return {"status": self.status, **{name: value for name, value in known.items() if value is not None}}


@dataclass(frozen=True, slots=True)
class Copier:
    """Appends events as they came to the store that ``writer`` writes to: ``other``, or None where it is their own."""

    writer: Writer
    other: OtherStore | None

    def copy(self, event: FedEvent) -> Copy:
        """Append ``event``. Raises what concerns more than this one event."""
        with nullcontext() if self.other is None else self.other.asked():
            copied = copy_event(self.writer, event)
        if isinstance(copied, Refusal):
            return Copy(_REFUSED, f"no: refused with {copied.status}, {copied.reason}", None, copied.status)
        where = "the store" if self.other is None else "the other store"
        if copied.duplicate:
            return Copy(_DUPLICATE, f"duplicate: {where} had it, and nothing was added", copied.position)
        return Copy(_NEW, f"new in {where}, as it came", copied.position)
