"""What a store and who reads from it are asked: a few writes, then requests, each of them one that a stranger may send.

A case is JSON: ``{"writes": [envelope...], "asks": [[method, path, query, body]...]}``. Paths and queries are text as
WSGI hands it over, a byte a character; ``@`` alone as a query's value stands for the last cursor that was given.
"""

from __future__ import annotations

import copy
import io
import json
import logging
import random
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple
from urllib.parse import quote

from tests.fuzz.mutation import ODD_VALUES, rearranged
from tests.store.surface import CONVERSATION, OTHER_CONVERSATION, SESSION, envelope, payload, ref_of, turn, turn_id

CURSOR = "@"
_MOST = 8
_LARGEST_CASE = 20_000
USER = "anna"
VALUES = [
    "",
    "0",
    "1",
    "2",
    "-1",
    "1000",
    "1001",
    "9223372036854775807",
    "9223372036854775808",
    "9" * 30,
    "1.0",
    "true",
]
VALUES += ["false", "asc", "desc", "\u0000", "\u0661", "%", "\ud800", "é", "ff" * 16, "=" * 40, CURSOR, CURSOR]
VALUES += [
    SESSION,
    SESSION.upper(),
    CONVERSATION,
    turn_id(1),
    turn_id(2),
    USER,
    "a",
    "t1",
    '"t1',
    "t1 OR t2",
    "*",
    "' --",
]
VALUES += ["2026-03-02T08:15:00Z", "2026-03-02T08:15:00%2B01:00", "0001-01-01T00:00:00Z", "9999-12-31T23:59:60Z"]


class Answered(NamedTuple):
    """An answer, whole."""

    status: int
    headers: dict[str, str]
    body: bytes


class Case(NamedTuple):
    """The parts of a case; ``asks`` are whole, whatever was left out of them."""

    writes: list[Any]
    asks: list[tuple[str, str, str, str]]


def case_of(data: bytes) -> Case | None:
    """The case in ``data``; None where it is none."""
    try:
        found = json.loads(data)
        writes, asks = found["writes"], found["asks"]
        if not isinstance(writes, list) or not all(isinstance(part, str) for ask in asks for part in ask):
            return None
        return Case(writes, [(method, path, query, body) for method, path, query, body in asks])
    except (ValueError, KeyError, TypeError, RecursionError):
        return None


def answered(app: Any, method: str, path: str, query: str = "", body: str = "") -> Answered:
    """The answer of a WSGI application; what it raises is raised."""
    data = _latin(body).encode("latin-1")
    environ = {
        "REQUEST_METHOD": method,
        "SCRIPT_NAME": "",
        "PATH_INFO": _latin(path),
        "QUERY_STRING": _latin(query),
        "CONTENT_LENGTH": str(len(data)),
        "SERVER_NAME": "fuzz",
        "SERVER_PORT": "80",
        "SERVER_PROTOCOL": "HTTP/1.1",
        "wsgi.url_scheme": "http",
        "wsgi.input": io.BytesIO(data),
    }
    started: dict[str, Any] = {}

    def start_response(
        status: str, headers: list[tuple[str, str]], _exc_info: object = None
    ) -> Callable[[bytes], None]:
        started.update(status=int(status[:3]), headers=dict(headers))
        return _unwritten

    parts = app(environ, start_response)
    try:
        whole = b"".join(parts)
    finally:
        if hasattr(parts, "close"):
            parts.close()
    return Answered(started["status"], started["headers"], whole)


def _unwritten(_: bytes) -> None:
    raise AssertionError("the write callable of PEP 3333 was called")


def _latin(text: str) -> str:
    """``text`` a byte a character; what is no text of UTF-8 is taken for bytes already."""
    return text if text.isascii() else text.encode("utf-8", "surrogatepass").decode("latin-1")


def cursor_in(answer: Answered) -> str | None:
    """The cursor that an answer gives, where it gives one."""
    if answer.status != 200:
        return None
    document = json.loads(answer.body or b"null")
    found = document.get("next_cursor") if isinstance(document, dict) else None
    return found if isinstance(found, str) else None


def with_cursor(query: str, cursor: str | None) -> str:
    """``query`` with the last cursor where its mark stands."""
    return query if cursor is None else query.replace(f"={CURSOR}", f"={cursor}")


