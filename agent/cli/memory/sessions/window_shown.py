"""A window for people: its messages, what became of each turn, and a bar of how much of the budget is used."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from agent.cli.columns import Column
from agent.cli.memory.sessions.turn_text import row
from agent.core.turn import SessionTurn
from agent.core.window.manifest import Choice, Manifest
from agent.core.window.marker import is_marker
from agent.recall.context import MAX_MESSAGES_IGNORED, OVER_MODEL_LIMIT, UNKNOWN_MODEL
from agent.recall.tokens.models import UNKNOWN_LIMIT
from agent.recall.window_stats import spaced

# As history has them, so that what is known of one is known of the other.
EXPLAINED: Final = (
    Column("seq", 6, right=True),
    Column("", 7),
    Column("role", 9),
    Column("tokens", 7, right=True),
    Column("score", 5, right=True),
    Column("reason", 13),
    Column("text", 0),
)
_BAR: Final = 12
_ABOVE: Final = re.compile(r"usage_above_(\d+)_percent\Z", re.ASCII)
_NOTHING: Final = "-"


def window_row(turn: SessionTurn) -> list[str]:
    """A message of a window as ``history`` shows a turn; a marker has no place in the session."""
    values = row(turn)
    return ["", values[1], "marker", *values[3:]] if is_marker(turn) else values


def explained_row(choice: Choice, turn: SessionTurn | None) -> list[str]:
    """What became of a turn, beside its text; the values of ``EXPLAINED``, not yet safe."""
    text = _NOTHING if turn is None else row(turn)[3]
    kept = "kept" if choice.kept else "dropped"
    return [
        str(choice.seq),
        "cut" if choice.cut else kept,
        choice.role,
        str(choice.tokens),
        _NOTHING if choice.score is None else f"{choice.score:.2f}",
        choice.reason,
        text,
    ]


def usage_bar(manifest: Manifest) -> str:
    """``[########----] 3 211 of 4 000 tokens (80 %)``: of the budget, or where there is none of the model's limit."""
    share = manifest.percent_used / 100
    filled = min(_BAR, max(0, int(share * _BAR)))
    bar = f"[{'#' * filled}{'-' * (_BAR - filled)}]"
    percent = f"{manifest.percent_used:.0f} %"
    if manifest.budget is None:
        return f"{bar} {spaced(manifest.tokens)} tokens ({percent} of the model's limit)"
    return f"{bar} {spaced(manifest.tokens)} of {spaced(manifest.budget)} tokens ({percent})"


def account(manifest: Manifest) -> Iterator[str]:
    """The lines below the turns: the bar, what was kept by role, by whom and how it was counted."""
    yield usage_bar(manifest)
    roles = ", ".join(f"{role} {spaced(tokens)}" for role, tokens in manifest.by_role.items() if tokens)
    yield f"kept {manifest.kept} of {len(manifest.choices)} turns: {roles or 'nothing'}"
    counter = manifest.counter if manifest.is_exact else f"{manifest.counter}, not exact"
    failed = f"; the counter failed for {manifest.estimated}" if manifest.estimated else ""
    yield f"strategy {manifest.strategy}, counted by {counter}{failed}"


def warnings(names: Sequence[str], *, has_budget: bool) -> list[str]:
    """What whoever asked should know, a line each: in words, for the names of a manifest.

    ``has_budget``: there was one in tokens, so that no limit of a model held.
    """
    shares = [int(match[1]) for name in names if (match := _ABOVE.match(name))]
    lines = [f"the whole conversation takes more than {max(shares)} % of the limit"] if shares else []
    if UNKNOWN_MODEL in names:
        taken = "its tokens are estimated" if has_budget else f"its limit is taken for {spaced(UNKNOWN_LIMIT)} tokens"
        lines.append(f"the model is not known: {taken}")
    if OVER_MODEL_LIMIT in names:
        lines.append("--max-tokens is more than the model takes")
    if MAX_MESSAGES_IGNORED in names:
        lines.append("--max-messages does not count beside --max-tokens")
    return lines


def warnings_of(manifest: Manifest, *, has_budget: bool) -> list[str]:
    """The same of a window, and which strategy took over."""
    lines = warnings(manifest.warnings, has_budget=has_budget)
    if manifest.fallback is not None:
        why = manifest.fallback.replace("_", " ")
        lines.append(f"{manifest.strategy} took over from {manifest.requested}: {why}")
    return lines
