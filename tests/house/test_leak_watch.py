"""The watch over logs and spans fails the test in whose time a planted secret is told, and no other."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.streams import process_environment
from tests.conftest import REPOSITORY
from tests.leak_watch import PLANTED, SECRET, LeakWatch

HEAD = f"""
import base64
import io
import json
import logging
import threading
import warnings
from datetime import UTC, datetime
import pytest
from agent.capture import answering
from agent.capture.answering import failure_answer
from agent.cli.terminal import Terminal
from agent.errors import InternalError, Problem, ValidationError
from agent.observability.measures import Measures
from agent.recall.http.answer import Answer as Recalled
from agent.recall.http.app import RecallApp
from store import server
from store.errors import BadRequest
from store.http.answer import Answer, answer, refusal
from store.http.metrics import Metrics
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.trace import Status, StatusCode
from agent.observability import log_event
from agent.observability.destinations import Traced
from agent.observability.tracing import Begun, RecordedSpans
from tests.leak_watch import WATCH

SECRET = "{SECRET}"
CALL = "logging.getLogger('store').error('it is %s', SECRET)"


def recorded():
    traced = Traced(TracerProvider(shutdown_on_exit=False).get_tracer("t"), None)
    return RecordedSpans(traced, None, Begun("load", "ref", None, 0, lambda: 0))


def failed(message, problems=(), **headers):
    error = ValidationError(message, problems)
    return failure_answer(error, 'ref', at=datetime.now(UTC), headers=headers)


def stored(answer):
    return server._sent(answer, lambda *_: None, is_head=False)


def measured(**labels):
    measures = Measures.__new__(Measures)
    measures.add('captures', 1, labels)
    measures.record('seconds', 1.0, labels)


def terminal():
    return Terminal({{}}, None, io.StringIO(), io.StringIO())


def recalled(given):
    class Answering(RecallApp):
        def __init__(self): self._new_id = lambda: 'ref'; self._telemetry = None
        def _operate(self, *_): return given
    class Silent:
        def begin(self, *_): return self
        def answered(self, *_): pass
        def end(self): pass
    app = Answering()
    app._telemetry = Silent()
    return app.answer({{}})


def span(name, **attributes):
    spans = recorded()
    with spans.span(name):
        spans.set(**attributes)


@pytest.fixture
def telling_at_its_end():
    yield
    log_event(SECRET, level=logging.ERROR)


def test_that_ends_badly(telling_at_its_end):
    pass


