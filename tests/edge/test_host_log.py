"""What gunicorn logs of requests, as it comes out of the filter that the hosts get."""

import logging
from io import StringIO

import pytest
from gunicorn import util

from agent.edge.host import type_protocol_errors
from tests.leak_watch import SECRET


@pytest.fixture
def log(monkeypatch):
    """gunicorn's own logger with the hosts' filter, and what it writes; afterwards as it was."""
    logger = logging.getLogger("gunicorn.error")
    before = logger.handlers, logger.filters, logger.level, logger.propagate
    written = StringIO()
    logger.handlers, logger.filters, logger.propagate = [logging.StreamHandler(written)], [], False
    logger.setLevel(logging.DEBUG)
    monkeypatch.setattr(util, "write_error", util.write_error)
    type_protocol_errors(lambda status: pytest.fail("nothing is answered here"))
    yield logger, written
    logger.handlers, logger.filters, logger.level, logger.propagate = before


def test_a_request_that_is_none_is_told_of_without_a_word_of_it(log):
    logger, written = log
    logger.warning(f"Invalid request from ip=192.0.2.1: Invalid HTTP method: '{SECRET}'")
    assert written.getvalue() == "Invalid request\n"


def test_paths_and_exceptions_are_left_out_and_numbers_stay(log):
    logger, written = log
    logger.debug("%s %s", "GET", f"/{SECRET}")
    logger.critical("WORKER TIMEOUT (pid:%s)", 71)
    assert written.getvalue() == "... ...\nWORKER TIMEOUT (pid:71)\n"


def test_an_exception_is_told_of_by_its_type(log):
    logger, written = log
    try:
        raise ValueError(SECRET)
    except ValueError:
        logger.exception("Error handling request %s", f"/{SECRET}")
    assert written.getvalue() == "Error handling request ... (ValueError)\n"


def test_where_it_listens_and_why_a_worker_does_not_start_are_told(log):
    logger, written = log
    logger.info("Listening at: %s", "http://127.0.0.1:8080")
    try:
        raise RuntimeError("no module of this name")
    except RuntimeError:
        logger.exception("Exception in worker process")
    assert written.getvalue().startswith("Listening at: http://127.0.0.1:8080\nException in worker process\nTraceback")
    assert "no module of this name" in written.getvalue()
