"""GET /events/decisions: every event once, in order of ``position``, for whoever follows (CONTRACT 10)."""

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.store.surface import CAPTURED_AT, SESSION, Surface, envelope, payload, ref_of, turn, turn_id


def follow(surface: Surface, after: str | None = None, **query: Any) -> tuple[list[dict[str, Any]], str | None]:
    """All that the feed has after ``after``, and the cursor to go on from."""
    events: list[dict[str, Any]] = []
    while True:
        page = surface.get("/events/decisions", **query, **({} if after is None else {"after": after}))
        events += page["events"]
        after = page["next_cursor"]
        if not page["events"]:
            return events, after


def other(kind: str, run_id: str) -> dict[str, Any]:
    return {"type": kind, "runId": run_id, "timestamp": CAPTURED_AT, "payload": {"n": 1}}


def test_the_feed_has_envelopes_as_they_came_with_their_positions(surface: Surface) -> None:
    bodies = [envelope(payload(turn(1))), other("plan_approved", "p"), envelope(payload(turn(2)))]
    for body in bodies:
        assert surface.post(body).status_code == 201
    events, _ = follow(surface)
    assert events == [{**body, "position": position} for position, body in enumerate(bodies, 1)]


def test_an_empty_feed_gives_what_to_go_on_from_and_the_first_event_is_seen_then(surface: Surface) -> None:
    """Null is the place before the first event: a follower without a place starts there."""
    events, cursor = follow(surface)
    assert events == []
    surface.capture(payload(turn(1)))
    assert [event["position"] for event in follow(surface, cursor)[0]] == [1]


def test_the_end_of_the_feed_gives_a_cursor_that_stays_good(surface: Surface) -> None:
    surface.capture(payload(turn(1)))
    _, first = follow(surface)
    _, again = follow(surface, first)
    surface.capture(payload(turn(2)))
    for cursor in (first, again):
        assert [event["position"] for event in follow(surface, cursor)[0]] == [2]


def test_pages_of_the_feed_have_each_event_once(surface: Surface) -> None:
    for number in range(1, 8):
        surface.capture(payload(turn(number)))
    assert [event["position"] for event in follow(surface, limit=3)[0]] == [1, 2, 3, 4, 5, 6, 7]


def test_types_leave_the_events_of_these_types(surface: Surface) -> None:
    surface.capture(payload(turn(1)))
    for number, kind in enumerate(["plan_approved", "plan_refused", "é\U0001f680", "plan_approved"]):
        assert surface.post(other(kind, str(number))).status_code == 201
    assert [event["position"] for event in follow(surface, types="plan_approved")[0]] == [2, 5]
    assert [event["position"] for event in follow(surface, types="plan_approved,conversation_capture")[0]] == [1, 2, 5]
    assert [event["position"] for event in follow(surface, types="é\U0001f680", limit=1)[0]] == [4]
    assert follow(surface, types="plan")[0] == []


def test_a_follower_of_one_type_gets_past_what_it_does_not_want(surface: Surface) -> None:
    for number in range(5):
        surface.post(other("noise", str(number)))
    _, cursor = follow(surface, types="plan_approved", limit=1)
    surface.post(other("plan_approved", "p"))
    assert [event["position"] for event in follow(surface, cursor, types="plan_approved", limit=1)[0]] == [6]


def test_an_erasure_takes_a_position_that_the_feed_passes_over(surface: Surface) -> None:
    surface.capture(payload(turn(1)))
    _, cursor = follow(surface)
    assert surface.erase("turn", turn_id(1))["position"] == 2
    assert follow(surface, cursor)[0] == []
    surface.capture(payload(turn(2)))
    assert [event["position"] for event in follow(surface, cursor)[0]] == [3]
    assert [event["position"] for event in follow(surface)[0]] == [1, 3]


def test_a_duplicate_is_not_fed_again(surface: Surface) -> None:
    surface.capture(payload(turn(1)))
    _, cursor = follow(surface)
    surface.capture(payload(turn(1)), execution_ref="again")
    assert follow(surface, cursor)[0] == []


@pytest.mark.parametrize("after", ["", "x", "AAAA", "-1", "9" * 40, "A" * 5000])
def test_what_is_no_cursor_of_the_feed_is_refused(after: str, surface: Surface) -> None:
    assert surface.client.get("/events/decisions", params={"after": after}).status_code == 400


def test_a_cursor_of_the_feed_that_was_tampered_with_is_refused(surface: Surface) -> None:
    surface.capture(payload(turn(1)))
    cursor = surface.get("/events/decisions")["next_cursor"]
    for place in range(len(cursor)):
        changed = cursor[:place] + ("A" if cursor[place] != "A" else "B") + cursor[place + 1 :]
        assert surface.client.get("/events/decisions", params={"after": changed}).status_code == 400


def test_a_cursor_of_a_list_is_no_cursor_of_the_feed(surface: Surface) -> None:
    for number in range(1, 4):
        surface.capture(payload(turn(number)))
    listed = surface.get("/v1/decision-events", limit=1)["next_cursor"]
    fed = surface.get("/events/decisions", limit=1)["next_cursor"]
    assert surface.client.get("/events/decisions", params={"after": listed}).status_code == 400
    assert surface.client.get("/v1/decision-events", params={"cursor": fed}).status_code == 400


def test_a_follower_sees_every_event_once_and_in_order_while_many_write(surface: Surface) -> None:
    writers, each = 4, 12
    done = threading.Event()

    def write(writer: int) -> None:
        for number in range(each):
            name = f"{writer}:{number}"
            turns = [turn(1, name, turn_id=ref_of(name))]
            session = SESSION if number % 2 else ref_of(f"session {writer}")
            surface.capture(payload(*turns, session=session), execution_ref=ref_of(f"run {name}"))

    def read() -> list[int]:
        seen: list[int] = []
        cursor = None
        while True:
            is_last = done.is_set()
            events, cursor = follow(surface, cursor, limit=5)
            seen += [event["position"] for event in events]
            if is_last:
                return seen

    with ThreadPoolExecutor(writers + 1) as threads:
        reading = threads.submit(read)
        try:
            list(threads.map(write, range(writers)))
        finally:
            done.set()
        assert reading.result(timeout=120) == list(range(1, writers * each + 1))