"""
TOLD = {
    "the_message_of_an_event": "log_event(SECRET, level=logging.ERROR)",
    "the_name_of_a_field": "log_event('event', level=logging.ERROR, fields={SECRET: 1})",
    "a_token_in_a_field": "log_event('event', level=logging.ERROR, fields={'id': SECRET})",
    "a_token_in_a_tuple": "log_event('event', level=logging.ERROR, fields={'ids': ('a', SECRET)})",
    "the_other_logger": "logging.getLogger('store').error(SECRET)",
    "a_logger_below": "logging.getLogger('store.http').error(SECRET)",
    "a_thread": "t = threading.Thread(target=log_event, args=(SECRET,), kwargs={'level': 40}); t.start(); t.join()",
    "a_call_of_the_product_that_formats": f"exec(compile(CALL, '{REPOSITORY}/store/http/x.py', 'exec'))",
    "the_name_of_a_span": "span(SECRET)",
    "an_attribute": "span('load', id=SECRET)",
    "the_name_of_an_attribute": "span('load', **{SECRET: 1})",
    "an_event_of_a_span": "s = recorded()\n    with s.span('load'): s._open[0].add_event('x', {'a': SECRET})",
    "a_status": "s = recorded()\n    with s.span('load'): s._open[0].set_status(Status(StatusCode.ERROR, SECRET))",
    "a_label_of_a_metric": "measured(outcome=SECRET)",
    "a_name_of_a_label": "measured(**{SECRET: 'x'})",
    "a_route_of_the_store": "Metrics().observe(SECRET, 'GET', 200, 0.1)",
    "a_failure": "failed('it is ' + SECRET)",
    "a_rule": "failed('m', [Problem('$.x', SECRET)])",
    "a_header": "failed('m', **{'X-Said': SECRET})",
    "health": "answering.health_answer({'status': 'ok', 'kind': SECRET}, release='1')",
    "a_refusal_of_the_store": "stored(refusal(BadRequest('it is ' + SECRET)))",
    "a_header_of_the_store": "stored(Answer(200, b'', {'X-Said': SECRET}))",
    "the_figures_of_the_store": "stored(Answer(200, SECRET.encode(), {'Content-Type': 'text/plain; version=1'}))",
    "a_refusal_of_the_recall": "recalled(Recalled(SECRET.encode(), 404))",
    "a_header_of_the_recall": "recalled(Recalled(b'', 200, {'X-Said': SECRET}))",
    "standard_error": "terminal().say('it is ' + SECRET)",
    "a_failure_on_standard_error": "terminal().failure_document(json.dumps({'error': {'message': SECRET}}))",
    "a_warning": "warnings.warn('it is ' + SECRET)",
    "base64": "log_event('event', level=40, fields={'id': base64.b64encode(b'xy' + SECRET.encode()).decode()})",
    "small_letters": "log_event('event', level=40, fields={'id': SECRET.lower()})",
    "a_log_of_another_process": "WATCH.look('a host', 'first line\\nsecond ' + SECRET)",
}
UNTOLD = {
    "nothing": "pass",
    "a_field_that_is_no_token": "log_event('event', level=logging.ERROR, fields={'text': 'it is ' + SECRET})",
    "an_exception": "log_event('event', level=logging.ERROR, error=ValueError(SECRET))",
    "an_attribute_that_is_no_token": "span('load', text='it is ' + SECRET)",
    "a_path_of_a_problem": "failed('m', [Problem('$.' + SECRET, 'type')])",
    "what_was_captured": 'answering.json_answer(200, b\'{"success":true,"x":"\' + SECRET.encode() + b\'"}\')',
    "what_was_stored": "stored(answer({'content': SECRET}))",
    "what_was_recalled": "recalled(Recalled(SECRET.encode(), 200))",
    "results": "terminal().plain(SECRET)",
    "another_logger": "logging.getLogger('werkzeug').error(SECRET)",
    "a_stranger_in_the_tests": "logging.getLogger('agent').error('it is %s', SECRET)",
}


def run(folder: Path, tests: dict[str, str], *options: str) -> list[str]:
    """The names of the tests, in lines of pytest's own, that did not pass."""
    folder.mkdir()
    bodies = [f"def test_{name}():\n    {body}\n\n" for name, body in tests.items()]
    # Beside the watch's own folder would be a test of ours.
    (folder / "test_inner.py").write_text(HEAD + "\n".join(bodies))
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "tests.leak_watch", "-p", "no:cacheprovider", "-q", "-rfE", *options],
        cwd=folder,
        env=process_environment(),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    lines = done.stdout.splitlines()
    bad = [line.split("::")[1].split(" ")[0] for line in lines if line.startswith(("ERROR test_", "FAILED test_"))]
    assert done.returncode == (1 if bad else 0), done.stdout + done.stderr
    return sorted(bad)


@pytest.mark.parametrize("options", [(), ("-n", "2")], ids=["one process", "two processes"])
def test_each_test_that_tells_a_planted_secret_fails_and_only_those(options: tuple[str, ...], tmp_path: Path) -> None:
    failed = run(tmp_path / "inner", {**TOLD, **UNTOLD}, *options)
    assert failed == sorted(f"test_{name}" for name in ("that_ends_badly", *TOLD))


def test_a_watch_that_lost_its_place_listens_again_at_the_next_test(tmp_path: Path) -> None:
    tests = {
        "a": "logger = logging.getLogger('agent'); [logger.removeHandler(each) for each in list(logger.handlers)]",
        "b": TOLD["the_message_of_an_event"],
    }
    assert run(tmp_path / "inner", tests) == ["test_b", "test_that_ends_badly"]


@pytest.mark.parametrize("secret", PLANTED)
def test_what_is_found_is_taken_once_with_some_of_what_is_around_it(secret: str) -> None:
    watch = LeakWatch()
    watch.look("a log line", "nothing here")
    watch.look("a log line", "x" * 1000 + secret + "y" * 1000)
    (found,) = watch.taken()
    assert found.startswith("a log line: xxx")
    assert secret in found
    assert len(found) < 400
    assert watch.taken() == []


def test_a_log_that_is_followed_is_read_line_by_line_and_to_its_end_when_it_is_left(tmp_path: Path) -> None:
    log = tmp_path / "host.log"
    log.write_bytes(b"")
    watch = LeakWatch()
    watch.follow(log)
    with log.open("a") as file:
        for text, found in [("fine\nSECRET", []), ("-71b\nfine\n", ["SECRET-71b"]), ("fine\n", []), ("hunter2", [])]:
            file.write(text)
            file.flush()
            assert [secret for secret in PLANTED if any(secret in each for each in watch.taken())] == found
    watch.leave(log)
    assert watch.taken() == ["the log host.log: hunter2"]
    assert watch.taken() == []


def test_a_log_that_is_gone_is_no_matter(tmp_path: Path) -> None:
    watch = LeakWatch()
    watch.follow(tmp_path / "host.log")
    assert watch.taken() == []
    watch.leave(tmp_path / "host.log")
    assert watch.taken() == []
