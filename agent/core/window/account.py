"""What is told of a window only where somebody asks: every turn with the reason, the tokens by role, the hash."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import fields

from agent.core.turn import SessionTurn
from agent.core.window.base import NEWEST_USER, OPEN_CALL
from agent.core.window.choosing import RECENT
from agent.core.window.cutting import Outcome
from agent.core.window.manifest import Choice
from agent.core.window.marker import is_marker
from agent.core.window.normalised import SYSTEM
from agent.core.window.policy import Policy
from agent.core.window.prepared import Prepared


class WindowAccount:
    """The account of the window of ``messages``, an ``Account`` of its manifest."""

    def __init__(self, prepared: Prepared, policy: Policy, outcome: Outcome, messages: Sequence[SessionTurn]) -> None:
        self._prepared = prepared
        self._policy = policy
        self._outcome = outcome
        self._messages = messages

    def choices(self) -> tuple[Choice, ...]:
        """Every turn of the conversation, in its order."""
        prepared = self._prepared
        reasons = self._reasons()
        found: list[Choice | None] = [None] * len(prepared.messages)
        for place, reason in prepared.normalised.lost:
            turn = prepared.messages[place]
            found[place] = Choice(turn.turn_id, turn.seq, turn.role, 0, None, kept=False, reason=reason)
        cut = self._outcome.cut
        scores = self._outcome.scores
        rows = zip(prepared.normalised.places, prepared.turns, prepared.tokens, strict=True)
        for number, (place, turn, tokens) in enumerate(rows):
            is_kept, reason = reasons[number]
            score = None if scores is None else round(scores[number], 4)
            is_cut = cut is not None and turn.turn_id == cut.turn.turn_id
            found[place] = Choice(
                turn.turn_id,
                turn.seq,
                turn.role,
                cut.tokens if is_cut and cut is not None else tokens,
                score,
                is_kept,
                reason,
                cut.removed if is_cut and cut is not None else 0,
            )
        return tuple(choice for choice in found if choice is not None)

    def by_role(self) -> dict[str, int]:
        """The tokens of the window by role, those of markers under ``marker``."""
        found: dict[str, int] = {}
        for role, tokens in self._counted():
            found[role] = found.get(role, 0) + tokens
        return found

    def hash(self) -> str:
        """SHA-256 of the policy, and of the ids, roles and contents in the window."""
        digest = hashlib.sha256()
        for member in fields(self._policy):
            _put(digest, member.name)
            _put(digest, repr(getattr(self._policy, member.name)))
        for turn in self._messages:
            _put(digest, turn.turn_id)
            _put(digest, turn.role)
            _put(digest, turn.content)
        return digest.hexdigest()

    def _counted(self) -> Iterator[tuple[str, int]]:
        prepared = self._prepared
        tokens_of = {turn.turn_id: tokens for turn, tokens in zip(prepared.turns, prepared.tokens, strict=True)}
        if self._outcome.cut is not None:
            tokens_of[self._outcome.cut.turn.turn_id] = self._outcome.cut.tokens
        markers = prepared.markers(self._policy.marker)
        for turn in self._messages:
            if is_marker(turn):
                yield "marker", markers[turn.fields["metadata"]["marker"]]
            else:
                yield turn.role, tokens_of[turn.turn_id]

    def _reasons(self) -> list[tuple[bool, str]]:
        """For each turn that a window may hold: whether it is kept, and why or why not."""
        prepared, kept = self._prepared, self._outcome.kept
        units = kept.units
        found = [(True, SYSTEM)] * len(prepared.turns)
        why: dict[int, str] = {}
        for start, end, reason in kept.reasons:
            why.update(dict.fromkeys(range(start, end), reason))
        for unit in range(len(units)):
            told = (True, self._why_kept(unit, why[unit])) if unit in why else (False, self._why_dropped(unit))
            for message in range(units.messages[unit], units.messages[unit + 1]):
                found[prepared.at[message]] = told
        return found

    def _why_kept(self, unit: int, reason: str) -> str:
        units = self._outcome.kept.units
        if unit == units.newest and self._prepared.atoms.newest_user is not None:
            return NEWEST_USER
        if unit == units.open:
            return OPEN_CALL
        return RECENT if unit >= units.recent else reason

    def _why_dropped(self, unit: int) -> str:
        kept = self._outcome.kept
        if kept.bars(unit, unit + 1):
            return "task_complete"
        tokens = kept.run(unit, unit + 1)
        if tokens > self._outcome.left:
            return "too_large"
        return "max_messages" if kept.is_capped and tokens <= kept.tokens else "budget"


def _put(digest: hashlib._Hash, text: str | None) -> None:
    """Add ``text`` with its length before it, so that no two lists of texts are one."""
    data = b"" if text is None else text.encode("utf-8", "surrogatepass")
    digest.update(f"{-1 if text is None else len(data)}:".encode())
    digest.update(data)
