"""A session as a format's writer wants it: its turns, its history, and what its captures said beside their turns."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import jiter

from agent.core.turn import SessionTurn
from agent.formats.writing import RECORD_FIELDS, Capture, Session
from agent.recall.bringing_events import bringing_events

if TYPE_CHECKING:
    from agent.ruvector.reads import StoreReads

_NOT_BESIDE: Final = frozenset({"session_id", "conversation_id", "turns"})
_ALIKE: Final = RECORD_FIELDS - {"parent_turn_id"}


def exported_session(
    reads: StoreReads,
    session_id: str,
    conversation_id: str | None,
    *,
    shown: Sequence[SessionTurn],
    turns: Sequence[SessionTurn],
    brought: Sequence[SessionTurn] | None = None,
) -> Session:
    """The session, or one conversation of it, that shows ``shown`` of its ``turns``. Ids are UUIDs in lower case.

    ``brought``: the turns whose captures a writer asks about; all of them where it is not said. Raises StoreNotFound
    for a store that has no list of events.
    """
    said = _Said()
    said.read(reads, session_id, turns if brought is None else brought)
    return Session(
        session_id,
        conversation_id,
        tuple(shown),
        tuple(turns),
        said.captures,
        said.named_alike,
        said.without_parent,
    )


@dataclass(frozen=True, slots=True)
class _Said:
    """What the captures of the latest revisions say beside their turns, and of the turns what a record cannot show."""

    captures: dict[str, Capture] = field(default_factory=dict)
    named_alike: dict[str, dict[str, Any]] = field(default_factory=dict)
    without_parent: set[str] = field(default_factory=set)

    def read(self, reads: StoreReads, session: str, turns: Iterable[SessionTurn]) -> None:
        """Every event passes through memory once, a page at a time."""
        there = [turn for turn in turns if not turn.erased]
        brought: dict[str, set[str]] = {}
        for turn in there:
            brought.setdefault(turn.fields.get("execution_ref", ""), set()).add(turn.turn_id)
        for event in bringing_events(reads, session, there):
            payload = _object(_value(event.text), "payload")
            inputs = _object(payload, "inputs")
            execution_ref = event.execution_ref or ""
            self.captures[execution_ref] = _capture(payload, inputs)
            sent = inputs.get("turns")
            for turn_sent in sent if isinstance(sent, list) else ():
                self._add(turn_sent, brought[execution_ref])

    def _add(self, sent: Any, brought: Collection[str]) -> None:
        named = sent.get("turn_id") if isinstance(sent, dict) else None
        turn_id = named.lower() if isinstance(named, str) else ""
        if turn_id not in brought:
            return
        alike = {name: sent[name] for name in _ALIKE & sent.keys()}
        if alike:
            self.named_alike[turn_id] = alike
        if "parent_turn_id" not in sent:
            self.without_parent.add(turn_id)


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
