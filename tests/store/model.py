"""CONTRACT 10 as a small store in memory, written for reading: no index, everything is looked up by walking.

It speaks of one tenant and of well-formed envelopes with an ``inputs_hash``; an event makes turns if its type is
``conversation_capture`` and it has ``inputs``. Lists are in ``model_lists``, erasure in ``model_erasure``.
"""

import copy
import json
from dataclasses import dataclass, field
from typing import Any

NARROWNESS = {"content_redacted": 1, "content_omitted": 2}
NONE = {"new": 0, "known": 0, "revised": 0, "erased": 0}


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
    agent_version: str
    version: int
    # As it came, when ``fields`` came: with the derived members of its own.
    sent: dict[str, Any] = field(default_factory=dict)
    revisions: int = 1
    erased: bool = False

    def record(self) -> dict[str, Any]:
        kept = skeleton(self.fields)
        fields = {name: kept[name] for name in ("role", "metadata") if name in kept} if self.erased else self.fields
        return {
            **fields,
            "turn_id": self.turn_id,
            "seq": self.seq,
            "parent_turn_id": self.parent,
            "conversation_id": self.conversation,
            "captured_at": self.captured_at,
            "version": self.version,
            "execution_ref": self.execution_ref,
            "revisions": self.revisions,
            "erased": self.erased,
            **({} if self.agent_version.startswith("1.") else {"agent_version": self.agent_version}),
        }


@dataclass
class ModelSession:
    """``key`` is the position of the first event that named it."""

    session_id: str
    key: int
    turns: list[ModelTurn] = field(default_factory=list)
    version: int = 0


@dataclass
class ModelEvent:
    """``envelope`` is given back; ``brought`` are the turns that were new or revised by it, ``user`` whose it is.

    ``others`` are its places of turns that others brought, with what is left there when the event is emptied whole.
    ``kept_fuller`` counts the turns that it said in another, narrower body.
    """

    envelope: dict[str, Any]
    position: int
    session: ModelSession | None
    conversation: str | None
    user: str | None
    makes_turns: bool
    turn_ids: list[str]
    brought: list[str] = field(default_factory=list)
    others: dict[int, dict[str, Any]] = field(default_factory=dict)
    emptied: bool = False
    kept_fuller: int = 0

    def given_back(self) -> dict[str, Any]:
        return {**self.envelope, "position": self.position}


