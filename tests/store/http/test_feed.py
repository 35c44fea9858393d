"""The feed: a follower keeps its place, also where the log ends (CONTRACT 10)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from store.http.cursor import write_cursor
from tests.store.http.site import Site, event

FEED = "/events/decisions"


def positions(page: dict[str, Any]) -> list[int]:
    return [one["position"] for one in page["events"]]


def test_a_feed_without_events_has_no_place_yet(site: Site) -> None:
    assert site.json(FEED) == {"events": [], "next_cursor": None}


def test_the_last_page_has_a_cursor_that_goes_on_when_more_has_come(site: Site) -> None:
    site.append(event("r-1"), event("r-2"))
    page = site.json(FEED)
    assert positions(page) == [1, 2]
    assert site.json(FEED, after=page["next_cursor"]) == {"events": [], "next_cursor": page["next_cursor"]}
    site.append(event("r-3"))
    assert positions(site.json(FEED, after=page["next_cursor"])) == [3]


def test_a_page_that_is_not_the_last_goes_on_behind_its_last_event(site: Site) -> None:
    site.append(*[event(f"r-{number}") for number in range(3)])
    page = site.json(FEED, limit=2)
    assert positions(page) == [1, 2]
    assert positions(site.json(FEED, after=page["next_cursor"])) == [3]


@pytest.mark.parametrize(("after", "found"), [("0", [1, 2, 3]), ("2", [3]), ("3", []), ("9223372036854775807", [])])
def test_a_follower_may_name_a_position(after: str, found: list[int], site: Site) -> None:
    site.append(*[event(f"r-{number}") for number in range(3)])
    assert positions(site.json(FEED, after=after)) == found


def test_an_empty_page_gives_the_place_back_as_a_cursor(site: Site) -> None:
    cursor = site.json(FEED, after=41)["next_cursor"]
    assert site.json(FEED, after=cursor)["next_cursor"] == cursor
    assert site.last_call("events").argument.after == 41


@pytest.mark.parametrize("after", ["", "-1", "+1", "1.0", "9223372036854775808", "9" * 19, "9" * 20, "9" * 400, "x"])
def test_what_is_neither_position_nor_cursor_is_400(after: str, site: Site) -> None:
    answer = site.get(FEED, after=after)
    assert answer.status_code == 400
    assert answer.json()["message"].startswith("after ")


def test_types_are_those_of_the_envelope_each_once(site: Site) -> None:
    site.append(event("r-1"), event("r-2", type="other"), event("r-3", type="third one"))
    assert positions(site.json(FEED, types="other,third one,other")) == [2, 3]
    assert site.last_call("events").argument.types == ("other", "third one")
    assert site.json(FEED, types="absent") == {"events": [], "next_cursor": None}


@pytest.mark.parametrize("types", ["", ",", "a,", ",a", "a,,b", ",".join(f"t{n}" for n in range(21))])
def test_types_without_a_name_or_too_many_are_400(types: str, site: Site) -> None:
    answer = site.get(FEED, types=types)
    assert (answer.status_code, answer.json()["message"]) == (
        400,
        "types must be 1 to 20 names with commas between them",
    )


def test_a_cursor_belongs_to_its_types_in_any_order(site: Site) -> None:
    site.append(event("r-1"))
    cursor = site.json(FEED, types="plan_approved,b")["next_cursor"]
    assert site.json(FEED, types="b,plan_approved", after=cursor)["events"] == []
    refused = site.get(FEED, types="b", after=cursor)
    assert (refused.status_code, refused.json()["message"]) == (400, "after is not one that this list gave")


def test_a_cursor_of_a_list_is_none_of_the_feed(site: Site) -> None:
    site.append(event("r-1"), event("r-2"))
    assert site.get(FEED, after=site.json("/v1/decision-events", limit=1)["next_cursor"]).status_code == 400
    assert site.get("/v1/decision-events", cursor=site.json(FEED)["next_cursor"]).status_code == 400


def test_no_cursor_can_be_read_as_a_position() -> None:
    assert all(len(write_cursor(position, "")) == 20 for position in (0, 1, 2**63 - 1))


def test_an_event_with_numbers_beyond_64_bits_at_the_end_of_the_log_keeps_the_place(site: Site) -> None:
    body = b'{"type":"t","runId":"r","timestamp":"2026-05-04T07:30:05Z","payload":{"n":1%s,"x":1.50}}' % (b"0" * 400)
    assert site.post(body).status_code == 201
    cursor = site.json(FEED)["next_cursor"]
    assert site.json(FEED, after=cursor) == {"events": [], "next_cursor": cursor}


@given(st.lists(st.sampled_from(["a", "b", "poll", "page"]), max_size=30), st.integers(1, 3))
def test_a_follower_sees_every_event_once_and_in_order(steps: list[str], limit: int) -> None:
    site, seen, written = Site(), [], 0
    query: dict[str, Any] = {"limit": limit}
    for step in [*steps, *["poll"] * 30]:
        if step in ("a", "b"):
            written += 1
            site.append(event(f"r-{written}", type=step))
            continue
        page = site.json(FEED, **query)
        seen += positions(page)
        if page["next_cursor"] is not None:
            query["after"] = page["next_cursor"]
    assert seen == list(range(1, written + 1))
