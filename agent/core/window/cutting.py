"""How a window is cut: the base first, then the strategy, all within the room that the policy leaves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from agent.core.turn import SessionTurn
from agent.core.window.base import Base
from agent.core.window.choosing import FITS, RECENT, STRATEGY, Group, keep_first, roll, spread, take
from agent.core.window.completed import pruned
from agent.core.window.cut_message import Cut
from agent.core.window.kept import Kept
from agent.core.window.policy import Policy
from agent.core.window.prepared import Prepared, ScorerFailedError, checked
from agent.core.window.room import Room, room_of
from agent.core.window.scoring import by_importance, by_relevance
from agent.core.window.units import Grain, units
from agent.errors import BudgetTooSmall

# How much each message has to do with a query, 0 or more, in their order.
Ranker = Callable[[Sequence[SessionTurn], str], Sequence[float]]

_TAKES_OVER: Final = "truncate"


class RankerFailedError(ScorerFailedError):
    """A ranker raised, or gave what are no numbers; it never leaves the windows."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What is kept of a conversation, and by which strategy. ``spent`` are the tokens without those that are fixed.

    ``cut`` is the newest user's message, or the one that stands for it, where it had to be cut. ``left`` are the tokens
    that the base left to the strategy. ``scores`` are those of all turns, where the strategy has some.
    """

    kept: Kept
    room: Room
    strategy: str
    fallback: str | None
    cut: Cut | None
    spent: int
    left: int
    scores: Sequence[float] | None


def cut(prepared: Prepared, policy: Policy, ranker: Ranker | None) -> Outcome:
    """What a window of ``prepared`` holds. Raises BudgetTooSmall."""
    if policy.strategy == "relevant" and ranker is None:
        return _Cutting(prepared, policy, _TAKES_OVER, "no_ranker", None).outcome()
    try:
        return _Cutting(prepared, policy, policy.strategy, None, ranker).outcome()
    except RankerFailedError:
        fallback = "ranker_failed"
    except ScorerFailedError:
        fallback = "scorer_failed"
    return _Cutting(prepared, policy, _TAKES_OVER, fallback, None).outcome()


class _Cutting:
    def __init__(
        self, prepared: Prepared, policy: Policy, strategy: str, fallback: str | None, ranker: Ranker | None
    ) -> None:
        self._prepared = prepared
        self._policy = policy
        self._strategy = strategy
        self._fallback = fallback
        self._ranker = ranker
        self._markers = prepared.markers(policy.marker)
        self._opening = self._markers[0] if policy.user_first and not prepared.begins_with_user else 0
        self._room = room_of(prepared, policy)
        self._scores: Sequence[float] | None = None

    def outcome(self) -> Outcome:
        """Raises BudgetTooSmall, ScorerFailedError."""
        kept, base = self._empty(Grain(self._policy.min_recent, self._policy.marker, self._strategy == "truncate"))
        if self._room.budget is not None and self._room.budget <= 0:
            raise self._refusal(base)
        left = self._room.tokens
        if not kept.add_if_whole(FITS):
            if not base.keep_newest_user():
                kept, base = self._without_newest_user(base)
            if base.cut is None:
                base.keep_open()
                roll(kept, kept.units.recent, RECENT)
                left = kept.tokens
                self._fill(kept)
        spent = self._room.tokens - kept.tokens
        return Outcome(kept, self._room, self._strategy, self._fallback, base.cut, spent, left, self._scores)

    def _empty(self, grain: Grain) -> tuple[Kept, Base]:
        room = self._room
        found = units(self._prepared, grain)
        barred: Sequence[int] = ()
        if room.target is not None and self._fallback != "scorer_failed":
            barred = pruned(self._prepared, found, used=room.used, target=room.target)
        opening = self._opening
        kept = Kept(found, self._markers, tokens=room.tokens, messages=room.messages, opening=opening, barred=barred)
        return kept, Base(self._prepared, kept)

    def _without_newest_user(self, base: Base) -> tuple[Kept, Base]:
        """Another message in the place of the newest user's, which neither fits nor can be cut."""
        if base.is_replaceable:
            kept, another = self._empty(self._atoms)
            if another.keep_another():
                return kept, another
        raise self._refusal(base)

    def _refusal(self, base: Base) -> BudgetTooSmall:
        """What to raise where nothing fits; ``base`` is untouched."""
        if base.is_replaceable:
            _, base = self._empty(self._atoms)
        return self._room.too_small(base.least())

    @property
    def _atoms(self) -> Grain:
        return Grain(self._policy.min_recent, self._policy.marker, in_atoms=True)

    def _fill(self, kept: Kept) -> None:
        """Keep what the strategy keeps of the rest."""
        if self._strategy == "importance":
            take(kept, self._by_importance(kept))
        elif self._strategy == "hybrid":
            groups = self._by_importance(kept)
            tokens, messages = kept.tokens - kept.tokens // 2, kept.messages - kept.messages // 2
            kept.tokens, kept.messages = kept.tokens - tokens, kept.messages - messages
            roll(kept, 0, STRATEGY)
            kept.tokens, kept.messages = kept.tokens + tokens, kept.messages + messages
            take(kept, groups)
        elif self._strategy == "relevant":
            take(kept, self._by_relevance(kept))
        else:
            if self._strategy == "truncate":
                keep_first(kept)
            roll(kept, 0, STRATEGY)
            spread(kept)

    def _by_importance(self, kept: Kept) -> list[Group]:
        self._scores = self._prepared.scores
        return self._prepared.once(("importance", kept.units.grain), lambda: by_importance(self._prepared, kept.units))

    def _by_relevance(self, kept: Kept) -> list[Group]:
        # It is arithmetic over lists that most windows need not.
        from agent.core.window.relevance import fused

        turns, ranker = self._prepared.turns, self._ranker
        if ranker is None:  # pragma: no cover - for the types: without one ``cut`` takes another strategy
            raise RankerFailedError
        query = self._prepared.newest_words if self._policy.query is None else self._policy.query
        try:
            ranked = checked(lambda: ranker(tuple(turns), query), len(turns))
        except ScorerFailedError as error:
            raise RankerFailedError from error
        self._scores = checked(lambda: fused(ranked, self._prepared.scores), len(turns))
        return by_relevance(self._prepared, kept.units, self._scores)
