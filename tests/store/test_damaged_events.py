"""An event that the store cannot read any more: typed, named by its position, and lists go on behind it."""

from typing import Any

import pytest

from store.engines.engine import Connection
from store.engines.schema import event_key
from tests.store.surface import SESSION, Surface, envelope, payload, turn

LISTS = ["/v1/decision-events", "/events/decisions"]
TURNS = f"/v1/sessions/{SESSION}/turns"


def key_of(connection: Connection, position: int) -> int:
    """The key of an event of this test: its tenant is the newest."""
    (tenant,) = connection.execute("SELECT max(tenant) FROM events").fetchone()
    return event_key(tenant, position)


def flip(surface: Surface, position: int) -> None:
    """Change one bit of a body."""
    with surface.store.engine.writing() as connection:
        key = key_of(connection, position)
        (body,) = connection.execute("SELECT body FROM events WHERE event_key = ?", (key,)).fetchone()
        changed = bytearray(body)
        changed[-3] ^= 1
        connection.execute("UPDATE events SET body = ? WHERE event_key = ?", (bytes(changed), key))


def lose(surface: Surface, position: int) -> None:
    with surface.store.engine.writing() as connection:
        connection.execute("DELETE FROM events WHERE event_key = ?", (key_of(connection, position),))


def walk(surface: Surface, path: str, **query: Any) -> tuple[list[int], list[dict[str, Any]]]:
    """The positions that a list gives, and what it says of those that it cannot give."""
    positions: list[int] = []
    damaged: list[dict[str, Any]] = []
    name, cursor = ("after" if path == LISTS[1] else "cursor"), None
    while True:
        answer = surface.client.get(path, params={**query, **({} if cursor is None else {name: cursor})})
        if answer.status_code == 500:
            damaged.append(answer.json()["details"])
            cursor = damaged[-1].pop("next_cursor")
            continue
        assert answer.status_code == 200
        page = answer.json()
        positions += [event["position"] for event in page["events"]]
        cursor = page["next_cursor"]
        if not page["events"] or cursor is None:
            return positions, damaged


@pytest.mark.parametrize("text", ["short", "a" * 3000], ids=["kept plain", "kept packed"])
@pytest.mark.parametrize("limit", [1, 2, 100])
@pytest.mark.parametrize("path", LISTS)
def test_a_list_gives_what_can_be_read_and_says_how_to_go_on(
    path: str, limit: int, text: str, in_process: Surface
) -> None:
    for number in range(1, 6):
        in_process.capture(payload(turn(number, f"{text} {number}")))
    for position in (1, 3, 5):
        flip(in_process, position)
    positions, damaged = walk(in_process, path, limit=limit)
    assert positions == [2, 4]
    assert damaged == [{"rule": "damaged_event", "position": position} for position in (1, 3, 5)]


def test_a_list_from_the_newest_on_goes_on_too(in_process: Surface) -> None:
    for number in range(1, 5):
        in_process.capture(payload(turn(number)))
    flip(in_process, 2)
    positions, damaged = walk(in_process, LISTS[0], order="desc", limit=2, session_id=SESSION)
    assert positions == [4, 3, 1]
    assert damaged == [{"rule": "damaged_event", "position": 2}]


@pytest.mark.parametrize("text", ["short", "a" * 3000], ids=["kept plain", "kept packed"])
def test_turns_of_a_damaged_event_are_refused_by_its_position_and_others_are_read(
    text: str, in_process: Surface
) -> None:
    in_process.capture(payload(turn(1, "Hi.")))
    in_process.capture(payload(turn(2, text)))
    flip(in_process, 2)
    answer = in_process.client.get(TURNS)
    assert answer.status_code == 500
    assert answer.json()["details"] == {"rule": "damaged_event", "position": 2}
    assert len(in_process.get(TURNS, at_seq=1)["turns"]) == 1


def test_an_event_whose_turns_stand_in_a_damaged_one_names_both(in_process: Surface) -> None:
    long = payload(turn(1, "a" * 3000))
    in_process.capture(long)
    again = in_process.capture(payload(*long["turns"], turn(2)))
    flip(in_process, 1)
    answer = in_process.client.get(f"/v1/decision-events/{again['executionRef']}")
    assert answer.status_code == 500
    assert answer.json()["details"] == {"rule": "damaged_event", "position": 2, "through": 1}


def test_a_lost_event_that_turns_stand_in_is_told_as_lost(in_process: Surface) -> None:
    first = in_process.capture(payload(turn(1)))
    lose(in_process, 1)
    again = in_process.post(envelope(payload(turn(1))))
    assert again.status_code == 500
    assert again.json()["details"] == {"rule": "lost_position", "position": 1}
    for path in (TURNS, f"/v1/decision-events/{first['executionRef']}"):
        answer = in_process.client.get(path)
        assert answer.status_code == 500
        assert answer.json()["details"] == {"rule": "lost_position", "position": 1}


def test_a_search_and_an_erasure_that_meet_it_say_which_it_is(in_process: Surface) -> None:
    in_process.capture(payload(turn(1, "a" * 3000)))
    flip(in_process, 1)
    for method, path in (("GET", "/v1/sessions?q=word"), ("DELETE", f"/v1/sessions/{SESSION}")):
        answer = in_process.client.request(method, path)
        assert answer.status_code == 500
        assert answer.json()["details"] == {"rule": "damaged_event", "position": 1}


def test_a_capture_into_another_session_is_taken_beside_it(in_process: Surface) -> None:
    in_process.capture(payload(turn(1)))
    flip(in_process, 1)
    assert in_process.client.get("/health").status_code == 200
    assert in_process.capture(payload(turn(2)))["position"] == 2
