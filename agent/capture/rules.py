"""The rules of CONTRACT 1 that tie several fields together: unique ids, parents, counts.

Ids are compared in lower case; with ``derive_ids``, as the UUIDs that they become (CONTRACT 3). The rules look at a
payload that may be malformed in other ways, so that one answer names all problems; what has the wrong type is skipped.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from agent.capture.finding import Finding
from agent.core.graph import MAX_TURNS_AND_INVOCATIONS
from agent.core.ids import called_invocation_uuid, is_uuid, orphan_invocation_uuid, session_uuid, turn_uuid
from agent.core.payload_fields import NATIVE_AT_ROOT, NATIVE_ON_INVOCATIONS, NATIVE_ON_TURNS


def are_evidently_kept(payload: Mapping[str, Any]) -> bool:
    """Whether a payload that passed the schema breaks no rule, as far as a quick look tells.

    False decides nothing: then ``findings_in`` does. True is right, always.
    """
    options = payload.get("capture_options")
    if options and "derive_ids" in options:
        # It brings rules of its own.
        return False
    turns = payload["turns"]
    ids = {payload["session_id"].lower()}
    called = []
    for turn in turns:
        if "parent_turn_id" in turn:
            return False
        ids.add(turn["turn_id"].lower())
        if "tool_invocations" in turn:
            called += [invocation["invocation_id"].lower() for invocation in turn["tool_invocations"]]
    return (
        len(ids) == len(turns) + 1 and ids.isdisjoint(called) and len(turns) + len(called) <= MAX_TURNS_AND_INVOCATIONS
    )


def findings_in(payload: Mapping[str, Any]) -> list[Finding]:
    """Every broken rule; too many turns alone, since that bounds the work."""
    if has_too_many(payload):
        return [Finding(("turns",), "too_many_turns")]
    options = _mapping(payload.get("capture_options"))
    derive = options.get("derive_ids") is True
    return [*(_reserved(payload) if derive else ()), *id_findings(payload, derive=derive)]


def has_too_many(payload: Mapping[str, Any]) -> bool:
    """Whether there are more turns and tool invocations together than CONTRACT 1 allows."""
    return count_turns_and_invocations(payload) > MAX_TURNS_AND_INVOCATIONS


def count_turns_and_invocations(payload: Mapping[str, Any]) -> int:
    """How many turns and tool invocations ``payload`` holds together."""
    turns = _turns(payload)
    return len(turns) + sum(len(_invocations(turn)) for turn in turns)


def id_findings(payload: Mapping[str, Any], *, derive: bool) -> list[Finding]:
    """The broken rules about ids: uniqueness, clashes, order of parents."""
    session = _folded(payload.get("session_id"), derive=derive)
    turns = _turns(payload)
    ids = [_turn_id(session, turn.get("turn_id"), derive=derive) for turn in turns]
    first_place: dict[str, int] = {}
    findings = []
    for place, turn_id in enumerate(ids):
        if turn_id is None:
            continue
        if turn_id == session:
            findings.append(Finding(("turns", place, "turn_id"), "turn_id_is_session_id"))
        if first_place.setdefault(turn_id, place) != place:
            findings.append(Finding(("turns", place, "turn_id"), "turn_id_unique"))
    for place, turn in enumerate(turns):
        parent = _turn_id(session, turn.get("parent_turn_id"), derive=derive)
        if parent is not None and (parent in {session, ids[place]} or first_place.get(parent, -1) > place):
            findings.append(Finding(("turns", place, "parent_turn_id"), "parent_order"))
    for parts, invocation_id in _invocation_ids(session, turns, ids, derive=derive):
        if invocation_id == session or invocation_id in first_place:
            findings.append(Finding(parts, "invocation_id_clash"))
    return findings


def _invocation_ids(
    session: str | None, turns: list[Mapping[str, Any]], ids: list[str | None], *, derive: bool
) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Each invocation's path and id. A result that takes its call's id (CONTRACT 3) is left out: the call counts."""
    calls: set[str] = set()
    for place, turn in enumerate(turns):
        is_result = turn.get("role") == "tool"
        for index, invocation in enumerate(_invocations(turn)):
            native = _mapping(invocation).get("invocation_id")
            if not isinstance(native, str):
                continue
            parts = ("turns", place, "tool_invocations", index, "invocation_id")
            if not derive or is_uuid(native):
                yield parts, native.lower()
            elif not is_result:
                calls.add(native)
                yield parts, called_invocation_uuid(ids[place] or "", index)
            elif native not in calls:
                yield parts, orphan_invocation_uuid(session or "", native)


def _reserved(payload: Mapping[str, Any]) -> Iterator[Finding]:
    for name in NATIVE_AT_ROOT:
        if name in payload:
            yield Finding((name,), "reserved_field")
    for place, turn in enumerate(_turns(payload)):
        for name in NATIVE_ON_TURNS:
            if name in turn:
                yield Finding(("turns", place, name), "reserved_field")
        for index, invocation in enumerate(_invocations(turn)):
            for name in NATIVE_ON_INVOCATIONS:
                if name in _mapping(invocation):
                    yield Finding(("turns", place, "tool_invocations", index, name), "reserved_field")


def _folded(native: object, *, derive: bool) -> str | None:
    if not isinstance(native, str):
        return None
    return session_uuid(native) if derive else native.lower()


def _turn_id(session: str | None, native: object, *, derive: bool) -> str | None:
    if not isinstance(native, str):
        return None
    return turn_uuid(session or "", native) if derive else native.lower()


def _turns(payload: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    turns = payload.get("turns")
    return [_mapping(turn) for turn in turns] if isinstance(turns, list) else []


def _invocations(turn: Mapping[str, Any]) -> list[Any]:
    invocations = turn.get("tool_invocations")
    return invocations if isinstance(invocations, list) else []


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}
