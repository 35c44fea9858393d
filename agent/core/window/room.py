"""How many tokens and messages a policy leaves a conversation: one of three budgets, and what is taken off it."""

from __future__ import annotations

from dataclasses import dataclass
from math import floor

from agent.core.window.kept import UNLIMITED
from agent.core.window.policy import Policy
from agent.core.window.prepared import Prepared
from agent.errors import BudgetTooSmall

# Of a hundred tokens so many are used where they are estimated.
_OF_ESTIMATED = 95


@dataclass(frozen=True, slots=True)
class Room:
    """``tokens`` and ``messages`` are those of the window without its system turns, markers included.

    ``budget`` is the one that holds, None where nothing limits the tokens; of it ``fixed`` are not free: system turns,
    overhead, the query. ``used`` are the tokens of the whole conversation, and ``limit`` is what they are a share of:
    the model's, or the budget. ``target``: above so many completed tasks go, None where the policy says nothing of it.
    ``estimated`` is 1 where the counter failed for the query.
    """

    budget: int | None
    fixed: int
    limit: int
    used: int
    messages: int
    is_exact: bool
    target: float | None = None
    estimated: int = 0

    @property
    def tokens(self) -> int:
        return UNLIMITED if self.budget is None else self._usable(self.budget) - self.fixed

    def _usable(self, budget: int) -> int:
        return budget if self.is_exact else budget * _OF_ESTIMATED // 100

    def too_small(self, tokens: int) -> BudgetTooSmall:
        """The error where not even the smallest window fits, which has ``tokens`` beside what is fixed."""
        needed = self.fixed + tokens
        if not self.is_exact:
            # The least that _usable makes enough of.
            needed = -(-needed * 100 // _OF_ESTIMATED)
        return BudgetTooSmall(needed=max(1, needed), budget=0 if self.budget is None else self.budget)


def room_of(prepared: Prepared, policy: Policy) -> Room:
    """The room that ``policy`` leaves in ``prepared``. A budget may be 0 or less: then nothing fits.

    It is not exact where the counter fails for a turn, for the query, or for a marker for one turn: a fixed one, since
    which markers a window takes is known only when it is cut.
    """
    is_exact = prepared.is_exact and not prepared.estimates_markers(policy.marker)
    fixed = prepared.system_tokens + prepared.overhead
    history = prepared.before[-1]
    if policy.max_tokens is not None:
        whole = fixed + history
        return Room(policy.max_tokens, fixed, policy.max_tokens, whole, UNLIMITED, is_exact)
    messages = UNLIMITED if policy.max_messages is None else policy.max_messages
    if policy.model_limit is None:
        most = policy.max_history_tokens
        return Room(most, 0, most, history, messages, is_exact)
    estimated = 0
    if policy.query is not None:
        asked, is_estimated = prepared.counted_query(policy.query)
        fixed += asked
        estimated = int(is_estimated)
    used = fixed + history
    limit = policy.model_limit
    shares = policy.thresholds
    share = shares.target if used > shares.critical * limit else shares.high
    budget = floor(share * limit) if used > shares.high * limit or limit <= 0 else None
    return Room(budget, fixed, limit, used, messages, is_exact and not estimated, shares.target * limit, estimated)
