"""What a session comes to in a few figures: how much was said, by whom, when, and for how many tokens.

Messages are those of the history that is given: a turn that only carries state is none, an erased one still counts,
and each counts once however often it was captured. Nothing here reads content, and what another writer left in a
member that should be a count or a date-time is passed over.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from typing import Any, Final, NamedTuple

from agent.core.history import is_count
from agent.core.session import SessionState
from agent.core.timestamps import instant
from agent.core.turn import SessionTurn

_TOKENS: Final = ("prompt_tokens", "completion_tokens", "total_tokens")
_MOST_TOKENS: Final = 2**63 - 1
_NANOSECONDS: Final = 1000


class Summary(NamedTuple):
    """How many messages the session shows, and when its turns were captured first and last.

    Instants of capture as the store writes them, None for a session without a turn.
    """

    message_count: int
    last_activity: str | None
    session_started: str | None

    def document(self) -> dict[str, Any]:
        """As ``/summary`` answers it."""
        return self._asdict()


class Statistics(NamedTuple):
    """What a history counts: messages, messages by role, and tokens of the turns that say how many they took."""

    total_messages: int
    by_role: Mapping[str, int]
    token_usage: Mapping[str, int]

    def document(self) -> dict[str, Any]:
        """As ``/stats`` answers it."""
        return {
            "total_messages": self.total_messages,
            "by_role": dict(self.by_role),
            "token_usage": dict(self.token_usage),
        }


class Exchange(NamedTuple):
    """Who said how much in a history, and how long it took: all of the insights that needs no other session.

    ``duration`` are the seconds between the first message and the last. ``agents_used`` are in the order in which
    they came in.
    """

    message_count: int
    duration: float
    agents_used: tuple[str, ...]
    user_messages: int
    assistant_messages: int


def summary(state: SessionState) -> Summary:
    """The summary of the whole session: its history's messages, and the captures of all its turns.

    A turn of a store that does not say when it captured counts by its own timestamp.
    """
    times = _times(turn.captured_at or turn.timestamp for turn in state.turns)
    return Summary(
        message_count=len(state.history),
        last_activity=times[max(times)] if times else None,
        session_started=times[min(times)] if times else None,
    )


def statistics(history: Sequence[SessionTurn]) -> Statistics:
    """What ``history`` counts. Of the tokens each of the three figures is a sum by itself, as CONTRACT 1 has them."""
    tokens = dict.fromkeys(_TOKENS, 0)
    for turn in history:
        used = turn.fields.get("token_usage")
        if isinstance(used, Mapping):
            for name in _TOKENS:
                tokens[name] += _count(used.get(name))
    return Statistics(
        total_messages=len(history), by_role=dict(Counter(turn.role for turn in history)), token_usage=tokens
    )


def exchange(history: Sequence[SessionTurn], agents: Mapping[str, str]) -> Exchange:
    """What was said in ``history``; ``agents`` are its speakers by ``turn_id``, as far as they are known.

    Order and time are two things (CONTRACT 10): the duration is between the earliest timestamp and the latest,
    whichever turns carry them, so a clock that runs backwards never makes it negative.
    """
    roles = Counter(turn.role for turn in history)
    times = _times(turn.timestamp for turn in history)
    nanoseconds = max(times) - min(times) if times else 0
    spoken = (agents.get(turn.turn_id) for turn in history)
    return Exchange(
        message_count=len(history),
        duration=timedelta(microseconds=nanoseconds // _NANOSECONDS).total_seconds(),
        agents_used=tuple(dict.fromkeys(agent for agent in spoken if agent is not None)),
        user_messages=roles["user"],
        assistant_messages=roles["assistant"],
    )


def _times(texts: Iterable[str | None]) -> dict[int, str]:
    """The instants that ``texts`` name, each with the text that names it first; turns of one capture share one."""
    times: dict[int, str] = {}
    for text in dict.fromkeys(texts):
        if isinstance(text, str):
            try:
                times.setdefault(instant(text), text)
            except ValueError:
                continue
    return times


def _count(value: object) -> int:
    """``value`` as a count of tokens; 0 where it is none, or beyond what CONTRACT 1 lets it be. 1.0 is 1."""
    return int(value) if is_count(value) and value <= _MOST_TOKENS else 0
