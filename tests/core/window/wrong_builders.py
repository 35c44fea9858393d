"""Builders of windows that are wrong, as some are in use: the laws have to find out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from agent.core.turn import SessionTurn
from agent.core.window.manifest import Choice, Manifest
from agent.core.window.marker import marker_turn
from agent.core.window.policy import Policy
from agent.core.window.window import Window
from tests.core.window.turns import Quarters

Pick = Callable[[Sequence[SessionTurn], int, Quarters], list[SessionTurn]]


def last_message_only(messages: Sequence[SessionTurn], budget: int, count: Quarters) -> list[SessionTurn]:
    return list(messages[-1:])


def without_tools(messages: Sequence[SessionTurn], budget: int, count: Quarters) -> list[SessionTurn]:
    """Every message with calls or results goes; the newest of the others."""
    return newest_that_fit([turn for turn in messages if not turn.invocations], budget, count)


def newest_that_fit(messages: Sequence[SessionTurn], budget: int, count: Quarters) -> list[SessionTurn]:
    """A bare walk from the end: results lose their calls, and the system prompt goes first."""
    kept: list[SessionTurn] = []
    for turn in reversed(messages):
        budget -= count(turn)
        if budget < 0:
            break
        kept.insert(0, turn)
    return kept


def system_and_newest(messages: Sequence[SessionTurn], budget: int, count: Quarters) -> list[SessionTurn]:
    """The system prompt stays, and calls are parted from their results."""
    system = [turn for turn in messages if turn.role == "system"]
    rest = [turn for turn in messages if turn.role != "system"]
    return system + newest_that_fit(rest, budget - sum(map(count, system)), count)


WRONG: tuple[Pick, ...] = (last_message_only, without_tools, newest_that_fit, system_and_newest)


@dataclass(frozen=True)
class _Told:
    """An account that is as right as the picked messages allow."""

    rows: tuple[Choice, ...]
    markers: int

    def choices(self) -> tuple[Choice, ...]:
        return self.rows

    def by_role(self) -> dict[str, int]:
        kept = [row for row in self.rows if row.kept]
        return {role: sum(row.tokens for row in kept if row.role == role) for role in {row.role for row in kept}} | {
            "marker": self.markers
        }

    def hash(self) -> str:
        return ""


def wrongly_built(pick: Pick, messages: Sequence[SessionTurn], policy: Policy, count: Quarters) -> Window:
    """What ``pick`` keeps, with markers and a manifest that fit it: so that only the choice itself is wrong."""
    room = (policy.max_tokens or 0) - count.overhead
    marker = count(marker_turn(len(messages), policy.marker, messages[0]))
    kept = pick(messages, room - marker, count)
    made = _marked(messages, kept, policy.marker)
    ids = {turn.turn_id for turn in kept}
    rows = tuple(
        Choice(turn.turn_id, turn.seq, turn.role, count(turn), None, kept=turn.turn_id in ids, reason="strategy")
        for turn in messages
    )
    markers = [turn for turn in made if turn.seq == 0]
    told = _Told(rows, sum(map(count, markers)))
    members: dict[str, Any] = {
        "strategy": "rolling_window", "requested": "rolling_window", "fallback": None, "counter": count.name,
        "is_exact": True, "estimated": 0, "budget": policy.max_tokens, "total_tokens": 0, "percent_used": 0.0,
        "warnings": (), "account": told,
    }  # fmt: skip
    tokens = count.overhead + sum(map(count, made))
    return Window(
        tuple(made),
        Manifest(
            tokens=tokens, markers=len(markers), kept=len(kept), dropped=len(messages) - len(kept), **members
        ),
    )  # fmt: skip


def _marked(messages: Sequence[SessionTurn], kept: Sequence[SessionTurn], text: str) -> list[SessionTurn]:
    made: list[SessionTurn] = []
    missing = 0
    for turn in messages:
        if turn not in kept:
            missing += 1
            continue
        if missing and turn.role != "system":
            made.append(marker_turn(missing, text, turn))
            missing = 0
        made.append(turn)
    if missing:
        made.append(marker_turn(missing, text, replace(messages[-1])))
    return made
