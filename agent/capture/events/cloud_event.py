"""CloudEvents 1.0 over HTTP, whose data are a capture (HTTP binding 1.0.2, JSON format 1.0.2).

In binary mode (3.1) the body is the data and the attributes are headers, in structured mode (3.2) the body is one JSON
object with ``data`` or ``data_base64``. Batches (3.3) are refused: they would need one answer for several captures.
Refused, too: other event formats than JSON, and what lacks one of the four required attributes.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import unquote

from agent.capture.events.delivery import Delivery, envelope_around, from_base64, refuse_options, text_of
from agent.capture.events.members import Span
from agent.edge.document import parse_value
from agent.errors import Problem, ValidationError

MEMBERS: Final = frozenset({"specversion", "data", "data_base64"})
_VERSION: Final = "1.0"
_REQUIRED: Final = ("specversion", "id", "source", "type")
# The extension "Distributed Tracing" for traceparent; format is ours: CloudEvents allows any name of small letters.
_READ: Final = (*_REQUIRED, "time", "format", "traceparent")
_MEDIA_TYPE: Final = "application/cloudevents"
# RFC 9110 5.6.4: a quoted string, and what is quoted in it.
_QUOTED: Final = re.compile(r'"((?:[^"\\]|\\.)*+)"')
_ESCAPED: Final = re.compile(r"\\(.)")


def checked_content_type(content_type: str) -> bool:
    """Whether ``content_type`` announces an event in structured mode; raises ValidationError for one not read here."""
    media_type = content_type.partition(";")[0].strip().lower()
    if not media_type.startswith(_MEDIA_TYPE):
        return False
    if media_type not in {_MEDIA_TYPE, f"{_MEDIA_TYPE}+json"}:
        raise ValidationError(
            "of CloudEvents only single ones in JSON are taken, no batches and no other format",
            [Problem("$", "unsupported")],
        )
    return True


def is_binary(headers: Mapping[str, Any]) -> bool:
    """Whether the headers of a request, as WSGI has them, carry an event's attributes."""
    return any(_header(name) in headers for name in _REQUIRED)


def of_headers(body: bytes, headers: Mapping[str, Any]) -> Delivery:
    """The event whose attributes are ``headers``."""
    attributes = {name: _text(headers[_header(name)]) for name in _READ if _header(name) in headers}
    prefix = _header("")
    refuse_options((name.removeprefix(prefix).lower() for name in headers if name.startswith(prefix)), "$")
    return _delivery(body, attributes)


def of_document(text: bytes, found: Mapping[str, Span]) -> Delivery:
    """The event that ``text``, an object with the members ``found``, is in structured mode."""
    # A member that is null counts as absent (JSON format 2.2).
    found = {name: span for name, span in found.items() if not text.startswith(b"null", span.start)}
    if "data" in found and "data_base64" in found:
        raise ValidationError("an event has either data or data_base64", [Problem("$", "oneOf")])
    attributes = envelope_around(text, found.get("data") or found.get("data_base64"))
    refuse_options(attributes, "$")
    if "data" in found:
        payload = _json_data(found["data"].of(text))
    else:
        payload = from_base64(text, found.get("data_base64"), "$.data_base64")
    return _delivery(payload, attributes)


def _json_data(text: bytes) -> bytes:
    """The payload that ``data`` are: a JSON value as it stands, or the characters of a string.

    A string is the payload's text where ``datacontenttype`` is no JSON (JSON format 3.1); where it is, producers have
    encoded the payload twice, and no capture is a string.
    """
    return text if text[:1] != b'"' else parse_value(text)[0].encode()


def _delivery(payload: bytes, attributes: Mapping[str, Any]) -> Delivery:
    problems = [
        Problem(f"$.{name}", "required" if name not in attributes else "type")
        for name in _REQUIRED
        if not isinstance(attributes.get(name), str) or not attributes[name]
    ]
    if not problems and attributes["specversion"] != _VERSION:
        problems = [Problem("$.specversion", "const")]
    if problems:
        names = ", ".join(_REQUIRED)
        raise ValidationError(f"a CloudEvent 1.0 has {names}, strings that are not empty", problems)
    published = attributes.get("time")
    return Delivery(
        payload,
        format=text_of(attributes, "format", "$"),
        traceparent=text_of(attributes, "traceparent", "$"),
        published=published if isinstance(published, str) else None,
    )


def _text(header: str) -> str:
    """The value that a header holds: quotes are taken off first, then percent signs (HTTP binding 3.1.3.2)."""
    quoted = _QUOTED.fullmatch(header)
    return unquote(_ESCAPED.sub(r"\1", quoted[1]) if quoted else header)


def _header(name: str) -> str:
    return f"HTTP_CE_{name.upper()}"
