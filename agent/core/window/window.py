"""A window, and what cuts one: ``build_window(messages, policy, count)``.

What wins, in this order: the budget, markers included; that a model takes it; all system turns; the newest user's
message, cut if it alone is too long; calls that are still open; the newest ``min_recent`` messages; the strategy. The
one failure is BudgetTooSmall, which says how many tokens are needed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from agent.core.pairs import Call, Place
from agent.core.turn import SessionTurn
from agent.core.window.account import WindowAccount
from agent.core.window.assembled import assembled
from agent.core.window.counting import Counting
from agent.core.window.cutting import Outcome, Ranker, cut
from agent.core.window.manifest import Manifest
from agent.core.window.marker import is_marker
from agent.core.window.policy import Policy
from agent.core.window.prepared import Prepared, Scorer, prepare
from agent.core.window.room import Room

__all__ = ["Ranker", "Scorer", "Window", "build_window", "cut_window", "prepare"]


class Window(NamedTuple):
    """``messages`` in the order of the conversation, markers among them (``metadata.marker``), and their account."""

    messages: tuple[SessionTurn, ...]
    manifest: Manifest


def build_window(
    messages: Sequence[SessionTurn],
    policy: Policy,
    count: Counting,
    *,
    pairs: Mapping[Place, Call] | None = None,
    scorer: Scorer | None = None,
    ranker: Ranker | None = None,
) -> Window:
    """The window of ``messages`` that ``policy`` allows. Raises BudgetTooSmall.

    ``pairs`` are those of the session; None pairs ``messages`` alone. ``scorer`` None is ``importance``. Without a
    ``ranker``, or where it or the scorer fails, ``truncate`` takes over, and the manifest says so.
    """
    return cut_window(prepare(messages, count, pairs=pairs, scorer=scorer), policy, ranker=ranker)


def cut_window(prepared: Prepared, policy: Policy, *, ranker: Ranker | None = None) -> Window:
    """The window of a conversation that is prepared already: the fast door for who cuts more than one."""
    outcome = cut(prepared, policy, ranker)
    messages = assembled(prepared, policy, outcome)
    return Window(messages, _manifest(prepared, policy, outcome, messages))


def _manifest(prepared: Prepared, policy: Policy, outcome: Outcome, messages: tuple[SessionTurn, ...]) -> Manifest:
    room, kept = outcome.room, outcome.kept
    there = len(prepared.system_at) + kept.messages_kept
    return Manifest(
        strategy=outcome.strategy,
        requested=policy.strategy,
        fallback=outcome.fallback,
        counter=prepared.count.name,
        is_exact=room.is_exact,
        estimated=prepared.estimated,
        budget=room.budget,
        tokens=prepared.system_tokens + prepared.overhead + outcome.spent,
        total_tokens=prepared.system_tokens + prepared.overhead + prepared.before[-1],
        percent_used=round(100 * (room.fixed + outcome.spent) / room.limit, 1),
        markers=sum(map(is_marker, messages)),
        kept=there,
        dropped=len(prepared.messages) - there,
        warnings=_warnings(room, policy),
        account=WindowAccount(prepared, policy, outcome, messages),
    )


def _warnings(room: Room, policy: Policy) -> tuple[str, ...]:
    shares = (policy.thresholds.high, policy.thresholds.critical)
    above = dict.fromkeys(share for share in shares if room.used > share * room.limit)
    return tuple(f"usage_above_{round(100 * share)}_percent" for share in above)
