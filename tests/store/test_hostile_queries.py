"""Reads that are made up to hurt: numbers at the ends of 64 bits, forged cursors, paths with tricks, floods of names.

Every engine answers each with a page or a typed refusal, gives no row that it should not, and serves the next caller.
"""

import json
import socket
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote, urlsplit

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from store.http.cursor import binding, write_cursor, write_sessions_cursor
from store.port import SessionsCursor
from tests.leak_watch import SECRET
from tests.store.engines import EMPTY, FILE_OVER_HTTP, POSTGRESQL_OVER_HTTP, opened, opened_empty
from tests.store.surface import CONVERSATION, SESSION, Surface, payload, turn

ENDS = (0, 1, 2, 3, 2**28 - 1, 2**28, 2**31, 2**40 - 1, 2**40, 2**62, 2**63 - 1)
SIGNED = (*ENDS, -1, -(2**31), -(2**63))
TURNS = f"/v1/sessions/{SESSION}/turns"
BOUNDS = ("after_seq", "before_seq", "at_seq", "changed_after")
EVENTS_BINDING = binding("events", False, None, None, None, None, None, None)
SESSIONS_BINDING = binding("sessions", None, None, None, None, None, None, None)


def fill(surface: Surface) -> None:
    surface.capture(payload(turn(1), turn(2), context={"user_id": "anna", "tags": ["a"]}))
    surface.capture(payload(turn(3, "[redacted:email]")), constraints_applied=["content_redacted"])


def rows(answer: httpx.Response) -> list[Any]:
    """The rows of a page; a refusal has its shape and none."""
    assert answer.headers["content-type"] == "application/json"
    body = answer.json()
    if answer.status_code != 200:
        assert answer.status_code in (400, 404), answer.text
        assert body.keys() == {"error", "message"}
        return []
    return next(value for name, value in body.items() if isinstance(value, list))


@pytest.mark.parametrize("value", ENDS)
@pytest.mark.parametrize("name", BOUNDS)
def test_a_bound_of_turns_at_the_end_of_its_range_bounds_what_it_says(name: str, value: int, surface: Surface) -> None:
    fill(surface)
    expected = {
        "after_seq": [seq for seq in (1, 2, 3) if seq > value],
        "before_seq": [seq for seq in (1, 2, 3) if seq < value],
        "at_seq": [seq for seq in (1, 2, 3) if seq <= value],
        "changed_after": [seq for seq, version in ((1, 1), (2, 1), (3, 2)) if version > value],
    }
    assert [record["seq"] for record in surface.turns(**{name: value})] == expected[name]
    assert [record["seq"] for record in surface.turns(**{name: value}, last=2)] == expected[name][-2:]


@pytest.mark.parametrize("value", ENDS)
def test_a_place_beyond_every_position_has_an_empty_page(value: int, surface: Surface) -> None:
    fill(surface)
    assert len(rows(surface.client.get("/events/decisions", params={"after": value}))) == max(0, 2 - value)
    assert len(rows(surface.client.get("/v1/sessions", params={"offset": value}))) == max(0, 1 - value)
    assert rows(surface.client.get("/v1/audit", params={"after": value})) == []


@pytest.mark.parametrize("position", [value for value in SIGNED if value >= 0])
def test_a_forged_cursor_reads_no_more_than_the_list(position: int, surface: Surface) -> None:
    """Its check is no secret, so anybody can write one."""
    fill(surface)
    forged = write_cursor(position, EVENTS_BINDING)
    found = rows(surface.client.get("/v1/decision-events", params={"cursor": forged}))
    assert [event["position"] for event in found] == [place for place in (1, 2) if place > position]
    feed = write_cursor(position, binding("feed"))
    assert len(rows(surface.client.get("/events/decisions", params={"after": feed}))) == len(found)
    for activity_us in SIGNED:
        for session_key in SIGNED:
            cursor = write_sessions_cursor(SessionsCursor(position, activity_us, session_key), SESSIONS_BINDING)
            listed = rows(surface.client.get("/v1/sessions", params={"cursor": cursor}))
            assert {row["session_id"] for row in listed} <= {SESSION}