@contextmanager
def faults_of(*names: str) -> Iterator[list[str]]:
    """What these loggers say at level ERROR meanwhile: types and frames of what a 500 does not tell."""
    told: list[str] = []

    class Listening(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            told.append(record.getMessage())

    handler = Listening(logging.ERROR)
    loggers = [logging.getLogger(name) for name in names]
    before = [(logger, logger.propagate) for logger in loggers]
    for logger in loggers:
        logger.addHandler(handler)
        logger.propagate = False
    try:
        yield told
    finally:
        for logger, propagates in before:
            logger.removeHandler(handler)
            logger.propagate = propagates


# Made up.


def writes() -> list[dict[str, Any]]:
    """Small events of a store: three of a session, one of another, one that makes no turns."""
    call = {"tool_name": "look", "invocation_id": ref_of("call"), "arguments": {"a": 1}}
    said = {"metadata": {"memory": {"params": {"a": "b"}, "waiting_for_param": "c"}}}
    usage = {"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3}
    context = {"user_id": USER, "agent_id": "x", "tags": ["a", "b"]}
    elsewhere = "7a7a7a7a-0000-4000-8000-00000000000a"
    captured = [
        envelope(payload(turn(1), turn(2, model="m", token_usage=usage, tool_invocations=[call]), context=context)),
        envelope(payload(turn(3, role="tool", tool_invocations=[call]), turn(4, **said))),
        envelope(payload(turn(5, parent_turn_id=turn_id(1)), turn(1, "changed"), conversation=OTHER_CONVERSATION)),
        envelope(payload(turn(6), turn(7), context={"user_id": "b"}, session=elsewhere)),
    ]
    return [
        *captured,
        {"type": "other", "runId": "r", "timestamp": "2026-03-02T08:15:00Z", "payload": {"x": [1, None]}},
    ]


def seeds(asks: Sequence[tuple[str, str, str, str]]) -> list[bytes]:
    """One case for each of ``asks``, and one of all events."""
    events = writes()
    cases = [{"writes": [events[place % len(events)]], "asks": [ask]} for place, ask in enumerate(asks)]
    return [json.dumps(case).encode() for case in [*cases, {"writes": events, "asks": list(asks[:_MOST])}]]


class Names:
    """The names that a query may hold, by path, as an OpenAPI document has them."""

    def __init__(self, openapi: bytes) -> None:
        document = json.loads(openapi)
        shared = document["components"]["parameters"]
        self._of: list[tuple[re.Pattern[str], list[str]]] = []
        for template, item in document["paths"].items():
            given = [*item.get("parameters", []), *(each for op in item.values() for each in _parameters(op))]
            whole = [shared[each["$ref"].rpartition("/")[2]] if "$ref" in each else each for each in given]
            found = sorted({each["name"] for each in whole if each["in"] == "query"})
            self._of.append((re.compile(re.sub(r"\{\w+\}", "[^/]+", template)), found))
        self._all = sorted({name for _, names in self._of for name in names} | {"", "x", "LIMIT"})

    def of(self, path: str, rng: random.Random) -> list[str]:
        """Those that the path takes, as a rule."""
        own = next((names for pattern, names in self._of if pattern.fullmatch(path)), [])
        return own if own and rng.randrange(10) else self._all


def _parameters(operation: Any) -> list[Any]:
    return list(operation.get("parameters", [])) if isinstance(operation, dict) else []


def made(pool: Sequence[bytes], rng: random.Random, asks: Sequence[tuple[str, str, str, str]], names: Names) -> bytes:
    """A case of the pool with an event or a request changed, added or taken from another case.

    ``asks`` are requests to begin with, ``names`` those that a query may hold.
    """
    case = json.loads(rng.choice(pool))
    for _ in range(rng.randint(1, 3)):
        kind = rng.randrange(6)
        if kind == 0:
            event = copy.deepcopy(rng.choice(writes()))
            case["writes"].append(event)
        elif kind == 1 and case["writes"]:
            changed = rearranged(rng.choice(case["writes"]), rng, [*ODD_VALUES, *VALUES])
            case["writes"].append(copy.deepcopy(changed))
        elif kind == 2:
            other = json.loads(rng.choice(pool))
            case["writes"] += other["writes"][:1]
            case["asks"] += other["asks"][:2]
        else:
            case["asks"].append(_asked(list(rng.choice([*asks, *case["asks"]])), names, rng))
    case["writes"], case["asks"] = case["writes"][-5:], case["asks"][-_MOST:]
    data = json.dumps(case).encode()
    return data if len(data) < _LARGEST_CASE else rng.choice(pool)


def _asked(ask: list[str], names: Names, rng: random.Random) -> list[str]:
    """A request with another query, path, method or body."""
    kind = rng.randrange(10)
    if kind < 6:
        known = names.of(ask[1], rng)
        pairs = [(rng.choice(known), rng.choice(VALUES)) for _ in range(rng.choice([1, 1, 2, 4]))]
        query = "&".join(f"{name}={_quoted(value, rng)}" for name, value in pairs)
        ask[2] = f"{ask[2]}&{query}" if ask[2] and rng.randrange(3) == 0 else query
    elif kind == 6:
        at = rng.randrange(len(ask[1]) + 1)
        ask[1] = ask[1][:at] + rng.choice(["/", "", "\x00", "..", "é", "%2f", "\xff", SESSION]) + ask[1][at:]
    elif kind == 7:
        ask[0] = rng.choice(["GET", "HEAD", "POST", "DELETE", "PUT", "OPTIONS", "", "get"])
    elif kind == 8:
        ask[3] = _body(ask[3], rng)
    else:
        at = rng.randrange(len(ask[2]) + 1)
        ask[2] = ask[2][:at] + rng.choice(["&", "=", "%", "%00", "%ff", ";", "+", "\xff", "#"]) + ask[2][at:]
    return ask


def _quoted(value: str, rng: random.Random) -> str:
    if value == CURSOR or rng.randrange(6) == 0:
        return value if value.isascii() else quote(value.encode("utf-8", "surrogatepass"))
    return quote(value.encode("utf-8", "surrogatepass"), safe="")


def _body(body: str, rng: random.Random) -> str:
    try:
        document = json.loads(body)
    except (ValueError, RecursionError):
        return rng.choice(["", "{}", "[]", "null", '{"type":1}', "\xff", body[: len(body) // 2]])
    return json.dumps(rearranged(document, rng, [*ODD_VALUES, *VALUES]))
