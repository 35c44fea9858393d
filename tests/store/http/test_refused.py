"""What the surface refuses to guess at: queries, paths, methods and bodies; always JSON, never the caller's text."""

from __future__ import annotations

import json
import logging
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from store.errors import Conflict, DatabaseLocked, DiskFull
from tests.store.http.paths import CALLS, RIGHTS, concrete
from tests.store.http.site import SESSION, Site, event, filled

QUERIES = {
    "/v1/decision-events": [
        "session_id", "conversation_id", "agent_id", "decision_type", "from", "to", "limit", "cursor", "order",
    ],
    "/events/decisions": ["types", "after", "limit"],
    "/v1/sessions": [
        "user_id", "agent_id", "tag", "conversation_id", "q", "from", "to", "limit", "cursor", "offset", "total",
    ],
    f"/v1/sessions/{SESSION}/turns": [
        "conversation_id", "after_seq", "before_seq", "at_seq", "changed_after", "last", "limit",
    ],
    "/v1/audit": ["after", "limit"],
}  # fmt: skip
NAMES = sorted({name for names in QUERIES.values() for name in names})
RANGES = {"limit": (1, 1000), "last": (1, 1000)}
NUMBERS = [
    (path, name)
    for path, names in QUERIES.items()
    for name in names
    if name in ("limit", "last", "offset", "after", "after_seq", "before_seq", "at_seq", "changed_after")
]
UUIDS = [(path, name) for path, names in QUERIES.items() for name in names if name.endswith("_id") and name[0] in "sc"]
INSTANTS = [(path, name) for path, names in QUERIES.items() for name in names if name in ("from", "to")]


def refused(site: Site, path: str, message: str, **query: Any) -> None:
    answer = site.get(path, **query)
    assert (answer.status_code, answer.json()) == (400, {"error": "bad_request", "message": message})


@pytest.mark.parametrize("path", QUERIES)
def test_a_query_name_that_is_not_known_is_400_and_names_those_that_are(path: str, full: Site) -> None:
    refused(full, path, f"the query may hold {', '.join(QUERIES[path])}", Limit=1)


@pytest.mark.parametrize(("method", "template", "right"), [one for one in CALLS if concrete(one[1]) not in QUERIES])
def test_a_path_without_a_query_refuses_one(method: str, template: str, right: str, full: Site) -> None:
    if template == "/metrics":
        return
    answer = full.client.request(method, f"{concrete(template)}?limit=1")
    assert answer.status_code == 400
    assert method == "HEAD" or answer.json()["message"] == "this path takes no query"


@pytest.mark.parametrize("path", ["/v1/decision-events", "/events/decisions"])
def test_a_write_with_a_query_is_refused(path: str, site: Site) -> None:
    assert site.post(event(), f"{path}?limit=1").json()["message"] == "this path takes no query"
    assert site.store.calls == []


@pytest.mark.parametrize(("path", "name"), [(path, name) for path, names in QUERIES.items() for name in names])
def test_a_query_name_that_stands_twice_is_400(path: str, name: str, full: Site) -> None:
    answer = full.get(f"{path}?{name}=1&{name}=1")
    assert (answer.status_code, answer.json()["message"]) == (400, "a query name stands twice")


@pytest.mark.parametrize(
    "text", ["", "-1", "+1", " 1", "1 ", "1.0", "1e2", "x", "\u0661", "9223372036854775808", "9" * 30, "1_0", "0x1"]
)
@pytest.mark.parametrize(("path", "name"), NUMBERS)
def test_a_number_out_of_its_range_is_400_and_names_the_range(path: str, name: str, text: str, full: Site) -> None:
    lowest, highest = RANGES.get(name, (0, 2**63 - 1))
    answer = full.get(path, **{name: text})
    assert answer.status_code == 400
    if (path, name) != ("/events/decisions", "after"):
        assert answer.json()["message"] == f"{name} must be a whole number from {lowest} to {highest}"


