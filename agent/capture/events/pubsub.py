"""Messages that Google Cloud Pub/Sub pushes, wrapped in JSON or as they are.

Wrapped (https://cloud.google.com/pubsub/docs/push#receive_push): ``{"message": {"data": <base64>, "attributes": {...},
"messageId", "publishTime"}, "subscription", "deliveryAttempt"?}``. The data of an Eventarc event of the type
``google.cloud.pubsub.topic.v1.messagePublished`` look the same. Unwrapped
(https://cloud.google.com/pubsub/docs/payload-unwrapping): the data are the body; with write-metadata the rest comes in
headers, an attribute under its own name.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from agent.capture.events.delivery import Delivery, bounded, envelope_around, from_base64, refuse_options, text_of
from agent.capture.events.members import Span, members
from agent.edge.room import Place
from agent.errors import AgentError, Problem, ValidationError

MEMBERS: Final = frozenset({"message", "subscription"})
_MARKS: Final = frozenset({"data", "messageId", "message_id"})
_ATTRIBUTES_AT: Final = "$.message.attributes"
# The clients of Google put the W3C header of the publisher's span under the second name.
_TRACEPARENTS: Final = ("traceparent", "googclient_traceparent")


def is_wrapped(text: bytes, found: Mapping[str, Span]) -> bool:
    """Whether ``text``, an object with the members ``found``, is a wrapped message and no conversation."""
    message = found.get("message")
    if message is None:
        return False
    inside = members(text, _MARKS, message)
    return inside is not None and ("subscription" in found or bool(inside))


def unwrapped(text: bytes, message: Span, place: Place | None = None) -> Delivery:
    """The payload of a wrapped ``message`` in ``text``, or why it cannot be unpacked.

    Raises ValidationError where the envelope does not hold.
    """
    data = (members(text, _MARKS, message) or {}).get("data")
    envelope = envelope_around(text, data)
    refuse_options(envelope, "$")
    refuse_options(envelope["message"], "$.message")
    attributes = _attributes(envelope["message"])
    body = from_base64(text, data, "$.message.data")
    refusal = None
    try:
        body = bounded(body, attributes.get("content-encoding"), place)
    except AgentError as error:
        body, refusal = b"", error
    attempt = envelope.get("deliveryAttempt")
    published, message_id = (envelope["message"].get(name) for name in ("publishTime", "messageId"))
    return Delivery(
        body,
        format=attributes.get("format"),
        traceparent=next((attributes[name] for name in _TRACEPARENTS if name in attributes), None),
        published=published if isinstance(published, str) else None,
        attempt=attempt if type(attempt) is int else None,
        message_id=message_id if isinstance(message_id, str) else None,
        refusal=refusal,
    )


def by_headers(body: bytes, headers: Mapping[str, Any]) -> Delivery:
    """A body that no envelope is around. Only beside Pub/Sub's own headers is another one an attribute.

    A compressed one was inflated with the request: the attribute ``content-encoding`` is the header.
    """
    is_pubsub = "HTTP_X_GOOG_PUBSUB_MESSAGE_ID" in headers
    if is_pubsub:
        refuse_options((name.removeprefix("HTTP_").lower() for name in headers), "$")
    return Delivery(
        body,
        format=headers.get("HTTP_FORMAT") if is_pubsub else None,
        published=headers.get("HTTP_X_GOOG_PUBSUB_PUBLISH_TIME"),
        message_id=headers.get("HTTP_X_GOOG_PUBSUB_MESSAGE_ID"),
    )


def _attributes(message: dict[str, Any]) -> dict[str, str]:
    """The attributes that count here, under their names in small letters: people write Content-Encoding, too.

    Where both are there, the one in small letters counts: Pub/Sub keeps no order.
    """
    attributes = message.get("attributes")
    if attributes is None:
        return {}
    if not isinstance(attributes, dict):
        raise ValidationError("the message's attributes are not an object", [Problem(_ATTRIBUTES_AT, "type")])
    refuse_options(attributes, _ATTRIBUTES_AT)
    wanted = {"format", "content-encoding", *_TRACEPARENTS}
    texts = {name: text_of(attributes, name, _ATTRIBUTES_AT) for name in attributes if name.lower() in wanted}
    given = {name: text for name, text in texts.items() if text is not None}
    # Small letters sort behind capitals, so they are the last to be set.
    return {name.lower(): given[name] for name in sorted(given)}
