"""What the edges of a session's graph say about each turn, in the words of the tree: its notes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from agent.cli.memory.sessions.history_words import history_words
from agent.core.session_graph import SessionGraph
from agent.core.turn import SessionTurn

_NAMED: Final = 3


@dataclass(frozen=True, slots=True)
class SessionLinks:
    """The edges by what they link. Turns are known by their ids, and shown by their ``seq``."""

    turns: Mapping[str, SessionTurn]
    follows: dict[str, str]
    answers: dict[str, str]
    """Turn to the turn that it responds to."""
    invoked: dict[str, list[str]]
    """Turn to the invocations that it makes."""
    results: dict[str, list[str]]
    """Tool turn to the invocations whose results it holds."""
    caller: dict[str, int]
    """Invocation to the ``seq`` of the first turn that makes it."""
    returned: dict[str, list[int]]
    """Invocation to the ``seq`` of each turn that holds its result."""

    @classmethod
    def of(cls, graph: SessionGraph) -> SessionLinks:
        """Sort the edges of ``graph`` by what they link."""
        turns = {turn.turn_id: turn for turn in graph.turns()}
        links = cls(turns, {}, {}, defaultdict(list), defaultdict(list), {}, defaultdict(list))
        for edge_type, start, end in graph.edges:
            links._add(edge_type, turns[start], end)
        return links

    def _add(self, edge_type: str, turn: SessionTurn, end: str) -> None:
        if edge_type == "follows":
            self.follows[turn.turn_id] = end
        elif edge_type == "invokes":
            self.invoked[turn.turn_id].append(end)
            self.caller.setdefault(end, turn.seq)
        elif edge_type == "responds_to" and turn.role == "tool":
            self.results[turn.turn_id].append(end)
            self.returned[end].append(turn.seq)
        elif edge_type == "responds_to":
            self.answers[turn.turn_id] = end

    def notes(self, turn: SessionTurn, *, parent_shows: bool) -> Iterator[str]:
        """What is to say of ``turn`` beside its text; of its parent only where that does not show."""
        turn_id = turn.turn_id
        if turn.erased:
            yield "erased"
        yield from self._parent(turn_id, parent_shows=parent_shows)
        if turn_id in self.answers:
            yield f"answers #{self.turns[self.answers[turn_id]].seq}"
        yield from self._results(turn_id)
        if turn.is_state_only:
            yield "state only"
        elif turn.content == "" and turn_id not in self.invoked:
            yield "no text"
        yield from history_words(turn.memory, self._leaf)

    def result_of(self, invocation_id: str) -> str:
        """Where the result of a call is."""
        seqs = self.returned.get(invocation_id)
        return f"result in {_some(seqs)}" if seqs else "no result"

    def _leaf(self, turn_id: str) -> str:
        return f"#{self.turns[turn_id].seq}" if turn_id in self.turns else "that is not here"

    def _results(self, turn_id: str) -> Iterator[str]:
        callers = [self.caller.get(invocation_id) for invocation_id in self.results.get(turn_id, ())]
        here = [caller for caller in callers if caller is not None]
        if here:
            yield f"result for {_some(here)}"
        if len(here) < len(callers):
            yield "result of a call that is not here"

    def _parent(self, turn_id: str, *, parent_shows: bool) -> Iterator[str]:
        parent = self.follows.get(turn_id)
        if parent is None:
            if not parent_shows:
                yield "a new root"
        elif parent not in self.turns:
            yield "follows a turn that is not here"
        elif not parent_shows:
            yield f"follows #{self.turns[parent].seq}"


def _some(seqs: Sequence[int]) -> str:
    """The first of ``seqs``, each once: a note stays short, however many turns there are to name."""
    each = list(dict.fromkeys(seqs))
    more = f" and {len(each) - _NAMED} more" if len(each) > _NAMED else ""
    return ", ".join(f"#{seq}" for seq in each[:_NAMED]) + more
