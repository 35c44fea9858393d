"""An error and the correction that follows it: one without the other misleads whoever reads on.

A result that failed is corrected by the next result of the same tool that did not fail, else by the next turn that says
what was amiss or that it is mended; so is an error that somebody reports.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from agent.core.pairs import Call, Place
from agent.core.turn import SessionTurn
from agent.core.window.signals import Signals, signals_of

# A correction is looked for in so many turns behind the error.
_NEAR: Final = 8
_MENDS: Final = frozenset({"correction", "confirms_done"})


def error_links(
    messages: Sequence[SessionTurn],
    pairs: Mapping[Place, Call],  # noqa: ARG001 - every rule of a window is given messages and pairs
    *,
    signals: Signals = signals_of,
) -> list[tuple[int, int]]:
    """The places of each error and of its correction, in order of the errors; one that nothing corrects is left out.

    A correction is one of the next 8 turns. A result names its tool itself, so ``pairs``, those of the session, are not
    asked. Linear in the messages.
    """
    said = [signals(turn.content, turn.role) if turn.content else frozenset() for turn in messages]
    failed = [has_failed(turn, names) for turn, names in zip(messages, said, strict=True)]
    tools = [_tools(turn) for turn in messages]
    links = []
    for place in range(len(messages)):
        if failed[place]:
            near = range(place + 1, min(place + 1 + _NEAR, len(messages)))
            again = (by for by in near if not failed[by] and messages[by].role == "tool" and tools[by] & tools[place])
            told = (by for by in near if messages[by].role != "tool" and said[by] & _MENDS)
            correction = next(again, None)
            correction = next(told, None) if correction is None else correction
            if correction is not None:
                links.append((place, correction))
    return links


def has_failed(turn: SessionTurn, signals: frozenset[str]) -> bool:
    """Whether ``turn``, which has these ``signals``, reports an error, or is marked as a result that failed."""
    return "error" in signals or any(entry.get("success") is False for entry in turn.invocations)


def _tools(turn: SessionTurn) -> frozenset[str]:
    """The tools whose results ``turn`` holds, as it names them itself."""
    if turn.role != "tool":
        return frozenset()
    return frozenset(name for entry in turn.invocations if isinstance(name := entry.get("tool_name"), str))
