"""The state of a session (CONTRACT 9): what the ``metadata.memory`` of its turns leaves, folded along a path.

Within one turn the order is reset, params, waiting_for_param, the rest; what a reset and a count do to the history is
for ``agent.core.history``. A member that is not of the contract's shape says nothing: it is named in ``ignored``, and
the rest of its turn counts. Members that nobody here knows are kept as they are, the later in place of the earlier.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Final

from agent.core.turn import SessionTurn
from agent.errors import MAX_PROBLEMS, Problem

_NAMES: Final = frozenset({"waiting_for_param", "last_intent_id"})
_REPLACED: Final = frozenset({"last_result", "plan_execution"})
# What a turn says of the history or of itself, and not of the state.
_OF_THE_TURN: Final = frozenset({"reset", "keep_last", "leaf", "importance", "pinned", "task", "state_only"})
_KNOWN: Final = frozenset({"params"}) | _NAMES | _REPLACED | _OF_THE_TURN
_NOTHING: Final[Mapping[str, Any]] = MappingProxyType({})


def _nothing() -> Mapping[str, Any]:
    return _NOTHING


@dataclass(frozen=True, slots=True)
class Memory:
    """What a conversation knows at one of its turns.

    ``answers`` counts the user turns since ``waiting_for_param`` was set: what was said while it was waited for.
    ``more`` are the members that are not of the contract. ``ignored`` names what was passed over, at most 50, as
    ``$.<turn_id>.metadata.memory.params``.
    """

    params: Mapping[str, Any] = field(default_factory=_nothing)
    waiting_for_param: str | None = None
    last_intent_id: str | None = None
    last_result: Any = None
    plan_execution: Any = None
    more: Mapping[str, Any] = field(default_factory=_nothing)
    answers: int = field(default=0, compare=False)
    ignored: tuple[Problem, ...] = field(default=(), compare=False)

    def document(self) -> dict[str, Any]:
        """The five members of the contract, as ``/state`` answers them, and those that it does not know."""
        return {
            **self.more,
            "params": dict(self.params),
            "waiting_for_param": self.waiting_for_param,
            "last_intent_id": self.last_intent_id,
            "last_result": self.last_result,
            "plan_execution": self.plan_execution,
        }


EMPTY: Final = Memory()


def remembered(path: Iterable[SessionTurn]) -> Memory:
    """The state at the end of ``path``."""
    memory = EMPTY
    for turn in path:
        memory = remember(memory, turn)
    return memory


def remember(memory: Memory, turn: SessionTurn) -> Memory:
    """``memory`` after one more turn of its path."""
    waited = memory.waiting_for_param
    memory = _changed(memory, turn)
    if memory.waiting_for_param is None:
        return memory if memory.answers == 0 else replace(memory, answers=0)
    if memory.waiting_for_param != waited:
        return replace(memory, answers=0)
    return replace(memory, answers=memory.answers + 1) if turn.role == "user" else memory


def _changed(memory: Memory, turn: SessionTurn) -> Memory:
    said = turn.memory
    if not said:
        return _ignoring(memory, turn, "") if _is_no_object(turn) else memory
    reset = said.get("reset")
    if reset is True or reset == "all":
        memory = EMPTY
    changes: dict[str, Any] = {}
    wrong: list[str] = []
    waiting = memory.waiting_for_param
    params = said.get("params", _NOTHING)
    if isinstance(params, Mapping):
        changes["params"] = _merged(memory.params, params)
        waiting = None if waiting in params else waiting
    else:
        wrong.append(".params")
    for name in sorted(_NAMES & said.keys()):
        if said[name] is not None and not isinstance(said[name], str):
            wrong.append(f".{name}")
        elif name == "waiting_for_param":
            waiting = said[name]
        else:
            changes[name] = said[name]
    changes["waiting_for_param"] = waiting
    changes |= {name: said[name] for name in _REPLACED & said.keys()}
    changes["more"] = _merged(memory.more, {name: said[name] for name in said.keys() - _KNOWN})
    return _ignoring(replace(memory, **changes), turn, *wrong)


def _merged(before: Mapping[str, Any], said: Mapping[str, Any]) -> Mapping[str, Any]:
    """Member by member the later wins, and null removes it."""
    if not said:
        return before
    return MappingProxyType({name: value for name, value in {**before, **said}.items() if value is not None})


def _is_no_object(turn: SessionTurn) -> bool:
    metadata = turn.fields.get("metadata")
    return isinstance(metadata, dict) and not isinstance(metadata.get("memory", {}), dict)


def _ignoring(memory: Memory, turn: SessionTurn, *members: str) -> Memory:
    if not members:
        return memory
    found = (*memory.ignored, *(Problem(f"$.{turn.turn_id}.metadata.memory{name}", "type") for name in members))
    return replace(memory, ignored=found[:MAX_PROBLEMS])


def state_turn(memory: Mapping[str, Any], *, turn_id: str, timestamp: str) -> dict[str, Any]:
    """A turn of a capture (CONTRACT 1) that says ``memory`` and is no message; ``timestamp`` is RFC 3339."""
    return {
        "turn_id": turn_id,
        "role": "system",
        "content": "",
        "timestamp": timestamp,
        "metadata": {"memory": {"state_only": True, **memory}},
    }