NAMES = ["", "\u0000", "a\u0000b", "%00", "..", "../..", "'; DROP TABLE turns; --", '"', "\\", "\U0001f680", "\ufffe"]
NAMES += ["x" * 3000]


@pytest.mark.parametrize("name", NAMES, ids=range(len(NAMES)))
@pytest.mark.parametrize("filtered", ["user_id", "agent_id", "tag", "q"])
def test_a_filter_of_any_text_finds_what_has_it_and_nothing_else(filtered: str, name: str, surface: Surface) -> None:
    fill(surface)
    context = {"user_id": name, "agent_id": name, "tags": [name]}
    other = "7a7a7a7a-0000-4000-8000-00000000000a"
    surface.capture(payload(turn(5, name), session=other, context=context))
    found = rows(surface.client.get("/v1/sessions", params={filtered: name}))
    assert [row["session_id"] for row in found] in ([], [other])
    assert {row["session_id"] for row in surface.sessions()} == {other, SESSION}


query_names = st.sampled_from([*BOUNDS, "last", "limit", "offset", "cursor", "after", "total", "order", "q", "from"])
query_values = st.sampled_from([str(value) for value in SIGNED]) | st.text(max_size=30)


@given(queries=st.lists(st.dictionaries(query_names, query_values, max_size=4), min_size=1, max_size=8))
@settings(max_examples=40, deadline=None)
def test_no_made_up_query_is_a_fault_of_an_engine(queries: list[dict[str, str]]) -> None:
    for engine in EMPTY:
        with opened_empty(engine) as surface:
            fill(surface)
            for path in ("/v1/decision-events", "/events/decisions", "/v1/sessions", TURNS, "/v1/audit"):
                for query in queries:
                    rows(surface.client.get(path, params=query))
            assert len(surface.turns()) == 3


# Over a socket, as a server gets it


@pytest.fixture(params=[FILE_OVER_HTTP, POSTGRESQL_OVER_HTTP])
def served(request: pytest.FixtureRequest, tmp_path: Any) -> Iterator[Surface]:
    with opened(request.param, tmp_path) as surface:
        fill(surface)
        yield surface


def asked(surface: Surface, target: str | bytes) -> tuple[int, bytes]:
    """Status and body of a GET whose target goes over the wire as it is: clients tidy paths up."""
    url = urlsplit(str(surface.client.base_url))
    key = surface.client.headers["authorization"].encode()
    line = target if isinstance(target, bytes) else target.encode()
    with socket.create_connection((url.hostname, url.port), timeout=20) as connection:
        head = b"GET " + line + b" HTTP/1.1\r\nHost: store\r\nConnection: close\r\nAuthorization: " + key + b"\r\n\r\n"
        connection.sendall(head)
        answer = b"".join(iter(lambda: connection.recv(65536), b""))
    head, _, body = answer.partition(b"\r\n\r\n")
    return int(head.split(b" ", 2)[1]), body


TRICKS = [
    "/v1/sessions/../stats",
    "/v1/sessions/..%2fstats",
    "/v1/sessions/%2e%2e/stats",
    "/v1/sessions/%2E%2E%2Fstats",
    "/v1/./sessions",
    "/v1//sessions",
    "//v1/sessions",
    "/v1/sessions/",
    "/v1/sessions;a=b",
    "/v1/sessions%00",
    "/v1/sessions%2f",
    "/v1\\sessions",
    "/V1/sessions",
    "/v1/sessions/%00",
    f"/v1/sessions/{SESSION}%00",
    f"/v1/sessions/{SESSION}/../{SESSION}",
    f"/v1/sessions/{SESSION}%2fturns%2f",
    f"/v1/sessions/{SESSION}/turns/",
    f"/v1/sessions/{SESSION}/%74urns/..",
    "/%2e%2e/%2e%2e/etc/passwd",
    "/../../../../etc/passwd",
    "/v1/decision-events/..%2f..%2f..%2fetc%2fpasswd",
    "/v1/decision-events/%252e%252e",
    "/v1/sessions/" + "a/" * 2000,
    "/v1/decision-events/" + "x" * 7000,
    "/v1/sessions/" + "%00" * 2000,
    "/.git/config",
    "/openapi.json/..",
    "/metrics/../v1/stats",
]


