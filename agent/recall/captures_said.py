"""What the captures of a session said beside their turns, and of their turns what a record cannot show.

It is read from their events. An event never changes but by an erasure, so a process may remember what it read of a
session until more of its turns are erased. Nothing here is a source.
"""

from __future__ import annotations

import json
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import jiter

from agent.core.session import SessionState
from agent.core.turn import SessionTurn
from agent.formats.writing import RECORD_FIELDS, Capture
from agent.recall.bringing_events import bringing_events

if TYPE_CHECKING:
    from agent.ruvector.reads import StoreReads

# A capture counts one, each of its turns of which something is known another, and each KiB of what it said beside them.
MOST: Final = 50_000
_KIB: Final = 1024
_NOT_BESIDE: Final = frozenset({"session_id", "conversation_id", "turns"})
_ALIKE: Final = RECORD_FIELDS - {"parent_turn_id"}


class CaptureSaid(NamedTuple):
    """One capture; the others are of the turns that it brought.

    ``named_alike``: what was captured under a name of RECORD_FIELDS, by turn. ``without_parent``: the turns that came
    without a word on their parent.
    """

    capture: Capture
    named_alike: Mapping[str, Mapping[str, Any]]
    without_parent: frozenset[str]


# Whether a turn (by its id) is of a capture (by its ``execution_ref``).
Brings = Callable[[str, str], bool]
CapturesSaid = Callable[["StoreReads", str, Iterable[SessionTurn]], Mapping[str, CaptureSaid]]


def read_captures(
    reads: StoreReads, session_id: str, turns: Iterable[SessionTurn], brings: Brings | None = None
) -> dict[str, CaptureSaid]:
    """The captures of the latest revisions of ``turns``, by ``execution_ref``; of erased ones nothing is asked.

    ``brings``: of which turns of theirs something is wanted; None: of ``turns``. Every event passes through memory
    once. Raises StoreNotFound for a store that has no list of events.
    """
    there = [turn for turn in turns if not turn.erased]
    if brings is None:
        asked = {(turn.turn_id, turn.fields.get("execution_ref", "")) for turn in there}

        def brings(turn_id: str, execution_ref: str) -> bool:
            return (turn_id, execution_ref) in asked

    found: dict[str, CaptureSaid] = {}
    for event in bringing_events(reads, session_id, there):
        name = event.execution_ref or ""
        found[name] = _said(_object(_value(event.text), "payload"), name, brings)
    return found


@dataclass(slots=True)
class _OfSession:
    erased: int
    said: dict[str, CaptureSaid] = field(default_factory=dict)
    weight: int = 0


class RememberedCaptures:
    """One for the process and a store, for any number of threads; at worst an event is read twice.

    A session that was asked for longest ago goes first where more than ``most`` is held, and one that is too large by
    itself is not held.
    """

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._held: OrderedDict[str, _OfSession] = OrderedDict()
        self._weight = 0
        self._lock = threading.Lock()

    def read(
        self, state: SessionState, reads: StoreReads, session_id: str, turns: Iterable[SessionTurn]
    ) -> dict[str, CaptureSaid]:
        """As ``read_captures``; ``state`` is the session as it is now, with every turn that it has."""
        erased = sum(turn.erased for turn in state.turns)
        there = [turn for turn in turns if not turn.erased]
        names = {turn.fields.get("execution_ref", "") for turn in there}
        known = self._known(session_id, erased, names)
        unknown = [turn for turn in there if turn.fields.get("execution_ref", "") not in known]
        if not unknown:
            return known

        def brings(turn_id: str, execution_ref: str) -> bool:
            turn = state.turns.find(turn_id)
            return turn is not None and turn.fields.get("execution_ref") == execution_ref

        read = read_captures(reads, session_id, unknown, brings)
        self._remember(session_id, erased, read)
        return known | read

    def _known(self, session_id: str, erased: int, names: Iterable[str]) -> dict[str, CaptureSaid]:
        with self._lock:
            held = self._held.get(session_id)
            if held is None:
                return {}
            if held.erased != erased:
                self._drop(session_id)
                return {}
            self._held.move_to_end(session_id)
            return {name: held.said[name] for name in names if name in held.said}

    def _remember(self, session_id: str, erased: int, read: Mapping[str, CaptureSaid]) -> None:
        weights = {name: _weight(said) for name, said in read.items()}
        with self._lock:
            held = self._held.get(session_id)
            if held is not None and held.erased != erased:
                if held.erased > erased:
                    # Another thread has seen more, and this one read before that.
                    return
                self._drop(session_id)
            held = self._held.setdefault(session_id, _OfSession(erased))
            new = {name: said for name, said in read.items() if name not in held.said}
            added = sum(weights[name] for name in new)
            held.said |= new
            held.weight += added
            self._weight += added
            if held.weight > self._most:
                self._drop(session_id)
            while self._weight > self._most:
                self._drop(next(iter(self._held)))

    def _drop(self, session_id: str) -> None:
        self._weight -= self._held.pop(session_id).weight


def _weight(said: CaptureSaid) -> int:
    beside = [said.capture.fields, *said.named_alike.values()]
    return 1 + len(said.named_alike) + len(said.without_parent) + len(json.dumps(beside)) // _KIB


def _said(payload: Mapping[str, Any], execution_ref: str, brings: Brings) -> CaptureSaid:
    inputs = _object(payload, "inputs")
    alike: dict[str, Mapping[str, Any]] = {}
    without_parent: set[str] = set()
    turns = inputs.get("turns")
    for sent in turns if isinstance(turns, list) else ():
        named = sent.get("turn_id") if isinstance(sent, dict) else None
        turn_id = named.lower() if isinstance(named, str) else ""
        if not brings(turn_id, execution_ref):
            continue
        if _ALIKE & sent.keys():
            alike[turn_id] = {name: sent[name] for name in _ALIKE & sent.keys()}
        if "parent_turn_id" not in sent:
            without_parent.add(turn_id)
    return CaptureSaid(_capture(payload, inputs), alike, frozenset(without_parent))


def _capture(payload: Mapping[str, Any], inputs: Mapping[str, Any]) -> Capture:
    fields = {name: value for name, value in inputs.items() if name not in _NOT_BESIDE}
    options = _object(inputs, "capture_options")
    derives = options.get("derive_ids") is True
    if "derive_ids" in options:
        # The ids that are stored are derived, and the names that deriving reserves stand beside them (CONTRACT 3).
        fields["capture_options"] = {name: value for name, value in options.items() if name != "derive_ids"}
    conversation = inputs.get("conversation_id")
    applied = payload.get("constraints_applied")
    return Capture(
        conversation.lower() if isinstance(conversation, str) else None,
        fields,
        # CONTRACT 6: ids are derived where they were asked to be, and in every foreign format.
        is_translated=isinstance(applied, list) and "ids_derived" in applied and not derives,
    )


def _value(text: bytes) -> Any:
    """The value of JSON ``text``; None for what another store gives that is none in the sense of CONTRACT 2."""
    try:
        return jiter.from_json(text, allow_inf_nan=False, catch_duplicate_keys=True)
    except ValueError:
        return None


def _object(holder: Any, name: str) -> dict[str, Any]:
    member = holder.get(name) if isinstance(holder, dict) else None
    return member if isinstance(member, dict) else {}
