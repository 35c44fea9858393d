"""Bodies that the store refuses, and how much of one it reads; what else of a request it refuses is in ``http``."""

import io
import json
from typing import Any

import pytest

from store.engines.sqlite import SqliteStore
from store.http.request import MAX_BODY_BYTES
from store.server import create_app
from tests.store.surface import CAPTURED_AT, Surface, clock, envelope, payload, turn

GOOD = {"type": "t", "runId": "r", "timestamp": CAPTURED_AT, "payload": {}}
BARE = {"decision_type": "t", "execution_ref": "r", "timestamp": CAPTURED_AT}


def without(name: str, body: dict[str, Any] = GOOD) -> dict[str, Any]:
    return {key: value for key, value in body.items() if key != name}


BODIES: list[tuple[Any, str]] = [
    (b"", "the body is not JSON"),
    (b'{"type": "t', "the body is not JSON"),
    (b'{"a":1,"a":2}', "the body is not JSON"),
    (b'{"a":{"b":1,"\\u0062":2}}', "the body is not JSON"),
    (b'{"a":NaN}', "the body is not JSON"),
    (b'{"a":"\\ud83d"}', "the body is not JSON"),
    (b'{"a":"\xff"}', "the body is not JSON"),
    (b"{} {}", "the body is not JSON"),
    (b"[" * 300 + b"]" * 300, "the body is not JSON"),
    (b'{"a":' * 300 + b"1" + b"}" * 300, "the body is not JSON"),
    (b'{"a":' + b"1" * 5000 + b"}", "the body is not JSON"),
    ([], "the body must be a JSON object"),
    ("text", "the body must be a JSON object"),
    ({}, "type must be a string"),
    (without("type"), "type must be a string"),
    ({**GOOD, "type": None}, "type must be a string"),
    (without("runId"), "runId must be a string"),
    ({**GOOD, "runId": 7}, "runId must be a string"),
    (without("timestamp"), "timestamp must be a string"),
    ({**GOOD, "timestamp": "2026-03-02T08:15:03"}, "timestamp must be an RFC 3339 date-time with an offset"),
    ({**GOOD, "timestamp": "yesterday"}, "timestamp must be an RFC 3339 date-time with an offset"),
    (without("payload"), "payload must be an object"),
    ({**GOOD, "payload": []}, "payload must be an object"),
    ({**GOOD, "payload": None, "decision_type": "d"}, "payload must be an object"),
    (without("execution_ref", BARE), "execution_ref must be a string"),
    (without("timestamp", BARE), "timestamp must be a string"),
    ({**BARE, "decision_type": 7}, "decision_type must be a string"),
]


@pytest.mark.parametrize(("body", "message"), BODIES, ids=range(len(BODIES)))
def test_a_body_that_is_no_event_is_400_and_nothing_is_written(body: Any, message: str, surface: Surface) -> None:
    answer = surface.post(body)
    assert (answer.status_code, answer.json()["error"]) == (400, "bad_request")
    assert answer.json()["message"].startswith(message)
    assert surface.get("/v1/decision-events")["events"] == []


def put(text: str, place: str) -> bytes:
    body = envelope(payload(turn(1, metadata={"in": "@turn"}), x="@inputs"), outputs={"in": "@outputs"}, x="@payload")
    body["x"] = "@envelope"
    return json.dumps(body).replace(f'"@{place}"', text).encode()


@pytest.mark.parametrize("place", ["turn", "inputs", "outputs", "payload", "envelope"])
@pytest.mark.parametrize("number", ["1e400", "-1e999", "[1" + "0" * 400 + ".0]", "[123456789012345678901, 1e400]"])
def test_a_number_that_overflows_is_400_wherever_it_stands(place: str, number: str, surface: Surface) -> None:
    answer = surface.post(put(number, place))
    assert (answer.status_code, answer.json()["message"]) == (400, "a number overflows a double")
    assert surface.get("/v1/decision-events")["events"] == []


@pytest.mark.parametrize("place", ["payload", "envelope"])
def test_a_number_that_overflows_in_an_event_without_turns_is_400(place: str, surface: Surface) -> None:
    body = json.dumps({**GOOD, "payload": {"x": "@payload"}, "x": "@envelope"}).replace(f'"@{place}"', "1e400")
    assert surface.post(body.encode()).status_code == 400


