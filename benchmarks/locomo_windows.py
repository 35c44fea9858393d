"""How often the whole evidence of a LoCoMo question is in the window that is cut at the end of its dialog.

Counted are characters / 4. ``relevant`` has the question as its query; the other strategies know nothing of it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from agent.core.turn import SessionTurn
from agent.core.window.cutting import Ranker
from agent.core.window.marker import is_marker
from agent.core.window.policy import Policy
from agent.core.window.prepared import Prepared
from agent.core.window.window import cut_window, prepare
from benchmarks.locomo import Dialog

BUDGETS: Final = (2000, 4000, 8000, 16_000)


class Quarter:
    """A quarter of a token for each character, rounded up: the same figure on every machine."""

    name = "characters/4"
    is_exact = True
    overhead = 0

    def __call__(self, turn: SessionTurn) -> int:
        return max(1, -(-len(turn.content or "") // 4))


class Found(NamedTuple):
    """Of so many ``questions`` the whole evidence was there, by budget."""

    questions: int
    by_budget: Mapping[int, int]

    @property
    def shares(self) -> tuple[float, ...]:
        return tuple(self.by_budget[budget] / self.questions for budget in BUDGETS)


def found(dialog: Dialog, strategy: str, rankers: Callable[[], Ranker]) -> Found:
    """What the windows of ``dialog`` by one strategy hold of its evidence."""
    prepared = prepare(dialog.turns, Quarter())
    there: Counter[int] = Counter()
    ranker = rankers() if strategy == "relevant" else None
    for budget in BUDGETS:
        if ranker is None:
            kept = kept_places(prepared, Policy(strategy=strategy, max_tokens=budget))
            there[budget] = sum(question.evidence <= kept for question in dialog.questions)
            continue
        for question in dialog.questions:
            policy = Policy(strategy=strategy, max_tokens=budget, query=question.text)
            there[budget] += question.evidence <= kept_places(prepared, policy, ranker)
    return Found(len(dialog.questions), there)


def kept_places(prepared: Prepared, policy: Policy, ranker: Ranker | None = None) -> frozenset[int]:
    """The places of the turns that a window holds; their ``seq`` counts from 1."""
    window = cut_window(prepared, policy, ranker=ranker)
    return frozenset(turn.seq - 1 for turn in window.messages if not is_marker(turn))


def together(each: Iterable[Found]) -> Found:
    """The questions of several dialogs as one."""
    total: Counter[int] = Counter()
    questions = 0
    for one in each:
        total.update(one.by_budget)
        questions += one.questions
    return Found(questions, total)


def row(name: str, found: Found | None, bounds: Sequence[float] = ()) -> str:
    """A line of a table; a share below its bound is marked."""
    if found is None:
        return f"  {name}"
    marks = ["!" if bound > share else " " for share, bound in zip(found.shares, bounds, strict=False)]
    marks += [" "] * (len(BUDGETS) - len(marks))
    shares = "".join(f"{share:8.3f}{mark}" for share, mark in zip(found.shares, marks, strict=True))
    return f"  {name:38}{found.questions:5}{shares}"


def misses(name: str, found: Found, bounds: Sequence[float]) -> list[str]:
    """A line for each share that is below its bound."""
    each = zip(BUDGETS, found.shares, bounds, strict=True)
    return [
        f"  missed: {name}, {budget} tokens: {share:.3f} of {bound}" for budget, share, bound in each if share < bound
    ]
