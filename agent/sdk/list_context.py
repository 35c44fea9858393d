"""The best of a list of messages that nobody captured, for a token budget.

What wins, and why a message is left out, is for ``agent.core.window``. Nothing is written, nothing that was given is
changed, and no setting of the environment counts. Refuses, by ValidationError with the argument's path, values of
another type or out of their range and the strategy ``summarize``; the one failure beside these is BudgetTooSmall.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, overload

from agent.core.window.counting import MOST_TOKENS
from agent.core.window.policy import RESERVED_TOKENS
from agent.core.window.window import Window
from agent.errors import BudgetTooSmall
from agent.formats import WRITES
from agent.recall.context import ContextRequest, ContextSettings, list_window, written
from agent.recall.opened_windows import opened_windows
from agent.sdk.arguments import check_count
from agent.sdk.context import checked_request
from agent.sdk.context_messages import ContextDocument, ContextMessages
from agent.sdk.handed_back import handed_back
from agent.sdk.listed import Listed, listed
from agent.sdk.listed_document import listed_document


@overload
def apply_context_window(  # type: ignore[overload-overlap] # a mapping is an iterable too, of its names
    messages: Mapping[str, Any],
    max_tokens: int,
    reserved_tokens: int = ...,
    *,
    strategy: str | None = ...,
    query: str | None = ...,
    model: str | None = ...,
    format: str | None = ...,
    min_recent: int | None = ...,
    marker: str | None = ...,
) -> ContextDocument: ...
@overload
def apply_context_window(
    messages: Iterable[object],
    max_tokens: int,
    reserved_tokens: int = ...,
    *,
    strategy: str | None = ...,
    query: str | None = ...,
    model: str | None = ...,
    format: None = ...,
    min_recent: int | None = ...,
    marker: str | None = ...,
) -> ContextMessages: ...
@overload
def apply_context_window(
    messages: Iterable[object],
    max_tokens: int,
    reserved_tokens: int = ...,
    *,
    strategy: str | None = ...,
    query: str | None = ...,
    model: str | None = ...,
    format: str,
    min_recent: int | None = ...,
    marker: str | None = ...,
) -> ContextDocument: ...
def apply_context_window(
    messages: Iterable[object] | Mapping[str, Any],
    max_tokens: int,
    reserved_tokens: int = RESERVED_TOKENS,
    *,
    strategy: str | None = None,
    query: str | None = None,
    model: str | None = None,
    format: str | None = None,  # noqa: A002 - the word that the other surfaces have for it
    min_recent: int | None = None,
    marker: str | None = None,
) -> ContextMessages | ContextDocument:
    """The best of ``messages`` for ``max_tokens - reserved_tokens`` tokens, in the form that they were given in.

    They are what a session takes: messages of this library, dictionaries and objects of others. What is kept is the
    very object that was given; a marker is a system message of the form. A provider's document (``{"system": ...,
    "messages": [...]}``) comes back as a document: what is beside its list stays, the system prompt counts and is
    always kept, tools are not counted. With ``format`` (not ``native``) it is the document of that provider instead.
    Of no messages it is an empty list, which providers refuse.

    What comes back is a list, or a dictionary, and says beside ``manifest`` what is not in it and why, and
    ``warnings``. Raises BudgetTooSmall, also where nothing is left beside what is reserved, and ValidationError.
    """
    check_count("max_tokens", max_tokens, least=0, most=MOST_TOKENS)
    check_count("reserved_tokens", reserved_tokens, least=0, most=MOST_TOKENS)
    request = checked_request(
        max_tokens=max_tokens,
        strategy=strategy,
        query=query,
        model=model,
        format=format,
        min_recent=min_recent,
        marker=marker,
        reserved_tokens=reserved_tokens,
    )
    document = listed_document(messages) if isinstance(messages, Mapping) else None
    found = listed(messages) if document is None else document.listed
    window = _window(found, request)
    if request.format is not None:
        shown = window._replace(messages=tuple(found.parted(window.messages)))
        done = written(shown, request.format, came_in=found.forms)
        return ContextDocument(done.for_provider, window.manifest, done.left_out)
    if document is not None:
        return ContextDocument(document.handed_back(window), window.manifest, {})
    return ContextMessages(handed_back(found, window.messages), window.manifest)


def _window(found: Listed, request: ContextRequest) -> Window:
    """The window of ``found``, valid for the format that is asked for, or the one that it is in."""
    tokens, reserved = request.max_tokens or 0, request.reserved_tokens or 0
    if request.format is None and found.form in WRITES:
        request = request._replace(format=found.form)
    try:
        if tokens <= reserved and not found.turns:
            raise BudgetTooSmall(needed=1, budget=tokens - reserved)
        return list_window(found.turns, request, ContextSettings(), opened_windows({}))
    except BudgetTooSmall as error:
        # Also where nobody but this function knows what is reserved.
        raise BudgetTooSmall(needed=error.needed, budget=tokens - reserved, reserved=reserved) from None
