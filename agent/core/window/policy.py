"""What a window may hold: the budget, the strategy, and what is kept whatever the strategy says."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple, get_args

from agent.core.window.counting import MOST_TOKENS
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

    Raises ValidationError for what no window can be cut by: a member of another type, a number beyond ``MOST_TOKENS``
    either way, a marker that is no Unicode text. A budget of 0 or less is refused by the window itself.
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


def check_strategy(name: object) -> None:
    """Raise ValidationError for a strategy that there is not."""
    if name == "summarize":
        refusal = "summarize is not supported: nothing here calls a model; keep a summary as a system turn of your own"
        raise ValidationError(refusal, [Problem("$.strategy", "unsupported")])
    if not isinstance(name, str):
        raise ValidationError("the strategy is no text", [Problem("$.strategy", "type")])
    if name not in STRATEGIES:
        raise ValidationError(f"the strategy is none of {', '.join(STRATEGIES)}", [Problem("$.strategy", "enum")])


_NUMBERS: Final = ("max_tokens", "model_limit", "max_history_tokens", "max_messages", "min_recent")
_MAY_BE_NONE: Final = frozenset({"max_tokens", "model_limit", "max_messages"})
_LEAST: Final[Mapping[str, int]] = {"max_messages": 1, "min_recent": 0}


def _problems(policy: Any) -> Iterator[Problem]:
    for name in _NUMBERS:
        value = getattr(policy, name)
        if value is None and name in _MAY_BE_NONE:
            continue
        if type(value) is not int:
            yield Problem(f"$.{name}", "type")
        elif value < _LEAST.get(name, -MOST_TOKENS):
            yield Problem(f"$.{name}", "minimum")
        elif value > MOST_TOKENS:
            yield Problem(f"$.{name}", "maximum")
    yield from _problems_of_thresholds(policy.thresholds)
    yield from _problems_of_marker(policy.marker)
    if policy.query is not None and not isinstance(policy.query, str):
        yield Problem("$.query", "type")
    if type(policy.user_first) is not bool:
        yield Problem("$.user_first", "type")


def _problems_of_thresholds(thresholds: Any) -> Iterator[Problem]:
    if not isinstance(thresholds, Thresholds) or any(type(share) not in {int, float} for share in thresholds):
        yield Problem("$.thresholds", "type")
    # A NaN fails it too.
    elif not 0 < thresholds.target <= thresholds.high <= thresholds.critical <= 1:
        yield Problem("$.thresholds", "order")


def _problems_of_marker(marker: Any) -> Iterator[Problem]:
    if not isinstance(marker, str):
        yield Problem("$.marker", "type")
    elif not marker.strip():
        yield Problem("$.marker", "minLength")
    elif any(unicodedata.category(each) == "Cs" for each in marker):
        # A lone surrogate, which no UTF-8 has: no such marker could be sent.
        yield Problem("$.marker", "unicode")
