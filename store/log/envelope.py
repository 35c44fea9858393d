"""From the bytes of a write to an ``Envelope`` (CONTRACT 10): strict JSON, the required members, nothing more.

Refuses what is not JSON in the sense of RFC 8259 and RFC 7493, and numbers that overflow a double. What an event
holds beyond the required members is its writer's business: it is kept and given back as it came.

Numbers with a fraction or an exponent stay the text that was sent (jiter's ``LosslessFloat``): written again they keep
their digits, and whoever writes them also finds those that overflow.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from typing import Any, Final

import jiter
import orjson

from agent.core.agent_identity import AGENT_VERSION
from agent.core.canonical import canonical_walk, encode
from agent.core.timestamps import instant
from store.errors import BadRequest
from store.log.identifiers import lowered, packed

_NANOSECONDS_A_MICROSECOND: Final = 1000
_WHITE_SPACE: Final = b" \t\r\n"
_SAID_BY_STORE: Final = frozenset({"position", "erased"})
_OVERFLOW: Final = "a number overflows a double"


@dataclass(frozen=True, slots=True)
class Envelope:
    """One event as it came.

    ``members`` are those of the envelope but ``payload`` and ``position``; ``text`` is the JSON text of all but
    ``position``, the payload in it byte for byte as sent. ``instant_us`` are microseconds since 1970. ``agent_id``,
    ``decision_type`` and ``inputs_hash`` are None where the payload has no such string. The session and conversation
    are those that ``inputs`` names, else ``outputs``; the user is that of ``inputs.context``, else ``context``.
    ``other_version`` is its ``agent_version``, where the major of that is not the one of our contract (CONTRACT 6).
    ``erased``: a store says of it that content was taken out (CONTRACT 10a).
    """

    text: bytes
    type: str
    execution_ref: str
    timestamp: str
    instant_us: int
    members: dict[str, Any]
    payload: dict[str, Any]
    agent_id: str | None
    decision_type: str | None
    inputs_hash: str | None
    session_id: bytes | None
    conversation_id: bytes | None
    user_id: str | None
    other_version: str | None
    erased: bool


def read_envelope(body: bytes) -> Envelope:
    """Read an envelope, or a bare DecisionEvent. Raises BadRequest, which names the member and the rule.

    Numbers are not looked at yet: whoever writes the event again does (``encode_sent``).
    """
    document = _parse(body)
    bare = "payload" not in document and "decision_type" in document
    names = ("decision_type", "execution_ref", "timestamp") if bare else ("type", "runId", "timestamp")
    kind, run_id, timestamp = (_string(document, name) for name in names)
    try:
        instant_us = instant(timestamp) // _NANOSECONDS_A_MICROSECOND
    except ValueError:
        raise BadRequest("timestamp must be an RFC 3339 date-time with an offset") from None
    payload = document if bare else document.get("payload")
    if not isinstance(payload, dict):
        raise BadRequest("payload must be an object")
    if bare:
        members = {"type": kind, "runId": run_id, "timestamp": timestamp}
    else:
        # What another store said of an envelope that it fed is not what this one says of it.
        members = {name: value for name, value in document.items() if name not in ("payload", *_SAID_BY_STORE)}
    places = (_member(payload, "inputs"), _member(payload, "outputs"))
    return Envelope(
        text=_text_of(body.strip(_WHITE_SPACE), document, members, bare=bare),
        type=kind,
        execution_ref=lowered(run_id),
        timestamp=timestamp,
        instant_us=instant_us,
        members=members,
        payload=payload,
        agent_id=_name(payload, "agent_id"),
        decision_type=_name(payload, "decision_type"),
        inputs_hash=_name(payload, "inputs_hash"),
        session_id=_first_id(places, "session_id"),
        conversation_id=_first_id(places, "conversation_id"),
        other_version=other_version(payload),
        erased=not bare and document.get("erased") is True,
        user_id=_name(_member(places[0], "context"), "user_id") or _name(_member(payload, "context"), "user_id"),
    )


def parse_kept(text: bytes) -> dict[str, Any]:
    """The object that JSON ``text`` out of the store holds; its numbers as those of an envelope."""
    value: dict[str, Any] = _from_json(text)
    return value


def encode_sent(value: Any) -> bytes:
    """JSON text of a value of an envelope, keys and numbers as sent. BadRequest for a number that overflows."""
    try:
        return encode(value, default=_digits)
    except TypeError:
        raise BadRequest(_OVERFLOW) from None


def canonical_sent(value: Any) -> bytearray:
    """The RFC 8785 form of a value of an envelope that ``encode_sent`` has written: no number in it overflows."""
    return canonical_walk(value, convert=float)


def _digits(number: Any) -> orjson.Fragment:
    if not isfinite(float(number)):
        raise TypeError
    return orjson.Fragment(bytes(number))


def _parse(body: bytes) -> dict[str, Any]:
    try:
        document = _from_json(body)
    except ValueError:
        # jiter's message may quote a key: the caller knows its own body.
        raise BadRequest("the body is not JSON: UTF-8, no duplicate keys, no NaN, no lone surrogates") from None
    if not isinstance(document, dict):
        raise BadRequest("the body must be a JSON object")
    return document


def _from_json(text: bytes) -> Any:
    # Caching strings that are no keys costs more than it spares: most are ids, each of them new.
    return jiter.from_json(
        text, catch_duplicate_keys=True, allow_inf_nan=False, float_mode="lossless-float", cache_mode="keys"
    )


def _text_of(sent: bytes, document: dict[str, Any], members: dict[str, Any], *, bare: bool) -> bytes:
    if bare:
        text = orjson.dumps(members)[:-1] + b',"payload":' + sent + b"}"
        # One level deeper than it was sent, and still to be read.
        _parse(text)
        return text
    if not _SAID_BY_STORE.isdisjoint(document):
        return encode_sent({**members, "payload": document["payload"]})
    return sent


def _string(document: dict[str, Any], name: str) -> str:
    value = document.get(name)
    if not isinstance(value, str):
        raise BadRequest(f"{name} must be a string")
    return value


def _name(payload: dict[str, Any], name: str) -> str | None:
    """A string that can identify an event; an empty one says nothing."""
    value = payload.get(name)
    return value if isinstance(value, str) and value else None


def other_version(payload: dict[str, Any]) -> str | None:
    """What is kept of an event's ``agent_version``, where its major is not the one of our contract; else None."""
    version = payload.get("agent_version")
    if version == AGENT_VERSION or version is None:
        return None
    # Late: nearly every event keeps our own.
    from agent.core.contract_version import kept_version, major_version

    return None if major_version(version) in (None, major_version(AGENT_VERSION)) else kept_version(version)


def _member(payload: dict[str, Any], name: str) -> dict[str, Any]:
    value = payload.get(name)
    return value if isinstance(value, dict) else {}


def _first_id(places: tuple[dict[str, Any], ...], name: str) -> bytes | None:
    return next((key for place in places if (key := packed(place.get(name))) is not None), None)
