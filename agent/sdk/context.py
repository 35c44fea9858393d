"""The best of a session for a token budget, and how full that is; of a list ``agent.sdk.list_context``.

What wins, and why a turn is left out, is for ``agent.core.window``; what a provider takes for ``agent.formats.prompt``.
Nothing is written, and nothing that was given is changed. Refuses, by ValidationError, values out of their range and
the strategy ``summarize``; the one failure beside these is BudgetTooSmall.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from agent.core.window.counting import MOST_TOKENS
from agent.core.window.manifest import Manifest
from agent.errors import Problem, ValidationError
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
    window_stats,
    written,
)
from agent.recall.held import HeldSession
from agent.recall.opened_windows import opened_rankers
from agent.recall.source import Source
from agent.recall.speakers import CaptureAgents
from agent.recall.view import SeenSession
from agent.recall.view import View as Asked
from agent.recall.walked import WalkedSessions
from agent.sdk.arguments import check_count, checked_text
from agent.sdk.opened_store import OpenedStore
from agent.sdk.shown import window_messages
from agent.sdk.view import NO_SESSION, View

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


class _Session(NamedTuple):
    """A session as windows are cut of it. ``is_there``: somebody wrote to it, or to the conversation that is named."""

    seen: SeenSession
    source: Source
    windows: SessionWindows
    is_there: bool


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
        session = self._session(view, conversation, request, store)
        if session.is_there:
            window = session_window(session.seen, request, self._settings, session.windows)
        else:
            window = list_window((), request._replace(reserved_tokens=0), self._settings, session.windows)
        if window.manifest.dropped:
            _report(view.session_id, window.manifest)
        if request.format is None:
            return ContextWindow(window_messages(view, window.messages, _cut(view, window)), window.manifest)
        remembered = self._windows.captures
        seen = session.seen if session.is_there else None
        found = written(window, request.format, seen=seen, source=session.source, remembered=remembered)
        document = found.for_provider
        return ContextWindow(_list_of(document), window.manifest, document, found.left_out)

    def stats(
        self, store: OpenedStore, view: View, conversation: str | None, request: ContextRequest
    ) -> dict[str, Any]:
        """What ``view`` counts, and how full the window of ``request`` is: the members of ``/stats``."""
        # The figures are loaded when somebody asks for one.
        from agent.core.summary import statistics

        session = self._session(view, conversation, request, store)
        figures = window_stats(session.seen, request, self._settings, session.windows, now=store.clock())
        return {**figures.document(), **statistics(view.history).document()}

    def _session(self, view: View, conversation: str | None, request: ContextRequest, store: OpenedStore) -> _Session:
        named = None if request.scope == "session" else conversation
        source = Source(store.reads, store.held, self._walked, self._agents)
        windows = self._windows
        is_there = bool(view.state.turns) and (named is None or named in view.state.leaves)
        held = view.held
        if held is None or not view.is_stored or not is_there:
            # What a batch adds may never come: nothing that is kept of the session may know of it.
            whole = (lambda turns: tuple(view.whole(turns))) if view.is_light else None
            state = view.state if is_there else NO_SESSION
            held = HeldSession(view.session_id, state, view.version, None, whole)
            source = source._replace(walked=WalkedSessions())
            windows = SessionWindows(rankers=lambda _: self._rankers(None))
        asked = Asked(conversation_id=named if is_there else None)
        return _Session(SeenSession(held, asked, source), source, windows, is_there)


def checked_request(**asked: Any) -> ContextRequest:
    """What is asked of a window, by the names of ``SessionHandle.context``; None is what the settings say.

    Raises ValidationError with the path of what is no number from 0 (messages: 1) to ``MOST_TOKENS``, or no text.
    """
    for name, least in (("max_tokens", 0), ("reserved_tokens", 0), ("min_recent", 0), ("max_messages", 1)):
        if asked.get(name) is not None:
            check_count(name, asked[name], least=least, most=MOST_TOKENS)
    for name in ("strategy", "query", "model", "scope", "marker"):
        if asked.get(name) is not None:
            asked[name] = checked_text(asked[name], name)
    return ContextRequest(**{**asked, "format": checked_format(asked.get("format"))})


def checked_format(name: object) -> str | None:
    """``name`` as a format that windows are written in; None for the messages of this library."""
    if name is None or name == NATIVE:
        return None
    if not isinstance(name, str) or name not in WRITES:
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
