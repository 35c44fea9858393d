"""Windows of sessions and of lists: what a request asks for, over what the settings say, cut and written.

The one door of the surfaces (HTTP, SDK, command line). ``agent.core.window`` cuts; here the counter, the model's limit,
the ranker and the turns come together. Refuses what no window can be cut by (ValidationError), and a budget that system
turns or a marker do not fit (BudgetTooSmall). Nothing is written to the store.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final, NamedTuple

from agent.core.turn import SessionTurn
from agent.core.window.cutting import Ranker
from agent.core.window.policy import Policy
from agent.core.window.prepared import Prepared
from agent.core.window.window import Window, cut_window
from agent.errors import BudgetTooSmall, Problem, ValidationError
from agent.formats import NATIVE, WRITES
from agent.formats.prompt import needs_user_first
from agent.recall.tokens.models import ModelLimit
from agent.recall.view import SeenSession
from agent.recall.window_stats import Asked, WindowStats, figures
from agent.recall.windows import SessionWindows, Which
from agent.recall.written_window import WrittenWindow, written
from agent.window_settings import SCOPES, ContextSettings

__all__ = [
    "LONGEST_MODEL",
    "LONGEST_QUERY",
    "MAX_MESSAGES_IGNORED",
    "OVER_MODEL_LIMIT",
    "UNKNOWN_MODEL",
    "ContextRequest",
    "ContextSettings",
    "SessionWindows",
    "Window",
    "WindowStats",
    "WrittenWindow",
    "list_window",
    "session_window",
    "window_of",
    "window_stats",
    "written",
]

# Of a message that is to be answered, in characters: an address has no room for more.
LONGEST_QUERY: Final = 10_000
LONGEST_MODEL: Final = 256
# Warnings. Nothing is known of the model: its tokens are estimated, and without max_tokens its limit is nobody's.
UNKNOWN_MODEL: Final = "unknown_model"
# max_tokens is more than the model takes.
OVER_MODEL_LIMIT: Final = "over_model_limit"
# The request says how many messages, which does not count beside its max_tokens.
MAX_MESSAGES_IGNORED: Final = "max_messages_ignored"


class ContextRequest(NamedTuple):
    """What is asked of a window; None is the setting.

    ``max_tokens``: one hard budget of the whole window, in tokens. ``strategy``: one of ``STRATEGIES``. ``query``: the
    message that is to be answered, where it is not in the conversation yet; ``relevant`` ranks by it, and beside a
    model's limit it takes room. ``model``: counts, and where there is no ``max_tokens`` its limit holds.
    ``max_messages`` does not count beside ``max_tokens``, and a warning says so. ``format``: the window has to be valid
    for its provider (``WRITES``); None or ``native`` for ours. ``scope``: ``conversation`` or ``session``.
    ``reserved_tokens``: left free of ``max_tokens``, of a list alone.
    """

    max_tokens: int | None = None
    strategy: str | None = None
    query: str | None = None
    model: str | None = None
    format: str | None = None
    scope: str | None = None
    min_recent: int | None = None
    max_messages: int | None = None
    marker: str | None = None
    reserved_tokens: int | None = None


def session_window(
    seen: SeenSession, request: ContextRequest, settings: ContextSettings, windows: SessionWindows
) -> Window:
    """The window of a session in a view.

    Of the conversation or the leaf that the view names; else, by ``scope``, of the conversation that has the newest
    turn, or of the session as one. ``windows`` holds what was worked out of sessions: one for the process.
    Raises ValidationError, BudgetTooSmall, and as the store's reads do where the session is held without content.
    """
    policy, told = _asked(request, settings, windows)
    shown = windows.shown(seen, window_of(seen, request, settings), request.model)
    return _cut(shown.prepared, policy, shown.ranker, told)


def list_window(
    turns: Sequence[SessionTurn], request: ContextRequest, settings: ContextSettings, windows: SessionWindows
) -> Window:
    """The window of turns that no store has, in their order; their results answer calls among them.

    Where ``max_tokens`` is given it has to fit that less ``reserved_tokens``; a budget of zero or less is
    BudgetTooSmall. Raises ValidationError.
    """
    reserved = settings.reserved_tokens if request.reserved_tokens is None else request.reserved_tokens
    policy, told = _asked(request, settings, windows)
    if policy.max_tokens is None:
        reserved = 0
    else:
        policy = replace(policy, max_tokens=policy.max_tokens - reserved)
    prepared = windows.of_list(turns, request.model)
    ranker = windows.ranker(None) if policy.strategy == "relevant" else None
    return _cut(prepared, policy, ranker, told, reserved)


def window_stats(
    seen: SeenSession,
    request: ContextRequest,
    settings: ContextSettings,
    windows: SessionWindows,
    *,
    now: datetime,
) -> WindowStats:
    """The figures of the window that ``session_window`` would give. Never BudgetTooSmall: they say what is needed.

    ``line``: ``35 messages in context, 10 pruned 15 min ago, oldest from 10:30``, as of ``now``; times of day in UTC.
    Raises ValidationError.
    """
    policy, told = _asked(request, settings, windows)
    which = window_of(seen, request, settings)
    shown = windows.shown(seen, which, request.model)
    found: Window | BudgetTooSmall
    try:
        found = _cut(shown.prepared, policy, shown.ranker, told)
        most = found.manifest.budget
    except BudgetTooSmall as error:
        found, most = error, error.budget
    if most is None:
        most = policy.max_history_tokens if policy.model_limit is None else policy.model_limit
    asked = Asked(_conversation(seen, which, request, settings), most, policy.strategy, told)
    return figures(shown, found, asked, now=now)


def window_of(seen: SeenSession, request: ContextRequest, settings: ContextSettings) -> Which:
    """Which turns the window is of. Raises ValidationError for a scope that there is not."""
    scope = settings.scope if request.scope is None else request.scope
    if scope not in SCOPES:
        raise ValidationError(f"scope must be one of {', '.join(SCOPES)}", [Problem("$.scope", "enum")])
    view = seen.view
    if view.conversation_id is not None or view.leaf is not None:
        return Which(view.conversation_id, view.leaf)
    if scope == "session" or len(seen.state.leaves) <= 1:
        return Which()
    return Which(seen.state.turns[-1].conversation_id)


def _conversation(seen: SeenSession, which: Which, request: ContextRequest, settings: ContextSettings) -> str | None:
    """The one conversation that the window is of; None for a branch, and for all of a session as one."""
    scope = settings.scope if request.scope is None else request.scope
    if which.conversation_id is not None or which.leaf is not None or scope == "session":
        return which.conversation_id
    return next(iter(seen.state.leaves), None)


def _asked(
    request: ContextRequest, settings: ContextSettings, windows: SessionWindows
) -> tuple[Policy, tuple[str, ...]]:
    """The policy, and what whoever asks for it should know, by name. Raises ValidationError."""
    if request.format is not None and request.format not in (NATIVE, *WRITES):
        raise ValidationError(f"format must be one of {', '.join(WRITES)}", [Problem("$.format", "enum")])
    limit = None if request.model is None else windows.limits(request.model)
    policy = Policy(
        strategy=settings.strategy if request.strategy is None else request.strategy,
        max_tokens=request.max_tokens,
        model_limit=None if limit is None or request.max_tokens is not None else limit.tokens,
        max_history_tokens=settings.max_context_tokens,
        max_messages=settings.max_history_messages if request.max_messages is None else request.max_messages,
        min_recent=settings.min_recent if request.min_recent is None else request.min_recent,
        thresholds=settings.thresholds,
        marker=settings.marker if request.marker is None else request.marker,
        query=request.query,
        user_first=request.format in WRITES and needs_user_first(str(request.format)),
    )
    return policy, tuple(_warnings(request, limit))


def _warnings(request: ContextRequest, limit: ModelLimit | None) -> Iterator[str]:
    if limit is not None and not limit.known:
        yield UNKNOWN_MODEL
    if request.max_tokens is not None:
        if limit is not None and limit.known and request.max_tokens > limit.tokens:
            yield OVER_MODEL_LIMIT
        if request.max_messages is not None:
            yield MAX_MESSAGES_IGNORED


def _cut(prepared: Prepared, policy: Policy, ranker: Ranker | None, told: tuple[str, ...], reserved: int = 0) -> Window:
    """The window, with the warnings of its request. Raises BudgetTooSmall, which names where the budget is from."""
    try:
        window = cut_window(prepared, policy, ranker=ranker)
    except BudgetTooSmall as error:
        name = "max_tokens" if policy.max_tokens is not None else "model" if policy.model_limit is not None else None
        path = f"$.{name or 'max_context_tokens'}"
        raise BudgetTooSmall(needed=error.needed, budget=error.budget, path=path, reserved=reserved) from None
    if not told:
        return window
    manifest = window.manifest
    return window._replace(manifest=replace(manifest, warnings=(*manifest.warnings, *told)))
