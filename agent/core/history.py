"""What a history shows of a path (CONTRACT 9): messages and system turns, after its resets and its cuts.

``reset: true`` leaves of what stands before it the system turns, ``"all"`` nothing; ``keep_last: n`` leaves the system
turns and the newest ``n`` messages. The turn that carries either stands after it. A ``state_only`` turn is no message.

Whatever else these members hold is not of the contract and says nothing: a reset of 5, a count of -1 or ``true``. A
count may be written 2.0, which is the same JSON number as 2.

An erased turn stays where it was as a skeleton with content None: a history with a gap that nobody sees would tell
another conversation. What it said of the history is no content and stays with it: a reset that it carried holds, and
one that was ``state_only`` is not shown. (A store that keeps no metadata of erased turns, as the first release did,
leaves it to say nothing.)
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeGuard

from agent.core.growing import Growing
from agent.core.paths import SessionPaths
from agent.core.turn import SessionTurn


def history(
    turns: Sequence[SessionTurn], *, conversation_id: str | None = None, leaf: str | None = None
) -> tuple[SessionTurn, ...]:
    """The history of a session, of one of its conversations, or of the branch that ends with the turn ``leaf``.

    ``turns`` are all that the session has, in any order; ids are in lower case. Raises StoreNotFound for a
    conversation that the session does not have, and for a leaf that is not in the session or the conversation.
    """
    return shown(SessionPaths.of(turns).path(conversation_id, leaf))


def shown(path: Iterable[SessionTurn]) -> tuple[SessionTurn, ...]:
    """The turns of ``path`` that its history shows, in its order."""
    # Each with its place in the path: the two are told apart, and come together again.
    system: list[tuple[int, SessionTurn]] = []
    messages: deque[tuple[int, SessionTurn]] = deque()
    for place, turn in enumerate(path):
        reset, keep_last = turn.memory.get("reset"), turn.memory.get("keep_last")
        if reset is True or reset == "all":
            messages.clear()
        if reset == "all":
            system.clear()
        if is_count(keep_last):
            while len(messages) > keep_last:
                messages.popleft()
        if not turn.is_state_only:
            (system if turn.role == "system" else messages).append((place, turn))
    return tuple(turn for _, turn in sorted([*system, *messages], key=lambda placed: placed[0]))


def show(history: Growing[SessionTurn], turn: SessionTurn) -> Growing[SessionTurn]:
    """What a history shows when one more turn stands behind its path: ``shown``, one step at a time."""
    reset, keep_last = turn.memory.get("reset"), turn.memory.get("keep_last")
    if reset is True or reset == "all":
        history = Growing(each for each in history if reset is True and each.role == "system")
    if is_count(keep_last):
        history = Growing(_cut(history, keep_last))
    return history if turn.is_state_only else history.plus(turn)


def _cut(history: Sequence[SessionTurn], keep_last: float) -> Iterator[SessionTurn]:
    """The system turns, and the newest ``keep_last`` messages."""
    passed_over = sum(turn.role != "system" for turn in history) - keep_last
    for turn in history:
        if turn.role == "system":
            yield turn
            continue
        passed_over -= 1
        if passed_over < 0:
            yield turn


def is_count(value: object) -> TypeGuard[float]:
    """Whether ``value`` is a count as ``keep_last`` has it."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return value >= 0 and (isinstance(value, int) or value.is_integer())
