"""A log that can be read, tracing and collectors that are closed, and a clock that a test moves."""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Callable, Iterator, Mapping
from types import ModuleType
from typing import Any

import pytest

from agent.observability.bounded_export import EXPORT_THREAD
from agent.observability.collector import collector_from
from agent.observability.destinations import Destinations
from agent.observability.logs import LOGGER_NAME, JsonLines, configure_logging
from agent.observability.tracing import Tracing
from tests.observability.captures import MakeTracing
from tests.observability.peers import SpanCollector, StuckPeer


class RecordedLog:
    """What was logged: each ``write`` call, and each line as the object that it is."""

    def __init__(self) -> None:
        self.writes: list[str] = []

    def write(self, text: str) -> None:
        self.writes.append(text)

    def flush(self) -> None:
        """Nothing is buffered."""

    @property
    def text(self) -> str:
        return "".join(self.writes)

    def entries(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.text.splitlines()]

    def messages(self) -> list[str]:
        return [entry["message"] for entry in self.entries()]


class Clock:
    """Monotonic seconds that pass when a test says so."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def destinations_for(
    environ: Mapping[str, str], clock: Callable[[], float], modules: Mapping[str, ModuleType]
) -> Destinations:
    """Destinations that know of no host but the one in ``modules``, and that nothing calls at the end of the process.

    They hold a request for two seconds at most: a machine that runs other tests beside may take some for nothing.
    """
    return Destinations(
        collector_from(environ),
        environ=environ,
        bound_s=2.0,
        clock=clock,
        at_exit=lambda _: None,
        modules=modules,
    )


@pytest.fixture(autouse=True)
def logger() -> Iterator[logging.Logger]:
    """The product's logger, left as it was found."""
    logger = logging.getLogger(LOGGER_NAME)
    level, propagate, handlers = logger.level, logger.propagate, list(logger.handlers)
    yield logger
    logger.setLevel(level)
    logger.propagate = propagate
    for handler in [each for each in logger.handlers if each not in handlers]:
        logger.removeHandler(handler)


@pytest.fixture
def log() -> RecordedLog:
    recorded = RecordedLog()
    configure_logging(recorded, level="DEBUG")
    return recorded


@pytest.fixture
def lines(log: RecordedLog, logger: logging.Logger) -> JsonLines:
    """The handler that writes into ``log``."""
    return next(handler for handler in logger.handlers if isinstance(handler, JsonLines))


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def collector() -> Iterator[SpanCollector]:
    collector = SpanCollector()
    yield collector
    collector.close()


@pytest.fixture
def stuck_peer() -> Iterator[Callable[..., StuckPeer]]:
    """Makes stuck peers; when they are closed, the export threads that they held come to their end."""
    peers: list[StuckPeer] = []

    def make(*, trickle: bool = False) -> StuckPeer:
        peers.append(StuckPeer(trickle=trickle))
        return peers[-1]

    yield make
    for peer in peers:
        peer.close()
    for thread in threading.enumerate():
        if thread.name == EXPORT_THREAD:
            thread.join(5)
            assert not thread.is_alive()


@pytest.fixture
def tracing_for(clock: Clock) -> Iterator[MakeTracing]:
    """Makes tracing that knows of no host, and closes it."""
    made: list[Destinations] = []

    def make(environ: Mapping[str, str], modules: Mapping[str, ModuleType] | None = None) -> Tracing:
        made.append(destinations_for(environ, clock, modules or {}))
        return Tracing(made[-1], name="capture")

    yield make
    for destinations in made:
        destinations.close()
