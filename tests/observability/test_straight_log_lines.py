"""A line that no one but us would see is written without a record, and is the line that a record would have made."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from agent.observability.logs import Fields, JsonLines, configure_logging, log_event
from tests.observability.conftest import RecordedLog

EVENTS: dict[str, dict[str, Any]] = {
    "nothing more": {},
    "fields": {"fields": {"turns": 10, "took_ms": 1.5, "rules": ("a", "b"), "more": Fields({"x": 1}), "message": "m"}},
    "an id": {"execution_ref": "5b0a7c1e-63a1-4d3c-9a55-3f0c9d3f7a11"},
    "what is no token": {"fields": {"name": "Ada Lovelace"}},
    "an error": {"level": logging.ERROR, "error": KeyError("secret")},
}


@contextmanager
def alone() -> Iterator[logging.Logger]:
    """The product's logger without the handlers that a run of tests gives it; pytest adds some to each call."""
    logger = logging.getLogger("agent")
    before = logger.handlers[:]
    logger.handlers.clear()
    try:
        yield logger
    finally:
        logger.handlers[:] = before


def told(log: RecordedLog, event: dict[str, Any]) -> dict[str, Any]:
    log_event("event", **event)
    line: dict[str, Any] = log.entries().pop()
    assert line.pop("time").endswith("Z")
    return line


@pytest.mark.parametrize("event", EVENTS.values(), ids=EVENTS)
def test_the_line_is_the_same_with_and_without_somebody_who_sees_the_record(event: dict[str, Any]) -> None:
    log, seen = RecordedLog(), []

    class Other(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            seen.append(record.msg)

    with alone() as logger:
        configure_logging(log, level="INFO")
        straight = told(log, event)
        assert seen == []
        logger.addHandler(Other())
        assert told(log, event) == straight
    assert seen == ["event"]
    assert "secret" not in json.dumps(straight)


def test_below_the_level_nothing_is_written() -> None:
    log = RecordedLog()
    with alone() as logger:
        configure_logging(log, level="WARNING")
        log_event("event")
        assert [type(each) for each in logger.handlers] == [JsonLines]
    assert log.entries() == []


def test_a_line_that_cannot_be_written_costs_the_line_and_not_the_request() -> None:
    class Broken(RecordedLog):
        def write(self, text: str) -> None:
            raise OSError(len(text))

    with alone() as logger:
        lines = configure_logging(Broken(), level="INFO")
        log_event("event")
        assert logger.handlers == [lines]
    assert lines.lost == 1
