"""Deliveries of a queue, in every envelope that is opened (``agent/capture/events``), headers and body.

An input is one JSON line of headers, as WSGI names them, and the body behind it.
"""

from __future__ import annotations

import base64
import binascii
import io
import json
import random
from collections.abc import Hashable, Sequence
from typing import Any

from agent.capture.events.delivery import Delivery
from agent.capture.events.opening import delivery_of
from agent.edge.body import MAX_BODY_BYTES
from agent.edge.document import parse
from agent.errors import AgentError, PayloadTooLarge, ValidationError
from tests.capture.events.envelopes import ENVELOPES
from tests.fuzz.corpus import saved
from tests.fuzz.engine import Target
from tests.fuzz.mutation import mutated, rearranged
from tests.fuzz.parser_target import RefusedByJudge, judged
from tests.live.payloads import BASE_TEXT

_HEADERS = [
    "HTTP_CE_SPECVERSION",
    "HTTP_CE_ID",
    "HTTP_CE_SOURCE",
    "HTTP_CE_TYPE",
    "HTTP_CE_FORMAT",
    "HTTP_CE_TRACEPARENT",
    "HTTP_CE_TIME",
    "HTTP_X_GOOG_PUBSUB_MESSAGE_ID",
    "HTTP_FORMAT",
    "HTTP_CONTENT_ENCODING",
    "CONTENT_TYPE",
]
_VALUES = ["", "1.0", "0.3", '"', '"1.0"', '"\\', "%", "%ff%00", "%zz", "gzip", "br", "\xff", "a" * 3000]
_VALUES += ["application/cloudevents+json", "application/cloudevents-batch+json", "application/json"]


def look(case: bytes) -> Hashable:
    """Open a delivery; the name is why it was refused, or what it says of itself."""
    head, _, body = case.partition(b"\n")
    try:
        headers = json.loads(head)
    except (ValueError, RecursionError):
        return "no case"
    if not isinstance(headers, dict) or not all(isinstance(value, str) for value in headers.values()):
        return "no case"
    environ = {
        "REQUEST_METHOD": "POST",
        "PATH_INFO": "/",
        "CONTENT_TYPE": "",
        **headers,
        "CONTENT_LENGTH": str(len(body)),
        "wsgi.input": io.BytesIO(body),
    }
    try:
        delivery = delivery_of(environ)
    except (ValidationError, PayloadTooLarge) as error:
        return _refused(error)
    return _opened(delivery, body, is_alone=not any(name.startswith("HTTP_") for name in headers))


def _refused(error: ValidationError) -> Hashable:
    assert error.problems
    assert len(error.message) < 500
    assert len(json.dumps(error.details).encode()) < 16 * 1024
    return "refused", error.message[:40], *sorted(f"{problem.path} {problem.rule}" for problem in error.problems)


def _opened(delivery: Delivery, body: bytes, *, is_alone: bool) -> Hashable:
    assert isinstance(delivery.body, bytes)
    assert len(delivery.body) <= MAX_BODY_BYTES
    for text in (delivery.format, delivery.traceparent, delivery.published, delivery.message_id):
        assert text is None or isinstance(text, str)
    assert delivery.attempt is None or type(delivery.attempt) is int
    if delivery.refusal is not None:
        assert isinstance(delivery.refusal, AgentError)
        assert delivery.body == b""
    expected = _expected(body) if is_alone and delivery.refusal is None else None
    assert expected is None or delivery.body == expected, "another payload than the message holds"
    try:
        parse(delivery.body)
        parsed = "parsed"
    except (ValidationError, PayloadTooLarge) as error:
        parsed = error.problems[0].rule
    said = tuple(value is not None for value in delivery[1:])
    return "opened", said, parsed


def _expected(body: bytes) -> bytes | None:
    """The data of a plain Pub/Sub push, by Python's own parsers; None where it is none, or packed once more."""
    try:
        document = judged(body)
        message = document["message"]
        data = message["data"]
        attributes = message.get("attributes") or {}
    except (RefusedByJudge, KeyError, TypeError, AttributeError):
        return None
    plain = {"message", "subscription", "deliveryAttempt"}
    if not isinstance(data, str) or not isinstance(attributes, dict) or not document.keys() <= plain:
        return None
    if "content-encoding" in {name.lower() for name in attributes}:
        return None
    try:
        return base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        return None


def made(pool: Sequence[bytes], rng: random.Random) -> bytes:
    """Headers or body of a delivery changed, or both; a body also put into another's envelope."""
    head, _, body = rng.choice(pool).partition(b"\n")
    kind = rng.randrange(8)
    if kind < 3:
        head = _other_headers(head, rng)
    if kind == 3:
        head = rng.choice(pool).partition(b"\n")[0]
    if kind == 4:
        inner = rng.choice(pool).partition(b"\n")[2]
        body = rng.choice(list(ENVELOPES.values()))(_decodable(inner)).body
    if kind > 4 or (kind < 3 and rng.randrange(2)):
        try:
            document: Any = json.loads(body)
        except (ValueError, RecursionError):
            return head + b"\n" + mutated(body, rng)
        body = json.dumps(rearranged(document, rng)).encode()
    return head + b"\n" + (mutated(body, rng) if rng.randrange(4) == 0 else body)


def _decodable(data: bytes) -> bytes:
    return data.decode(errors="replace").encode()


def _other_headers(head: bytes, rng: random.Random) -> bytes:
    headers = json.loads(head)
    name = rng.choice([*_HEADERS, *headers])
    if rng.randrange(2):
        headers[name] = rng.choice([*_VALUES, *headers.values()])
    else:
        headers.pop(name, None)
    return json.dumps(headers).encode()


def events() -> Target:
    """Requests of queues and brokers to ``delivery_of``."""
    return Target("events", [*saved("events"), *_seeds()], made, look)


def _seeds() -> list[bytes]:
    payload = BASE_TEXT.replace("\n", "").encode()
    posted = [make(payload) for make in ENVELOPES.values()]
    posted.append(ENVELOPES["pubsub"](payload, format="openai-chat", traceparent="00-1", content_encoding="gzip"))
    environs = [(each.environ(), each.body) for each in posted]
    kept = [
        ({name: value for name, value in environ.items() if name.startswith(("HTTP_", "CONTENT_TYPE"))}, body)
        for environ, body in environs
    ]
    return [json.dumps(headers).encode() + b"\n" + body for headers, body in kept]
