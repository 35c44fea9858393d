"""Of a session's handle: what a model is to be given of the session, and how full that is. Nothing is written."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent.sdk.opened_store import OpenedStore
from agent.sdk.session_name import SessionName

if TYPE_CHECKING:
    from agent.sdk.context import ContextWindow
    from agent.sdk.view import View


class SessionWindow:
    """``context`` and ``stats``, for the class that inherits this: it has the store, the name and the view."""

    _store: OpenedStore
    _name: SessionName

    def context(
        self,
        max_tokens: int | None = None,
        strategy: str | None = None,
        query: str | None = None,
        format: str | None = None,  # noqa: A002 - the word that the other surfaces have for it
        *,
        model: str | None = None,
        scope: str | None = None,
        min_recent: int | None = None,
        max_messages: int | None = None,
        marker: str | None = None,
    ) -> ContextWindow:
        """What a model is to be given of the session: the best that fits, always valid, with its account.

        Of the newest conversation, or the one that the handle is for; with ``scope="session"`` of all as one. What is
        not said is a setting (docs/windows.md). A session that nobody wrote to has an empty window, whose list
        providers refuse. Raises BudgetTooSmall, and ValidationError for what no window is cut by. Nothing is written.
        """
        # Windows are cut with a good deal that no other read needs.
        from agent.sdk.context import checked_request

        request = checked_request(
            max_tokens=max_tokens,
            strategy=strategy,
            query=query,
            model=model,
            format=format,
            scope=scope,
            min_recent=min_recent,
            max_messages=max_messages,
            marker=marker,
        )
        return self._store.cutting().window(self._store, self._view(), self._named(), request)

    def stats(
        self,
        max_tokens: int | None = None,
        *,
        strategy: str | None = None,
        model: str | None = None,
        scope: str | None = None,
    ) -> dict[str, Any]:
        """``total_messages``, ``by_role`` and ``token_usage`` of what the history shows, and how full its window is.

        ``in_context`` of the messages are in the window that ``context`` gives for the same arguments, ``pruned`` are
        in the history no longer. ``total_tokens``, ``context_tokens``, ``limit``, ``percent_used`` and ``line`` are
        among the members too, as /stats has them over HTTP (docs/windows.md). Raises ValidationError; never
        BudgetTooSmall: where not even the smallest window fits, nothing is in context.
        """
        from agent.sdk.context import checked_request

        request = checked_request(max_tokens=max_tokens, strategy=strategy, model=model, scope=scope)
        return self._store.cutting().stats(self._store, self._view(), self._named(), request)

    def _named(self) -> str | None:
        return self._name.conversation if self._name.only else None

    if TYPE_CHECKING:

        def _view(self) -> View: ...
