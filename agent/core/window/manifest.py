"""The account of a window: every turn, kept or dropped, with its tokens, its score and the reason.

Why a turn is in the window:

- ``system``: it is a system turn, and all of these are kept.
- ``newest_user``: it is the newest message of a user, cut if it alone is too long.
- ``open_call``: it makes calls that may still be answered, or stands with them.
- ``recent``: it is one of the newest ``min_recent`` messages.
- ``first``: it is the first message, and ``truncate`` keeps that.
- ``strategy``: the strategy took it.
- ``fits``: the whole conversation fits, or the whole gap that it stood in; or another message stands in the place of
  the newest user's, which neither fits nor can be cut.

Why it is not:

- ``budget``: the tokens went to other messages.
- ``too_large``: what it is kept or dropped with takes more tokens than were left to the strategy, after system turns,
  the newest user's message, open calls and the newest messages.
- ``max_messages``: there were tokens for it, but no more messages were allowed.
- ``task_complete``: its task is complete and the next has begun, and the window had to come down to the target.
- ``erased``: it was erased; only its place is known.
- ``half_exchange``: it is a result without its call, or a call without its results, and no model takes one.
- ``format``: the provider's format has no place for it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final, NamedTuple, Protocol

# Why a turn is in the window.
KEPT: Final = ("system", "newest_user", "open_call", "recent", "first", "fits", "strategy")
# Why it is not.
DROPPED: Final = ("budget", "too_large", "max_messages", "task_complete", "erased", "half_exchange", "format")


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
    for, those of the conversation, the query, and what the window made itself: markers, a message that was cut.
    ``is_exact``: there are none, and the counter counts as the model does. Where it fails for a turn, the query or a
    marker for one turn, 5 % of the budget are kept free. ``percent_used`` is of the budget, or of the model's limit.

    ``warnings`` are names. ``usage_above_80_percent`` tells of the whole conversation: what is not cut now will be
    soon. ``max_messages``: a message is dropped that there were tokens for.
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