@pytest.mark.parametrize(("path", "name"), NUMBERS)
def test_a_number_at_either_end_of_its_range_is_taken(path: str, name: str, full: Site) -> None:
    for end in RANGES.get(name, (0, 2**63 - 1)):
        full.json(path, **{name: end})
        full.json(path, **{name: f"0{end}" if end < 10 else end})
    if name in RANGES:
        for beyond in (0, 1001):
            assert full.get(path, **{name: beyond}).status_code == 400


@pytest.mark.parametrize("text", ["", "x", SESSION[:-1], SESSION + "\n", f"{{{SESSION}}}", SESSION.replace("-", "")])
@pytest.mark.parametrize(("path", "name"), UUIDS)
def test_an_id_that_is_no_uuid_is_400(path: str, name: str, text: str, full: Site) -> None:
    refused(full, path, f"{name} must be a UUID", **{name: text})


@pytest.mark.parametrize(
    "text", ["", "2026-01-01", "2026-01-01T00:00:00", "2026-02-30T00:00:00Z", "0000-01-01T00:00:00Z", "1767225600"]
)
@pytest.mark.parametrize(("path", "name"), INSTANTS)
def test_an_instant_that_is_none_is_400(path: str, name: str, text: str, full: Site) -> None:
    message = f"{name} must be an RFC 3339 date-time with an offset, its plus sign written %2B"
    refused(full, path, message, **{name: text})


def test_a_plus_sign_that_was_not_quoted_is_a_space_and_the_message_says_so(full: Site) -> None:
    answer = full.get("/v1/sessions?from=2026-01-01T00:00:00+02:00")
    assert (answer.status_code, "written %2B" in answer.json()["message"]) == (400, True)
    assert full.get("/v1/sessions?from=2026-01-01T00:00:00%2B02:00").status_code == 200


@pytest.mark.parametrize("order", ["", "ASC", "up"])
def test_an_order_is_asc_or_desc(order: str, full: Site) -> None:
    refused(full, "/v1/decision-events", "order must be asc or desc", order=order)


@pytest.mark.parametrize("query", ["session_id=%ff", "agent_id=%ED%A0%80", "&".join(["limit=1"] * 21)])
def test_a_query_that_is_not_utf_8_or_too_long_cannot_be_read(query: str, full: Site) -> None:
    answer = full.get(f"/v1/decision-events?{query}")
    assert (answer.status_code, answer.json()["message"]) == (400, "the query cannot be read")


@pytest.mark.parametrize("query", [b"agent_id=\xff", b"agent_id=\xed\xa0\x80", b"\xc3"])
def test_bytes_in_a_query_that_are_not_utf_8_are_400(query: bytes, full: Site) -> None:
    assert full.raw("GET", b"/v1/decision-events", query)[0] == 400


@pytest.mark.parametrize("method", ["GET", "POST", "DELETE"])
@pytest.mark.parametrize(
    "path", [b"/\xff", b"/v1/decision-events/\xff", b"/v1/users/\xc3", b"/v1/sessions/\xed\xa0\x80"]
)
def test_a_path_that_is_not_utf_8_is_404(path: bytes, method: str, full: Site) -> None:
    status, headers, body = full.raw(method, path)
    assert (status, headers["Content-Type"]) == (404, "application/json")
    assert json.loads(body)["message"] == "there is no such path"


@pytest.mark.parametrize("template", [one for one in RIGHTS if "{" in one])
def test_an_empty_variable_is_no_path(template: str, full: Site) -> None:
    path = template.format(execution_ref="", session_id="", turn_id="", user_id="")
    for method in RIGHTS[template]:
        if path != "/v1/users//export":
            assert full.client.request(method, path).json()["message"] == "there is no such path"


