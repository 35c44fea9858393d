"""Replay: a DecisionEvent is rebuilt from its own ``inputs`` and compared with what is stored (CONTRACT 6).

Everything that the inputs determine is looked at: hashes, ids, counts, nodes and edges, constraints, and the instants
and references that an event says twice. What they do not determine (``telemetry``, members that the contract does not
name) is not. An event that is damaged in whatever way differs; it never raises.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from agent.core.agent_identity import AGENT_ID
from agent.core.canonical import stored_inputs_hash
from agent.core.contract_version import kept_version, refuse_newer
from agent.core.decision import CONSTRAINTS, DECISION_TYPE, constraints_applied
from agent.core.difference import Difference, Kind, shown
from agent.core.outputs_difference import (
    INPUTS_SHAPE,
    NOT_A_PAYLOAD,
    graph_of_outputs_differences,
    outputs_differences,
)
from agent.errors import NewerContract

_HASH: Final = "stored_inputs_hash"
_IDS_DERIVED: Final = "ids_derived"
_NARROWED: Final = ("content_redacted", "content_omitted")
# Where none of these holds, ``inputs`` are as sent (CONTRACT 6).
_NOT_AS_SENT: Final = frozenset({_IDS_DERIVED, *_NARROWED})
_HASH_DIGITS: Final = frozenset("0123456789abcdef")


class Verdict(StrEnum):
    """How a replay ended."""

    IDENTICAL = "identical"
    DIFFERS = "differs"
    NOT_POSSIBLE = "not_possible"


class Reason(StrEnum):
    """Why an event cannot be rebuilt, or not compared."""

    ERASED = "erased"
    NO_INPUTS = "no_inputs"
    NOT_OURS = "not_ours"
    OTHER_WRITER = "other_writer"
    NEWER_CONTRACT = "newer_contract"


@dataclass(frozen=True, slots=True)
class Replay:
    """``differences`` are empty unless it DIFFERS; ``reason`` is None unless it is NOT_POSSIBLE."""

    verdict: Verdict
    differences: tuple[Difference, ...] = ()
    reason: Reason | None = None


IDENTICAL: Final = Replay(Verdict.IDENTICAL)
NOT_JSON: Final = Replay(Verdict.DIFFERS, (Difference("$", Kind.SHAPE),))


def replay(envelope: Any, *, exact_numbers: bool = False) -> Replay:
    """Rebuild the event in ``envelope``, a parsed JSON value; a bare DecisionEvent stands for its envelope.

    ``exact_numbers`` as ``canonical.stored_inputs_hash`` has it. Where nodes and edges are bytes, their JSON text, what
    DIFFERS only may differ: it is to be parsed and replayed again.
    """
    event = envelope.get("payload", envelope) if isinstance(envelope, dict) else None
    if not isinstance(event, dict):
        return NOT_JSON
    of_envelope = {} if event is envelope else envelope
    if (event.get("agent_id"), event.get("decision_type")) != (AGENT_ID, DECISION_TYPE):
        return _not_ours(event, of_envelope)
    reason = _reason(event, of_envelope)
    if reason is not None:
        return _not_possible(reason)
    return _compared(event, of_envelope, exact_numbers=exact_numbers)


def _reason(event: Mapping[str, Any], envelope: Mapping[str, Any]) -> Reason | None:
    """Why there is nothing to compare; None where there is."""
    try:
        refuse_newer(event.get("agent_version"))
    except NewerContract:
        return Reason.NEWER_CONTRACT
    is_erased = envelope.get("erased") is True
    if event.get("inputs") is None:
        return Reason.ERASED if is_erased else Reason.NO_INPUTS
    return Reason.ERASED if is_erased and _HASH not in event else None


def _compared(event: Mapping[str, Any], envelope: Mapping[str, Any], *, exact_numbers: bool) -> Replay:
    if not isinstance(event["inputs"], dict):
        return _differs([INPUTS_SHAPE])
    if envelope.get("erased") is True:
        # Not all is there to be rebuilt, and what is there must still fit.
        left = [*_said_twice(event, envelope), *_outputs(event, erased=True)]
        return _differs(left) if left else _not_possible(Reason.ERASED)
    if _HASH not in event:
        return _of_other_writer(event, envelope, exact_numbers=exact_numbers)
    differences = [
        *_hashes(event, exact_numbers=exact_numbers),
        *_said_twice(event, envelope),
        *_said_once(event),
        *_outputs(event, erased=False),
    ]
    return _differs(differences) if differences else IDENTICAL


def _not_possible(reason: Reason) -> Replay:
    return Replay(Verdict.NOT_POSSIBLE, reason=reason)


def _differs(differences: list[Difference]) -> Replay:
    # Inputs that are no payload show at every comparison.
    return Replay(Verdict.DIFFERS, tuple(dict.fromkeys(differences)))


def _not_ours(event: Mapping[str, Any], envelope: Mapping[str, Any]) -> Replay:
    """Of another agent, or another decision; unless the envelope around it, and its hash, say that it was ours."""
    if (envelope.get("source"), envelope.get("type")) != (AGENT_ID, DECISION_TYPE) or _HASH not in event:
        return _not_possible(Reason.NOT_OURS)
    return _differs([*_differing(event, {"agent_id": AGENT_ID, "decision_type": DECISION_TYPE})])


def _of_other_writer(event: Mapping[str, Any], envelope: Mapping[str, Any], *, exact_numbers: bool) -> Replay:
    """An event without ``stored_inputs_hash``, which we always write.

    Its ``inputs_hash`` must be that of inputs which are as sent. Its graph is its own affair, so where that is not ours
    nothing is said against it; but it is not called identical.
    """
    if _is_as_sent(event):
        found = stored_inputs_hash(event["inputs"], exact_numbers=exact_numbers)
        wrong = [*_differing(event, {"inputs_hash": found})]
        if wrong:
            return _differs(wrong)
        if not [*_said_twice(event, envelope), *_said_once(event), *_outputs(event, erased=False)]:
            return IDENTICAL
    return _not_possible(Reason.OTHER_WRITER)


def _is_as_sent(event: Mapping[str, Any]) -> bool:
    named = event.get("constraints_applied")
    return not isinstance(named, list) or not any(name in named for name in _NOT_AS_SENT)


def _hashes(event: Mapping[str, Any], *, exact_numbers: bool) -> Iterator[Difference]:
    found = stored_inputs_hash(event["inputs"], exact_numbers=exact_numbers)
    yield from _differing(event, {_HASH: found})
    if _is_as_sent(event):
        yield from _differing(event, {"inputs_hash": found})
    elif not _is_hash(event.get("inputs_hash")):
        # What was sent is not there to be hashed.
        yield Difference("$.inputs_hash", Kind.SHAPE, _side(event, "inputs_hash"))


def _said_twice(event: Mapping[str, Any], envelope: Mapping[str, Any]) -> Iterator[Difference]:
    """What the envelope says too (CONTRACT 10)."""
    pairs = (("type", "decision_type"), ("runId", "execution_ref"), ("source", "agent_id"), ("timestamp", "timestamp"))
    for outer, name in pairs:
        if name not in event or not isinstance(event[name], str):
            yield Difference(f"$.{name}", Kind.SHAPE if name in event else Kind.MISSING, _side(event, name))
        elif outer in envelope and envelope[outer] != event[name]:
            yield Difference(f"$.{name}", Kind.CHANGED, shown(event[name]), shown(envelope[outer]))


def _said_once(event: Mapping[str, Any]) -> Iterator[Difference]:
    version = event.get("agent_version")
    if version is None or kept_version(version) != version:
        yield Difference("$.agent_version", Kind.SHAPE, _side(event, "agent_version"))
    try:
        certain = float(event.get("confidence", 0.0)) == 1.0
    except (TypeError, ValueError, OverflowError):
        certain = False
    if not certain or isinstance(event["confidence"], bool | str):
        yield Difference("$.confidence", Kind.CHANGED, _side(event, "confidence"), 1)
    stored = event.get("constraints_applied")
    if not isinstance(stored, list):
        yield Difference("$.constraints_applied", Kind.SHAPE, _side(event, "constraints_applied"))
        return
    try:
        rebuilt = _constraints(event, stored)
    except NOT_A_PAYLOAD:
        yield INPUTS_SHAPE
        return
    if stored != rebuilt:
        sides = (", ".join(str(shown(name)) for name in names) for names in (stored, rebuilt))
        yield Difference("$.constraints_applied", Kind.CHANGED, *sides)


def _constraints(event: Mapping[str, Any], stored: list[Any]) -> list[str]:
    """What must stand there. That ids were derived, or content narrowed, the inputs do not always tell."""
    inputs = event["inputs"]
    derived = _IDS_DERIVED in stored or inputs.get("capture_options", {}).get("derive_ids") is True
    # Of inputs that are as sent, or narrowed and nothing else, the native names are fields that nobody knows.
    changed = event.get("stored_inputs_hash") != event.get("inputs_hash") and not any(map(stored.count, _NARROWED))
    derived = derived or (changed and ("native_session_id" in inputs or "native_conversation_id" in inputs))
    held = {*constraints_applied(inputs, ids_derived=derived), *(name for name in _NARROWED if name in stored)}
    return [name for name in CONSTRAINTS if name in held]


def _outputs(event: Mapping[str, Any], *, erased: bool) -> Iterator[Difference]:
    yield from outputs_differences(event, erased=erased)
    yield from graph_of_outputs_differences(event, erased=erased)


def _differing(event: Mapping[str, Any], wanted: Mapping[str, str | None]) -> Iterator[Difference]:
    for name, value in wanted.items():
        if event.get(name) != value or value is None:
            yield Difference(f"$.{name}", Kind.CHANGED if name in event else Kind.MISSING, _side(event, name), value)


def _side(event: Mapping[str, Any], name: str) -> str | int | None:
    return shown(event[name]) if name in event else None


def _is_hash(value: Any) -> bool:
    return isinstance(value, str) and len(value) == 64 and _HASH_DIGITS.issuperset(value)
