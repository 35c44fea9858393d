"""A world full of canaries, at whose end nothing has been told of them."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.observability.logs import LOGGER_NAME, configure_logging
from tests.leaks.world import World, leak_proof_world
from tests.observability.conftest import RecordedLog
from tests.observability.peers import SpanCollector

_LOGGERS = (LOGGER_NAME, "store")


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """One for all tests of a file: it is what they told together that is looked at."""
    before = {name: (logger := logging.getLogger(name), logger.level, logger.propagate) for name in _LOGGERS}
    log, collector = RecordedLog(), SpanCollector()
    configure_logging(log, level="DEBUG")
    folder: Path = tmp_path_factory.mktemp("leaks")
    try:
        with leak_proof_world(folder, log, collector) as world:
            yield world
    finally:
        collector.close()
        for logger, level, propagate in before.values():
            logger.setLevel(level)
            logger.propagate = propagate
            logger.handlers = [each for each in logger.handlers if getattr(each, "_stream", None) is not log]
