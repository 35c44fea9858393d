"""How full the window of a conversation is, in figures and in one line."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final, NamedTuple

from agent.core.timestamps import instant
from agent.core.turn import SessionTurn
from agent.core.window.marker import is_marker
from agent.core.window.window import Window
from agent.errors import BudgetTooSmall
from agent.recall.windows import Shown

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_NANOSECONDS_A_MICROSECOND: Final = 1000
_MINUTE_S: Final = 60
_HOUR_S: Final = 60 * _MINUTE_S
_DAY_S: Final = 24 * _HOUR_S


class WindowStats(NamedTuple):
    """How full a window is. Messages are turns of the history, system turns among them.

    ``conversation_id`` is the conversation that it is of; None for a branch, and for all of a session as one. Of its
    ``total_messages`` there are ``in_context`` in the window, and ``left_out`` are not. ``needed``: no window fits
    ``limit``, and the smallest takes so many tokens; else None. ``pruned``: so many are in the history no longer, since
    somebody reset or cut it; ``last_prune`` is when that happened last (RFC 3339, None for never), and ``last_pruned``
    how many went then. ``total_tokens`` are those of the whole history by ``counter``, the sum of ``tokens_by_role``
    and ``overhead``; ``context_tokens`` those of the window. ``limit`` is what it may have, or where nothing limits it
    what the model takes; ``percent_used`` is of the budget or the model's limit, as in the manifest; where no window
    fits, what is needed is that share of ``limit``. ``warnings`` are those of the manifest.
    ``oldest_in_memory``: the timestamp of the oldest message in the window that is no system turn.
    """

    conversation_id: str | None
    total_messages: int
    in_context: int
    left_out: int
    pruned: int
    total_tokens: int
    context_tokens: int
    limit: int
    needed: int | None
    percent_used: float
    tokens_by_role: Mapping[str, int]
    overhead: int
    counter: str
    is_exact: bool
    strategy: str
    oldest_in_memory: str | None
    last_prune: str | None
    last_pruned: int
    warnings: tuple[str, ...]
    line: str

    def document(self) -> dict[str, Any]:
        """As ``/stats`` answers it."""
        return {**self._asdict(), "tokens_by_role": dict(self.tokens_by_role), "warnings": list(self.warnings)}


class Asked(NamedTuple):
    """What figures are asked of: the conversation, the limit in tokens, the strategy; ``warnings`` tell of that."""

    conversation_id: str | None
    limit: int
    strategy: str
    warnings: tuple[str, ...]


def figures(shown: Shown, found: Window | BudgetTooSmall, asked: Asked, *, now: datetime) -> WindowStats:
    """The figures of the window of ``shown`` that was ``found``, or of none where not even the smallest fits."""
    prepared, pruned = shown.prepared, shown.pruned
    window, needed = (None, found.needed) if isinstance(found, BudgetTooSmall) else (found, None)
    manifest = None if window is None else window.manifest
    messages = () if window is None else window.messages
    in_context = sum(not is_marker(turn) for turn in messages)
    oldest = next((turn for turn in messages if turn.role != "system"), None)
    total = len(prepared.messages)
    line = _line(in_context, total - in_context, (pruned.last, pruned.at), oldest, now)
    if needed is not None:
        line = f"no window fits {spaced(asked.limit)} tokens: {spaced(needed)} are needed"
    return WindowStats(
        conversation_id=asked.conversation_id,
        total_messages=total,
        in_context=in_context,
        left_out=total - in_context,
        pruned=pruned.messages,
        total_tokens=sum(shown.by_role.values()) + prepared.overhead,
        context_tokens=0 if manifest is None else manifest.tokens,
        limit=asked.limit,
        needed=needed,
        # Of a limit of nothing there is no share.
        percent_used=round(100 * (needed or 0) / max(1, asked.limit), 1) if manifest is None else manifest.percent_used,
        tokens_by_role=shown.by_role,
        overhead=prepared.overhead,
        counter=prepared.count.name,
        is_exact=prepared.is_exact,
        strategy=asked.strategy if manifest is None else manifest.strategy,
        oldest_in_memory=None if oldest is None else oldest.timestamp,
        last_prune=pruned.at,
        last_pruned=pruned.last,
        warnings=asked.warnings if manifest is None else manifest.warnings,
        line=line,
    )


def spaced(number: int) -> str:
    """``number`` in groups of three digits."""
    return f"{number:,}".replace(",", " ")


def _line(
    in_context: int, left_out: int, prune: tuple[int, str | None], oldest: SessionTurn | None, now: datetime
) -> str:
    """``35 messages in context, 10 pruned 15 min ago, oldest from 10:30``; what there is nothing of is not said."""
    parts = [f"{in_context} message{'' if in_context == 1 else 's'} in context"]
    count, pruned_at = prune
    if count:
        at = _when(pruned_at)
        parts.append(f"{count} pruned" if at is None else f"{count} pruned {_ago(now - at)}")
    if left_out:
        parts.append(f"{left_out} left out")
    at = None if oldest is None else _when(oldest.timestamp)
    if at is not None:
        parts.append(f"oldest from {at:%H:%M}" if at.date() == now.date() else f"oldest from {at:%H:%M on %Y-%m-%d}")
    return ", ".join(parts)


def _ago(passed: timedelta) -> str:
    seconds = passed.total_seconds()
    if seconds < _MINUTE_S:
        # A clock that runs behind the store's is no clock of the future.
        return "just now"
    if seconds < _HOUR_S:
        return f"{int(seconds // _MINUTE_S)} min ago"
    if seconds < 2 * _DAY_S:
        return f"{int(seconds // _HOUR_S)} h ago"
    return f"{int(seconds // _DAY_S)} days ago"


def _when(text: str | None) -> datetime | None:
    """The instant that ``text`` names, in UTC; None where it names none."""
    try:
        return _EPOCH + timedelta(microseconds=instant(text or "") // _NANOSECONDS_A_MICROSECOND)
    except (ValueError, OverflowError):
        return None
