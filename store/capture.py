"""The turns that an event brings (CONTRACT 10): which event makes turns, and what identifies a turn's body.

An event makes turns if its type is ``conversation_capture`` and its ``inputs`` name a session, a conversation and
turns by UUIDs as section 1 has them. Otherwise it makes none at all, not some: half a conversation with wrong parents
would be worse than an event that is kept and can be read again. Roles, contents and times are not looked at.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import orjson

from agent.core.canonical import is_plain
from agent.core.decision import DECISION_TYPE
from agent.core.ids import is_uuid
from store.envelope import Envelope, canonical_sent, encode_sent
from store.identifiers import packed

# What the store says about a turn. A member of such a name in the turn object is kept in the event, not in the record.
RECORD_FIELDS: Final = frozenset(
    {
        "turn_id",
        "seq",
        "parent_turn_id",
        "conversation_id",
        "captured_at",
        "version",
        "execution_ref",
        "revisions",
        "erased",
    }
)

# CONTRACT 8: a narrower body never replaces a fuller one.
_NARROWNESS: Final = {"content_redacted": 1, "content_omitted": 2}


class SentTurn(NamedTuple):
    """A turn of a payload. (A tuple, since a frozen dataclass costs four times as much to make, for each turn.)

    ``head`` and ``tail`` are its JSON text: the RECORD_FIELDS first, then from ``tail`` on its other members and ``}``.
    ``body_sha256`` identifies its body, ``derived`` are the fields that this leaves out. ``parent`` counts only where
    ``names_parent``: None there means a root. ``names_leaf`` is the id in ``metadata.memory.leaf``.
    """

    turn_id: bytes
    head: bytes
    tail: bytes
    derived: tuple[str, ...]
    body_sha256: bytes
    names_parent: bool
    parent: bytes | None
    names_leaf: bytes | None


@dataclass(frozen=True, slots=True)
class SentCapture:
    """What an event brings to a session. ``narrowness``: 0 for content in full, 1 redacted, 2 omitted."""

    session_id: bytes
    conversation_id: bytes
    narrowness: int
    turns: tuple[SentTurn, ...]


def read_capture(envelope: Envelope) -> SentCapture | None:
    """The turns of ``envelope``; None where it makes none. Raises BadRequest for a number that overflows."""
    payload = envelope.payload
    inputs = payload.get("inputs")
    if envelope.type != DECISION_TYPE or payload.get("decision_type", DECISION_TYPE) != DECISION_TYPE:
        return None
    if not isinstance(inputs, dict):
        return None
    session_id, conversation_id = packed(inputs.get("session_id")), packed(inputs.get("conversation_id"))
    sent = inputs.get("turns")
    if session_id is None or conversation_id is None or not isinstance(sent, list) or not sent:
        return None
    turns: dict[bytes, SentTurn] = {}
    for fields in sent:
        turn = _sent_turn(fields)
        if turn is None or turn.turn_id in turns:
            return None
        turns[turn.turn_id] = turn
    constraints = payload.get("constraints_applied")
    applied = constraints if isinstance(constraints, list) else []
    narrowness = max((depth for name, depth in _NARROWNESS.items() if name in applied), default=0)
    return SentCapture(session_id, conversation_id, narrowness, tuple(turns.values()))


def _sent_turn(turn: object) -> SentTurn | None:
    if not isinstance(turn, dict):
        return None
    turn_id, named = packed(turn.get("turn_id")), turn.get("parent_turn_id")
    parent = None if named is None else packed(named)
    if turn_id is None or (named is not None and parent is None):
        return None
    fields = turn.copy()
    ours, others = {"turn_id": fields.pop("turn_id")}, fields
    if not RECORD_FIELDS.isdisjoint(fields):
        ours |= {name: value for name, value in fields.items() if name in RECORD_FIELDS}
        others = {name: value for name, value in fields.items() if name not in RECORD_FIELDS}
    metadata, memory = _metadata_and_memory(turn)
    derived = _derived(metadata)
    head, tail = encode_sent(ours)[:-1], encode_sent(others)[1:]
    body = _body(fields, metadata, memory, derived)
    return SentTurn(
        turn_id,
        head + b"," if others else head,
        tail,
        derived,
        _sha256(body, is_ascii=head.isascii() and tail.isascii()),
        "parent_turn_id" in turn,
        parent,
        packed(memory.get("leaf")) if memory else None,
    )


def _metadata_and_memory(turn: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """``metadata`` and ``metadata.memory`` of a turn; empty where there is none, or something else."""
    metadata = turn.get("metadata")
    if not isinstance(metadata, dict):
        return {}, {}
    memory = metadata.get("memory")
    return metadata, memory if isinstance(memory, dict) else {}


def _derived(metadata: dict[str, Any]) -> tuple[str, ...]:
    """The fields of a turn that its ``metadata.derived`` names (CONTRACT 3)."""
    named = metadata.get("derived")
    return tuple(name for name in named if isinstance(name, str)) if isinstance(named, list) else ()


def _sha256(body: dict[str, Any], *, is_ascii: bool) -> bytes:
    """SHA-256 of the RFC 8785 form of a turn's body (CONTRACT 10, "A turn sent again")."""
    # ASCII text has no key beyond the BMP, which is what is_plain looks for.
    if is_ascii or is_plain(body):
        try:
            return hashlib.sha256(orjson.dumps(body, option=orjson.OPT_SORT_KEYS)).digest()
        except TypeError:
            # A number with a fraction is of a type that orjson refuses, as it does an integer beyond 64 bits.
            pass
    return hashlib.sha256(canonical_sent(body)).digest()


def _body(
    fields: dict[str, Any], metadata: dict[str, Any], memory: dict[str, Any], derived: tuple[str, ...]
) -> dict[str, Any]:
    """A turn's fields but its id, without the derived ones, and with the ids of other things in lower case."""
    changed: dict[str, Any] = {}
    if "parent_turn_id" in fields:
        changed["parent_turn_id"] = _lowered(fields["parent_turn_id"])
    invocations = fields.get("tool_invocations")
    if isinstance(invocations, list):
        changed["tool_invocations"] = [_lowered_member(entry, "invocation_id") for entry in invocations]
    if "leaf" in memory:
        changed["metadata"] = {**metadata, "memory": _lowered_member(memory, "leaf")}
    if not changed and not derived:
        return fields
    return {name: value for name, value in {**fields, **changed}.items() if name not in derived}


def _lowered(text: Any) -> Any:
    return text.lower() if is_uuid(text) else text


def _lowered_member(entry: Any, name: str) -> Any:
    """``entry`` with its id ``name`` in lower case, itself where it is so already."""
    if not isinstance(entry, dict) or name not in entry:
        return entry
    lowered = _lowered(entry[name])
    return entry if lowered == entry[name] else {**entry, name: lowered}
