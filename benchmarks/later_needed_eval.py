"""How much of what a window drops is needed later, as the gold of LoCoMo and of SGD says, by strategy and budget.

LoCoMo: a window at the end of a dialog; needed are the turns of a question's evidence, asked with it as the query.
SGD: a window right before each call, of what was said until then; needed are the turns that said the values of this
call or of a later one, and the query is the newest user's turn. The share is of dropped turns, so lower is better, and
a window that drops nothing counts for nothing. Budgets of SGD are shares of the conversation up to the call: its
dialogs are short.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final, NamedTuple

from agent.core.window.cutting import Ranker
from agent.core.window.policy import STRATEGIES, Policy
from agent.core.window.window import prepare
from agent.errors import BudgetTooSmall
from benchmarks.later_needed import Needs, sgd_needs
from benchmarks.locomo import Dialog
from benchmarks.locomo_windows import BUDGETS, Quarter, kept_places

SHARES: Final = (0.25, 0.5, 0.75)
# SGD has no long dialogs: with ten newest messages kept, the strategies had nothing to choose.
_MIN_RECENT: Final = 2


class Dropped(NamedTuple):
    """So many turns were dropped, and so many of them are ``needed`` later. ``windows`` were cut."""

    windows: int = 0
    dropped: int = 0
    needed: int = 0

    @property
    def share(self) -> float:
        return self.needed / self.dropped if self.dropped else 0.0


def locomo_dropped(dialogs: Iterable[Dialog], strategy: str, budget: int, rankers: Callable[[], Ranker]) -> Dropped:
    """Over all questions of ``dialogs``."""
    windows = dropped = needed = 0
    for dialog in dialogs:
        prepared = prepare(dialog.turns, Quarter())
        ranker = rankers() if strategy == "relevant" else None
        kept = frozenset[int]()
        for number, question in enumerate(dialog.questions):
            if ranker is not None or not number:
                query = None if ranker is None else question.text
                policy = Policy(strategy=strategy, max_tokens=budget, query=query)
                kept = kept_places(prepared, policy, ranker)
            windows += 1
            dropped += len(dialog.turns) - len(kept)
            needed += len(question.evidence - kept)
    return Dropped(windows, dropped, needed)


def sgd_dropped(each: Iterable[Needs], strategy: str, share: float, rankers: Callable[[], Ranker]) -> Dropped:
    """Over all calls of the conversations, with ``share`` of the tokens until then as the budget."""
    windows = dropped = needed = 0
    for needs in each:
        for call in sorted({need.by for need in needs.needed}):
            turns = needs.turns[:call]
            prepared = prepare(turns, Quarter())
            budget = round(share * sum(prepared.tokens))
            policy = Policy(strategy=strategy, max_tokens=budget, min_recent=_MIN_RECENT)
            try:
                kept = kept_places(prepared, policy, rankers() if strategy == "relevant" else None)
            except BudgetTooSmall:
                continue
            later = {need.given for need in needs.needed if need.by >= call and need.given < call}
            windows += 1
            dropped += len(turns) - len(kept)
            needed += len(later - kept)
    return Dropped(windows, dropped, needed)


def table(data: Path, dialogs: list[Dialog], rankers: Callable[[], Ranker]) -> str:
    """Both, by strategy and budget."""
    lines = ["Later needed: share of the dropped turns that the gold needs", ""]
    head = "".join(f"{budget:>9}" for budget in BUDGETS)
    lines.append(f"  {'LoCoMo, tokens':20}{head}")
    for strategy in STRATEGIES:
        found = [locomo_dropped(dialogs, strategy, budget, rankers).share for budget in BUDGETS]
        lines.append(f"  {strategy:20}" + "".join(f"{share:9.4f}" for share in found))
    needs = list(sgd_needs(data))
    lines += ["", f"  {'SGD, of the tokens':20}" + "".join(f"{share:>9.0%}" for share in SHARES)]
    for strategy in STRATEGIES:
        found = [sgd_dropped(needs, strategy, share, rankers).share for share in SHARES]
        lines.append(f"  {strategy:20}" + "".join(f"{share:9.4f}" for share in found))
    return "\n".join(lines)