@pytest.mark.parametrize("target", TRICKS, ids=range(len(TRICKS)))
def test_a_path_is_taken_as_it_is_written_and_leads_nowhere_else(target: str, served: Surface) -> None:
    status, body = asked(served, target)
    assert status == 404, body
    assert json.loads(body)["error"] == "not_found"
    assert b"passwd" not in body


def test_a_path_that_is_written_in_percents_is_the_same_path(served: Surface) -> None:
    status, body = asked(served, "/v1/%73essions/" + "".join(f"%{ord(letter):02x}" for letter in SESSION))
    assert (status, json.loads(body)["session_id"]) == (200, SESSION)


FLOODS = [
    "/v1/sessions?" + "&".join(["limit=1"] * 500),
    "/v1/sessions?" + "&".join(f"a{number}=1" for number in range(500)),
    "/v1/sessions?" + "&" * 3000,
    "/v1/sessions?" + "=" * 3000,
    "/v1/sessions?q=" + "%00" * 501,
    "/v1/sessions?q=" + "a+" * 400,
    "/v1/sessions?limit=" + "9" * 5000,
    "/v1/sessions?offset=-9223372036854775809",
    "/v1/sessions?cursor=" + "A" * 5000,
    "/events/decisions?types=" + "a," * 2000,
    "/events/decisions?after=" + "%31" * 1500,
    f"{TURNS}?conversation_id={CONVERSATION}%00",
    f"{TURNS}?limit=1%00",
    "/v1/decision-events?from=" + "9" * 4000 + "-01-01T00:00:00Z",
    "/v1/decision-events?session_id=%ff%fe",
    "/v1/sessions?limit=1;limit=2",
    "/v1/sessions?limit=1%26limit=2",
]


@pytest.mark.parametrize("target", FLOODS, ids=range(len(FLOODS)))
def test_a_query_that_is_no_query_is_400_and_the_next_caller_is_served(target: str, served: Surface) -> None:
    status, body = asked(served, target)
    assert status == 400, body
    assert len(body) < 2000
    assert served.session()["turn_count"] == 3


@pytest.mark.parametrize("size", [9_000, 100_000, 2_000_000])
def test_a_target_that_no_server_reads_to_its_end_is_refused_and_the_next_caller_is_served(
    size: int, served: Surface
) -> None:
    try:
        status, body = asked(served, "/v1/sessions?q=" + SECRET * (size // len(SECRET)))
    except ConnectionError:
        # It hangs up while we still send.
        status, body = 400, b""
    assert status in (400, 414), body
    assert SECRET.encode() not in body
    assert served.session()["turn_count"] == 3


@pytest.mark.parametrize("name", ["../x", "%2e%2e", "a/export", "\u0000", "." * 2000, "a b"])
def test_a_user_whose_name_is_a_path_is_exported_alone(name: str, served: Surface) -> None:
    other = "7a7a7a7a-0000-4000-8000-00000000000a"
    served.capture(payload(turn(7, "theirs"), session=other, context={"user_id": name}))
    status, body = asked(served, f"/v1/users/{quote(name, safe='')}/export")
    assert (status, b"theirs" in body, b"anna" in body) == (200, True, False)
    assert asked(served, f"/v1/users/{quote(name, safe='')}x/export")[0] == 404
