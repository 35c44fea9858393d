"""What a window may hold: the budget, the strategy, and what is kept whatever the strategy says."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple, get_args

from agent.errors import Problem, ValidationError

StrategyName = Literal["rolling_window", "importance", "hybrid", "truncate", "relevant"]
STRATEGIES: Final[tuple[str, ...]] = get_args(StrategyName)
DEFAULT_STRATEGY: Final = "truncate"
# The default tokens of history, without system turns; the least that it may be set to.
MAX_CONTEXT_TOKENS: Final = 6000
LEAST_CONTEXT_TOKENS: Final = 500
MAX_MESSAGES: Final = 50
MIN_RECENT: Final = 10
RESERVED_TOKENS: Final = 4500
# ``{count}`` is the number of messages that are not there.
MARKER: Final = "... [{count} messages removed] ..."


class Thresholds(NamedTuple):
    """Shares of a model's limit. Above ``high`` a window is cut down to ``high``, above ``critical`` to ``target``."""

    high: float = 0.8
    critical: float = 0.9
    target: float = 0.6


THRESHOLDS: Final = Thresholds()


@dataclass(frozen=True, slots=True)
class Policy:
    """How a window is cut.

    One of three budgets holds, all in tokens. ``max_tokens``: of the whole window, markers and system turns included,
    and then ``max_messages`` does not count. Else ``model_limit``: the ``thresholds`` of what the model takes. Else
    ``max_history_tokens``: of the window without its system turns. ``max_messages`` are the messages that are no system
    turns, None for any number. ``min_recent`` messages at the end go before the strategy has a say. ``marker`` is the
    text for messages that are not there, with ``{count}`` where their number goes, if anywhere. ``query`` is the
    message that is to be answered, where it is not in the conversation yet. ``user_first``: the first message that is
    no system turn has to be a user's.

    Raises ValidationError for what no window can be cut by. A budget of 0 or less is refused by the window itself.
    """

    strategy: str = DEFAULT_STRATEGY
    max_tokens: int | None = None
    model_limit: int | None = None
    max_history_tokens: int = MAX_CONTEXT_TOKENS
    max_messages: int | None = MAX_MESSAGES
    min_recent: int = MIN_RECENT
    thresholds: Thresholds = THRESHOLDS
    marker: str = MARKER
    query: str | None = None
    user_first: bool = False

    def __post_init__(self) -> None:
        check_strategy(self.strategy)
        problems = list(_problems(self))
        if problems:
            named = ", ".join(problem.path for problem in problems)
            raise ValidationError(f"no window can be cut by this policy: {named}", problems)


def check_strategy(name: str) -> None:
    """Raise ValidationError for a strategy that there is not."""
    if name == "summarize":
        refusal = "summarize is not supported: nothing here calls a model; keep a summary as a system turn of your own"
        raise ValidationError(refusal, [Problem("$.strategy", "unsupported")])
    if name not in STRATEGIES:
        raise ValidationError(f"the strategy is none of {', '.join(STRATEGIES)}", [Problem("$.strategy", "enum")])


def _problems(policy: Policy) -> Iterator[Problem]:
    for name in ("max_tokens", "model_limit", "max_messages"):
        value = getattr(policy, name)
        if value is not None and type(value) is not int:
            yield Problem(f"$.{name}", "type")
    for name in ("max_history_tokens", "min_recent"):
        if type(getattr(policy, name)) is not int:
            yield Problem(f"$.{name}", "type")
    if type(policy.max_messages) is int and policy.max_messages < 1:
        yield Problem("$.max_messages", "minimum")
    if type(policy.min_recent) is int and policy.min_recent < 0:
        yield Problem("$.min_recent", "minimum")
    # A NaN fails it too.
    if not 0 < policy.thresholds.target <= policy.thresholds.high <= policy.thresholds.critical <= 1:
        yield Problem("$.thresholds", "order")
    if not policy.marker.strip():
        yield Problem("$.marker", "minLength")
