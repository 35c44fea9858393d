"""Windows of sessions and of lists: what a request asks for, over what the settings say, cut and written.

The one door of the surfaces (HTTP, SDK, command line). ``agent.core.window`` cuts; here the counter, the model's limit,
the ranker and the turns come together. Refuses what no window can be cut by (ValidationError), and a budget that system
turns or a marker do not fit (BudgetTooSmall). Nothing is written to the store.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final, NamedTuple

from agent.core.turn import SessionTurn
from agent.core.window.policy import Policy
from agent.core.window.window import Window, cut_window
from agent.errors import BudgetTooSmall, Problem, ValidationError
from agent.formats import NATIVE, WRITES
from agent.formats.prompt import needs_user_first
from agent.recall.tokens.models import ModelLimit
from agent.recall.view import SeenSession
from agent.recall.window_stats import WindowStats, figures
from agent.recall.windows import SessionWindows, Which
from agent.recall.written_window import WrittenWindow, written
from agent.window_settings import SCOPES, ContextSettings

__all__ = [
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

# A warning: the limit that was used is that of models that nobody knows.
UNKNOWN_MODEL: Final = "unknown_model"


class ContextRequest(NamedTuple):
    """What is asked of a window; None is the setting.

    ``max_tokens``: one hard budget of the whole window, in tokens. ``strategy``: one of ``STRATEGIES``. ``query``: the
    message that is to be answered, where it is not in the conversation yet. ``model``: counts, and where there is no
    ``max_tokens`` its limit holds. ``format``: the window has to be valid for its provider (``WRITES``); None or
    ``native`` for ours. ``scope``: ``conversation`` or ``session``. ``reserved_tokens``: left free of ``max_tokens``,
    of a list alone.
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
    policy, limit = _asked(request, settings, windows)
    shown = windows.shown(seen, window_of(seen, request, settings), request.model)
    return _told(cut_window(shown.prepared, policy, ranker=shown.ranker), limit)


def list_window(
    turns: Sequence[SessionTurn], request: ContextRequest, settings: ContextSettings, windows: SessionWindows
) -> Window:
    """The window of turns that no store has, in their order; their results answer calls among them.

    Where ``max_tokens`` is given it has to fit that less ``reserved_tokens``; a budget of zero or less is
    BudgetTooSmall. Raises ValidationError.
    """
    reserved = settings.reserved_tokens if request.reserved_tokens is None else request.reserved_tokens
    if request.max_tokens is not None:
        request = request._replace(max_tokens=request.max_tokens - reserved)
    policy, limit = _asked(request, settings, windows)
    prepared = windows.of_list(turns, request.model)
    ranker = windows.ranker(None) if policy.strategy == "relevant" else None
    return _told(cut_window(prepared, policy, ranker=ranker), limit)


def window_stats(
    seen: SeenSession,
    request: ContextRequest,
    settings: ContextSettings,
    windows: SessionWindows,
    *,
    now: datetime,
) -> WindowStats:
    """The figures of the window that ``session_window`` would give. Never BudgetTooSmall: then nothing is in context.

    ``line``: ``35 messages in context, 10 pruned 15 min ago, oldest from 10:30``, as of ``now``; times of day in UTC.
    Raises ValidationError.
    """
    policy, limit = _asked(request, settings, windows)
    shown = windows.shown(seen, window_of(seen, request, settings), request.model)
    window: Window | None = None
    try:
        window = cut_window(shown.prepared, policy, ranker=shown.ranker)
        most = window.manifest.budget
    except BudgetTooSmall as error:
        most = error.budget
    if most is None:
        most = policy.max_history_tokens if limit is None else limit.tokens
    return figures(shown, window, limit=most, strategy=policy.strategy, now=now)


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


def _asked(
    request: ContextRequest, settings: ContextSettings, windows: SessionWindows
) -> tuple[Policy, ModelLimit | None]:
    """The policy, and the model's limit where that is what holds. Raises ValidationError."""
    if request.format is not None and request.format not in (NATIVE, *WRITES):
        raise ValidationError(f"format must be one of {', '.join(WRITES)}", [Problem("$.format", "enum")])
    limit = None if request.model is None or request.max_tokens is not None else windows.limits(request.model)
    policy = Policy(
        strategy=settings.strategy if request.strategy is None else request.strategy,
        max_tokens=request.max_tokens,
        model_limit=None if limit is None else limit.tokens,
        max_history_tokens=settings.max_context_tokens,
        max_messages=settings.max_history_messages if request.max_messages is None else request.max_messages,
        min_recent=settings.min_recent if request.min_recent is None else request.min_recent,
        thresholds=settings.thresholds,
        marker=settings.marker if request.marker is None else request.marker,
        query=request.query,
        user_first=request.format in WRITES and needs_user_first(str(request.format)),
    )
    return policy, limit


def _told(window: Window, limit: ModelLimit | None) -> Window:
    """``window`` with a warning where the model's limit that holds is nobody's."""
    if limit is None or limit.known:
        return window
    manifest = window.manifest
    return window._replace(manifest=replace(manifest, warnings=(*manifest.warnings, UNKNOWN_MODEL)))
