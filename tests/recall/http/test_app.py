"""What every answer has, whatever was asked: headers, tags, keys, typed failures."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from typing import Any

import pytest
from openapi_spec_validator import OpenAPIV31SpecValidator

from agent.core.api_keys import ApiKeys
from agent.errors import NewerContract, StoreConnectionError
from agent.recall.http.cors import EXPOSED, recall_cors
from agent.recall.http.etag import is_known
from tests.recall.http.described import described
from tests.recall.http.site import REQUEST_REF, SESSION, Site, error_of, payload, said, site, turn_id

PATH = f"/api/conversation/{SESSION}"
KEY = "k-0123456789abcdef"
TAGGED = ["", "?format=openai-chat", "/state", "/summary", "/stats", "/graph", "/graph?format=dot", "/export"]


@pytest.fixture
def made() -> Iterator[Site]:
    with site() as made:
        made.capture(payload(said(1, "a")))
        yield made


# Tags.


@pytest.mark.parametrize("asked", TAGGED)
def test_an_unchanged_answer_is_not_sent_again(made: Site, asked: str) -> None:
    first = made.ask(PATH + asked)
    tag = first.headers["ETag"]
    assert tag.startswith('"1-')
    for known in (tag, f"W/{tag}", f'"other", {tag}', "*"):
        again = made.ask(PATH + asked, headers={"If-None-Match": known})
        assert (again.status_code, again.get_data(), again.headers["ETag"]) == (304, b"", tag)
        assert again.headers["Cache-Control"] == "private, no-cache"
        assert "Content-Length" not in again.headers
    assert made.ask(PATH + asked, headers={"If-None-Match": '"1-other"'}).get_data() == first.get_data()


@pytest.mark.parametrize("asked", TAGGED)
def test_a_session_that_changed_has_another_tag(made: Site, asked: str) -> None:
    tag = made.ask(PATH + asked).headers["ETag"]
    made.capture(payload(said(2, "b")))
    changed = made.ask(PATH + asked, headers={"If-None-Match": tag})
    assert changed.status_code == 200
    assert changed.headers["ETag"].startswith('"2-')


def test_a_revision_and_an_erasure_change_the_tag(made: Site) -> None:
    tags = [made.ask(PATH).headers["ETag"]]
    made.capture(payload(said(1, "A")))
    tags.append(made.ask(PATH).headers["ETag"])
    made.client.erasure.turn(turn_id(1))
    tags.append(made.ask(PATH).headers["ETag"])
    assert len({tag.partition("-")[0] for tag in tags}) == 3


def test_activity_that_brought_nothing_new_changes_what_shows_it_and_nothing_else(made: Site) -> None:
    tags = {asked: made.ask(PATH + asked).headers["ETag"] for asked in ("", "/state")}
    made.capture(payload(said(1, "a"), context={"user_id": "ada"}))
    assert made.ask(PATH + "/state").headers["ETag"] == tags["/state"]
    assert made.ask(PATH).headers["ETag"] != tags[""]


@pytest.mark.parametrize(
    ("sent", "known"),
    [(None, False), ("", False), ("*", True), ('"a"', True), ("a", False), ('"b",W/"a"', True), ('"ab"', False)],
)
def test_a_tag_is_known_by_its_whole_text(sent: str | None, known: bool) -> None:
    assert is_known('"a"', sent) is known


# Headers and methods.


@pytest.mark.parametrize(
    "path", [PATH, "/health", "/openapi.json", "/nothing", PATH + "?limit=0", "/api/conversations"]
)
def test_every_answer_names_the_agent_and_is_for_who_asked(made: Site, path: str) -> None:
    headers = made.ask(path).headers
    assert (headers["X-Agent-Id"], headers["X-Agent-Version"]) == ("conversation-memory-agent", "1.0.0")
    assert headers["Cache-Control"] == "private, no-cache"
    assert headers["X-Content-Type-Options"] == "nosniff"


@pytest.mark.parametrize(
    "path", [PATH, PATH + "/graph?format=dot", "/api/stats", "/health", "/openapi.json", "/nothing"]
)
def test_head_is_get_without_its_body(made: Site, path: str) -> None:
    got, head = made.ask(path), made.ask(path, "HEAD")
    assert (head.status_code, head.get_data()) == (got.status_code, b"")
    assert dict(head.headers) == dict(got.headers)


def test_a_body_that_nobody_wants_is_read_and_dropped(made: Site) -> None:
    body = io.BytesIO(b"x" * 100_000)
    response = made.ask(PATH, input_stream=body, headers={"Content-Length": "100000"})
    assert response.status_code == 200
    assert body.read() == b""


def test_the_description_is_valid_and_served(made: Site) -> None:
    document = made.get("/openapi.json")
    OpenAPIV31SpecValidator(document).validate()
    assert document == described()


# Health.


def test_health_says_what_this_side_does(made: Site) -> None:
    health = made.get("/health")
    assert health == {
        "status": "ok",
        "agent_id": "conversation-memory-agent",
        "agent_version": "1.0.0",
        "classification": "MEMORY_READ",
        "release": "9.9.9",
        "store": {"status": "ok", "latency_ms": 1, "kind": "embedded"},
    }


def test_a_store_that_is_away_is_503(made: Site) -> None:
    made.health = {"status": "unreachable", "latency_ms": 1500, "kind": "http"}
    response = made.ask("/health")
    assert (response.status_code, response.get_json()["status"]) == (503, "degraded")


# Keys and pages.


@pytest.mark.parametrize("path", [PATH, "/api/conversations", "/api/stats", PATH + "/hydrate"])
def test_a_key_opens_everything_that_says_something_of_somebody(made: Site, path: str) -> None:
    guarded = Site(made.client, keys=ApiKeys.parse("RECALL_API_KEYS", KEY))
    method = "POST" if path.endswith("hydrate") else "GET"
    body = {"data": b'{"user_message": "x"}'} if method == "POST" else {}
    for sent in ({}, {"Authorization": "Bearer wrong-0123456789abcdef"}, {"Authorization": KEY}):
        response = guarded.ask(path, method, headers=sent, **body)
        assert (response.status_code, error_of(response)["error_code"]) == (401, "VALIDATION_ERROR")
        assert response.headers["WWW-Authenticate"] == "Bearer"
    assert guarded.ask(path, method, headers={"Authorization": f"Bearer {KEY}"}, **body).status_code == 200


@pytest.mark.parametrize(("path", "status"), [("/health", 200), ("/openapi.json", 200), ("/nothing", 404)])
def test_what_says_nothing_of_anybody_asks_for_no_key(made: Site, path: str, status: int) -> None:
    guarded = Site(made.client, keys=ApiKeys.parse("RECALL_API_KEYS", KEY))
    assert guarded.ask(path).status_code == status


def test_a_key_is_asked_for_before_the_body_is_read(made: Site) -> None:
    guarded = Site(made.client, keys=ApiKeys.parse("RECALL_API_KEYS", KEY))
    response = guarded.ask(PATH + "/hydrate", "POST", data=b"not json")
    assert response.status_code == 401


def test_pages_of_a_configured_origin_see_answers_and_tags(made: Site) -> None:
    from werkzeug.test import Client

    web = Client(recall_cors(("https://app.example",)).around(made.app))
    here = {"Origin": "https://app.example"}
    response = web.get(PATH, headers=here)
    assert response.headers["Access-Control-Allow-Origin"] == "https://app.example"
    assert "ETag" in response.headers["Access-Control-Expose-Headers"]
    assert response.headers["Vary"] == "Origin"
    unchanged = web.get(PATH, headers={**here, "If-None-Match": response.headers["ETag"]})
    assert (unchanged.status_code, unchanged.headers["Vary"]) == (304, "Origin")
    asked = {**here, "Access-Control-Request-Method": "POST"}
    assert web.options(PATH + "/hydrate", headers=asked).status_code == 204
    assert "Access-Control-Allow-Origin" not in web.get(PATH, headers={"Origin": "https://evil.example"}).headers


# What the Fetch standard lets a page see anyway, and what is for browsers and not for pages.
NEVER_HIDDEN = {"Cache-Control", "Content-Length", "Content-Type"}
NOT_FOR_PAGES = {"Vary", "X-Content-Type-Options", "Access-Control-Allow-Origin", "Access-Control-Expose-Headers"}


def test_pages_see_every_header_that_is_sent(made: Site) -> None:
    from werkzeug.test import Client

    web = Client(recall_cors(("*",)).around(made.app))
    guarded = Site(made.client, keys=ApiKeys.parse("RECALL_API_KEYS", KEY))
    here = {"Origin": "https://app.example"}
    answers = [web.get(path, headers=here) for path in (PATH, "/nothing", f"{PATH}/export", f"{PATH}?min_version=99")]
    answers += [web.put(PATH, headers=here), guarded.ask(PATH, headers=here)]
    sent = {name for answer in answers for name, _ in answer.headers}
    assert sent - NEVER_HIDDEN - NOT_FOR_PAGES == set(EXPOSED)
    assert answers[0].headers["Access-Control-Expose-Headers"] == ", ".join(EXPOSED)


# Failures.


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/nothing", 404),
        ("GET", "/api/conversation/nobody", 404),
        ("PUT", PATH, 405),
        ("GET", PATH + "?limit=0", 400),
        ("POST", PATH + "/hydrate", 400),
        ("GET", PATH + "?min_version=99", 409),
    ],
)
def test_a_failure_is_found_in_the_log_by_its_header_too(made: Site, method: str, path: str, status: int) -> None:
    response = made.ask(path, method)
    assert response.status_code == status
    assert response.headers["X-Execution-Ref"] == error_of(response)["execution_ref"] == REQUEST_REF
    assert "X-Execution-Ref" not in made.ask(PATH).headers


class Broken:
    """A store whose every read fails."""

    def __init__(self, fault: Exception) -> None:
        self._fault = fault

    def __getattr__(self, name: str) -> Any:
        raise self._fault


def test_what_nobody_foresaw_is_a_typed_500_without_its_text(made: Site) -> None:
    broken = Site(made.client, reads=Broken(KeyError("CANARY")))
    response = broken.ask(PATH)
    error = error_of(response)
    assert (response.status_code, error["error_code"]) == (500, "INTERNAL_ERROR")
    assert error["execution_ref"] == REQUEST_REF
    assert "CANARY" not in json.dumps(error)
    (reported,) = broken.telemetry.of("failed")
    assert isinstance(reported.__cause__, KeyError)
    assert [kind for kind, _ in broken.telemetry.reports] == ["begin", "span", "failed", "end"]


@pytest.mark.parametrize(
    ("fault", "status", "code"),
    [
        (StoreConnectionError("the store could not be reached"), 502, "RUVECTOR_CONNECTION_ERROR"),
        (NewerContract(2), 422, "VALIDATION_ERROR"),
    ],
)
def test_a_failure_is_answered_by_its_class(made: Site, fault: Exception, status: int, code: str) -> None:
    response = Site(made.client, reads=Broken(fault)).ask(PATH)
    assert (response.status_code, error_of(response)["error_code"]) == (status, code)


@pytest.mark.parametrize(
    ("status", "answered"), [(400, 400), (404, 404), (405, 405), (431, 400), (308, 404), (500, 500)]
)
def test_a_page_of_the_server_becomes_typed_json(made: Site, status: int, answered: int) -> None:
    response = made.app.refused_by_host(status)
    assert response.status_code == answered
    assert json.loads(response.get_data())["error"]["execution_ref"] == REQUEST_REF
    assert response.headers["X-Execution-Ref"] == REQUEST_REF
    assert response.headers["Content-Type"] == "application/json"
    assert response.headers["X-Agent-Id"] == "conversation-memory-agent"


# Read your writes.


def test_a_reader_waits_for_what_it_was_told_is_written(made: Site) -> None:
    position = made.capture(payload(said(2, "b")))["position"]
    assert made.history(query=f"?min_version={position}") == ["a", "b"]
    # A capture that brought nothing new has a position, and the session no higher version.
    position = made.capture(payload(said(1, "a"), said(2, "b")))["position"]
    assert made.get(f"{PATH}?min_version={position}")["version"] < position
    body = {"user_message": "x"}
    assert made.post(f"{PATH}/hydrate?min_version={position}", body).status_code == 200


def test_a_position_that_the_store_never_reached_is_409_with_a_time_to_come_again(made: Site) -> None:
    for method, path in (("GET", PATH), ("POST", PATH + "/hydrate")):
        response = made.ask(f"{path}?min_version=999", method, data=b'{"user_message": "x"}')
        assert (response.status_code, response.headers["Retry-After"]) == (409, "1")
    # A chat that has begun is not taken for one that is new.
    response = made.ask("/api/conversation/nobody/hydrate?min_version=999", "POST", data=b'{"user_message": "x"}')
    assert response.status_code == 404


@pytest.mark.parametrize("path", ["", "/state", "/graph"])
def test_every_store_has_reached_the_version_of_what_is_about_to_begin(made: Site, path: str) -> None:
    assert made.ask(f"{PATH}{path}?min_version=0").status_code == 200
    assert made.ask(f"/api/conversation/nobody{path}?min_version=0").status_code == 404
    response = made.post("/api/conversation/nobody/hydrate?min_version=0", {"user_message": "x"})
    assert response.get_json()["version"] == 0
