"""What callers and a queue send to running functions, and the statuses that come back."""

from __future__ import annotations

import base64
import json
import uuid
from collections import Counter
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx

from tests.live.payloads import base, encoded, own_session

SUBSCRIPTION = "projects/p/subscriptions/conversation-captures-push"


def captures(count: int) -> list[bytes]:
    """So many captures, each of a session of its own."""
    return [encoded(own_session()) for _ in range(count)]


def pushed(capture: bytes, *, age: timedelta = timedelta(seconds=2), attempt: int = 1) -> bytes:
    """A delivery as Pub/Sub pushes it, of a message that was published so long ago."""
    message: dict[str, Any] = {
        "data": base64.b64encode(capture).decode(),
        "messageId": str(uuid.uuid4().int)[:16],
        "publishTime": (datetime.now(UTC) - age).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
    }
    return json.dumps({"message": message, "subscription": SUBSCRIPTION, "deliveryAttempt": attempt}).encode()


def no_capture() -> bytes:
    """JSON that is refused: a role is missing."""
    payload = base()
    del payload["turns"][0]["role"]
    return encoded(payload)


def post(url: str, bodies: Iterable[bytes], *, at_a_time: int = 1) -> Counter[int]:
    """Post each body, so many at a time; how often each status came."""
    with httpx.Client(timeout=60) as client:
        return _asked(lambda body: client.post(url, content=body, headers=_JSON).status_code, bodies, at_a_time)


def get(url: str, times: int, *, at_a_time: int = 1) -> Counter[int]:
    """Ask so many times, so many at a time; how often each status came."""
    with httpx.Client(timeout=60) as client:
        return _asked(lambda _: client.get(url).status_code, range(times), at_a_time)


_JSON = {"Content-Type": "application/json"}


def _asked(ask: Callable[[Any], int], each: Iterable[Any], at_a_time: int) -> Counter[int]:
    with ThreadPoolExecutor(at_a_time) as threads:
        return Counter(threads.map(ask, each))
