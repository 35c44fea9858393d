"""A payload in every envelope that the function behind a queue opens, as its sender posts it."""

from __future__ import annotations

import base64
import io
import json
from collections.abc import Callable
from typing import Any, NamedTuple

PUBLISHED = "2026-03-02T08:14:30.5Z"
SUBSCRIPTION = "projects/my-project/subscriptions/conversation-captures-push"
TOPIC_TYPE = "google.cloud.pubsub.topic.v1.messagePublished"


class Posted(NamedTuple):
    """One request: its body, its headers by their HTTP names, its query."""

    body: bytes
    headers: dict[str, str]
    query: str = ""

    def environ(self, path: str = "/", method: str = "POST") -> dict[str, Any]:
        """The request as a WSGI server hands it over."""
        headers = {name.upper().replace("-", "_"): value for name, value in self.headers.items()}
        return {
            "REQUEST_METHOD": method,
            "PATH_INFO": path,
            "QUERY_STRING": self.query,
            "CONTENT_TYPE": headers.pop("CONTENT_TYPE", ""),
            "CONTENT_LENGTH": str(len(self.body)),
            "wsgi.input": io.BytesIO(self.body),
            **{f"HTTP_{name}": value for name, value in headers.items()},
        }


def pubsub(payload: bytes, *, attempt: int | None = 1, **attributes: str) -> Posted:
    """Pub/Sub push, wrapped, as Google's documentation shows it."""
    named = {name.replace("_", "-"): value for name, value in attributes.items()}
    return Posted(json.dumps(push_document(payload, named, attempt)).encode(), {"Content-Type": "application/json"})


def push_document(payload: bytes, attributes: dict[str, str], attempt: int | None) -> dict[str, Any]:
    message = {
        "attributes": attributes,
        "data": base64.b64encode(payload).decode(),
        "messageId": "2070443601311540",
        "message_id": "2070443601311540",
        "publishTime": PUBLISHED,
        "publish_time": PUBLISHED,
    }
    attempts = {} if attempt is None else {"deliveryAttempt": attempt}
    return {**attempts, "message": message, "subscription": SUBSCRIPTION}


def unwrapped(payload: bytes, **attributes: str) -> Posted:
    """Pub/Sub push, unwrapped, with its metadata in headers."""
    return Posted(
        payload,
        {
            "x-goog-pubsub-subscription-name": SUBSCRIPTION,
            "x-goog-pubsub-message-id": "2070443601311540",
            "x-goog-pubsub-publish-time": PUBLISHED,
            **{name.replace("_", "-"): value for name, value in attributes.items()},
        },
    )


def bare(payload: bytes, **attributes: str) -> Posted:
    """Pub/Sub push, unwrapped, without metadata: all that can be said of it is in the push endpoint's query."""
    return Posted(payload, {}, "&".join(f"{name}={value}" for name, value in attributes.items()))


def binary(payload: bytes, *, kind: str = "dev.example.conversation", **extensions: str) -> Posted:
    """A CloudEvent in binary mode."""
    attributes = {"specversion": "1.0", "id": "e-1", "source": "/shop", "type": kind, "time": PUBLISHED, **extensions}
    return Posted(
        payload, {"Content-Type": "application/json", **{f"ce-{name}": value for name, value in attributes.items()}}
    )


def eventarc(payload: bytes, **attributes: str) -> Posted:
    """Eventarc: a CloudEvent in binary mode whose data are the wrapped message."""
    return binary(pubsub(payload, attempt=None, **attributes).body, kind=TOPIC_TYPE)


def event(**members: Any) -> bytes:
    """A CloudEvent in structured mode with these members beside the required ones."""
    return json.dumps({"specversion": "1.0", "id": "e-1", "source": "/shop", "type": "t", **members}).encode()


def structured(payload: bytes, **extensions: str) -> Posted:
    """A CloudEvent in structured mode whose ``data`` are the payload's own JSON text."""
    head = event(time=PUBLISHED, **extensions)[:-1]
    body = head + b', "data" : ' + payload + b' , "datacontenttype":"application/json"}'
    return Posted(body, {"Content-Type": "application/cloudevents+json; charset=utf-8"})


def structured_base64(payload: bytes, **extensions: str) -> Posted:
    body = event(data_base64=base64.b64encode(payload).decode(), time=PUBLISHED, **extensions)
    return Posted(body, {"Content-Type": "application/cloudevents+json"})


def structured_text(payload: bytes, **extensions: str) -> Posted:
    """A CloudEvent in structured mode whose ``data`` are a string that holds the payload, in a body of any label."""
    body = event(data=payload.decode(), datacontenttype="text/plain", time=PUBLISHED, **extensions)
    return Posted(body, {"Content-Type": "application/json"})


def structured_message(payload: bytes, **attributes: str) -> Posted:
    """A CloudEvent in structured mode whose data are Pub/Sub's wrapped message."""
    return Posted(event(type=TOPIC_TYPE, data=push_document(payload, attributes, 2)), {})


ENVELOPES: dict[str, Callable[..., Posted]] = {
    "pubsub": pubsub,
    "unwrapped": unwrapped,
    "bare": bare,
    "eventarc": eventarc,
    "binary": binary,
    "structured": structured,
    "structured base64": structured_base64,
    "structured text": structured_text,
    "structured message": structured_message,
}
