"""The event that is there already for a submission: the rules of 200 duplicate and 409 (CONTRACT 10)."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, Final

from agent.core.receipt import TurnCounts
from store.engines.engine import Connection
from store.engines.schema import position_of
from store.errors import Conflict, LostEvent
from store.log.envelope import Envelope, canonical_sent, parse_kept
from store.log.event_body import as_kept
from store.log.event_keys import EventKeys
from store.log.event_rows import stored_text, turn_ids
from store.log.identifiers import packed
from store.log.session_rows import batches
from store.port import Appended

# events.erased of one that was emptied whole (store.privacy.session_erasure).
_WHOLE: Final = 2
_FIND: Final = """
SELECT key, event_key, event_id, execution_ref, timestamp, inputs_hash, turn_count, erased
FROM event_keys JOIN events USING (event_key)
WHERE key IN ({marks})
"""
_LOST: Final = "SELECT min(event_key) FROM event_keys WHERE key IN ({marks})"


@dataclass(frozen=True, slots=True)
class _First:
    """An event that is stored already, and the key that this one shares with it."""

    key: bytes
    event_key: int
    event_id: bytes
    execution_ref: bytes
    timestamp: bytes
    inputs_hash: bytes | None
    turn_count: int
    erased: int


def find_duplicate(connection: Connection, tenant: int, keys: EventKeys, envelope: Envelope) -> Appended:
    """The first event of this payload or reference.

    Raises Conflict where it has another body, LostEvent where nothing but its keys is left of it.
    """
    (marks, some), *_ = batches(keys.all())
    found = [_First(*row) for row in connection.execute(_FIND.format(marks=marks), some)]
    if not found:
        (key,) = connection.execute(_LOST.format(marks=marks), some).fetchone()
        raise LostEvent("an event is not there", position_of(key))
    names = {keys.execution_ref: "execution_ref", keys.caller: "Idempotency-Key"}
    for event in found:
        if event.key in names and not _same_body(connection, tenant, event, envelope):
            raise Conflict(f"this {names[event.key]} came before, with another body")
    first = min(found, key=lambda event: event.event_key)
    erased = _erased_turns(connection, tenant, first) if first.turn_count else 0
    return Appended(
        duplicate=True,
        event_id=first.event_id.decode(),
        execution_ref=first.execution_ref.decode(),
        timestamp=first.timestamp.decode(),
        position=position_of(first.event_key),
        turns=TurnCounts(new=0, known=first.turn_count - erased, revised=0, erased=erased),
    )


def _same_body(connection: Connection, tenant: int, event: _First, envelope: Envelope) -> bool:
    if event.inputs_hash is not None and envelope.inputs_hash is not None:
        return event.inputs_hash == envelope.inputs_hash.encode()
    if event.erased == _WHOLE:
        # What it was can no longer be looked at; a late redelivery stays a duplicate.
        return True
    payload = parse_kept(stored_text(connection, tenant, position_of(event.event_key)))["payload"]
    sent = envelope.payload
    if event.erased:
        erased = _erased_ids(payload)
        payload, sent = (_as_all_keep_it(each, erased) for each in (payload, as_kept(sent, erased)))
    return canonical_sent(payload) == canonical_sent(sent)


def _erased_ids(payload: dict[str, Any]) -> set[bytes | None]:
    """The turns of a stored event that are skeletons."""
    inputs = payload.get("inputs")
    turns = inputs.get("turns") if isinstance(inputs, dict) else None
    named = turns if isinstance(turns, list) else []
    return {packed(turn.get("turn_id")) for turn in named if isinstance(turn, dict) and turn.get("erased") is True}


def _as_all_keep_it(payload: dict[str, Any], erased: Collection[bytes | None]) -> dict[str, Any]:
    """The payload without what not every release keeps of an event that lost ``erased`` turns, or keeps alike.

    That is their metadata, which skeletons of earlier releases have none of, and entities: they are found in the turns,
    so they tell no two bodies apart.
    """
    outputs, inputs = payload.get("outputs"), payload.get("inputs")
    if isinstance(outputs, dict) and "entities" in outputs:
        left = {name: value for name, value in outputs.items() if name != "entities"}
        payload = {**payload, "outputs": left}
    if not erased or not isinstance(inputs, dict) or not isinstance(inputs.get("turns"), list):
        return payload
    turns = [
        {name: value for name, value in turn.items() if name != "metadata"}
        if isinstance(turn, dict) and packed(turn.get("turn_id")) in erased
        else turn
        for turn in inputs["turns"]
    ]
    return {**payload, "inputs": {**inputs, "turns": turns}}


def _erased_turns(connection: Connection, tenant: int, first: _First) -> int:
    """How many turns of a stored event are erased by now."""
    if not first.erased:
        return 0
    sql = "SELECT session_key FROM events WHERE event_key = ?"
    (session_key,) = connection.execute(sql, (first.event_key,)).fetchone()
    count = 0
    for marks, some in batches(turn_ids(connection, tenant, position_of(first.event_key))):
        sql = f"SELECT count(*) FROM turns WHERE session_key = ? AND turn_id IN ({marks}) AND erased = 1"  # noqa: S608 - marks only
        count += connection.execute(sql, (session_key, *some)).fetchone()[0]
    return count
