"""CONTRACT 10 as a small store in memory, written for reading: no index, everything is looked up by walking.

It speaks of one tenant and of well-formed envelopes of captures with an ``inputs_hash``.
"""

import json
from dataclasses import dataclass, field
from typing import Any

NARROWNESS = {"content_redacted": 1, "content_omitted": 2}


@dataclass
class ModelTurn:
    turn_id: str
    seq: int
    conversation: str
    parent: str | None
    fields: dict[str, Any]
    narrowness: int
    captured_at: str
    execution_ref: str
    version: int
    revisions: int = 1

    def record(self) -> dict[str, Any]:
        return {
            **self.fields,
            "turn_id": self.turn_id,
            "seq": self.seq,
            "parent_turn_id": self.parent,
            "conversation_id": self.conversation,
            "captured_at": self.captured_at,
            "version": self.version,
            "execution_ref": self.execution_ref,
            "revisions": self.revisions,
            "erased": False,
        }


@dataclass
class ModelEvent:
    envelope: dict[str, Any]
    position: int
    turn_count: int


@dataclass
class ModelStore:
    events: list[ModelEvent] = field(default_factory=list)
    keys: dict[str, ModelEvent] = field(default_factory=dict)
    sessions: dict[str, list[ModelTurn]] = field(default_factory=dict)

    def append(self, envelope: dict[str, Any], key: str | None = None) -> dict[str, Any] | None:
        """The receipt without ``eventId``; None for a 409."""
        payload = envelope["payload"]
        key = None if key == payload["inputs_hash"] else key
        by_ref = [event for event in self.events if event.envelope["runId"] == envelope["runId"]]
        by_key = [self.keys[key]] if key in self.keys else []
        by_payload = [event for event in self.events if hash_of(event.envelope) == hash_of(envelope)]
        if any(hash_of(event.envelope) != hash_of(envelope) for event in by_ref + by_key):
            return None
        same = sorted(by_ref + by_key + by_payload, key=lambda event: event.position)
        if same:
            first, status = same[0], "duplicate"
            counts = {"new": 0, "known": first.turn_count, "revised": 0, "erased": 0}
        else:
            first, status = ModelEvent(envelope, len(self.events) + 1, len(payload["inputs"]["turns"])), "accepted"
            self.events.append(first)
            counts = self._turns(envelope, first.position)
        if key is not None:
            self.keys.setdefault(key, first)
        return {
            "status": status,
            "executionRef": first.envelope["runId"],
            "timestamp": first.envelope["timestamp"],
            "position": first.position,
            "turns": counts,
        }

    def _turns(self, envelope: dict[str, Any], position: int) -> dict[str, int]:
        payload = envelope["payload"]
        inputs = payload["inputs"]
        narrowness = max([NARROWNESS[name] for name in payload["constraints_applied"] if name in NARROWNESS], default=0)
        session = self.sessions.setdefault(inputs["session_id"].lower(), [])
        conversation = inputs["conversation_id"].lower()
        sent_ids = [turn["turn_id"].lower() for turn in inputs["turns"]]
        leaf = current_leaf(session, conversation)
        if leaf is not None and end_of_path(session, leaf.turn_id) in sent_ids:
            leaf = None
        counts = {"new": 0, "known": 0, "revised": 0, "erased": 0}
        before = None if leaf is None else leaf.turn_id
        for sent in inputs["turns"]:
            name = sent["turn_id"].lower()
            there = find(session, name)
            if there is None:
                counts["new"] += 1
                parent = lower(sent["parent_turn_id"]) if "parent_turn_id" in sent else before
                if parent is not None and end_of_path(session, parent) == name:
                    parent = None
                session.append(
                    ModelTurn(
                        turn_id=name,
                        seq=len(session) + 1,
                        conversation=conversation,
                        parent=parent,
                        fields=sent,
                        narrowness=narrowness,
                        captured_at=envelope["timestamp"],
                        execution_ref=envelope["runId"],
                        version=position,
                    )
                )
            elif body(sent) == body(there.fields) or narrowness > there.narrowness:
                counts["known"] += 1
            else:
                counts["revised"] += 1
                both = (there.fields, sent)
                stay = {n: there.fields[n] for n in derived(sent) if all(isinstance(one.get(n), str) for one in both)}
                there.fields, there.narrowness = {**sent, **stay}, narrowness
                there.revisions += 1
                there.version, there.execution_ref = position, envelope["runId"]
            before = name
        return counts


def hash_of(envelope: dict[str, Any]) -> str:
    hashed: str = envelope["payload"]["inputs_hash"]
    return hashed


def find(session: list[ModelTurn], turn_id: str) -> ModelTurn | None:
    return next((turn for turn in session if turn.turn_id == turn_id), None)


def end_of_path(session: list[ModelTurn], turn_id: str | None) -> str | None:
    """The first id on the way up that is not there; None where the way ends in a root."""
    while turn_id is not None:
        turn = find(session, turn_id)
        if turn is None:
            return turn_id
        turn_id = turn.parent
    return None


def current_leaf(session: list[ModelTurn], conversation: str) -> ModelTurn | None:
    own = [turn for turn in session if turn.conversation == conversation]
    parents = {turn.parent for turn in own}
    leaves = [turn for turn in own if turn.turn_id not in parents]
    if not leaves:
        return None
    leaf = leaves[-1]
    for carrier in reversed(own):
        named = find(session, lower(memory(carrier.fields).get("leaf")) or "")
        if carrier.seq >= leaf.seq and named is not None:
            return named
    return leaf


def body(turn: dict[str, Any]) -> str:
    """What identifies a turn's body, as text."""
    left = {name: value for name, value in turn.items() if name not in {"turn_id", *derived(turn)}}
    if "parent_turn_id" in left:
        left["parent_turn_id"] = lower(left["parent_turn_id"])
    if "tool_invocations" in left:
        left["tool_invocations"] = [
            {**entry, "invocation_id": entry["invocation_id"].lower()} for entry in left["tool_invocations"]
        ]
    if "leaf" in memory(left):
        left["metadata"] = {**left["metadata"], "memory": {**memory(left), "leaf": lower(memory(left)["leaf"])}}
    return json.dumps(left, sort_keys=True)


def derived(turn: dict[str, Any]) -> list[str]:
    names: list[str] = turn.get("metadata", {}).get("derived", [])
    return names


def memory(turn: dict[str, Any]) -> dict[str, Any]:
    held: dict[str, Any] = turn.get("metadata", {}).get("memory", {})
    return held


def lower(text: str | None) -> str | None:
    return None if text is None else text.lower()
