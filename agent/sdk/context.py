"""The best of a conversation for a token budget: of a session, or of a list of messages that nobody captured.

What wins, and why a turn is left out, is for ``agent.core.window``; what a provider takes for ``agent.formats.prompt``.
Nothing is written, and nothing that was given is changed. Refuses, by ValidationError, values out of their range and
the strategy ``summarize``; the one failure beside these is BudgetTooSmall.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, overload

from agent.core.window.manifest import Manifest
from agent.core.window.policy import RESERVED_TOKENS
from agent.errors import BudgetTooSmall, Problem, ValidationError
from agent.formats import NATIVE, WRITES
from agent.observability import log_event
from agent.observability.recall_telemetry import CONTEXT_PRUNED
from agent.recall.context import (
    ContextRequest,
    ContextSettings,
    SessionWindows,
    Window,
    list_window,
    session_window,
    written,
)
from agent.recall.held import HeldSession
from agent.recall.opened_windows import opened_rankers, opened_windows
from agent.recall.source import Source
from agent.recall.speakers import CaptureAgents
from agent.recall.view import SeenSession
from agent.recall.view import View as Asked
from agent.recall.walked import WalkedSessions
from agent.sdk.arguments import check_count, checked_text
from agent.sdk.handed_back import handed_back
from agent.sdk.listed import listed
from agent.sdk.opened_store import OpenedStore
from agent.sdk.shown import window_messages
from agent.sdk.view import View

# What a document says of where it is from: for a capture, and for no provider.
_OF_A_CAPTURE: Final = frozenset({"session_id", "conversation_id"})
# The member of a document that is its list of messages, by the format's word for it.
_LISTS: Final = ("messages", "input", "contents", "items", "conversations", "events", "gen_ai.input.messages")


@dataclass(frozen=True, slots=True)
class ContextWindow:
    """What of a conversation fits.

    ``messages`` are messages of this library, markers among them (role ``system``, ``metadata["marker"]`` the number
    of messages that are missing there); or with a format the provider's own, ready to be sent. ``document`` is then all
    of it, with what stands beside the list (``system``, ``system_instruction``), and else None. ``manifest`` says of
    every message whether it is there, and why not. ``left_out`` counts by kind what the format does not say.
    """

    messages: list[Any]
    manifest: Manifest
    document: dict[str, Any] | None = None
    left_out: dict[str, int] | None = None

    @property
    def warnings(self) -> tuple[str, ...]:
        """What is close to its limit, by name."""
        return self.manifest.warnings


class Cutting:
    """What windows of one store are cut with: the settings, and what is kept of sessions."""

    def __init__(self, settings: ContextSettings, environ: Mapping[str, str]) -> None:
        self._settings = settings
        self._rankers = opened_rankers(environ)
        self._windows = SessionWindows(rankers=self._rankers)
        self._walked = WalkedSessions()
        self._agents = CaptureAgents()

    def window(
        self, store: OpenedStore, view: View, conversation: str | None, request: ContextRequest
    ) -> ContextWindow:
        """The window of ``view``; ``conversation`` is the one that was named, if any."""
        named = None if request.scope == "session" else conversation
        source = Source(store.reads, store.held, self._walked, self._agents)
        windows = self._windows
        held = view.held
        if held is None or not view.is_stored:
            # What a batch adds may never come: nothing that is kept of the session may know of it.
            whole = (lambda turns: tuple(view.whole(turns))) if view.is_light else None
            held = HeldSession(view.session_id, view.state, view.version, None, whole)
            source = source._replace(walked=WalkedSessions())
            windows = SessionWindows(rankers=lambda _: self._rankers(None))
        seen = None
        if view.state.turns and (named is None or named in view.state.leaves):
            seen = SeenSession(held, Asked(conversation_id=named), source)
            window = session_window(seen, request, self._settings, windows)
        else:
            window = list_window((), request._replace(reserved_tokens=0), self._settings, windows)
        if window.manifest.dropped:
            _report(view.session_id, window.manifest)
        if request.format is None:
            return ContextWindow(window_messages(view, window.messages, _cut(view, window)), window.manifest)
        remembered = self._windows.captures
        found = written(window, request.format, seen=seen, source=source, remembered=remembered)
        document = _document(found.document)
        return ContextWindow(_list_of(document), window.manifest, document, found.left_out)


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
) -> list[Any]: ...
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
) -> dict[str, Any]: ...
def apply_context_window(
    messages: Iterable[object],
    max_tokens: int,
    reserved_tokens: int = RESERVED_TOKENS,
    *,
    strategy: str | None = None,
    query: str | None = None,
    model: str | None = None,
    format: str | None = None,  # noqa: A002 - the word that the other surfaces have for it
    min_recent: int | None = None,
    marker: str | None = None,
) -> list[Any] | dict[str, Any]:
    """The best of ``messages`` for ``max_tokens - reserved_tokens`` tokens, in the form that they were given in.

    They are what a session takes: messages of this library, dictionaries and objects of others. What is kept is the
    very object that was given; a marker is a system message of the form. With ``format`` it is the document of that
    provider instead. No setting of the environment counts here. Raises BudgetTooSmall, also where nothing is left
    beside what is reserved, and ValidationError.
    """
    check_count("max_tokens", max_tokens, least=0)
    check_count("reserved_tokens", reserved_tokens, least=0)
    found = listed(messages)
    target = found.form if format is None else format
    request = ContextRequest(
        max_tokens=max_tokens,
        strategy=strategy,
        query=query,
        model=model,
        format=target if target in WRITES else checked_format(format),
        min_recent=min_recent,
        marker=marker,
        reserved_tokens=reserved_tokens,
    )
    if max_tokens <= reserved_tokens and not found.turns:
        raise BudgetTooSmall(needed=1, budget=max_tokens - reserved_tokens)
    window = list_window(found.turns, request, ContextSettings(), opened_windows({}))
    if format is None:
        return handed_back(found, window.messages)
    return _document(written(window, format, came_in=found.form).document)


def checked_request(**asked: Any) -> ContextRequest:
    """What is asked of a window of a session, by the names of ``SessionHandle.context``."""
    for name, least in (("max_tokens", 0), ("min_recent", 0), ("max_messages", 1)):
        if asked[name] is not None:
            check_count(name, asked[name], least=least)
    for name in ("strategy", "query", "model", "scope", "marker"):
        if asked[name] is not None:
            checked_text(asked[name], name)
    return ContextRequest(**{**asked, "format": checked_format(asked["format"])})


def checked_format(name: object) -> str | None:
    """``name`` as a format that windows are written in; None for the messages of this library."""
    if name is None or name == NATIVE:
        return None
    if name not in WRITES:
        raise ValidationError(f"format must be one of {', '.join(WRITES)}", [Problem("$.format", "enum")])
    return str(name)


def _cut(view: View, window: Window) -> frozenset[str]:
    """The ids of the turns of ``window`` whose text is not whole."""
    held = [view.state.turns.find(turn.turn_id) for turn in window.messages]
    if all(one is turn or one is None for one, turn in zip(held, window.messages, strict=True)):
        # As a rule: then the account, which is of every turn, is not asked for.
        return frozenset()
    return frozenset(choice.turn_id for choice in window.manifest.choices if choice.cut)


def _report(session_id: str, manifest: Manifest) -> None:
    """Log that a window leaves turns out, as the read side does."""
    told = {"kept": manifest.kept, "dropped": manifest.dropped, "tokens": manifest.tokens}
    log_event(CONTEXT_PRUNED, fields={"session_id": session_id, **told, "strategy": manifest.strategy})


def _list_of(document: dict[str, Any]) -> list[Any]:
    """The messages of a provider's ``document``; empty where that is no list (``openinference``)."""
    # An ADK session stands in a member of its own.
    inner = document.get("session")
    holder = inner if isinstance(inner, dict) else document
    return next((holder[name] for name in _LISTS if isinstance(holder.get(name), list)), [])


def _document(written_document: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in written_document.items() if name not in _OF_A_CAPTURE}
