"""Which request meets which operation, and which session it names, whatever its id holds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st
from werkzeug.test import EnvironBuilder

from agent.errors import MethodNotAllowed, NotFound
from agent.recall.http.path import Path, path_of
from agent.recall.http.routing import Found, find
from tests.recall.http.site import Site, error_of, payload, said, site

HOSTILE = ["a/b", "a/state", "state", "a//b", "../x", "a?b", "a#b", "ä/🚀", "a b", "a%2Fb", "\x00", "a/hydrate", "+"]


@pytest.fixture
def made() -> Iterator[Site]:
    with site() as made:
        yield made


def environ(path: str, method: str = "GET", **more: Any) -> dict[str, Any]:
    return {**EnvironBuilder(path=path, method=method).get_environ(), **more}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_session_is_named_by_any_string(made: Site, name: str) -> None:
    other = payload(said(1, "other"), session="a", capture_options={"derive_ids": True})
    made.capture(other)
    made.capture(payload(said(1, f"of {name}"), session=name, capture_options={"derive_ids": True}))
    path = f"/api/conversation/{quote(name, safe='')}"
    assert [message["content"] for message in made.get(path)["messages"]] == [f"of {name}"]
    assert made.get(f"{path}/state")["session_id"] == made.get(path)["session_id"]
    assert made.post(f"{path}/hydrate", {"user_message": "x"}).status_code == 200


@given(st.text(st.characters(codec="utf-8"), min_size=1, max_size=20))
def test_what_the_path_says_is_what_the_client_meant(name: str) -> None:
    for asked, operation in (("", "conversation"), ("/graph", "graph")):
        assert find(environ(f"/api/conversation/{quote(name, safe='')}{asked}")) == Found(operation, name)


@pytest.mark.parametrize(
    ("path", "operation"),
    [
        ("/api/conversations", "conversations"),
        ("/api/stats", "store_stats"),
        ("/health", "health"),
        ("/openapi.json", "openapi"),
        *((f"/api/conversation/x/{name}", name) for name in ("state", "summary", "insights", "stats", "export")),
    ],
)
def test_each_path_has_its_operation(path: str, operation: str) -> None:
    assert find(environ(path)).operation == operation
    assert find(environ(path, "HEAD")).operation == operation


@pytest.mark.parametrize(
    "path",
    [
        *(
            "/",
            "/api",
            "/api/conversation",
            "/api/conversation/",
            "/api/conversation/x/",
            "/api/conversation/x/nothing",
        ),
        *("/api/conversation/x/state/", "/api/conversation/x/y/state", "/api/conversation//state"),
        *("/api/conversations/", "/robots.txt", "/favicon.ico", "//api/stats", "/API/stats"),
    ],
)
def test_any_other_path_is_404(made: Site, path: str) -> None:
    with pytest.raises(NotFound, match="there is nothing at this path"):
        find(environ(path))
    response = made.ask("/nothing")
    assert (response.status_code, error_of(response)["error_code"]) == (404, "VALIDATION_ERROR")


def test_an_unknown_path_is_told_what_there_is_and_how_a_slash_is_written(made: Site) -> None:
    made.capture(payload(said(1, "a"), session="a/b", capture_options={"derive_ids": True}))
    for path in ("/api/conversation/a/b", "/api/sessions"):
        message = error_of(made.ask(path))["message"]
        assert message == (
            "there is nothing at this path; there is /api/conversations, /api/stats, /api/context, /health, "
            "/openapi.json, /api/conversation/{session_id}, and of a session /state, /summary, /insights, /stats, "
            "/graph, /export, /context, /hydrate behind that; a slash within an id is written %2F"
        )
    assert made.history("a%2Fb") == ["a"]


def test_a_path_that_is_not_utf_8_names_nothing() -> None:
    for sent in ({"RAW_URI": "/api/conversation/%ff"}, {"RAW_URI": ""}):
        with pytest.raises(NotFound):
            path_of({"PATH_INFO": "/api/conversation/\xff", **sent})


@pytest.mark.parametrize(
    ("path", "method", "allowed"),
    [
        ("/api/conversation/x", "POST", "GET, HEAD"),
        ("/api/conversation/x", "DELETE", "GET, HEAD"),
        ("/api/conversation/x/hydrate", "GET", "POST"),
        ("/api/conversations", "PUT", "GET, HEAD"),
        ("/health", "OPTIONS", "GET, HEAD"),
    ],
)
def test_another_method_is_405_with_those_that_there_are(made: Site, path: str, method: str, allowed: str) -> None:
    with pytest.raises(MethodNotAllowed):
        find(environ(path, method))
    response = made.ask(path, method)
    assert (response.status_code, response.headers["Allow"]) == (405, allowed)
    assert error_of(response)["message"] == f"this path answers {allowed}"


def test_a_name_that_is_longer_than_any_id_is_refused(made: Site) -> None:
    assert made.ask(f"/api/conversation/{'x' * 256}").status_code == 404
    response = made.ask(f"/api/conversation/{'x' * 257}")
    assert (response.status_code, error_of(response)["message"]) == (400, "a session's id has 1 to 256 characters")


# Where the server does not say what was sent.


def without_target(path: str, **more: Any) -> dict[str, Any]:
    known = environ(path)
    del known["RAW_URI"], known["REQUEST_URI"]
    return {**known, **more}


def test_without_the_target_the_last_part_is_what_is_asked_if_it_names_something() -> None:
    assert find(without_target("/api/conversation/a%2Fb/state")) == Found("state", "a/b")
    assert find(without_target("/api/conversation/a%2Fb")) == Found("conversation", "a/b")
    assert find(without_target("/api/conversation/state")) == Found("conversation", "state")
    with pytest.raises(NotFound):
        find(without_target("/api/conversation/"))


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, Path(("api", "conversation", "a/b"), is_exact=True)),
        ({"RAW_URI": None}, Path(("api", "conversation", "a/b"), is_exact=True)),
        (
            {"RAW_URI": "http://h.test:1/api/conversation/a%2Fb?x=1"},
            Path(("api", "conversation", "a/b"), is_exact=True),
        ),
        ({"RAW_URI": "/api/conversation/a%2fb#x"}, Path(("api", "conversation", "a/b"), is_exact=True)),
        # Rewritten, mounted, or no path at all: the target does not count.
        ({"RAW_URI": "/other", "REQUEST_URI": "*"}, Path(("api", "conversation", "a", "b"), is_exact=False)),
        ({"RAW_URI": "http://[", "REQUEST_URI": ""}, Path(("api", "conversation", "a", "b"), is_exact=False)),
        ({"SCRIPT_NAME": "/mounted"}, Path(("api", "conversation", "a", "b"), is_exact=False)),
    ],
)
def test_the_target_counts_if_it_says_the_same_path(changes: dict[str, Any], expected: Path) -> None:
    assert path_of({**environ("/api/conversation/a%2Fb"), **changes}) == expected


def test_a_server_that_hands_over_text_is_understood_too() -> None:
    assert path_of({"PATH_INFO": "/api/conversation/完成"}).parts[-1] == "完成"
    assert path_of({}).parts == ()
