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
from store.log.envelope import Envelope, canonical_sent, encode_sent
from store.log.identifiers import packed

# What the store says about a turn. A member of such a name in the turn object is kept in the event, not in the record.
RECORD_FIELDS: Final = frozenset(
    {
        "turn_id",
        "seq",
        "parent_turn_id",
        "conversation_id",
        "captured_at",
        "agent_version",
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

    ``fields`` are its members as sent. ``body_sha256`` identifies its body, ``derived`` are the fields that this leaves
    out. ``lower_case``: every id in it is written in lower case, so that turns with the same body and nothing derived
    have the same RFC 8785 form. ``parent`` counts only where ``names_parent``: None there means a root. ``names_leaf``
    is the id in ``metadata.memory.leaf``. ``erased``: the store that it comes from has taken its content out.
    """

    turn_id: bytes
    fields: dict[str, Any]
    derived: tuple[str, ...]
    body_sha256: bytes
    lower_case: bool
    names_parent: bool
    parent: bytes | None
    names_leaf: bytes | None
    erased: bool

    def text(self) -> tuple[bytes, bytes]:
        """Its JSON text in two pieces: the RECORD_FIELDS, then its other members and ``}``."""
        fields = self.fields
        if RECORD_FIELDS.isdisjoint(fields.keys() - {"turn_id"}):
            others = fields.copy()
            ours = {"turn_id": others.pop("turn_id")}
        else:
            ours = {name: value for name, value in fields.items() if name in RECORD_FIELDS}
            others = {name: value for name, value in fields.items() if name not in RECORD_FIELDS}
        head = encode_sent(ours)[:-1]
        return (head + b"," if others else head), encode_sent(others)[1:]


@dataclass(frozen=True, slots=True)
class SentCapture:
    """What an event brings to a session. ``narrowness``: 0 for content in full, 1 redacted, 2 omitted.

    ``agent_id``, ``user_id`` and ``tags`` are those of ``inputs.context``; what is no string there says nothing.
    """

    session_id: bytes
    conversation_id: bytes
    narrowness: int
    turns: tuple[SentTurn, ...]
    agent_id: str | None
    user_id: str | None
    tags: tuple[str, ...]
    native_session_id: str | None


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
        turn = _sent_turn(fields, from_erased=envelope.erased)
        if turn is None or turn.turn_id in turns:
            return None
        turns[turn.turn_id] = turn
    constraints = payload.get("constraints_applied")
    applied = constraints if isinstance(constraints, list) else []
    narrowness = max((depth for name, depth in _NARROWNESS.items() if name in applied), default=0)
    context = inputs.get("context")
    about = context if isinstance(context, dict) else {}
    tags = about.get("tags")
    return SentCapture(
        session_id,
        conversation_id,
        narrowness,
        tuple(turns.values()),
        agent_id=text_or_none(about.get("agent_id")),
        user_id=text_or_none(about.get("user_id")),
        tags=tuple(tag for tag in tags if isinstance(tag, str)) if isinstance(tags, list) else (),
        native_session_id=text_or_none(inputs.get("native_session_id")),
    )


def text_or_none(value: object) -> str | None:
    """``value`` where it is a string; an empty one says nothing."""
    return value if isinstance(value, str) and value else None


def _sent_turn(turn: object, *, from_erased: bool) -> SentTurn | None:
    if not isinstance(turn, dict):
        return None
    turn_id, named = packed(turn.get("turn_id")), turn.get("parent_turn_id")
    parent = None if named is None else packed(named)
    if turn_id is None or (named is not None and parent is None):
        return None
    metadata, memory = _metadata_and_memory(turn)
    derived = _derived(metadata)
    if derived:
        # The hash leaves them out, and with them the look for numbers that overflow.
        encode_sent([turn[name] for name in derived if name in turn])
    body, lower_case = _body(turn, metadata, memory, derived)
    return SentTurn(
        turn_id,
        turn,
        derived,
        _sha256(body),
        lower_case,
        "parent_turn_id" in turn,
        parent,
        packed(memory.get("leaf")) if memory else None,
        from_erased and turn.get("erased") is True,
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


def _sha256(body: dict[str, Any]) -> bytes:
    """SHA-256 of the RFC 8785 form of a turn's body (CONTRACT 10, "A turn sent again")."""
    try:
        text = orjson.dumps(body, option=orjson.OPT_SORT_KEYS)
    except TypeError:
        # A number with a fraction is of a type that orjson refuses, as it does an integer beyond 64 bits.
        encode_sent(body)
    else:
        # ASCII text has no key beyond the BMP, which is what is_plain looks for.
        if text.isascii() or is_plain(body):
            return hashlib.sha256(text).digest()
    return hashlib.sha256(canonical_sent(body)).digest()


def _body(
    turn: dict[str, Any], metadata: dict[str, Any], memory: dict[str, Any], derived: tuple[str, ...]
) -> tuple[dict[str, Any], bool]:
    """A turn's fields but its id, without the derived ones, and with the ids of other things in lower case.

    Also whether all of its ids, its own too, were in lower case already.
    """
    fields = turn.copy()
    turn_id = fields.pop("turn_id")
    changed: dict[str, Any] = {}
    if "parent_turn_id" in fields:
        changed["parent_turn_id"] = _lowered(fields["parent_turn_id"])
    invocations = fields.get("tool_invocations")
    if isinstance(invocations, list):
        changed["tool_invocations"] = [_lowered_member(entry, "invocation_id") for entry in invocations]
    if "leaf" in memory:
        changed["metadata"] = {**metadata, "memory": _lowered_member(memory, "leaf")}
    lower_case = turn_id == turn_id.lower() and all(fields[name] == value for name, value in changed.items())
    if not changed and not derived:
        return fields, lower_case
    return {name: value for name, value in {**fields, **changed}.items() if name not in derived}, lower_case


def _lowered(text: Any) -> Any:
    return text.lower() if is_uuid(text) else text


def _lowered_member(entry: Any, name: str) -> Any:
    """``entry`` with its id ``name`` in lower case, itself where it is so already."""
    if not isinstance(entry, dict) or name not in entry:
        return entry
    lowered = _lowered(entry[name])
    return entry if lowered == entry[name] else {**entry, name: lowered}
