"""Clocks and waits of our own, and a client wired to them."""

import time
from collections.abc import Callable
from datetime import UTC, datetime

import httpx

from agent.ruvector.client import RuvectorClient
from agent.ruvector.exchange import Exchange
from agent.ruvector.transport import KeepAliveTransport

NOW = datetime(2026, 11, 27, 12, 0, 0, tzinfo=UTC)
API_KEY = "key-0123456789"
BODY = b'{"type":"conversation_capture","payload":{"secret":"body-text"}}'
KEY = "a" * 64
BASE = "https://store.example"


class Waits:
    """Stands for time.sleep: notes what was asked, and moves the clock that it belongs to."""

    def __init__(self) -> None:
        self.asked: list[float] = []
        self.slept = 0.0

    def sleep(self, seconds: float) -> None:
        self.asked.append(seconds)
        self.slept += seconds

    def clock(self) -> float:
        """Real monotonic time, plus what was slept without sleeping."""
        return time.monotonic() + self.slept

    def wall_clock(self) -> datetime:
        return NOW


def store_client(
    base_url: str,
    waits: Waits,
    *,
    transport: Exchange | httpx.BaseTransport | None = None,
    deadline_s: float = 20.0,
    at_most_once: bool = False,
    random: Callable[[], float] = lambda: 0.5,
    api_key: str | None = API_KEY,
) -> RuvectorClient:
    return RuvectorClient(
        transport or KeepAliveTransport(clock=waits.clock),
        base_url=base_url,
        api_key=api_key,
        kind="http",
        deadline_s=deadline_s,
        at_most_once=at_most_once,
        clock=waits.clock,
        wall_clock=waits.wall_clock,
        sleep=waits.sleep,
        random=random,
    )
