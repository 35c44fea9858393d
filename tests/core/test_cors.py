"""CORS as every side has it: nothing without origins; with them exactly these, on preflights, answers and errors."""

from collections.abc import Iterable
from typing import Any
from wsgiref.util import setup_testing_defaults
from wsgiref.validate import validator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.core.cors import Cors, allowed_origins, is_preflight
from agent.errors import ConfigurationError
from agent.recall.http.cors import recall_cors
from tests.origins import NO_ORIGINS, ORIGINS

APP = "https://app.example"
OTHER = "http://localhost:3000"
ASKS = {"HTTP_ACCESS_CONTROL_REQUEST_METHOD": "POST", "HTTP_ACCESS_CONTROL_REQUEST_HEADERS": "authorization"}
RULES = Cors((APP, OTHER), methods="GET, PUT", headers="X-Sent", exposed="X-Seen")


def answers(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
    """An application: 429 with a header of its own, whatever is asked."""
    start_response("429 Too Many Requests", [("Content-Type", "text/plain"), ("Vary", "Accept")])
    return [b"later"]


def call(rules: Cors, method: str = "GET", **environ: str) -> tuple[str, list[tuple[str, str]], bytes]:
    seen: list[Any] = []

    def start(status: str, headers: list[tuple[str, str]], exc_info: object = None) -> Any:
        seen.extend((status, headers))
        return lambda data: None

    body = b"".join(rules.around(answers)({"REQUEST_METHOD": method, "PATH_INFO": "/", **environ}, start))
    return seen[0], seen[1], body


def test_without_origins_an_application_is_what_it_was() -> None:
    assert Cors((), methods="GET", headers="", exposed="").around(answers) is answers


@pytest.mark.parametrize("origin", [APP, OTHER])
def test_a_page_of_a_named_origin_sees_errors_too(origin: str) -> None:
    status, headers, body = call(RULES, HTTP_ORIGIN=origin)
    assert (status, body) == ("429 Too Many Requests", b"later")
    assert headers == [
        ("Content-Type", "text/plain"),
        ("Vary", "Accept"),
        ("Vary", "Origin"),
        ("Access-Control-Allow-Origin", origin),
        ("Access-Control-Expose-Headers", "X-Seen"),
    ]


def test_a_preflight_is_answered_without_the_application() -> None:
    status, headers, body = call(RULES, "OPTIONS", HTTP_ORIGIN=APP, **ASKS)
    assert (status, body) == ("204 No Content", b"")
    assert headers == [
        ("Vary", "Origin"),
        ("Access-Control-Allow-Origin", APP),
        ("Access-Control-Allow-Methods", "GET, PUT"),
        ("Access-Control-Allow-Headers", "X-Sent"),
        ("Access-Control-Max-Age", "600"),
    ]


@pytest.mark.parametrize("origin", ["https://evil.example", "http://app.example", f"{APP}/", "null", "", "*", None])
def test_another_page_or_none_is_told_only_that_the_answer_depends_on_it(origin: str | None) -> None:
    environ = {} if origin is None else {"HTTP_ORIGIN": origin}
    assert [name for name, _ in call(RULES, **environ)[1]] == ["Content-Type", "Vary", "Vary"]
    if origin is not None:
        assert call(RULES, "OPTIONS", **environ, **ASKS)[1] == [("Vary", "Origin")]


@pytest.mark.parametrize("origins", [("*",), (APP, "*")])
@pytest.mark.parametrize("origin", [APP, "https://any.example", "null"])
def test_a_star_lets_every_page_see_and_lets_no_cookie_in(origins: tuple[str, ...], origin: str) -> None:
    rules = Cors(origins, methods="GET", headers="X", exposed="Y")
    for method in ("GET", "OPTIONS"):
        headers = dict(call(rules, method, HTTP_ORIGIN=origin, **ASKS)[1])
        assert headers["Access-Control-Allow-Origin"] == "*"
        assert "Access-Control-Allow-Credentials" not in headers


@pytest.mark.parametrize(
    ("method", "environ", "asks"),
    [
        ("OPTIONS", {"HTTP_ORIGIN": APP, **ASKS}, True),
        ("OPTIONS", {"HTTP_ORIGIN": APP}, False),
        ("OPTIONS", ASKS, False),
        ("OPTIONS", {}, False),
        ("GET", {"HTTP_ORIGIN": APP, **ASKS}, False),
        ("POST", {"HTTP_ORIGIN": APP, **ASKS}, False),
    ],
)
def test_a_preflight_is_what_a_browser_asks_before_a_request(method: str, environ: dict[str, str], asks: bool) -> None:
    assert is_preflight({"REQUEST_METHOD": method, **environ}) is asks
    assert (call(RULES, method, **environ)[0] == "204 No Content") is asks


@pytest.mark.parametrize("method", ["GET", "OPTIONS"])
def test_it_keeps_to_wsgi_on_both_sides(method: str) -> None:
    environ: dict[str, Any] = {
        "REQUEST_METHOD": method,
        "QUERY_STRING": "",
        "HTTP_ORIGIN": APP,
        "HTTP_ACCESS_CONTROL_REQUEST_METHOD": "GET",
    }
    setup_testing_defaults(environ)
    seen: list[str] = []

    def start(status: str, headers: list[tuple[str, str]], exc_info: object = None) -> Any:
        seen.append(status)
        return seen.append

    body: Any = validator(RULES.around(validator(answers)))(environ, start)
    assert b"".join(body) == (b"later" if method == "GET" else b"")
    body.close()
    assert seen == ["429 Too Many Requests" if method == "GET" else "204 No Content"]


def test_a_page_may_recall_and_sees_the_tag_and_how_long_to_wait() -> None:
    rules = recall_cors((APP,))
    assert dict(rules.of_preflight({"HTTP_ORIGIN": APP})) == {
        "Vary": "Origin",
        "Access-Control-Allow-Origin": APP,
        "Access-Control-Allow-Methods": "GET, HEAD, POST, OPTIONS",
        "Access-Control-Allow-Headers": "Authorization, Content-Type, If-None-Match, X-Agent-Id",
        "Access-Control-Max-Age": "600",
    }
    exposed = dict(rules.of_answer({"HTTP_ORIGIN": APP}))["Access-Control-Expose-Headers"].split(", ")
    assert {"ETag", "Retry-After", "X-Execution-Ref", "X-Left-Out", "Content-Disposition"} < {*exposed}
    assert exposed == sorted(exposed)


# The setting


@pytest.mark.parametrize("origin", ORIGINS)
def test_an_origin_is_taken_as_browsers_write_it(origin: str) -> None:
    assert allowed_origins("CORS_ORIGINS", f"https://first.example,\n{origin}") == ("https://first.example", origin)


@pytest.mark.parametrize("origin", NO_ORIGINS)
def test_an_origin_that_no_browser_sends_is_refused_by_its_place(origin: str) -> None:
    with pytest.raises(ConfigurationError, match=r"^CORS_ORIGINS: the 2nd entry must be \* or an origin") as refused:
        allowed_origins("CORS_ORIGINS", f"https://first.example,{origin}")
    assert refused.value.variable == "CORS_ORIGINS"


def test_without_the_setting_no_page_is_let_in() -> None:
    assert allowed_origins("CORS_ORIGINS", "  ") == ()


@given(st.sampled_from(["http", "https"]), st.from_regex(r"\A[a-z0-9.-]{1,12}\Z"), st.integers(1, 99_999))
def test_an_origin_that_was_taken_is_met_by_itself_alone(scheme: str, host: str, port: int) -> None:
    if (scheme, port) in (("http", 80), ("https", 443)):
        port += 1
    (origin,) = allowed_origins("CORS_ORIGINS", f"{scheme}://{host}:{port}")
    rules = recall_cors((origin,))
    assert rules.of_answer({"HTTP_ORIGIN": origin})[1] == ("Access-Control-Allow-Origin", origin)
    assert rules.of_answer({"HTTP_ORIGIN": f"{origin}0"}) == [("Vary", "Origin")]
