"""The account of a window: every turn, kept or dropped, with its tokens, its score and the reason."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final, NamedTuple, Protocol

# Why a turn is in the window.
KEPT: Final = ("system", "newest_user", "open_call", "recent", "first", "fits", "strategy")
# Why it is not.
DROPPED: Final = ("budget", "max_messages", "task_complete", "erased", "half_exchange", "format")


class Choice(NamedTuple):
    """What became of one turn. ``score``: by the strategy, 0..1; None where it gives none.

    ``cut``: of its text so many characters are not in the window.
    """

    turn_id: str
    seq: int
    role: str
    tokens: int
    score: float | None
    kept: bool
    reason: str
    cut: int = 0

    def document(self) -> dict[str, Any]:
        """As every surface shows it."""
        return self._asdict()


class Account(Protocol):
    """What is told of a window only where somebody asks."""

    def choices(self) -> tuple[Choice, ...]: ...

    def by_role(self) -> dict[str, int]: ...

    def hash(self) -> str: ...


# No slots: what is worked out when it is asked for is kept in the instance.
@dataclass(frozen=True)
class Manifest:
    """What a window holds, and what it does not.

    ``kept`` and ``dropped`` count turns; the markers stand for as many as are dropped, and there are ``markers`` of
    them. ``tokens`` are those of the window, markers and overhead included; ``total_tokens`` those of the whole
    conversation; ``budget`` what the window may have, None where nothing limits it. ``requested``: the strategy that
    was asked for, where another took over (``fallback`` says why). ``estimated``: so many messages the counter failed
    for. ``percent_used`` is of the budget, or of the model's limit. ``warnings`` are names, as
    ``usage_above_80_percent``, and tell of the whole conversation: what is not cut now will be soon.
    """

    strategy: str
    requested: str
    fallback: str | None
    counter: str
    is_exact: bool
    estimated: int
    budget: int | None
    tokens: int
    total_tokens: int
    percent_used: float
    markers: int
    kept: int
    dropped: int
    warnings: tuple[str, ...]
    account: Account = field(repr=False, compare=False)

    @cached_property
    def choices(self) -> tuple[Choice, ...]:
        """Every turn, in the order of the conversation."""
        return self.account.choices()

    @cached_property
    def by_role(self) -> Mapping[str, int]:
        """The kept tokens by role, those of markers under ``marker``; with the overhead they are ``tokens``."""
        return self.account.by_role()

    @cached_property
    def hash(self) -> str:
        """SHA-256 of the window and the policy, lower-case hex: the same turns and policy give the same."""
        return self.account.hash()

    def document(self) -> dict[str, Any]:
        """As every surface shows it."""
        return {
            "strategy": self.strategy,
            "requested": self.requested,
            "fallback": self.fallback,
            "counter": self.counter,
            "is_exact": self.is_exact,
            "estimated": self.estimated,
            "budget": self.budget,
            "tokens": self.tokens,
            "total_tokens": self.total_tokens,
            "percent_used": self.percent_used,
            "by_role": dict(self.by_role),
            "markers": self.markers,
            "kept": self.kept,
            "dropped": self.dropped,
            "warnings": list(self.warnings),
            "hash": self.hash,
            "choices": [choice.document() for choice in self.choices],
        }