@dataclass
class ModelStore:
    position: int = 0
    events: list[ModelEvent] = field(default_factory=list)
    keys: dict[str, ModelEvent] = field(default_factory=dict)
    sessions: dict[str, ModelSession] = field(default_factory=dict)
    tombstones: set[str] = field(default_factory=set)
    erasures: list[dict[str, Any]] = field(default_factory=list)

    def append(self, envelope: dict[str, Any], key: str | None = None) -> dict[str, Any] | None:
        """The receipt without ``eventId``; None for a 409."""
        envelope = copy.deepcopy(envelope)
        key = None if key == envelope["payload"]["inputs_hash"] else key
        by_ref = [event for event in self.events if event.envelope["runId"] == envelope["runId"]]
        by_key = [self.keys[key]] if key in self.keys else []
        by_payload = [event for event in self.events if identity(event.envelope) == identity(envelope)]
        if any(hash_of(event.envelope) != hash_of(envelope) for event in by_ref + by_key):
            return None
        same = sorted(by_ref + by_key + by_payload, key=lambda event: event.position)
        if same:
            first, status, counts = same[0], "duplicate", known_again(same[0])
        else:
            first, status = self._new(envelope), "accepted"
            self.events.append(first)
            counts = self._turns(first) if first.makes_turns else dict(NONE)
        if key is not None:
            self.keys.setdefault(key, first)
        return {
            "status": status,
            "executionRef": first.envelope["runId"],
            "timestamp": first.envelope["timestamp"],
            "position": first.position,
            "turns": counts,
            **({"kept_fuller": first.kept_fuller} if status == "accepted" and first.kept_fuller else {}),
        }

    def _new(self, envelope: dict[str, Any]) -> ModelEvent:
        self.position += 1
        payload = envelope["payload"]
        inputs, outputs = payload.get("inputs", {}), payload.get("outputs", {})
        session_id = lower(inputs.get("session_id") or outputs.get("session_id"))
        session = None
        if session_id is not None:
            session = self.sessions.setdefault(session_id, ModelSession(session_id, self.position))
        user = context_of(payload).get("user_id")
        makes_turns = envelope["type"] == "conversation_capture" and "turns" in inputs
        return ModelEvent(
            envelope=envelope,
            position=self.position,
            session=session,
            conversation=lower(inputs.get("conversation_id") or outputs.get("conversation_id")),
            user=user if isinstance(user, str) else None,
            makes_turns=makes_turns,
            turn_ids=[turn["turn_id"].lower() for turn in inputs["turns"]] if makes_turns else [],
        )

    def _turns(self, event: ModelEvent) -> dict[str, int]:
        payload = event.envelope["payload"]
        narrowness = max([NARROWNESS[name] for name in payload["constraints_applied"] if name in NARROWNESS], default=0)
        session, conversation = event.session, event.conversation
        assert session is not None
        assert conversation is not None
        turns = session.turns
        leaf = current_leaf(turns, conversation)
        if leaf is not None and end_of_path(turns, leaf.turn_id) in event.turn_ids:
            leaf = None
        counts = dict(NONE)
        before = None if leaf is None else leaf.turn_id
        for place, sent in enumerate(payload["inputs"]["turns"]):
            name = sent["turn_id"].lower()
            there = find(turns, name)
            if there is None:
                is_erased = name in self.tombstones
                counts["erased" if is_erased else "new"] += 1
                parent = lower(sent["parent_turn_id"]) if "parent_turn_id" in sent else before
                if parent is not None and end_of_path(turns, parent) == name:
                    parent = None
                turns.append(
                    ModelTurn(
                        turn_id=name,
                        seq=len(turns) + 1,
                        conversation=conversation,
                        parent=parent,
                        fields=sent,
                        narrowness=narrowness,
                        captured_at=event.envelope["timestamp"],
                        execution_ref=event.envelope["runId"],
                        agent_version=payload["agent_version"],
                        version=event.position,
                        sent=sent,
                        erased=is_erased,
                    )
                )
                event.brought.append(name)
                session.version = event.position
            elif there.erased:
                counts["erased"] += 1
            elif body(sent) == body(there.fields):
                counts["known"] += 1
                there.narrowness = min(there.narrowness, narrowness)
                is_same = is_lower(sent, there.sent) or json.dumps(sent) == json.dumps(there.sent)
                event.others[place] = there.sent if is_same else skeleton(sent)
            elif narrowness > there.narrowness:
                counts["known"] += 1
                event.kept_fuller += 1
                event.others[place] = skeleton(sent)
            else:
                counts["revised"] += 1
                both = (there.fields, sent)
                stay = {n: there.fields[n] for n in derived(sent) if all(isinstance(one.get(n), str) for one in both)}
                there.fields, there.sent, there.narrowness = {**sent, **stay}, sent, narrowness
                there.revisions += 1
                there.version, there.execution_ref = event.position, event.envelope["runId"]
                there.agent_version = payload["agent_version"]
                event.brought.append(name)
                session.version = event.position
            there = find(turns, name)
            assert there is not None
            if there.erased:
                payload["inputs"]["turns"][place] = skeleton(sent)
                without_entities(payload, name)
                event.envelope["erased"] = True
            before = name
        return counts


def known_again(first: ModelEvent) -> dict[str, int]:
    """The counts of a duplicate of ``first``."""
    turns = [] if first.session is None else first.session.turns
    gone = sum(1 for name in first.turn_ids if (turn := find(turns, name)) is not None and turn.erased)
    return {**NONE, "known": len(first.turn_ids) - gone, "erased": gone}


