"""What a turn is worth, 0 to 1, by rules that each have a name, so that every score can be explained.

A turn starts at 0.5; what it is (a call, a result), what it says (``agent.core.window.signals``) and where it stands
raise or lower that. Age is counted from the newest message, so the same conversation has the same scores at any time.
Nothing here asks a model, and no rule knows what a conversation is about.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from agent.core.pairs import Call, Place, named_invocations
from agent.core.timestamps import instant
from agent.core.turn import SessionTurn
from agent.core.window.json_text import json_text
from agent.core.window.segment_errors import has_failed
from agent.core.window.segments import segments
from agent.core.window.signals import Signals, references, signals_of

BASE: Final = 0.5
CALL: Final = 0.3
RESULT: Final = 0.2
DIRECTIVE: Final = 0.2
ERROR: Final = 0.3
CORRECTION: Final = 0.2
REFERENCE: Final = 0.1
DAY: Final = -0.1
CASUAL: Final = -0.2
REDUNDANT: Final = -0.2
COMPLETE: Final = -0.3
# Of the last so many messages, the nearest that fits.
RECENT: Final = ((5, 0.4), (10, 0.2), (20, 0.1))
_DAY: Final = 24 * 60 * 60 * 10**9


class Part(NamedTuple):
    """What one rule gives or takes; of a turn that is marked, the one part is its whole score."""

    rule: str
    delta: float


class Score(NamedTuple):
    """``value`` is 0..1: the sum of the ``parts``, no more than 1 and no less than 0."""

    value: float
    parts: tuple[Part, ...]


def importance(
    messages: Sequence[SessionTurn], pairs: Mapping[Place, Call], *, signals: Signals = signals_of
) -> list[float]:
    """The score of each of ``messages``, in their order. ``pairs`` are those of the session.

    ``signals`` may be a reader's that keeps them; they are most of the work. Linear in turns and invocations.
    """
    return [score.value for score in explained(messages, pairs, signals=signals)]


def explained(
    messages: Sequence[SessionTurn], pairs: Mapping[Place, Call], *, signals: Signals = signals_of
) -> list[Score]:
    """The scores of ``messages``, each with the rules that made it.

    ``metadata.memory``: ``pinned`` is 1, ``importance`` is what it says where it is a number from 0 to 1, and both come
    before every rule. So does the 1 of a system turn.
    """
    said = {(turn.content, turn.role): signals(turn.content, turn.role) for turn in messages if turn.content}
    ages = _ages(messages)
    redundant = _redundant(messages, pairs)
    complete = _complete(messages, pairs, said)
    count = len(messages)
    scores = []
    for place, turn in enumerate(messages):
        marked = _marked(turn)
        if marked is not None:
            scores.append(Score(marked.delta, (marked,)))
            continue
        names = said.get((turn.content or "", turn.role), frozenset())
        parts = [Part("base", BASE), *_of_turn(turn, names)]
        if ages[place]:
            parts.append(Part("age", DAY * ages[place]))
        if place in redundant:
            parts.append(Part("redundant", REDUNDANT))
        if complete[place]:
            parts.append(Part("task_complete", COMPLETE))
        parts += [Part("recent", delta) for last, delta in RECENT if count - place <= last][:1]
        scores.append(Score(_clamped(parts), tuple(parts)))
    return scores


def _marked(turn: SessionTurn) -> Part | None:
    """What the turn itself, or its role, says of its worth."""
    if turn.memory.get("pinned") is True:
        return Part("pinned", 1.0)
    named = turn.memory.get("importance")
    if isinstance(named, int | float) and not isinstance(named, bool) and 0 <= named <= 1:
        return Part("importance", float(named))
    return Part("system", 1.0) if turn.role == "system" else None


def _of_turn(turn: SessionTurn, names: frozenset[str]) -> Iterator[Part]:
    """What the turn is, and what it says, whatever stands around it."""
    if turn.role == "tool":
        yield Part("tool_result", RESULT)
    elif turn.invocations:
        yield Part("tool_call", CALL)
    if "directive" in names:
        yield Part("directive", DIRECTIVE)
    if has_failed(turn, names):
        yield Part("error", ERROR)
    if "correction" in names:
        yield Part("correction", CORRECTION)
    referred = references(names)
    if referred:
        yield Part("references", REFERENCE * referred)
    if "casual" in names and not turn.invocations:
        yield Part("casual", CASUAL)


def _clamped(parts: Sequence[Part]) -> float:
    # Rounded: which of two turns is worth more must not hang on the order in which floats were added.
    return min(1.0, max(0.0, round(sum(part.delta for part in parts), 6)))


def _ages(messages: Sequence[SessionTurn]) -> list[int]:
    """Whole days from each message to the newest, the last that says when it was; 0 where one does not say, or is dated
    after that: a wrong clock makes no other message older.
    """
    times = [_time(turn) for turn in messages]
    newest = next((time for time in reversed(times) if time is not None), 0)
    return [0 if time is None or time > newest else (newest - time) // _DAY for time in times]


def _time(turn: SessionTurn) -> int | None:
    try:
        return None if turn.timestamp is None else instant(turn.timestamp)
    except ValueError:
        return None


def _complete(
    messages: Sequence[SessionTurn], pairs: Mapping[Place, Call], said: Mapping[tuple[str, str], frozenset[str]]
) -> list[bool]:
    """Whether each message is of a task that was said or marked to be complete."""
    found = segments(messages, pairs, signals=lambda text, role: said[text, role])
    return [segment.complete for segment in found for _ in range(segment.start, segment.end)]


def _redundant(messages: Sequence[SessionTurn], pairs: Mapping[Place, Call]) -> set[int]:
    """The places of what came again: the same text of the same role, or what a tool answered to the same arguments.

    A turn that calls says more than its text, and is none.
    """
    callers = {turn.turn_id: turn for turn in messages}
    later: set[tuple[str, str]] = set()
    answered: set[bytes] = set()
    found = set()
    for place in reversed(range(len(messages))):
        turn = messages[place]
        text = (turn.role, " ".join((turn.content or "").split()))
        calls = list(_answered(turn, pairs, callers)) if turn.role == "tool" else []
        if (calls and answered.issuperset(calls)) or (
            text[1] and text in later and (turn.role == "tool" or not turn.invocations)
        ):
            found.add(place)
        later.add(text)
        answered.update(calls)
    return found


def _answered(turn: SessionTurn, pairs: Mapping[Place, Call], callers: Mapping[str, SessionTurn]) -> Iterator[bytes]:
    """The calls that a tool turn answers, each as its tool and its arguments in one form; one without them is none."""
    for place, _, _ in named_invocations(turn):
        call = pairs.get(place)
        caller = None if call is None else callers.get(call.place.turn_id)
        if call is not None and caller is not None:
            entry = caller.invocations[call.place.number]
            yield _form(entry.get("tool_name"), entry.get("arguments"))


def _form(name: Any, arguments: Any) -> bytes:
    return json_text([name, arguments], sort_keys=True).encode("utf-8", "surrogatepass")
