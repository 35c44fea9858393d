"""What came of a file: conversations, turns and calls, what its formats leave out, and what was not taken, by kind."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, NamedTuple, Self

from agent.core.receipt import TurnCounts
from agent.errors import PayloadTooLarge, ValidationError

# What everybody calls a value that is nothing: no object and no list, or an empty one.
JUNK = "junk"
REFUSED = "refused by its format"
TOO_LARGE = "larger than a store takes"


def refusal_kind(error: ValidationError) -> str:
    """What a conversation that ``error`` refused is counted as."""
    return TOO_LARGE if isinstance(error, PayloadTooLarge) else REFUSED


class Told(NamedTuple):
    """What came of one conversation.

    ``counts`` are the store's; None where nothing was stored, or it does not say. ``kept_fuller`` of the known turns
    stay in a fuller body than they came in. ``captures`` is 0 for a conversation without a message. ``reference`` is
    that of the last event, None without a store. ``is_placed``: its session is named by the file and the place.
    """

    place: int
    number: int
    form: str
    session_id: str = ""
    native_session_id: str | None = None
    conversation_id: str = ""
    native_conversation_id: str | None = None
    turns: int = 0
    calls: int = 0
    captures: int = 0
    duplicates: int = 0
    counts: TurnCounts | None = None
    kept_fuller: int = 0
    ignored: Mapping[str, int] = {}
    reference: str | None = None
    error: ValidationError | None = None
    is_placed: bool = False


@dataclass(slots=True)
class Account:
    """The sums of one file, or of all.

    ``ignored`` is what formats leave out by design, ``skipped`` what should have been taken; each by kind.
    """

    conversations: int = 0
    turns: int = 0
    new: int = 0
    known: int = 0
    kept_fuller: int = 0
    revised: int = 0
    erased: int = 0
    calls: int = 0
    captures: int = 0
    duplicates: int = 0
    formats: Counter[str] = field(default_factory=Counter)
    ignored: Counter[str] = field(default_factory=Counter)
    skipped: Counter[str] = field(default_factory=Counter)

    def add(self, told: Told, *, is_met: bool = False) -> None:
        """Count one conversation, or what more was said in one that was counted before (``is_met``)."""
        for kind, count in told.ignored.items():
            (self.skipped if kind == JUNK else self.ignored)[kind] += count
        if told.error is not None:
            self.skipped[refusal_kind(told.error)] += 1
        elif told.captures:
            self.conversations += not is_met
            self.formats[told.form] += 1
            self.turns += told.turns
            self.calls += told.calls
            self.captures += told.captures
            self.duplicates += told.duplicates
            counts = told.counts or TurnCounts(0, 0, 0, 0)
            self.new += counts.new
            self.known += counts.known
            self.kept_fuller += told.kept_fuller
            self.revised += counts.revised
            self.erased += counts.erased

    def skip(self, kind: str, count: int = 1) -> None:
        """Count what was not taken."""
        self.skipped[kind] += count

    def include(self, other: Account) -> None:
        """Add the sums of ``other``."""
        for each in fields(self):
            setattr(self, each.name, getattr(self, each.name) + getattr(other, each.name))

    def as_dict(self) -> dict[str, Any]:
        """The sums as JSON."""
        return {
            each.name: dict(value) if isinstance(value, Counter) else value
            for each in fields(self)
            for value in [getattr(self, each.name)]
        }

    @classmethod
    def of(cls, saved: Mapping[str, Any]) -> Self:
        """What ``as_dict`` gave. Raises TypeError for anything else."""
        account = cls()
        for each in fields(account):
            value = saved.get(each.name)
            if not isinstance(getattr(account, each.name), Counter):
                setattr(account, each.name, _count(value))
            elif isinstance(value, dict):
                setattr(account, each.name, Counter({kind: _count(count) for kind, count in value.items()}))
            else:
                raise TypeError(each.name)
        return account


def _count(value: Any) -> int:
    if type(value) is not int or value < 0:
        raise TypeError("no count")
    return value
