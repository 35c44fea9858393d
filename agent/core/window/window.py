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
from agent.core.window.marker import is_marker, missing_at
from agent.core.window.policy import Policy
from agent.core.window.prepared import Prepared, Scorer, prepare

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
    estimated = _estimated(prepared, policy, outcome, messages)
    return Manifest(
        strategy=outcome.strategy,
        requested=policy.strategy,
        fallback=outcome.fallback,
        counter=prepared.count.name,
        is_exact=room.is_exact and not estimated,
        estimated=estimated,
        budget=room.budget,
        tokens=prepared.system_tokens + prepared.overhead + outcome.spent,
        total_tokens=prepared.system_tokens + prepared.overhead + prepared.before[-1],
        percent_used=round(100 * (room.fixed + outcome.spent) / room.limit, 1),
        markers=sum(map(is_marker, messages)),
        kept=there,
        dropped=len(prepared.messages) - there,
        warnings=_warnings(outcome, policy),
        account=WindowAccount(prepared, policy, outcome, messages),
    )


def _estimated(prepared: Prepared, policy: Policy, outcome: Outcome, messages: tuple[SessionTurn, ...]) -> int:
    """How many messages the counter failed for, of the conversation, the query and this window alone."""
    failed = prepared.estimated + outcome.room.estimated
    if len(messages) > outcome.kept.messages_kept + len(prepared.system_at):
        markers = prepared.markers(policy.marker)
        failed += sum(missing_at(turn) in markers.estimated for turn in messages)
    cut = outcome.cut
    if cut is not None and prepared.counted(cut.turn).is_estimated:
        # Whole it may be among those of the conversation already.
        failed += cut.turn.turn_id not in {prepared.turns[place].turn_id for place in prepared.estimated_at}
    return failed


def _warnings(outcome: Outcome, policy: Policy) -> tuple[str, ...]:
    room = outcome.room
    shares = (policy.thresholds.high, policy.thresholds.critical)
    above = dict.fromkeys(share for share in shares if room.used > share * room.limit)
    usage = [f"usage_above_{round(100 * share)}_percent" for share in above]
    return (*usage, "max_messages") if outcome.kept.is_capped else tuple(usage)