def skeleton(sent: dict[str, Any]) -> dict[str, Any]:
    """What an event keeps of an erased turn: names of things, what the turn table is made of, what cuts a history."""
    kept = {name: sent[name] for name in ("turn_id", "role", "parent_turn_id") if name in sent}
    calls = [{"invocation_id": call["invocation_id"]} for call in sent.get("tool_invocations", [])]
    cuts = {"metadata": {"memory": cut_of(sent)}} if cut_of(sent) else {}
    return {**kept, **({"tool_invocations": calls} if calls else {}), **cuts, "erased": True}


def cut_of(sent: dict[str, Any]) -> dict[str, Any]:
    """What ``metadata.memory`` says of a history, where it is of the shape of CONTRACT 9."""
    held = memory(sent)
    kept: dict[str, Any] = {}
    if held.get("reset") is True or held.get("reset") == "all":
        kept["reset"] = held["reset"]
    if type(held.get("keep_last")) is int and 0 <= held["keep_last"] <= 2**53:
        kept["keep_last"] = held["keep_last"]
    if len(str(held.get("leaf"))) == 36:
        kept["leaf"] = held["leaf"].lower()
    is_skeleton = sent.get("erased") is True and "content" not in sent
    if sent["role"] == "system" and (is_skeleton or sent["content"] == "") and held.get("state_only") is True:
        kept["state_only"] = True
    return kept


def without_entities(payload: dict[str, Any], turn_id: str) -> None:
    outputs = payload.get("outputs", {})
    if "entities" in outputs:
        outputs["entities"] = [entity for entity in outputs["entities"] if entity["turn_id"].lower() != turn_id]


def hash_of(envelope: dict[str, Any]) -> str:
    hashed: str = envelope["payload"]["inputs_hash"]
    return hashed


def identity(envelope: dict[str, Any]) -> tuple[str, ...]:
    return tuple(envelope["payload"][name] for name in ("agent_id", "decision_type", "inputs_hash"))


def context_of(payload: dict[str, Any]) -> dict[str, Any]:
    """Of a capture, or of an event that carries it beside its inputs."""
    held: dict[str, Any] = payload.get("inputs", {}).get("context") or payload.get("context") or {}
    return held


def find(turns: list[ModelTurn], turn_id: str) -> ModelTurn | None:
    return next((turn for turn in turns if turn.turn_id == turn_id), None)


def end_of_path(turns: list[ModelTurn], turn_id: str | None) -> str | None:
    """The first id on the way up that is not there; None where the way ends in a root."""
    while turn_id is not None:
        turn = find(turns, turn_id)
        if turn is None:
            return turn_id
        turn_id = turn.parent
    return None


def current_leaf(turns: list[ModelTurn], conversation: str) -> ModelTurn | None:
    own = [turn for turn in turns if turn.conversation == conversation]
    parents = {turn.parent for turn in own}
    leaves = [turn for turn in own if turn.turn_id not in parents]
    if not leaves:
        return None
    leaf = leaves[-1]
    for carrier in reversed(own):
        named = find(turns, lower(memory(carrier.fields).get("leaf")) or "")
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


def is_lower(*turns: dict[str, Any]) -> bool:
    """Whether every id in them is written in lower case."""
    return all(ids == ids.lower() for ids in (json.dumps(ids_in(turn)) for turn in turns))


def ids_in(turn: dict[str, Any]) -> list[Any]:
    calls = [call["invocation_id"] for call in turn.get("tool_invocations", [])]
    leaf = memory(turn).get("leaf")
    return [turn["turn_id"], turn.get("parent_turn_id"), *calls, leaf if len(str(leaf)) == 36 else None]


def derived(turn: dict[str, Any]) -> list[str]:
    names: list[str] = turn.get("metadata", {}).get("derived", [])
    return names


def memory(turn: dict[str, Any]) -> dict[str, Any]:
    held: dict[str, Any] = turn.get("metadata", {}).get("memory", {})
    return held


def lower(text: str | None) -> str | None:
    return None if text is None else text.lower()
