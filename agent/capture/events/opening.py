"""From a posted request to the payload in it, whichever of the envelopes it came in.

The outer envelope is a CloudEvent, by its headers or by its body, or none; what it holds is a message of Pub/Sub, or
the payload itself. What is nobody's envelope is a payload, and the capture says what is wrong with it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from agent.capture.events import cloud_event, pubsub
from agent.capture.events.delivery import MAX_DELIVERY_BYTES, Delivery, bounded
from agent.capture.events.members import members
from agent.edge.document import BYTE_ORDER_MARK
from agent.edge.request_body import request_body
from agent.edge.room import Place

# "turns" make a conversation of what has members of an envelope besides.
_TOLD_APART_BY: Final = cloud_event.MEMBERS | pubsub.MEMBERS | {"turns"}


def delivery_of(environ: Mapping[str, Any], place: Place | None = None) -> Delivery:
    """What the request in ``environ`` delivers; raises ValidationError, or PayloadTooLarge beyond a bound.

    Where there is a ``place`` for it, it is read and opened there: raises RateLimitExceeded.
    """
    is_structured = cloud_event.checked_content_type(environ.get("CONTENT_TYPE", ""))
    body = request_body(environ, at_most=MAX_DELIVERY_BYTES, place=place)
    return opened(body, environ, is_structured=is_structured, place=place)


def opened(
    body: bytes, headers: Mapping[str, Any], *, is_structured: bool = False, place: Place | None = None
) -> Delivery:
    """The delivery in ``body``; ``is_structured`` is what its Content-Type says of it.

    Without that an event is known by its ``specversion``: people post JSON under every label.
    """
    body = body.removeprefix(BYTE_ORDER_MARK)
    found = members(body, _TOLD_APART_BY)
    if found is not None and (is_structured or ("specversion" in found and "turns" not in found)):
        outer = cloud_event.of_document(body, found)
        outer = outer._replace(body=outer.body.removeprefix(BYTE_ORDER_MARK))
        found = members(outer.body, _TOLD_APART_BY)
    elif cloud_event.is_binary(headers):
        outer = cloud_event.of_headers(body, headers)
    else:
        outer = pubsub.by_headers(body, headers)
    if found is None or "turns" in found or not pubsub.is_wrapped(outer.body, found):
        return outer._replace(body=bounded(outer.body))
    message = pubsub.unwrapped(outer.body, found["message"], place)
    # What stands nearest to the payload counts.
    return message._replace(
        format=outer.format if message.format is None else message.format,
        traceparent=message.traceparent or outer.traceparent,
        published=message.published or outer.published,
    )
