"""A capture that fails leaves no frame behind, and so no body: the next large one needs its memory."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from contextlib import closing
from types import FrameType

import pytest

from agent.bootstrap import store_client
from agent.config import Settings
from agent.held_frames import let_go
from tests.capture.events.conftest import events_on
from tests.capture.events.envelopes import bare, pubsub
from tests.capture.fakes import FakeTelemetry, app
from tests.conftest import REPOSITORY
from tests.live.host import Reply, StubStore, free_port, stub_store
from tests.live.payloads import BASE_TEXT

REFUSED = {
    "no json": b"{",
    "a key twice": b'{"a":1,"a":2}',
    "no capture": b'{"turns":[{"role":"x"}]}',
    "too deep": b'{"a":' + b"[" * 200 + b"]" * 200 + b"}",
}


def test_an_error_lets_go_of_its_frames_and_those_of_its_causes_and_of_what_was_handled() -> None:
    errors: list[BaseException] = []
    try:
        try:
            try:
                raise KeyError("handled")
            except KeyError as error:
                errors.append(error)
                raise OSError("cause") from None
        except OSError as error:
            errors.append(error)
            raise ValueError("last") from error
    except ValueError as error:
        errors.append(error)
    assert all(error.__traceback__ is not None for error in errors)
    let_go(errors[-1])
    assert [error.__traceback__ for error in errors] == [None, None, None]


def test_errors_that_go_in_a_circle_are_let_go_once() -> None:
    first, second = ValueError(), ValueError()
    first.__cause__, second.__cause__ = second, first
    let_go(first)
    assert first.__cause__ is second


@pytest.fixture(scope="module")
def store() -> Iterator[StubStore]:
    with stub_store() as store:
        yield store


@pytest.fixture(params=["http", "queue"])
def post(request: pytest.FixtureRequest) -> Callable[[str, bytes], int]:
    """Posts a payload to a function on the store at a URL; gives the status."""

    def posted(url: str, payload: bytes) -> int:
        settings = Settings.from_env({"RUVECTOR_SERVICE_URL": url, "RUVECTOR_DEADLINE_S": "1"})
        surface, envelope = (app, bare) if request.param == "http" else (events_on, pubsub)
        with closing(store_client(settings)) as client:
            answer = surface(client, FakeTelemetry()).handle(envelope(payload).environ())
            b"".join(answer.response)
        return int(answer.status_code)

    return posted


def frames() -> list[FrameType]:
    """The frames of the product that are there."""
    found = [one for one in gc.get_objects() if isinstance(one, FrameType)]
    return [frame for frame in found if frame.f_code.co_filename.startswith(str(REPOSITORY / "agent"))]


def frames_left_by(call: Callable[[], object]) -> list[str]:
    """Where the frames of the product are that ``call`` leaves, and that only the collector of circles would free."""
    gc.collect()
    # Those of other tests in this process: an error that one of them keeps has frames for as long.
    before = frames()
    gc.disable()
    try:
        call()
        left = [frame.f_code.co_filename for frame in frames() if all(frame is not other for other in before)]
    finally:
        gc.enable()
    return left


@pytest.mark.parametrize("status", [200, 400, 401, 409, 413, 429, 500, 503])
def test_a_write_that_fails_leaves_nothing(store: StubStore, post: Callable[[str, bytes], int], status: int) -> None:
    store.reply = lambda _count: Reply(status, b"{}")
    assert frames_left_by(lambda: post(store.url, BASE_TEXT.encode())) == []


def test_a_store_that_is_not_there_leaves_nothing(post: Callable[[str, bytes], int]) -> None:
    nowhere = f"http://127.0.0.1:{free_port()}"
    assert post(nowhere, BASE_TEXT.encode()) == 502
    assert frames_left_by(lambda: post(nowhere, BASE_TEXT.encode())) == []


def test_a_write_that_succeeds_when_it_is_repeated_leaves_nothing(
    store: StubStore, post: Callable[[str, bytes], int]
) -> None:
    begun = len(store.writes)
    store.reply = lambda count: Reply(201 if (count - begun) % 2 == 0 else 503)
    assert post(store.url, BASE_TEXT.encode()) == 200
    assert frames_left_by(lambda: post(store.url, BASE_TEXT.encode())) == []


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused_leaves_nothing(store: StubStore, post: Callable[[str, bytes], int], name: str) -> None:
    assert post(store.url, REFUSED[name]) == 400
    assert frames_left_by(lambda: post(store.url, REFUSED[name])) == []
