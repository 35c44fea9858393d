"""The reads: pages that neither skip nor repeat, bounds, ids in any case (H31, CONTRACT 10)."""

import base64
import json
import urllib.parse
import uuid
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from store.engines.schema import DEFAULT_TENANT_KEY
from store.engines.sqlite import SqliteStore
from store.errors import BadRequest
from store.http.cursor import read_cursor, write_cursor
from store.http.request import Request
from store.log.reads import read_events
from store.log.turn_page import read_turns
from store.port import EventsQuery, TurnsQuery
from tests.store.surface import CONVERSATION, OTHER_CONVERSATION, SESSION, Surface, envelope, payload, turn, turn_id

OTHER_SESSION = "7a7a7a7a-0000-4000-8000-00000000000a"


def all_pages(surface: Surface, **query: Any) -> list[int]:
    positions, cursor = [], None
    while True:
        page = surface.get("/v1/decision-events", **query, **({"cursor": cursor} if cursor else {}))
        assert len(page["events"]) <= query.get("limit", 100)
        positions += [event["position"] for event in page["events"]]
        cursor = page["next_cursor"]
        if cursor is None:
            return positions


def test_h31_pages_of_events_with_one_timestamp_have_each_once(surface: Surface) -> None:
    for number in range(1, 8):
        surface.capture(payload(turn(number)))
    first = surface.get("/v1/decision-events", session_id=SESSION, limit=3)
    assert [event["position"] for event in first["events"]] == [1, 2, 3]
    surface.capture(payload(turn(8)))
    second = surface.get("/v1/decision-events", session_id=SESSION, limit=3, cursor=first["next_cursor"])
    third = surface.get("/v1/decision-events", session_id=SESSION, limit=3, cursor=second["next_cursor"])
    assert [event["position"] for event in second["events"] + third["events"]] == [4, 5, 6, 7, 8]
    assert third["next_cursor"] is None


def test_events_come_in_either_order_for_one_session_or_all(surface: Surface) -> None:
    for number in range(1, 7):
        surface.capture(payload(turn(number), session=SESSION if number % 2 else OTHER_SESSION))
    assert all_pages(surface, limit=2) == [1, 2, 3, 4, 5, 6]
    assert all_pages(surface, limit=2, order="desc") == [6, 5, 4, 3, 2, 1]
    assert all_pages(surface, limit=2, order="asc", session_id=SESSION.upper()) == [1, 3, 5]
    assert all_pages(surface, limit=2, order="desc", session_id=OTHER_SESSION) == [6, 4, 2]


def test_an_unknown_session_has_no_events(surface: Surface) -> None:
    surface.capture(payload(turn(1)))
    assert surface.get("/v1/decision-events", session_id=OTHER_SESSION) == {"events": [], "next_cursor": None}


def test_a_page_of_large_events_ends_early_and_goes_on_from_its_cursor() -> None:
    surface = Surface(SqliteStore(":memory:"))
    for number in range(1, 4):
        surface.capture(payload(turn(number, "x" * 1000)))
    with surface.store.engine.reading() as connection:
        first = read_events(connection, DEFAULT_TENANT_KEY, EventsQuery(), page_bytes=2000)
        assert (len(first.events), first.last) == (2, 2)
        second = read_events(connection, DEFAULT_TENANT_KEY, EventsQuery(after=first.last), page_bytes=2000)
        assert (len(second.events), second.last) == (1, None)
    surface.close()


def test_a_page_of_large_turns_ends_early_and_goes_on_after_its_last_seq() -> None:
    surface = Surface(SqliteStore(":memory:"))
    for number in range(1, 6):
        surface.capture(payload(turn(number, "x" * 1000)))

    def page(**query: Any) -> list[int]:
        with surface.store.engine.reading() as connection:
            query = {"session_id": uuid.UUID(SESSION).bytes, **query}
            records = read_turns(connection, DEFAULT_TENANT_KEY, TurnsQuery(**query), page_bytes=2000)
        return [json.loads(record)["seq"] for record in records]

    assert (page(), page(after_seq=2), page(after_seq=4)) == ([1, 2], [3, 4], [5])
    assert (page(last=4), page(last=4, after_seq=3), page(last=1)) == ([2, 3], [4, 5], [5])
    surface.close()


def test_a_page_ends_at_32_mebibytes_and_has_a_larger_turn_alone(surface: Surface) -> None:
    large = "x" * (17 * 1024 * 1024)
    for number in range(1, 4):
        surface.capture(payload(turn(number, large)))
    assert [record["seq"] for record in surface.turns()] == [1, 2]
    assert [record["seq"] for record in surface.turns(after_seq=2)] == [3]
    surface.capture(payload(turn(4, large + large[: 14 * 1024 * 1024]), turn(5)))
    assert [record["seq"] for record in surface.turns(last=2)] == [4, 5]


def test_a_cursor_outlives_a_restart(on_file: Surface) -> None:
    for number in range(1, 4):
        on_file.capture(payload(turn(number)))
    cursor = on_file.get("/v1/decision-events", limit=2)["next_cursor"]
    on_file.store.close()
    assert [event["position"] for event in on_file.get("/v1/decision-events", cursor=cursor)["events"]] == [3]


@given(st.integers(1, 2**63 - 1), st.text(max_size=60))
def test_a_cursor_gives_its_position_back_for_its_own_list_alone(position: int, binding: str) -> None:
    text = write_cursor(position, binding)
    assert read_cursor(text, binding) == position
    with pytest.raises(BadRequest):
        read_cursor(text, binding + "x")


