"""An application that reads large bodies itself does so in its turn; what is small, or has no body, never waits."""

import io
import time
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier, Event

import pytest
from flask import Response
from werkzeug.test import create_environ, run_wsgi_app

from agent.edge.room import SMALL_BYTES, Room
from agent.edge.room_in_front import RoomInFront
from agent.hosted_store import no_room

CAPACITY = 4 * SMALL_BYTES
LARGE = 3 * SMALL_BYTES
GENEROUS_S = 60.0


class Answer(list):
    """Pieces of an answer that say when they were let go of."""

    def __init__(self, *pieces):
        super().__init__(pieces)
        self.is_closed = False

    def close(self):
        self.is_closed = True


class Application:
    """Answers 200 when ``go_on`` is set, and counts who is in it."""

    def __init__(self):
        self.go_on = Event()
        self.inside = 0
        self.entered = Event()
        self.answers = []

    def __call__(self, environ, start_response):
        self.inside += 1
        self.entered.set()
        assert self.go_on.wait(GENEROUS_S)
        environ["wsgi.input"].read()
        self.inside -= 1
        start_response("200 OK", [("Content-Type", "text/plain")])
        self.answers.append(Answer(b"do", b"ne"))
        return self.answers[-1]


def in_front_of(application, *, wait_s=0.0):
    return RoomInFront(application, Room(CAPACITY, clock=time.monotonic, wait_s=wait_s), refused=no_room)


def asked(application, size=0, **more):
    environ = create_environ(method="POST" if size else "GET", input_stream=io.BytesIO(b"x" * size))
    if size:
        environ["CONTENT_LENGTH"] = str(size)
    body, status, headers = run_wsgi_app(application, {**environ, **more}, buffered=True)
    return int(status[:3]), b"".join(body), headers


@pytest.fixture
def application():
    return Application()


def busy_with(application, guarded, pool, **request):
    """One large body at work in the application, until ``go_on``."""
    first = pool.submit(asked, guarded, **request)
    assert application.entered.wait(GENEROUS_S)
    return first


@pytest.mark.parametrize(
    "large",
    [{"size": LARGE}, {"size": 1, "HTTP_CONTENT_ENCODING": "gzip"}, {"size": 1, "HTTP_TRANSFER_ENCODING": "chunked"}],
    ids=["announced", "compressed", "in chunks"],
)
def test_who_finds_no_room_is_told_to_come_again_and_the_application_is_not_asked(application, large):
    guarded = in_front_of(application)
    with ThreadPoolExecutor() as pool:
        first = busy_with(application, guarded, pool, size=LARGE)
        status, body, headers = asked(guarded, **large)
        assert (status, headers["Retry-After"]) == (503, "5")
        assert b'"error": "unavailable"' in body
        assert application.inside == 1
        application.go_on.set()
        assert first.result(GENEROUS_S)[:2] == (200, b"done")
    assert asked(guarded, **large)[0] == 200


@pytest.mark.parametrize("small", [0, 1, SMALL_BYTES])
def test_small_bodies_and_questions_pass_whatever_the_large_ones_do(application, small):
    guarded = in_front_of(application)
    meeting = Barrier(2)
    with ThreadPoolExecutor() as pool:
        first = busy_with(application, guarded, pool, size=LARGE)
        second = pool.submit(lambda: (meeting.wait(GENEROUS_S), asked(guarded, size=small))[1])
        meeting.wait(GENEROUS_S)
        while application.inside < 2:
            time.sleep(0.01)
        application.go_on.set()
        assert [future.result(GENEROUS_S)[0] for future in (first, second)] == [200, 200]


def test_a_place_is_given_back_when_the_answer_is_made_also_by_an_application_that_fails(application):
    application.go_on.set()
    guarded = in_front_of(application)
    for _ in range(3):
        assert asked(guarded, size=CAPACITY)[0] == 200
    assert all(answer.is_closed for answer in application.answers)

    def failing(environ, start_response):
        raise ZeroDivisionError

    failing_guarded = in_front_of(failing)
    for _ in range(3):
        with pytest.raises(ZeroDivisionError):
            asked(failing_guarded, size=CAPACITY)


def test_a_length_that_is_no_number_is_for_the_application_to_refuse():
    guarded = in_front_of(Response("refused", status=400))
    assert asked(guarded, CONTENT_LENGTH="ten")[0] == 400