@pytest.mark.parametrize("key", ["", " ", "a b", "\u00e9", "x" * 256, "tab\there"])
def test_a_key_that_is_not_visible_ascii_is_400(key: str) -> None:
    answer = raw("POST", "/v1/decision-events", json.dumps(GOOD).encode(), HTTP_IDEMPOTENCY_KEY=key)
    assert answer == (400, "Idempotency-Key must have 1 to 255 visible ASCII characters")


class Body(io.BytesIO):
    """A body that fails a test which reads more of it than it may."""

    def __init__(self, size: int, may_read: int) -> None:
        super().__init__()
        self.left, self.may_read = size, may_read

    def read(self, size: int | None = -1, /) -> bytes:
        part = min(self.left, 1 << 20 if size is None or size < 0 else min(size, 1 << 20))
        self.left -= part
        self.may_read -= part
        assert self.may_read >= 0
        return b" " * part


def raw(method: str, path: str, body: Any, **environ: Any) -> tuple[int, str]:
    """The answer to a request that httpx would not send."""
    stream = body if isinstance(body, io.BytesIO) else io.BytesIO(body)
    length = {} if isinstance(body, io.BytesIO) else {"CONTENT_LENGTH": str(len(body))}
    store, status = SqliteStore(":memory:"), []
    app = create_app(store, clock=clock, new_id=lambda: "id")
    environment = {"REQUEST_METHOD": method, "PATH_INFO": path, "wsgi.input": stream, **length, **environ}
    parts = app(environment, lambda line, headers: status.append(line))  # type: ignore[arg-type, return-value, func-returns-value]  # no writer, which PEP 3333 allows to leave unused
    store.close()
    return int(status[0][:3]), json.loads(b"".join(parts)).get("message", "")


TOO_LARGE = (413, f"a body has at most {MAX_BODY_BYTES} bytes")


def test_an_announced_body_over_32_mib_is_413_before_it_is_read() -> None:
    body = Body(40 << 20, may_read=0)
    assert raw("POST", "/v1/decision-events", body, CONTENT_LENGTH=str(MAX_BODY_BYTES + 1)) == TOO_LARGE


@pytest.mark.parametrize("how", [{"HTTP_TRANSFER_ENCODING": "chunked"}, {"wsgi.input_terminated": True}])
def test_a_chunked_body_over_32_mib_is_413_once_that_much_was_read(how: dict[str, Any]) -> None:
    body = Body(40 << 20, may_read=MAX_BODY_BYTES + 1)
    assert raw("POST", "/v1/decision-events", body, **how) == TOO_LARGE


def test_a_body_of_exactly_32_mib_is_taken(surface: Surface) -> None:
    text = json.dumps(GOOD).encode()
    body = text[:-1] + b" " * (MAX_BODY_BYTES - len(text)) + b"}"
    assert surface.post(body).status_code == 201
    assert surface.post(body + b" ").status_code == 413


def test_a_chunked_body_is_taken() -> None:
    body = io.BytesIO(json.dumps(GOOD).encode())
    assert raw("POST", "/v1/decision-events", body, HTTP_TRANSFER_ENCODING="chunked")[0] == 201


@pytest.mark.parametrize(
    ("environ", "message"),
    [
        ({"CONTENT_LENGTH": "1000"}, "the body is shorter than its Content-Length"),
        ({"CONTENT_LENGTH": "-1"}, "Content-Length must be a number"),
        ({"CONTENT_LENGTH": "x"}, "Content-Length must be a number"),
        ({"CONTENT_LENGTH": ""}, "the body is not JSON: UTF-8, no duplicate keys, no NaN, no lone surrogates"),
        ({"HTTP_CONTENT_ENCODING": "gzip"}, "a body is sent without Content-Encoding"),
    ],
)
def test_a_body_that_is_not_whole_or_coded_is_400(environ: dict[str, str], message: str) -> None:
    assert raw("POST", "/v1/decision-events", json.dumps(GOOD).encode(), **environ) == (400, message)


def test_identity_is_no_coding() -> None:
    body = json.dumps(GOOD).encode()
    assert raw("POST", "/v1/decision-events", body, HTTP_CONTENT_ENCODING="Identity")[0] == 201
