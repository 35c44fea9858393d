"""Where a conversation goes from one task to the next, and which of its tasks are done.

A task ends where the user says so, where it is marked (``metadata.memory.task``), and where something new is opened
after it: a request that leans on nothing, behind "anything else?" or behind what was done; a turn to something else in
so many words; calls that have nothing to do with those before; a long time in which nothing was said; a conversation
that begins. A task is complete where that was said or marked, never by guess: what is complete is the first to go.

Every task begins with a message of a user, but where it was marked or a conversation begins; so no call is parted from
its result. English, German, French, Spanish, Chinese and Japanese; in other languages marks, times and calls decide.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from agent.core.pairs import Call, Place
from agent.core.timestamps import instant
from agent.core.turn import SessionTurn
from agent.core.window.segment_calls import Task
from agent.core.window.segment_errors import error_links
from agent.core.window.signals import Signals, signals_of

__all__ = ["LONG_GAP", "Segment", "error_links", "segments"]

# 30 minutes in nanoseconds: who comes back after that begins anew, as visits are counted on the web.
LONG_GAP: Final = 30 * 60 * 10**9
NOTHING: Final[frozenset[str]] = frozenset()
_GOODBYES: Final = frozenset({"casual", "says_complete"})
# So many user turns before a call may be what it is about: what it needs was asked for one by one.
_JUDGED: Final = 4


class Segment(NamedTuple):
    """The turns from ``start`` up to ``end``, which is none of them; ``complete``: the task was said or marked done."""

    start: int
    end: int
    complete: bool


def segments(
    messages: Sequence[SessionTurn],
    pairs: Mapping[Place, Call],  # noqa: ARG001 - every rule of a window is given messages and pairs
    *,
    gap: int = LONG_GAP,
    signals: Signals = signals_of,
) -> list[Segment]:
    """The tasks of ``messages``, in order and without a hole; none where there are no messages.

    ``gap`` is in nanoseconds between two turns. ``signals`` may be a reader's that keeps them. A task is told without
    ``pairs``, those of the session.
    """
    if not messages:
        return []
    said = [signals(turn.content, turn.role) if turn.content else NOTHING for turn in messages]
    return _Tasks(messages, gap, said).segments()


class _Opening(NamedTuple):
    """A user turn that may begin a task, and how much says so: 1 a request, 2 and more are enough by themselves.

    ``is_after_done``: what was asked for before had been done, or the agent had asked what else there was.
    """

    place: int
    strength: int
    is_after_done: bool


class _Tasks:
    """Reads a conversation, exchange by exchange: a user turn with all that answers it."""

    def __init__(self, messages: Sequence[SessionTurn], gap: int, said: Sequence[frozenset[str]]) -> None:
        self._messages = messages
        self._gap = gap
        self._said = said
        # Where tasks begin, in order, each with whether the task before it is complete; and the last of them.
        self._starts: dict[int, bool] = {0: False}
        self._last = 0
        # Where the task that is being read was said, and marked, to be done.
        self._over: int | None = None
        self._marked: int | None = None
        self._calls = Task()
        # From where the turns are not taken into ``_calls`` yet, and where a task may have begun since then.
        self._since = 0
        self._openings: deque[_Opening] = deque()

    def segments(self) -> list[Segment]:
        """The tasks, in order."""
        self._read()
        starts = list(self._starts)
        ends = [*starts[1:], len(self._messages)]
        complete = [self._starts[start] for start in starts[1:]] + [self._is_done]
        return [Segment(start, end, done) for start, end, done in zip(starts, ends, complete, strict=True)]

    def _read(self) -> None:
        conversations: set[str] = set()
        begin, spoke = 0, None
        answered = NOTHING
        for place, turn in enumerate(self._messages):
            is_new = turn.conversation_id not in conversations
            conversations.add(turn.conversation_id)
            at = _time(turn)
            if is_new or turn.role == "user":
                self._judge(begin, place)
                begin = place
                is_long = at is not None and spoke is not None and at - spoke > self._gap
                if place and (is_new or is_long or self._is_left(place)):
                    self._cut(place, complete=self._is_done)
                elif turn.role == "user":
                    self._openings.append(self._opening(place, answered))
                answered = NOTHING
            if turn.role == "assistant":
                answered |= self._said[place]
            spoke = spoke if at is None else at
            self._hear(place)
        self._judge(begin, len(self._messages))
        self._settle(tuple(self._openings))

    @property
    def _is_done(self) -> bool:
        return self._over is not None or self._marked is not None

    def _is_left(self, place: int) -> bool:
        """Whether the task before a user's turn is over, and this is more than a goodbye to it."""
        if self._marked is not None or self._over is None:
            return self._marked is not None
        return bool((self._messages[place].content or "").strip()) and self._said[place].isdisjoint(_GOODBYES)

    def _hear(self, place: int) -> None:
        turn, said = self._messages[place], self._said[place]
        if turn.memory.get("task") == "complete":
            self._marked = place
        elif turn.role == "user" and "says_complete" in said and "turns_away" not in said:
            self._over = place
        elif turn.role == "user" and "casual" not in said:
            self._over = None

    def _opening(self, place: int, answered: frozenset[str]) -> _Opening:
        said = self._said[place]
        is_after_done = not answered.isdisjoint(("confirms_done", "asks_for_more"))
        words = ("asks" in said) + ("turns_away" in said)
        return _Opening(place, 0 if "leans" in said or not words else words + is_after_done, is_after_done)

    def _judge(self, begin: int, end: int) -> None:
        """An exchange has ended: what it called tells whether the task went on."""
        calls = [entry for turn in self._messages[begin:end] if turn.role != "tool" for entry in turn.invocations]
        if not calls:
            return
        openings = list(self._openings)
        recent, older = openings[-_JUDGED:], openings[:-_JUDGED]
        self._settle(older)
        known = self._calls.knows_any(calls) if self._calls else None
        if known is None:
            self._settle(recent)
        elif not known:
            first = max(recent, key=lambda opening: opening.strength, default=None)
            if first is not None and first.strength > 0:
                self._cut(first.place, complete=first.is_after_done)
        for turn in self._messages[self._since : end]:
            self._calls.add(turn)
        self._since = end
        self._openings.clear()

    def _settle(self, openings: Iterable[_Opening]) -> None:
        """Nothing was called that tells: what was said decides."""
        for opening in openings:
            if opening.strength > 1:
                self._cut(opening.place, complete=opening.is_after_done)

    def _cut(self, place: int, *, complete: bool) -> None:
        if place <= self._last:
            return
        self._starts[place] = complete
        self._last = place
        self._over = self._over if self._over is not None and self._over >= place else None
        self._marked = self._marked if self._marked is not None and self._marked >= place else None
        self._calls = Task()
        self._since = place
        # They are in order, and each goes once.
        while self._openings and self._openings[0].place <= place:
            self._openings.popleft()


def _time(turn: SessionTurn) -> int | None:
    try:
        return None if turn.timestamp is None else instant(turn.timestamp)
    except ValueError:
        return None
