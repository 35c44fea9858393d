"""CONTRACT 10a on the store in memory: what an erasure takes, what stays, and its receipt.

An event is emptied whole (its session was erased, or it was the user's) or loses single turns. A receipt counts what
this erasure emptied.
"""

from collections.abc import Callable
from typing import Any

from tests.store.model import ModelEvent, ModelSession, ModelStore, ModelTurn, find, skeleton, without_entities

OUTPUTS = (
    "conversation_id",
    "session_id",
    "nodes_created",
    "edges_created",
    "capture_timestamp",
    "turn_count",
    "total_tokens",
)
PAYLOAD = (
    "agent_id",
    "agent_version",
    "decision_type",
    "inputs_hash",
    "stored_inputs_hash",
    "confidence",
    "constraints_applied",
    "execution_ref",
    "timestamp",
    "telemetry",
)


def erase_session(model: ModelStore, session_id: str) -> dict[str, Any] | None:
    """The receipt; None for a 404."""
    session = model.sessions.get(session_id.lower())
    if session is None:
        return None
    return _erase(
        model,
        "session",
        turns=[(session, turn) for turn in session.turns],
        whole=[event for event in model.events if event.session is session],
    )


def erase_turn(model: ModelStore, turn_id: str) -> dict[str, Any] | None:
    found = [(session, turn) for session in model.sessions.values() if (turn := find(session.turns, turn_id.lower()))]
    return _erase(model, "turn", turns=found, whole=[]) if found else None


def erase_user(model: ModelStore, user_id: str) -> dict[str, Any] | None:
    theirs = [event for event in model.events if event.user == user_id]
    if not theirs:
        return None
    brought = [
        (event.session, turn)
        for event in theirs
        if event.session is not None
        for turn in event.session.turns
        if turn.turn_id in event.brought
    ]
    return _erase(model, "user", turns=brought, whole=theirs)


def _erase(
    model: ModelStore, kind: str, *, turns: list[tuple[ModelSession, ModelTurn]], whole: list[ModelEvent]
) -> dict[str, Any]:
    model.position += 1
    sessions, emptied_turns, emptied_events = set(), 0, set()
    for session, turn in turns:
        model.tombstones.add(turn.turn_id)
        if turn.erased:
            continue
        turn.erased, turn.version = True, model.position
        emptied_turns += 1
        sessions.add(session.key)
        for event in model.events:
            if event.session is session and _empty_turn(event, turn.turn_id):
                emptied_events.add(event.position)
    for event in whole:
        if not event.emptied:
            _empty_event(event)
            emptied_events.add(event.position)
            if event.session is not None:
                sessions.add(event.session.key)
    for session in model.sessions.values():
        if session.key in sessions and session.turns:
            session.version = model.position
    receipt = {
        "kind": kind,
        "position": model.position,
        "sessions": len(sessions),
        "turns": emptied_turns,
        "events": len(emptied_events),
    }
    model.erasures.append(receipt)
    return receipt


def _empty_turn(event: ModelEvent, turn_id: str) -> bool:
    """Empty one turn of an event; whether it had it."""
    if not event.makes_turns or turn_id not in event.turn_ids:
        return False
    payload = event.envelope["payload"]
    place = event.turn_ids.index(turn_id)
    payload["inputs"]["turns"][place] = skeleton(payload["inputs"]["turns"][place])
    without_entities(payload, turn_id)
    event.envelope["erased"] = True
    return True


def _empty_event(event: ModelEvent) -> None:
    """Empty all that is no turn: the turns were emptied before, or are others' and stay, without its own words."""
    event.emptied = True
    payload = event.envelope["payload"]
    for place, left in event.others.items():
        if payload["inputs"]["turns"][place].get("erased") is not True:
            payload["inputs"]["turns"][place] = left
    kept = _only(payload, PAYLOAD)
    if isinstance(payload.get("outputs"), dict):
        kept["outputs"] = _only(payload["outputs"], OUTPUTS)
    if isinstance(payload.get("inputs"), dict):
        kept["inputs"] = _only(payload["inputs"], ("session_id", "conversation_id", "turns"))
    event.envelope = {
        **_only(event.envelope, ("type", "runId", "source", "timestamp")),
        "payload": kept,
        "erased": True,
    }


def _only(members: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    return {name: members[name] for name in names if name in members}


Eraser = Callable[[ModelStore, str], dict[str, Any] | None]
