"""Queries that are refused: what is out of its range, what nobody knows, what cannot be read."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from agent.formats import WRITES
from tests.recall.http.site import SESSION, Site, error_of, payload, said, site

PATH = f"/api/conversation/{SESSION}"


@pytest.fixture(scope="module")
def made() -> Iterator[Site]:
    with site() as made:
        made.capture(payload(said(1, "a")))
        yield made


def problems(made: Site, path: str) -> tuple[str, list[tuple[str, str]]]:
    """The message of a refusal, and its findings."""
    response = made.ask(path)
    assert response.status_code == 400, response.get_data(as_text=True)
    error = error_of(response)
    assert error["error_code"] == "VALIDATION_ERROR"
    return error["message"], [(found["path"], found["rule"]) for found in error["details"]["errors"]]


@pytest.mark.parametrize("path", [PATH, "/api/conversations"])
@pytest.mark.parametrize(
    ("limit", "rule"),
    [
        ("-1", "minimum"),
        ("0", "minimum"),
        ("1000000", "maximum"),
        ("1001", "maximum"),
        ("9" * 5000, "maximum"),
        ("abc", "type"),
        ("1.0", "type"),
        ("", "type"),
        ("\u0661", "type"),
    ],
)
def test_a_limit_out_of_its_range_is_refused_by_the_range(made: Site, path: str, limit: str, rule: str) -> None:
    # cases.md H32.
    found = problems(made, f"{path}?limit={limit}")
    assert found == ("limit must be a whole number from 1 to 1000", [("$.limit", rule)])


@pytest.mark.parametrize("limit", [1, 1000])
def test_the_ends_of_the_range_are_taken(made: Site, limit: int) -> None:
    assert made.get(f"{PATH}?limit={limit}")["message_count"] == 1
    assert made.get(f"/api/conversations?limit={limit}")["limit"] == limit


@pytest.mark.parametrize(("name", "lowest"), [("before_seq", 1), ("after_seq", 0), ("at_seq", 0), ("min_version", 0)])
def test_a_place_is_a_whole_number_that_64_bits_hold(made: Site, name: str, lowest: int) -> None:
    for below in (-1, lowest - 1):
        message, found = problems(made, f"{PATH}?{name}={below}")
        assert message == f"{name} must be a whole number from {lowest} to {2**63 - 1}"
        assert found == [(f"$.{name}", "minimum")]
    assert made.ask(f"{PATH}?{name}={lowest}").status_code == 200
    assert problems(made, f"{PATH}?{name}={2**63}")[1] == [(f"$.{name}", "maximum")]


def test_an_offset_may_be_any_that_there_is(made: Site) -> None:
    assert made.get(f"/api/conversations?offset={2**63 - 1}")["sessions"] == []
    assert problems(made, f"/api/conversations?offset={2**63}")[1] == [("$.offset", "maximum")]


@pytest.mark.parametrize("path", [f"{PATH}?at=", "/api/conversations?from=", "/api/conversations?to="])
@pytest.mark.parametrize("text", ["yesterday", "2026-03-02", "2026-03-02T08:15:00", "2026-03-02T08:15:00+02:00", ""])
def test_an_instant_needs_an_offset_and_its_plus_sign_quoted(made: Site, path: str, text: str) -> None:
    name = path.partition("?")[2].rstrip("=")
    message, found = problems(made, path + text)
    assert message == f"{name} must be an RFC 3339 date-time with an offset, its plus sign written %2B"
    assert found == [(f"$.{name}", "format")]


def test_every_name_that_nobody_knows_is_told_with_those_that_are(made: Site) -> None:
    message, found = problems(made, f"{PATH}/summary?minversion=1&x=2&min_version=0")
    assert message == "the query takes min_version"
    assert found == [("$.minversion", "additionalProperties"), ("$.x", "additionalProperties")]
    message, found = problems(made, "/api/stats?" + "k" * 100 + "=1")
    assert (message, found) == ("this path takes no query", [(f"$.{'k' * 64}", "additionalProperties")])


def test_a_name_that_stands_twice_is_refused(made: Site) -> None:
    assert problems(made, f"{PATH}?limit=1&limit=2") == ("a query name stands twice", [("$", "duplicate_key")])


@pytest.mark.parametrize("query", ["limit=%ff", "q=%ed%a0%80"])
def test_a_query_that_cannot_be_read_is_refused(made: Site, query: str) -> None:
    assert problems(made, f"/api/conversations?{query}") == ("the query cannot be read", [("$", "utf8")])


def test_a_query_has_a_bound_and_so_many_names_at_most(made: Site) -> None:
    many = "&".join(f"a{n}=1" for n in range(51))
    assert problems(made, f"/api/conversations?{many}") == ("the query has at most 50 names", [("$", "maxProperties")])
    long = "x" * 32768
    message = "the query has at most 32768 characters"
    assert problems(made, f"/api/conversations?user_id={long}") == (message, [("$", "maxLength")])
    assert problems(made, f"{PATH}?x={long}") == (message, [("$", "maxLength")])


@pytest.mark.parametrize("name", ["user_id", "agent_id", "tag", "cursor"])
def test_a_filter_has_1000_characters_at_most(made: Site, name: str) -> None:
    message = f"{name} must have 1 to 1000 characters"
    assert problems(made, f"/api/conversations?{name}={'x' * 1001}") == (message, [(f"$.{name}", "maxLength")])


def test_the_longest_filters_fit_the_address_of_the_store(made: Site) -> None:
    filters = dict.fromkeys(("user_id", "agent_id", "tag"), "🚀" * 1000)
    # As a client may send them: not percent-encoded.
    query = "&".join(f"{name}={text}" for name, text in {**filters, "q": "\U0001f680" * 500}.items())
    assert made.app.answer(_environ(query)).status == 200


def _environ(query: str) -> dict[str, str]:
    sent = query.encode().decode("latin-1")
    return {"REQUEST_METHOD": "GET", "PATH_INFO": "/api/conversations", "QUERY_STRING": sent}


def test_leading_zeros_make_no_other_number(made: Site) -> None:
    assert made.get(f"/api/conversations?limit={'1'.rjust(5000, '0')}")["limit"] == 1
    assert problems(made, f"{PATH}?limit={'0' * 5000}")[1] == [("$.limit", "minimum")]
    assert problems(made, f"{PATH}?limit={'0' * 5000}{'9' * 30}")[1] == [("$.limit", "maximum")]


@pytest.mark.parametrize("name", ["conversation_id", "leaf"])
def test_an_id_has_1_to_256_characters(made: Site, name: str) -> None:
    assert problems(made, f"{PATH}?{name}=")[1] == [(f"$.{name}", "minLength")]
    assert problems(made, f"{PATH}?{name}={'x' * 257}") == (
        f"{name} must have 1 to 256 characters",
        [(f"$.{name}", "maxLength")],
    )


@pytest.mark.parametrize("name", ["user_id", "agent_id", "tag", "cursor", "q"])
def test_a_filter_is_not_empty(made: Site, name: str) -> None:
    assert problems(made, f"/api/conversations?{name}=") == (f"{name} must not be empty", [(f"$.{name}", "minLength")])


def test_words_are_not_white_space_alone_and_fit_an_address(made: Site) -> None:
    assert problems(made, "/api/conversations?q=%20%20")[1] == [("$.q", "pattern")]
    assert problems(made, f"/api/conversations?q={'x' * 501}")[1] == [("$.q", "maxLength")]
    assert made.get(f"/api/conversations?q={'x' * 500}")["sessions"] == []


@pytest.mark.parametrize(
    ("path", "options"),
    [("graph", "json, mermaid, dot"), ("export", f"json, markdown, text, jsonl, native, {', '.join(WRITES)}")],
)
def test_a_format_is_one_of_those_that_there_are(made: Site, path: str, options: str) -> None:
    message, found = problems(made, f"{PATH}/{path}?format=CANARY")
    assert (message, found) == (f"format must be one of {options}", [("$.format", "enum")])


def test_an_offset_and_a_cursor_exclude_each_other(made: Site) -> None:
    message, found = problems(made, "/api/conversations?offset=0&cursor=x")
    assert message == "offset and cursor exclude each other"
    assert found == [("$.offset", "unsupported"), ("$.cursor", "unsupported")]


def test_a_cursor_of_another_list_is_refused(made: Site) -> None:
    assert problems(made, "/api/conversations?cursor=CANARY") == (
        "cursor is not one that this list gave",
        [("$.cursor", "format")],
    )