@pytest.mark.parametrize(
    ("fault", "status", "headers"),
    [
        (Conflict("the key is taken"), 409, {}),
        (DatabaseLocked("locked"), 503, {"retry-after": "1"}),
        (DiskFull("full"), 503, {"retry-after": "5"}),
    ],
)
def test_what_the_store_refuses_is_answered_by_its_own_status(
    fault: Any, status: int, headers: dict[str, str], site: Site
) -> None:
    site.store.faults["append"] = fault
    answer = site.post(event())
    assert (answer.status_code, answer.json()) == (status, {"error": fault.error, "message": fault.message})
    assert headers.items() <= dict(answer.headers).items()


@pytest.mark.parametrize(("method", "template", "right"), CALLS)
def test_what_nobody_foresaw_is_a_typed_500_and_logged_without_its_text(
    method: str, template: str, right: str, caplog: pytest.LogCaptureFixture
) -> None:
    site = Site(filled(), openapi=lambda: {}["SECRET-71b"])
    if template == "/metrics":
        return
    names = ["append", "event", "events", "sessions", "session", "turns", "stats", "ping", "audit", "export_user"]
    for name in [*names, "erase_session", "erase_turn", "erase_user"]:
        site.store.faults[name] = KeyError("SECRET-71b")
    with caplog.at_level(logging.WARNING, logger="store"):
        content = json.dumps(event()).encode() if method == "POST" else None
        answer = site.client.request(method, concrete(template), content=content)
    assert (answer.status_code, answer.headers["content-type"]) == (500, "application/json")
    if method != "HEAD":
        message = "the request failed in a way that was not foreseen"
        assert answer.json() == {"error": "internal_error", "message": message}
    assert "SECRET" not in answer.text + caplog.text
    assert "KeyError at __call__" in caplog.text


@pytest.mark.parametrize(("method", "template", "right"), CALLS)
def test_nothing_of_a_request_is_logged(
    method: str, template: str, right: str, full: Site, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG, logger="store"):
        full.client.request(method, concrete(template), params={"SECRET-71b": "SECRET-71b"})
        full.client.request(method, concrete(template), content=b'{"SECRET-71b"')
    assert caplog.records == []


def test_no_refusal_repeats_what_the_caller_sent(full: Site) -> None:
    for path, names in QUERIES.items():
        for name in [*names, "SECRET-71b"]:
            assert "SECRET" not in full.get(path, **{name: "SECRET-71b"}).text
    for path in ("/SECRET-71b", "/v1/sessions/SECRET-71b", "/v1/users/SECRET-71b/export", "/v1/turns/SECRET-71b"):
        for method in ("GET", "DELETE", "POST"):
            assert "SECRET" not in full.client.request(method, path).text


@settings(max_examples=300)
@given(
    st.sampled_from(sorted(QUERIES)),
    st.lists(
        st.tuples(st.sampled_from(sorted({name for names in QUERIES.values() for name in names})), st.text()),
        max_size=3,
    ),
)
def test_no_query_is_answered_with_anything_but_200_or_400(path: str, fields: list[tuple[str, str]]) -> None:
    query = "&".join(f"{name}={quote(value)}" for name, value in fields)
    status, headers, body = Site(filled()).raw("GET", path.encode(), query.encode())
    assert status in (200, 400)
    assert headers["Content-Type"] == "application/json"
    json.loads(body)


@settings(max_examples=300)
@given(
    st.sampled_from(["GET", "HEAD", "POST", "DELETE"]), st.binary(max_size=60), st.binary(max_size=60), st.booleans()
)
def test_no_bytes_in_path_and_query_are_a_fault_of_ours(method: str, path: bytes, query: bytes, known: bool) -> None:
    place = b"/v1/users/" if known else b"/"
    status, headers, body = Site().raw(method, place + path, query)
    assert status in (200, 400, 404, 405)
    assert headers["Content-Type"] == "application/json"
    assert (body == b"") == (method == "HEAD")


@settings(max_examples=300)
@given(st.binary(max_size=80))
def test_no_body_is_a_fault_of_ours(body: bytes) -> None:
    answer = Site().post(body)
    assert answer.status_code == 400
    assert answer.json()["error"] == "bad_request"
