"""CORS: nothing without origins; with them exactly these, on preflights, answers and errors."""

from collections.abc import Iterable
from typing import Any
from wsgiref.util import setup_testing_defaults
from wsgiref.validate import validator

import httpx
import pytest

from store.http.cors import with_cors

APP = "https://app.example"
NAMED = (APP, "http://localhost:3000")
ASKS = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "authorization, idempotency-key"}


def store(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
    """Answers with the status that the path names."""
    status = {"/429": "429 Too Many Requests", "/500": "500 Internal Server Error"}.get(environ["PATH_INFO"], "200 OK")
    if environ["REQUEST_METHOD"] == "OPTIONS":
        status = "405 Method Not Allowed"
    start_response(status, [("Content-Type", "application/json"), ("Retry-After", "3"), ("Vary", "Accept")])
    return [b"{}"]


def call(origins: tuple[str, ...], method: str = "GET", path: str = "/", **headers: str) -> httpx.Response:
    with httpx.Client(
        transport=httpx.WSGITransport(app=with_cors(store, origins)), base_url="http://store.invalid"
    ) as client:
        return client.request(method, path, headers=headers)


def cors(answer: httpx.Response) -> dict[str, str]:
    return {name: value for name, value in answer.headers.items() if name.startswith("access-control-")}


def test_without_origins_the_application_is_what_it_was() -> None:
    assert with_cors(store, ()) is store
    answer = call((), "OPTIONS", **ASKS, Origin=APP)
    assert (answer.status_code, cors(answer), answer.headers["vary"]) == (405, {}, "Accept")


@pytest.mark.parametrize(("path", "status"), [("/", 200), ("/429", 429), ("/500", 500)])
@pytest.mark.parametrize("method", ["GET", "HEAD", "POST", "DELETE"])
def test_a_page_of_a_named_origin_sees_answers_and_errors(path: str, status: int, method: str) -> None:
    answer = call(NAMED, method, path, Origin=APP)
    assert answer.status_code == status
    assert cors(answer) == {"access-control-allow-origin": APP, "access-control-expose-headers": "Retry-After"}
    assert answer.headers.get_list("vary") == ["Accept", "Origin"]


@pytest.mark.parametrize(
    "origin",
    [
        "https://evil.example", "http://app.example", "https://app.example:8443", "https://app.example.evil.example",
        "https://APP.example", "https://app.example/", "https://sub.app.example", "null", "", "*", f"{APP},{APP}",
        "https://app.exampl\xe9",
    ],
)  # fmt: skip
def test_a_page_of_another_origin_sees_nothing(origin: str) -> None:
    environ: dict[str, Any] = {"REQUEST_METHOD": "GET", "PATH_INFO": "/", "HTTP_ORIGIN": origin}
    assert names_of(environ) == ["Content-Type", "Retry-After", "Vary", "Vary"]
    asks = {**environ, "REQUEST_METHOD": "OPTIONS", "HTTP_ACCESS_CONTROL_REQUEST_METHOD": "GET"}
    assert names_of(asks) == ["Vary"]


def names_of(environ: dict[str, Any]) -> list[str]:
    """The headers of the answer, for origins that httpx would not send."""
    names: list[str] = []

    def start(status: str, headers: list[tuple[str, str]], exc_info: object = None) -> Any:
        names.extend(name for name, _ in headers)

    list(with_cors(store, NAMED)(environ, start))
    return names


def test_an_answer_to_no_page_says_that_it_depends_on_the_origin() -> None:
    answer = call(NAMED)
    assert cors(answer) == {}
    assert answer.headers.get_list("vary") == ["Accept", "Origin"]


@pytest.mark.parametrize("path", ["/v1/decision-events", "/v1/sessions/x", "/no/such/path"])
def test_a_preflight_is_answered_without_the_application(path: str) -> None:
    answer = call(NAMED, "OPTIONS", path, **ASKS, Origin=APP)
    assert (answer.status_code, answer.content) == (204, b"")
    assert cors(answer) == {
        "access-control-allow-origin": APP,
        "access-control-allow-methods": "GET, HEAD, POST, DELETE",
        "access-control-allow-headers": "Authorization, Content-Type, Idempotency-Key, X-Agent-Id",
        "access-control-max-age": "600",
    }
    assert answer.headers["vary"] == "Origin"


@pytest.mark.parametrize("headers", [{}, {"Origin": APP}, ASKS])
def test_an_options_request_that_is_no_preflight_goes_to_the_application(headers: dict[str, str]) -> None:
    assert call(NAMED, "OPTIONS", **headers).status_code == 405


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_only_options_is_a_preflight(method: str) -> None:
    assert call(NAMED, method, **ASKS, Origin=APP).status_code == 200


@pytest.mark.parametrize("origins", [("*",), (APP, "*")])
@pytest.mark.parametrize("origin", [APP, "https://any.example", "null"])
def test_a_star_lets_every_page_see(origins: tuple[str, ...], origin: str) -> None:
    assert call(origins, "GET", "/429", Origin=origin).headers["access-control-allow-origin"] == "*"
    answer = call(origins, "OPTIONS", **ASKS, Origin=origin)
    assert (answer.status_code, answer.headers["access-control-allow-origin"]) == (204, "*")


@pytest.mark.parametrize("origins", [NAMED, ("*",)])
def test_cookies_are_never_allowed(origins: tuple[str, ...]) -> None:
    for method in ("GET", "OPTIONS"):
        assert "access-control-allow-credentials" not in call(origins, method, **ASKS, Origin=APP).headers


@pytest.mark.parametrize("method", ["GET", "OPTIONS"])
def test_it_keeps_to_wsgi_on_both_sides(method: str) -> None:
    environ: dict[str, Any] = {
        "REQUEST_METHOD": method,
        "HTTP_ORIGIN": APP,
        "HTTP_ACCESS_CONTROL_REQUEST_METHOD": "GET",
    }
    setup_testing_defaults(environ)
    environ["QUERY_STRING"] = ""
    seen: list[str] = []

    def start(status: str, headers: list[tuple[str, str]], exc_info: object = None) -> Any:
        seen.append(status)
        return seen.append

    body: Any = validator(with_cors(validator(store), NAMED))(environ, start)
    assert b"".join(body) == (b"{}" if method == "GET" else b"")
    body.close()
    assert seen == ["200 OK" if method == "GET" else "204 No Content"]
