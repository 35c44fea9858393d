"""Every window of a conversation: at every budget, by every strategy, in every provider's format, and what breaks.

``python -m tests.windows.sweep`` (``make sweep``) looks at all conversations of the shared data that have tools and
prints the table of docs/windows.md. Budgets go up from zero: by 1 token where the conversation is small, by 5 % of it
where it is large. A window is counted again by the counter itself, not by what its manifest says.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from multiprocessing import get_context
from statistics import median
from typing import Final

from agent.core.pairs import paired_calls
from agent.core.turn import SessionTurn
from agent.core.window.counting import Counting
from agent.core.window.estimate import Estimator
from agent.core.window.policy import STRATEGIES, Policy
from agent.core.window.prepared import Prepared
from agent.core.window.window import Window, cut_window, prepare
from agent.errors import BudgetTooSmall
from agent.formats import WRITES
from agent.formats.prompt import needs_user_first, prompt
from agent.formats.writers import writer
from agent.formats.writing import Session
from agent.recall.tokens import counter_for
from agent.recall.window_stats import spaced
from tests.core.window.laws import broken_laws
from tests.formats.providers.rules import problems
from tests.windows.conversations import Conversation, with_tools

SMALL: Final = 600
STEPS: Final = 20
_STEP_OF_LARGE: Final = 0.05


@dataclass
class Account:
    """What was seen. ``broken`` counts by the law, ``invalid`` by the format; ``uses`` are shares of the budget."""

    conversations: int = 0
    windows: int = 0
    written: int = 0
    refused: int = 0
    over: int = 0
    empty: int = 0
    broken: Counter[str] = field(default_factory=Counter)
    invalid: Counter[str] = field(default_factory=Counter)
    uses: dict[str, list[float]] = field(default_factory=dict)
    examples: list[str] = field(default_factory=list)

    def add(self, other: Account) -> None:
        """Take in what was seen elsewhere."""
        for name in ("conversations", "windows", "written", "refused", "over", "empty"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.broken += other.broken
        self.invalid += other.invalid
        for name, uses in other.uses.items():
            self.uses.setdefault(name, []).extend(uses)
        self.examples = [*self.examples, *other.examples][:20]

    @property
    def faults(self) -> int:
        return self.over + self.empty + self.broken.total() + self.invalid.total()


def budgets(total: int, *, steps: int | None = None) -> Sequence[int]:
    """The budgets for a conversation of ``total`` tokens: every one of a small one, every 5 % of a large one.

    ``steps``: so many instead, from zero up to beyond the whole.
    """
    if steps is not None:
        return sorted({round(total * place / (steps - 2)) for place in range(steps)})
    step = 1 if total <= SMALL else max(1, round(total * _STEP_OF_LARGE))
    return range(0, total + 2 * step, step)


def swept(
    found: Conversation,
    exact: Counting,
    *,
    steps: int | None = None,
    formats: Iterable[str] = WRITES,
    thorough: bool = True,
) -> Account:
    """All windows of one conversation. ``thorough``: at twenty budgets those too that the estimator cuts, counted again
    by ``exact``, and each budget for providers that want a user first and for the others; else these take turns.
    """
    account = Account(conversations=1)
    once = Remembered(exact)
    one = _One(found, once, account, tuple(formats))
    counted: list[tuple[Counting, int | None]] = [(once, steps)]
    if thorough:
        counted.append((Remembered(Estimator()), STEPS))
    for count, own_steps in counted:
        prepared = one.prepared(count)
        for strategy in STRATEGIES:
            for place, budget in enumerate(budgets(one.total, steps=own_steps)):
                for user_first in (False, True) if thorough else (place % 2 == 1,):
                    one.look(prepared, Policy(strategy=strategy, max_tokens=budget, user_first=user_first), count)
    return account


class Remembered:
    """A counter that is asked once for a turn; it holds what it counted, and takes nothing else for it."""

    def __init__(self, count: Counting) -> None:
        self._count = count
        self._found: dict[int, tuple[SessionTurn, int]] = {}
        self.name, self.is_exact, self.overhead = count.name, count.is_exact, count.overhead

    def __call__(self, turn: SessionTurn) -> int:
        found = self._found.get(id(turn))
        if found is None:
            found = self._found[id(turn)] = (turn, self._count(turn))
        return found[1]


class _One:
    """One conversation while it is looked at; the same window is written once."""

    def __init__(self, found: Conversation, exact: Counting, account: Account, formats: tuple[str, ...]) -> None:
        self._name = found.name
        self._session = found.session
        self._messages = found.session.shown
        self._pairs = paired_calls(found.session.all)
        self._exact = exact
        self._account = account
        self._formats = formats
        self._seen: set[tuple[str, bool]] = set()
        self.total = exact.overhead + sum(exact(turn) for turn in self._messages if not turn.erased)

    def prepared(self, count: Counting) -> Prepared:
        return prepare(self._messages, count, pairs=self._pairs)

    def look(self, prepared: Prepared, policy: Policy, count: Counting) -> None:
        account = self._account
        try:
            window = cut_window(prepared, policy, ranker=_by_shared_words)
        except BudgetTooSmall as refused:
            account.refused += 1
            if refused.needed <= (policy.max_tokens or 0):
                self._fault(account.broken, "needed", policy, count)
            return
        account.windows += 1
        for law in broken_laws(self._messages, self._pairs, policy, count, window):
            self._fault(account.broken, law, policy, count)
        tokens = self._exact.overhead + sum(map(self._exact, window.messages))
        if tokens > (policy.max_tokens or 0):
            account.over += 1
            self._fault(Counter(), f"over: {tokens}", policy, count)
        account.empty += not window.messages
        if window.manifest.dropped and count.is_exact:
            size = "small" if self.total <= SMALL else "large"
            account.uses.setdefault(f"`{policy.strategy}`, {size} conversations", []).append(
                tokens / (policy.max_tokens or 1)
            )
        self._write(window, policy, count)

    def _write(self, window: Window, policy: Policy, count: Counting) -> None:
        key = (str([(turn.turn_id, turn.content) for turn in window.messages]), policy.user_first)
        if key in self._seen:
            return
        self._seen.add(key)
        for name in self._formats:
            if needs_user_first(name) == policy.user_first:
                self._account.written += 1
                for problem in problems(name, written(self._session, window.messages, name)):
                    self._fault(self._account.invalid, name, policy, count, problem)

    def _fault(self, counts: Counter[str], kind: str, policy: Policy, count: Counting, said: str = "") -> None:
        counts[kind] += 1
        if len(self._account.examples) < 20:
            where = f"{self._name} {policy.strategy} {policy.max_tokens} {count.name} user_first={policy.user_first}"
            self._account.examples.append(f"{where}: {kind} {said}")


def written(session: Session, messages: Sequence[SessionTurn], name: str) -> dict[str, object]:
    """The document of the format ``name`` that says a window."""
    shown = prompt(messages, name)
    made = writer(name)(replace(session, shown=tuple(shown)))
    document: dict[str, object] = json.loads("".join(made.documents))
    return document


def _by_shared_words(messages: Sequence[SessionTurn], query: str) -> list[float]:
    """A ranker that needs no index: the words that a message shares with the query."""
    wanted = set(query.casefold().split())
    return [float(len(wanted & set((turn.content or "").casefold().split()))) for turn in messages]


def _sweep(found: Conversation) -> Account:
    return swept(found, counter_for("gpt-4o"))


def table(account: Account) -> str:
    """The account as a table in Markdown."""
    rows = [
        ("conversations with tools", account.conversations),
        ("windows cut", account.windows),
        ("refused by BudgetTooSmall", account.refused),
        ("documents written, in all formats", account.written),
        ("over the budget", account.over),
        ("empty", account.empty),
        ("that break a law (kept + removed = all, maximal, order, system, newest user)", account.broken.total()),
        ("refused by a provider's rules", account.invalid.total()),
    ]
    uses = [
        (f"median use of the budget, {name}", f"{median(found):.2f}") for name, found in sorted(account.uses.items())
    ]
    return "\n".join(
        ["| what | count |", "|---|---|", *(f"| {what} | {_shown(count)} |" for what, count in (*rows, *uses))]
    )


def _shown(count: int | str) -> str:
    return spaced(count) if isinstance(count, int) else count


def main(arguments: Sequence[str]) -> int:
    """Sweep in ``arguments[0]`` processes (2); 1 where anything is at fault."""
    whole = Account()
    with get_context("fork").Pool(int(arguments[0]) if arguments else 2) as pool:
        for account in _said(pool.imap_unordered(_sweep, with_tools(), chunksize=1)):
            whole.add(account)
    print(table(whole))
    if whole.faults:
        print(dict(whole.broken), dict(whole.invalid), *whole.examples, sep="\n", file=sys.stderr)
    return 1 if whole.faults else 0


def _said(accounts: Iterable[Account]) -> Iterator[Account]:
    """Each account, with a line on stderr now and then: a sweep takes minutes."""
    for number, account in enumerate(accounts, 1):
        if number % 20 == 0:
            print(f"{number} conversations", file=sys.stderr, flush=True)
        yield account


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
