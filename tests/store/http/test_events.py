"""The write, one event, and lists of events (CONTRACT 10)."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from store.port import DEFAULT_TENANT, EventsQuery
from tests.store.http.site import ANY_TEXT, CONVERSATION, NOW, SESSION, Site, capture, event, segment

PATHS = ["/v1/decision-events", "/events/decisions", "/api/v1/decision-events"]
FILTERS = {
    "session_id": SESSION,
    "conversation_id": CONVERSATION,
    "agent_id": "a",
    "decision_type": "d",
    "from": "2026-01-01T00:00:00Z",
    "to": "2027-01-01T00:00:00Z",
    "order": "desc",
}


@pytest.mark.parametrize("path", PATHS)
def test_each_path_of_the_write_takes_an_event(path: str, site: Site) -> None:
    answer = site.post(capture(), path)
    assert answer.status_code == 201
    assert answer.headers["content-type"] == "application/json"
    assert answer.json() == {
        "status": "accepted",
        "eventId": "00000000-0000-4000-9000-000000000001",
        "executionRef": "00000000-0000-4000-8000-0000000000c1",
        "timestamp": "2026-05-04T07:30:05.123456Z",
        "position": 1,
        "turns": {"new": 1, "known": 0, "revised": 0, "erased": 0},
    }


def test_an_event_that_is_there_is_200_with_the_first_ones_ids(site: Site) -> None:
    first, second = site.post(capture()).json(), site.post(capture())
    assert second.status_code == 200
    turns = {"new": 0, "known": 1, "revised": 0, "erased": 0}
    assert second.json() == {**first, "status": "duplicate", "turns": turns}


def test_the_store_is_given_what_came_and_the_layout_is_its_own(site: Site) -> None:
    site.post(capture(), **{"Idempotency-Key": "mine"})
    call = site.last_call("append")
    assert (call.tenant, call.timeout_s) == (DEFAULT_TENANT, None)
    submission = call.argument
    assert (submission.caller_key, submission.received_at) == ("mine", NOW)
    assert submission.event_id == "00000000-0000-4000-9000-000000000001"
    assert submission.envelope.text == json.dumps(capture()).encode()
    assert len(submission.capture.turns) == 1


def test_an_event_of_another_type_makes_no_turns(site: Site) -> None:
    assert site.post(event()).json()["turns"] == {"new": 0, "known": 0, "revised": 0, "erased": 0}
    assert site.last_call("append").argument.capture is None


def test_a_bare_event_is_taken_and_comes_back_in_an_envelope(site: Site) -> None:
    bare = capture()["payload"]
    assert site.post(bare, "/api/v1/decision-events").status_code == 201
    assert site.json(f"/v1/decision-events/{bare['execution_ref']}")["payload"] == bare


def test_a_key_that_is_the_inputs_hash_is_not_the_callers(site: Site) -> None:
    site.post(event(payload={"inputs_hash": "ab"}), **{"Idempotency-Key": "ab"})
    assert site.last_call("append").argument.caller_key is None


@pytest.mark.parametrize("ref", [*ANY_TEXT, "x" * 3000])
def test_an_event_is_found_by_any_execution_ref(ref: str, site: Site) -> None:
    site.append(event(ref))
    answer = site.get(f"/v1/decision-events/{segment(ref)}")
    assert (answer.status_code, answer.json()["runId"], answer.json()["position"]) == (200, ref, 1)


@given(st.text(min_size=1))
def test_whatever_an_execution_ref_is_the_store_is_asked_for_it(ref: str) -> None:
    site = Site()
    assert site.get(f"/v1/decision-events/{segment(ref)}").status_code == 404
    assert site.last_call("event").argument == ref


def test_an_event_that_is_not_there_is_404(site: Site) -> None:
    answer = site.get("/v1/decision-events/absent")
    assert (answer.status_code, answer.json()) == (
        404,
        {"error": "not_found", "message": "no event has this execution_ref"},
    )


def test_every_filter_reaches_the_store(site: Site) -> None:
    assert site.json("/v1/decision-events", **FILTERS, limit=7) == {"events": [], "next_cursor": None}
    assert site.last_call("events").argument == EventsQuery(
        session_id=bytes.fromhex(SESSION.replace("-", "")),
        conversation_id=bytes.fromhex(CONVERSATION.replace("-", "")),
        agent_id="a",
        decision_type="d",
        from_us=1767225600_000_000,
        to_us=1798761600_000_000,
        limit=7,
        descending=True,
    )


def test_without_a_query_a_page_has_a_hundred_in_ascending_order(site: Site) -> None:
    site.json("/v1/decision-events")
    assert site.last_call("events").argument == EventsQuery(limit=100)


@pytest.mark.parametrize(
    ("text", "us"),
    [
        ("1970-01-01T00:00:00.000001999Z", 1),
        ("1969-12-31T23:59:59.9999999Z", -1),
        ("1970-01-01t02:00:00+02:00", 0),
        ("0001-01-01T00:00:00Z", -62135596800_000_000),
        ("9999-12-31T23:59:59.999999Z", 253402300799_999_999),
        ("2016-12-31T23:59:60Z", 1483228800_000_000),
    ],
)
def test_an_instant_is_cut_to_microseconds(text: str, us: int, site: Site) -> None:
    site.json("/v1/decision-events", **{"from": text, "to": text})
    assert (site.last_call("events").argument.from_us, site.last_call("events").argument.to_us) == (us, us)


def test_from_after_to_is_an_empty_page(full: Site) -> None:
    query = {"from": "2027-01-01T00:00:00Z", "to": "2026-01-01T00:00:00Z"}
    assert full.json("/v1/decision-events", **query) == {"events": [], "next_cursor": None}


def pages(site: Site, path: str, **query: Any) -> list[list[int]]:
    """The positions on each page of a list, followed by its cursors to its end."""
    found, cursor = [], None
    while True:
        page = site.json(path, **query, **({"cursor": cursor} if cursor else {}))
        found.append([one["position"] for one in page["events"]])
        cursor = page["next_cursor"]
        if cursor is None:
            return found


def test_pages_have_each_event_once_in_either_order(site: Site) -> None:
    site.append(*[event(f"r-{number}") for number in range(5)])
    assert pages(site, "/v1/decision-events", limit=2) == [[1, 2], [3, 4], [5]]
    assert pages(site, "/v1/decision-events", limit=2, order="desc") == [[5, 4], [3, 2], [1]]
    assert pages(site, "/v1/decision-events", limit=5) == [[1, 2, 3, 4, 5]]


def test_a_page_may_have_another_size_than_the_one_before(site: Site) -> None:
    site.append(*[event(f"r-{number}") for number in range(5)])
    cursor = site.json("/v1/decision-events", limit=1)["next_cursor"]
    assert len(site.json("/v1/decision-events", limit=3, cursor=cursor)["events"]) == 3


@pytest.mark.parametrize("name", FILTERS)
def test_a_cursor_goes_on_in_the_list_alone_that_gave_it(name: str, site: Site) -> None:
    site.append(*[event(f"r-{number}") for number in range(3)])
    plain = site.json("/v1/decision-events", limit=1)["next_cursor"]
    refused = site.get("/v1/decision-events", cursor=plain, **{name: FILTERS[name]})
    assert (refused.status_code, refused.json()["message"]) == (400, "cursor is not one that this list gave")


def test_one_filter_written_in_two_ways_is_one_list(site: Site) -> None:
    site.append(*[capture(f"r-{number}") for number in range(3)])
    query = {"session_id": SESSION, "from": "2026-01-01T00:00:00Z"}
    cursor = site.json("/v1/decision-events", limit=1, **query)["next_cursor"]
    same = {"session_id": SESSION.upper(), "from": "2026-01-01T01:00:00+01:00"}
    assert len(site.json("/v1/decision-events", cursor=cursor, **same)["events"]) == 2


def test_an_empty_filter_is_no_filter_of_another_name(site: Site) -> None:
    site.json("/v1/decision-events", agent_id="")
    assert site.last_call("events").argument == EventsQuery(agent_id="")
