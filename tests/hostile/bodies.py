"""Bodies that are small to send and large to read, or as large as a body may be."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Callable, Iterable, Iterator
from typing import Final, NamedTuple

from benchmarks.hostile_bodies import ACCEPTED
from tests.live.payloads import base, encoded, own_session

_MIB: Final = 1024 * 1024
_GZIP: Final = 31


class Hostile(NamedTuple):
    """A body, in chunks where it is an iterator, and what a capture function says to it."""

    name: str
    make: Callable[[], bytes | Iterable[bytes]]
    status: int
    query: str = ""
    encoding: str | None = None


def _nested_bomb() -> bytes:
    return gzip.compress(gzip.compress(bytes(50 * _MIB), 9), 9)


def _endless() -> Iterator[bytes]:
    squeezed = zlib.compressobj(9, wbits=_GZIP)
    for _ in range(500):
        yield squeezed.compress(bytes(_MIB))


def _one_string() -> bytes:
    payload = own_session()
    payload["turns"][0]["content"] = "x" * (10 * _MIB - len(encoded(payload)))
    return encoded(payload)


def _tiny_turns() -> bytes:
    payload = own_session()
    first = payload["turns"][0]
    payload["turns"] = [{**first, "turn_id": f"{n:x}", "content": ""} for n in range(40_000)]
    return json.dumps({**payload, "capture_options": {"derive_ids": True}}, separators=(",", ":")).encode()


def _more_tiny_turns() -> bytes:
    return b'{"turns":[' + b",".join([b'{"turn_id":"a","role":"user","content":""}'] * 100_000) + b"]}"


def _values(count: int) -> bytes:
    text = encoded({**own_session(), "more": "HERE"})
    # Those of the payload itself, but for the place where the others are put.
    own = _counted(json.loads(text)) - 1
    return text.replace(b'"HERE"', b"[" + b",".join([b"[]"] * (count - own - 1)) + b"]")


def _counted(value: object) -> int:
    members = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return 1 + sum(map(_counted, members))


def _text_of_values(start: str) -> bytes:
    """A body beside whose messages a text stands that could hold options, and holds empty lists."""
    text = start + "[]," * 3_300_000 + '"capture_options"]'
    return encoded({"session_id": "s", "messages": [{"role": "user", "content": "hi"}], "data": text})


def _recorded(side: str, start: str = "") -> bytes:
    """A recorded call whose body on one side is a text of empty lists, or a stream of one event with them."""
    call = {"request": {"body": {"messages": [{"role": "user", "content": "hi"}]}}, "response": {"body": {}}}
    call[side]["body"] = start + "[" + "[]," * 3_300_000 + "1]"
    return encoded({"session_id": "s", **call})


def _hardest() -> bytes:
    [body] = [body for body in ACCEPTED if body.name == "openai-chat, a text in parts with an emoji"]
    return body.make()


BODIES: Final = (
    Hostile("gzip of 150 MiB of zeros, 1000:1", lambda: gzip.compress(bytes(150 * _MIB), 9), 413, encoding="gzip"),
    Hostile("gzip of 10 MiB of zeros", lambda: gzip.compress(bytes(10 * _MIB), 9), 400, encoding="gzip"),
    Hostile("gzip within gzip", _nested_bomb, 400, encoding="gzip"),
    Hostile("gzip of 300 000 empty members", lambda: gzip.compress(b"") * 300_000, 400, encoding="gzip"),
    Hostile("gzip of 300 members of 1 MiB", lambda: gzip.compress(bytes(_MIB), 1) * 300, 413, encoding="gzip"),
    Hostile("gzip without end, in chunks", _endless, 413, encoding="gzip"),
    Hostile("chunks without end", lambda: iter([bytes(_MIB)] * 100), 413),
    Hostile("10 MiB in chunks of 1 000 bytes", lambda: iter([b"x" * 1000] * 10_500), 413),
    Hostile("10 MiB of one string", _one_string, 200),
    Hostile("10 MiB of one string, gzip", lambda: gzip.compress(_one_string()), 200, encoding="gzip"),
    Hostile("40 000 tiny turns", _tiny_turns, 400),
    Hostile("100 000 tiny turns", _more_tiny_turns, 413),
    Hostile("10 MiB of open brackets", lambda: b"[" * (10 * _MIB), 413),
    Hostile("200 000 open brackets", lambda: b"[" * 200_000, 400),
    Hostile("129 levels", lambda: encoded({**base(), "deep": json.loads("[" * 129 + "]" * 129)}), 400),
    Hostile("250 000 values", lambda: _values(250_000), 200),
    Hostile("250 001 values", lambda: _values(250_001), 413),
    Hostile("a text of 3 300 000 values", lambda: _text_of_values('{"a":['), 413, query="?format=openai-chat"),
    Hostile("a text of a list of 3 300 000", lambda: _text_of_values("["), 200, query="?format=openai-chat"),
    Hostile("a recorded request of 3 300 000 values", lambda: _recorded("request"), 413, query="?format=openai-chat"),
    Hostile("a recorded answer of 3 300 000 values", lambda: _recorded("response"), 413, query="?format=openai-chat"),
    Hostile("one event of 3 300 000", lambda: _recorded("response", "data: "), 413, query="?format=openai-chat"),
    Hostile("an integer of 10 million digits", lambda: b'{"a":' + b"9" * 10_000_000 + b"}", 400),
    Hostile("a key twice, 100 000 times", lambda: b'{"a":1' + b',"a":1' * 100_000 + b"}", 400),
    Hostile("the hardest 10 MiB", _hardest, 200, query="?format=openai-chat"),
)
