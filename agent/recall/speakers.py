"""Who spoke the turns of a session (CONTRACT 1): what a turn says itself, else, of an assistant, its capture."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final

from agent.core.turn import SessionTurn
from agent.errors import StoreNotFound
from agent.recall.bringing_events import bringing_events
from agent.ruvector.parsed import parsed

if TYPE_CHECKING:
    from agent.ruvector.reads import StoreReads

_REMEMBERED: Final = 10_000


class CaptureAgents:
    """The agents of captures that were read before, by ``execution_ref``: an event never changes its own.

    Thread-safe. At most so many are remembered, those that were asked for last.
    """

    def __init__(self, most: int = _REMEMBERED) -> None:
        self._most = most
        self._agents: OrderedDict[str, str | None] = OrderedDict()
        self._lock = threading.Lock()

    def known(self, execution_refs: Iterable[str]) -> dict[str, str | None]:
        """The agents of those of ``execution_refs`` that are remembered; None: that one names no agent."""
        with self._lock:
            found = {name: self._agents[name] for name in execution_refs if name in self._agents}
            for name in found:
                self._agents.move_to_end(name)
            return found

    def remember(self, agents: dict[str, str | None]) -> None:
        with self._lock:
            self._agents.update(agents)
            while len(self._agents) > self._most:
                self._agents.popitem(last=False)


def speakers(
    reads: StoreReads, session_id: str, turns: Iterable[SessionTurn], remembered: CaptureAgents | None = None
) -> dict[str, str]:
    """The agents of ``turns``, by turn; one of whom nothing is known is left out, as in a store without events."""
    spoken: dict[str, str] = {}
    asked: dict[str, list[SessionTurn]] = {}
    for turn in turns:
        if turn.agent is not None:
            spoken[turn.turn_id] = turn.agent
        elif turn.role == "assistant" and not turn.erased:
            asked.setdefault(turn.fields.get("execution_ref", ""), []).append(turn)
    for execution_ref, agent in _agents(reads, session_id, asked, remembered or CaptureAgents(0)).items():
        if agent is not None:
            spoken |= {turn.turn_id: agent for turn in asked[execution_ref]}
    return spoken


def _agents(
    reads: StoreReads, session_id: str, asked: dict[str, list[SessionTurn]], remembered: CaptureAgents
) -> dict[str, str | None]:
    known = remembered.known(asked)
    unknown = [turn for execution_ref, turns in asked.items() if execution_ref not in known for turn in turns]
    read: dict[str, str | None] = {}
    try:
        for event in bringing_events(reads, session_id, unknown):
            read[event.execution_ref or ""] = _agent_of_capture(event.text)
    except StoreNotFound:
        return known
    remembered.remember(read)
    return known | read


def _agent_of_capture(text: bytes) -> str | None:
    inputs = _members(_members(_members(parsed(text)).get("payload")).get("inputs"))
    agent = _members(inputs.get("context")).get("agent_id")
    return agent if isinstance(agent, str) else None


def _members(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