@settings(max_examples=300)
@given(st.integers(1, 2**63 - 1), st.data())
def test_a_cursor_that_was_tampered_with_is_refused(position: int, data: st.DataObject) -> None:
    text = write_cursor(position, "list")
    place = data.draw(st.integers(0, len(text) - 1))
    other = data.draw(st.characters().filter(lambda letter: letter != text[place]))
    with pytest.raises(BadRequest):
        read_cursor(text[:place] + other + text[place + 1 :], "list")


@pytest.mark.parametrize("text", ["", "AAAA", "====", "\u00e9", "A" * 5000, base64.b64encode(b"\xff" * 15).decode()])
def test_what_is_no_cursor_is_refused(text: str, surface: Surface) -> None:
    answer = surface.client.get("/v1/decision-events", params={"cursor": text})
    assert (answer.status_code, answer.json()["message"]) == (400, "cursor is not one that this list gave")


def test_a_forged_cursor_beyond_every_position_is_refused() -> None:
    with pytest.raises(BadRequest):
        read_cursor(write_cursor(2**63, "list"), "list")


def test_turns_page_by_seq_and_each_comes_once(surface: Surface) -> None:
    surface.capture(payload(*[turn(number) for number in range(1, 8)]))
    seen: list[int] = []
    while page := surface.turns(limit=3, after_seq=seen[-1] if seen else 0):
        seen += [record["seq"] for record in page]
    assert seen == [1, 2, 3, 4, 5, 6, 7]


def test_ids_in_paths_match_in_any_case(surface: Surface) -> None:
    receipt = surface.capture(payload(turn(1)))
    assert len(surface.turns(SESSION.upper())) == 1
    assert surface.get(f"/v1/decision-events/{receipt['executionRef'].upper()}")["position"] == 1


def test_the_answer_names_the_session_in_lower_case(surface: Surface) -> None:
    surface.capture(payload(turn(1), session=SESSION.upper()))
    assert surface.get(f"/v1/sessions/{SESSION.upper()}/turns")["session_id"] == SESSION


def test_last_takes_the_newest_and_limit_the_first_of_these(surface: Surface) -> None:
    surface.capture(payload(*[turn(number) for number in range(1, 201)]))
    assert [record["seq"] for record in surface.turns(last=150)] == list(range(51, 201))
    assert [record["seq"] for record in surface.turns(last=150, limit=2)] == [51, 52]
    assert len(surface.turns()) == 100


def test_what_changed_after_a_version_is_new_and_revised_turns(surface: Surface) -> None:
    surface.capture(payload(turn(1), turn(2)))
    surface.capture(payload(turn(3)))
    surface.capture(payload(turn(1, "changed"), turn(2), turn(4, conversation="x")))
    assert [(record["seq"], record["version"]) for record in surface.turns(changed_after=2)] == [(1, 3), (4, 3)]
    assert surface.turns(changed_after=3) == []
    assert [record["content"] for record in surface.turns(at_seq=1)] == ["changed"]


def test_turns_of_one_conversation(surface: Surface) -> None:
    surface.capture(payload(turn(1)))
    surface.capture(payload(turn(2), conversation=OTHER_CONVERSATION))
    assert [record["turn_id"] for record in surface.turns(conversation_id=CONVERSATION.upper())] == [turn_id(1)]
    assert surface.turns(conversation_id=SESSION) == []


def test_bounds_beyond_every_seq_leave_nothing_or_everything(surface: Surface) -> None:
    surface.capture(payload(turn(1)))
    surface.capture(payload(turn(2), session=OTHER_SESSION))
    assert surface.turns(after_seq=2**63 - 1) == []
    assert surface.turns(before_seq=0) == []
    assert len(surface.turns(before_seq=2**63 - 1, at_seq=2**63 - 1)) == 1


@pytest.mark.parametrize(
    "path", [f"/v1/sessions/{OTHER_SESSION}/turns", "/v1/sessions/abc/turns", "/v1/decision-events/x"]
)
def test_what_is_not_there_is_404(path: str, surface: Surface) -> None:
    surface.capture(payload(turn(1)))
    answer = surface.client.get(path)
    assert (answer.status_code, answer.json()["error"]) == (404, "not_found")


def test_head_answers_as_get_without_the_content(surface: Surface) -> None:
    surface.post(envelope(payload(turn(1))))
    got, head = surface.client.get("/v1/decision-events"), surface.client.head("/v1/decision-events")
    assert (head.status_code, head.content) == (200, b"")
    assert head.headers["content-length"] == got.headers["content-length"]


def test_health_of_a_store_that_works(surface: Surface) -> None:
    assert surface.get("/health") == {"status": "ok", "kind": surface.kind}
    assert surface.client.head("/health").status_code == 200


@pytest.mark.parametrize("ref", ["é", "日本", "a\u0000b", "\U0001f680", "%"])
def test_an_event_is_found_by_any_execution_ref(ref: str, surface: Surface) -> None:
    surface.post(envelope(payload(turn(1)), execution_ref=ref))
    answer = surface.client.get(f"/v1/decision-events/{urllib.parse.quote(ref)}")
    assert (answer.status_code, answer.json()["runId"]) == (200, ref)


def test_a_path_as_servers_hand_it_over_is_read_as_utf_8() -> None:
    request = Request({"REQUEST_METHOD": "GET", "PATH_INFO": "/日本".encode().decode("latin-1")})
    assert request.path == "/日本"
