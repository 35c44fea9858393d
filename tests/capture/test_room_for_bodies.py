"""A large body for which there is no room is not read, not refused for good, and told of; small ones are captured."""

import gzip
import json
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from flask import Response

from agent.edge.body import MAX_BODY_BYTES
from agent.edge.room import SMALL_BYTES, Room
from tests.capture.events.conftest import events_on
from tests.capture.events.envelopes import ENVELOPES, Posted, bare, pubsub
from tests.capture.fakes import EXECUTION_REF, FakeStore, FakeTelemetry, app
from tests.live.payloads import BASE_TEXT, base, encoded
from tests.published import check_answer

SMALL = BASE_TEXT.encode()
LARGE = encoded({**base(), "more": "x" * SMALL_BYTES})
# What each surface answers: to a queue a 4xx would be a refusal.
SURFACES: dict[str, tuple[Callable[..., Any], int]] = {"http": (app, 429), "queue": (events_on, 503)}


@pytest.fixture
def room() -> Room:
    return Room(MAX_BODY_BYTES, clock=time.monotonic, wait_s=0)


@pytest.fixture
def full(room: Room) -> Iterator[Room]:
    """A room in which one of the largest is at work."""
    with room.place() as place:
        place.hold(MAX_BODY_BYTES)
        yield room


def handled(surface: str, posted: Posted, room: Room, store: FakeStore, telemetry: FakeTelemetry) -> Response:
    answer: Response = SURFACES[surface][0](store, telemetry, within=room).handle(posted.environ())
    return answer


@pytest.mark.parametrize("surface", SURFACES)
def test_a_large_body_that_finds_no_room_is_to_come_again(
    full: Room, store: FakeStore, telemetry: FakeTelemetry, surface: str
) -> None:
    posted = bare(LARGE).environ()
    answer = SURFACES[surface][0](store, telemetry, within=full).handle(posted)
    assert posted["wsgi.input"].tell() == 0, "its place is had before it is read"
    body = json.loads(answer.get_data())
    check_answer(body)
    assert (answer.status_code, answer.headers["Retry-After"]) == (SURFACES[surface][1], "5")
    assert (body["error"]["error_code"], body["error"]["details"]) == ("RATE_LIMIT_EXCEEDED", {"limit": "memory"})
    assert answer.headers["X-Execution-Ref"] == EXECUTION_REF
    assert [name for name, _ in telemetry.reports] == ["begin", "failed", "end"]
    assert store.appended == []


@pytest.mark.parametrize("surface", SURFACES)
@pytest.mark.parametrize("encoding", [None, "gzip"])
def test_a_small_one_is_captured_all_the_same(
    full: Room, store: FakeStore, telemetry: FakeTelemetry, surface: str, encoding: str | None
) -> None:
    posted = Posted(SMALL, {}) if encoding is None else Posted(gzip.compress(SMALL), {"Content-Encoding": encoding})
    assert handled(surface, posted, full, store, telemetry).status_code == 200


def test_what_a_small_message_unpacks_to_counts(full: Room, store: FakeStore, telemetry: FakeTelemetry) -> None:
    packed = pubsub(gzip.compress(LARGE), content_encoding="gzip")
    assert len(packed.body) < SMALL_BYTES
    assert handled("queue", packed, full, store, telemetry).status_code == 503
    small = pubsub(gzip.compress(SMALL), content_encoding="gzip")
    assert handled("queue", small, full, store, telemetry).status_code == 200


@pytest.mark.parametrize("name", ENVELOPES)
def test_all_of_the_room_is_there_again_after_a_capture_and_after_a_refusal(
    room: Room, store: FakeStore, telemetry: FakeTelemetry, name: str
) -> None:
    for payload, status in ((LARGE, 200), (LARGE.replace(b'"user"', b'"usxr"'), 400), (b"[" + LARGE, 400)):
        if name == "structured" and payload[:1] == b"[":
            continue  # such data would be no JSON envelope
        answer = handled("queue", ENVELOPES[name](payload), room, store, telemetry)
        assert answer.status_code == status
        with room.place(is_envelope=True) as place:
            place.hold(MAX_BODY_BYTES)
            place.settle(MAX_BODY_BYTES)


@pytest.mark.parametrize("surface", SURFACES)
def test_the_next_large_one_comes_when_the_store_has_answered(
    store: FakeStore, telemetry: FakeTelemetry, surface: str
) -> None:
    """While the store has it, its place is its own: there are its bytes still."""
    seen: list[int] = []

    class Watched(FakeStore):
        def append(self, envelope: bytes, **named: Any) -> Any:
            seen.append(handled(surface, bare(LARGE), small_room, FakeStore(), FakeTelemetry()).status_code)
            return super().append(envelope, **named)

    small_room = Room(len(LARGE) + 1, clock=time.monotonic, wait_s=0)
    assert handled(surface, bare(LARGE), small_room, Watched(), telemetry).status_code == 200
    assert handled(surface, bare(LARGE), small_room, store, telemetry).status_code == 200
    assert seen == [SURFACES[surface][1]]
