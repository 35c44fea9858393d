"""Settings of windows, read from an environment mapping once: by the read side, by the SDK and by the command line.

A setting that is wrong raises ConfigurationError with the variable's name: it is never ignored, and its value is never
repeated. What a request says of itself wins over these, and these over the defaults of ``agent.core.window.policy``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from difflib import get_close_matches
from typing import Final, Literal, NamedTuple, cast, get_args

from agent.core.window.policy import (
    DEFAULT_STRATEGY,
    LEAST_CONTEXT_TOKENS,
    MARKER,
    MAX_CONTEXT_TOKENS,
    MAX_MESSAGES,
    MIN_RECENT,
    RESERVED_TOKENS,
    STRATEGIES,
    THRESHOLDS,
    Thresholds,
)
from agent.errors import ConfigurationError

Scope = Literal["conversation", "session"]
SCOPES: Final[tuple[Scope, ...]] = get_args(Scope)
MOST_MESSAGES: Final = 1000
# More than any model takes, and small enough to be a typo beyond.
MOST_TOKENS: Final = 100_000_000
LONGEST_MARKER: Final = 500
_PREFIX: Final = "CONVERSATION_"
VARIABLES: Final = (
    "CONVERSATION_MAX_HISTORY_MESSAGES",
    "CONVERSATION_MAX_CONTEXT_TOKENS",
    "CONVERSATION_CONTEXT_STRATEGY",
    "CONVERSATION_MIN_RECENT",
    "CONVERSATION_RESERVED_TOKENS",
    "CONVERSATION_MARKER",
    "CONVERSATION_SCOPE",
    "CONVERSATION_THRESHOLDS",
)
# How much of the rest of a name has to agree to be taken for one of them: CONVERSATION_ID is somebody else's.
_ALIKE: Final = 0.65
_WHOLE: Final = re.compile(r"[0-9]{1,9}\Z", re.ASCII)
_PERCENT: Final = re.compile(r"[0-9]{1,3}(?:\.[0-9]{1,3})?\Z", re.ASCII)


class ContextSettings(NamedTuple):
    """How windows are cut where a request does not say it.

    ``max_history_messages``: at most so many messages, system turns not counted, where no ``max_tokens`` is given; and
    so many prior messages a hydration gives. ``max_context_tokens``: of history, without system turns, where neither
    ``max_tokens`` nor a model is given. ``min_recent``: messages. ``reserved_tokens``: what a window over a list leaves
    free of ``max_tokens``. ``marker``: ``{count}`` in it is the number of messages that are not there. ``scope``: the
    newest conversation, or all of the session as one. ``thresholds``: shares of a model's limit.
    """

    max_history_messages: int = MAX_MESSAGES
    max_context_tokens: int = MAX_CONTEXT_TOKENS
    strategy: str = DEFAULT_STRATEGY
    min_recent: int = MIN_RECENT
    reserved_tokens: int = RESERVED_TOKENS
    marker: str = MARKER
    scope: Scope = "conversation"
    thresholds: Thresholds = THRESHOLDS

    @classmethod
    def of_function(cls, environ: Mapping[str, str]) -> ContextSettings:
        """The settings of the function that others call. Raises ConfigurationError for a misspelt name too.

        A program that asks for a window may well have variables of its own that begin alike.
        """
        for name in environ:
            if name.startswith(_PREFIX) and name not in VARIABLES and environ[name].strip():
                endings = [variable.removeprefix(_PREFIX) for variable in VARIABLES]
                alike = get_close_matches(name.removeprefix(_PREFIX), endings, n=1, cutoff=_ALIKE)
                if alike:
                    raise ConfigurationError(name, f"is no setting; {_PREFIX}{alike[0]} is: rename or unset it")
        return cls.from_env(environ)

    @classmethod
    def from_env(cls, environ: Mapping[str, str]) -> ContextSettings:
        """Read the settings. Raises ConfigurationError for the first that does not hold."""

        def whole(name: str, default: int, lowest: int, highest: int) -> int:
            return _whole(environ, f"CONVERSATION_{name}", default, lowest, highest)

        return cls(
            max_history_messages=whole("MAX_HISTORY_MESSAGES", MAX_MESSAGES, 1, MOST_MESSAGES),
            max_context_tokens=whole("MAX_CONTEXT_TOKENS", MAX_CONTEXT_TOKENS, LEAST_CONTEXT_TOKENS, MOST_TOKENS),
            strategy=_choice(environ, "CONVERSATION_CONTEXT_STRATEGY", STRATEGIES, DEFAULT_STRATEGY),
            min_recent=whole("MIN_RECENT", MIN_RECENT, 0, MOST_MESSAGES),
            reserved_tokens=whole("RESERVED_TOKENS", RESERVED_TOKENS, 0, MOST_TOKENS),
            marker=_marker(environ, "CONVERSATION_MARKER"),
            scope=cast("Scope", _choice(environ, "CONVERSATION_SCOPE", SCOPES, SCOPES[0])),
            thresholds=_thresholds(environ, "CONVERSATION_THRESHOLDS"),
        )


def _whole(environ: Mapping[str, str], variable: str, default: int, lowest: int, highest: int) -> int:
    text = environ.get(variable, "").strip()
    if not text:
        return default
    number = int(text) if _WHOLE.match(text) else -1
    if not lowest <= number <= highest:
        raise ConfigurationError(variable, f"must be a whole number from {lowest} to {highest}")
    return number


def _choice(environ: Mapping[str, str], variable: str, allowed: tuple[str, ...], default: str) -> str:
    value = environ.get(variable, "").strip() or default
    if value not in allowed:
        # There is none that calls a model, and who looks for it is told so.
        others = "; summarize is not supported" if value == "summarize" else ""
        raise ConfigurationError(variable, f"must be one of {', '.join(allowed)}{others}")
    return value


def _marker(environ: Mapping[str, str], variable: str) -> str:
    text = environ.get(variable, "").strip() or MARKER
    if len(text) > LONGEST_MARKER:
        raise ConfigurationError(variable, f"must have at most {LONGEST_MARKER} characters")
    return text


def _thresholds(environ: Mapping[str, str], variable: str) -> Thresholds:
    """Of three percentages: from where a window is cut, from where far, and down to what then."""
    text = environ.get(variable, "").strip()
    if not text:
        return THRESHOLDS
    parts = [part.strip() for part in text.split(",")]
    values = [float(part) / 100 if _PERCENT.match(part) else 0.0 for part in parts]
    # 0.8 is what a share is written as, and would be less than a percent.
    if len(values) != 3 or not 0.01 <= values[2] <= values[0] <= values[1] <= 1:
        raise ConfigurationError(
            variable, "must be three percentages as in 80,90,60: from where it is cut, from where far, down to what"
        )
    return Thresholds(*values)
