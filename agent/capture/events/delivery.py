"""What a queue or a broker delivered: the payload's own bytes, and what its envelope says about them."""

from __future__ import annotations

import binascii
import io
from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

from agent.capture.events.members import Span
from agent.core.json_path import json_path
from agent.core.payload_fields import OF_OPTIONS
from agent.edge.body import MAX_BODY_BYTES, read_body, too_large
from agent.edge.document import parse, parse_value
from agent.edge.room import Place
from agent.errors import AgentError, PayloadTooLarge, Problem, ValidationError

# Pub/Sub allows 100 attributes of 256 + 1024 bytes; CloudEvents 1.0.2 ("Size Limits") promises 64 KiB in all.
MAX_ENVELOPE_BYTES: Final = 256 * 1024
# A payload of 10 MiB in base64 takes 13.4 MiB; the rest is its envelope, and escapes that an encoder puts before "/".
MAX_DELIVERY_BYTES: Final = 15 * 1024 * 1024
# An attribute of a CloudEvent has small letters and digits alone, a header's name hyphens, and CAPTURE_CONTENT is what
# the operator's is called.
_OPTION: Final = "captureoption"
_OPTIONS: Final = frozenset(
    {_OPTION, f"{_OPTION}s", "capturecontent", *(f"{_OPTION}s{name.replace('_', '')}" for name in OF_OPTIONS)}
)


class Delivery(NamedTuple):
    """What an envelope holds, and what it says of it; None where it does not say.

    ``published`` is a date-time as sent, ``attempt`` counts deliveries from 1, ``message_id`` is what Pub/Sub calls the
    message. ``refusal`` is why its ``body`` cannot be had: the envelope says all the same which message it is.
    """

    body: bytes
    format: str | None = None
    traceparent: str | None = None
    published: str | None = None
    attempt: int | None = None
    message_id: str | None = None
    refusal: AgentError | None = None


def envelope_around(text: bytes, payload: Span | None) -> dict[str, Any]:
    """What ``text``, a JSON object, says beside its ``payload``, which reads as null. Raises ValidationError.

    It is parsed by the rules that hold for every body, and is small.
    """
    size = len(text) - (0 if payload is None else payload.end - payload.start)
    if size > MAX_ENVELOPE_BYTES:
        raise PayloadTooLarge(
            f"the envelope around the payload has more than {MAX_ENVELOPE_BYTES} bytes", [Problem("$", "size")]
        )
    if payload is None:
        return parse(text).value
    return parse(text[: payload.start] + b"null" + text[payload.end :]).value


def refuse_options(names: Iterable[str], path: str) -> None:
    """Raise ValidationError where one of ``names``, members or attributes at ``path``, means to be ``capture_options``.

    They are read in the payload alone, and whoever asks for less content is not passed over.
    """
    for name in names:
        if "".join(filter(str.isalnum, name.lower())) in _OPTIONS:
            problem = Problem(path + json_path((name,)).removeprefix("$"), "unsupported")
            raise ValidationError("capture_options stand in the payload, and not in what is around it", [problem])


def from_base64(text: bytes, span: Span | None, path: str) -> bytes:
    """The bytes that a JSON string of base64 (RFC 4648 4) in ``text`` holds; none at all where nothing is there."""
    if span is None or text.startswith(b"null", span.start):
        return b""
    if text[span.start : span.start + 1] != b'"':
        raise ValidationError("the data are not a string of base64", [Problem(path, "type")])
    inside = memoryview(text)[span.start + 1 : span.end - 1]
    if text.find(b"\\", span.start, span.end) >= 0:
        # An encoder may write "/" as "\/".
        inside = memoryview(parse_value(span.of(text))[0].encode())
    try:
        return binascii.a2b_base64(inside, strict_mode=True)
    except binascii.Error:
        raise ValidationError("the data are not base64", [Problem(path, "encoding")]) from None


def bounded(payload: bytes, encoding: str | None = None, place: Place | None = None) -> bytes:
    """``payload`` with its ``encoding`` undone, as ``read_body`` does it, within the bound of a body."""
    if encoding is not None:
        return read_body(io.BytesIO(payload), content_length=len(payload), encoding=encoding, place=place)
    if len(payload) > MAX_BODY_BYTES:
        raise too_large(MAX_BODY_BYTES)
    return payload


def text_of(envelope: Mapping[str, Any], name: str, path: str) -> str | None:
    """The member ``name`` where it is there; raises ValidationError for one that is no string."""
    value = envelope.get(name)
    if value is not None and not isinstance(value, str):
        raise ValidationError(f"the envelope's {name} is not a string", [Problem(f"{path}.{name}", "type")])
    return value
