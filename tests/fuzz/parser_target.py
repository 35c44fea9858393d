"""The parser (CONTRACT 2) against an independent judge: what is accepted and what it means, how a refusal is told."""

from __future__ import annotations

import gzip
import io
import json
import random
import re
import zlib
from collections.abc import Hashable, Sequence
from contextlib import suppress
from math import isinf
from typing import Any

import rfc8785

from agent.core.canonical import canonical, canonical_walk
from agent.edge.answers import failure_document
from agent.edge.body import read_body
from agent.edge.document import BYTE_ORDER_MARK, open_wrapper, parse
from agent.edge.json_text import MAX_DEPTH, MAX_VALUES
from agent.errors import AgentError, PayloadTooLarge, ValidationError
from tests.fuzz.corpus import bodies, saved
from tests.fuzz.engine import Target
from tests.fuzz.mutation import mutated, restructured

LARGEST_ANSWER = 16 * 1024
AT_MOST = 40_000
# All that a refusal may say: nothing of the body but a key that stands twice (CONTRACT 2).
_SAYABLE = re.compile(
    r"the body is empty|the body is not a JSON object|the body has more than \d+ JSON values"
    r"|(?:the body is not JSON(?:: (?:something follows its end|a comma or a closing bracket is missing"
    r"|a key is not a string|a colon is missing|no value starts here"
    r"|a string holds a character or an escape that JSON does not have"
    r"|it ends too early))?|the body is not UTF-8|the body is nested deeper than 128 levels"
    r"|half of a surrogate pair stands alone|a number has more than 4300 integer digits|a number overflows a double"
    r"|the key \x22(?:[^\x22\\]|\\.)*\x22 stands twice in one object), at line \d+, column \d+",
    re.DOTALL,
)
_SMALL = [
    b"",
    b"{}",
    b"[]",
    b'{"a":1}',
    b'{"payload":{"a":[1,2.5,-0.0,1e21,1e-7,9007199254740993,true,null]}}',
    b'{"\\ud83d\\ude80":"\\u0000\\"\\\\\\/\\b\\f\\n\\r\\t","\xc3\xa9":{"":[{}]}}',
    b"\xef\xbb\xbf" + b'{ "a" :\t[\r\n] }',
    b'{"n":' + b"7" * 4300 + b"}",
    b'{"a":' * 128 + b"1" + b"}" * 128,
]


class RefusedByJudge(Exception):
    """What the judge does not take."""


def judged(body: bytes) -> Any:
    """The object that ``body`` is by Python's own parser, made strict. Raises RefusedByJudge."""
    try:
        text = body.removeprefix(BYTE_ORDER_MARK).decode("utf-8", "strict")
        value = json.loads(text, object_pairs_hook=_once, parse_constant=_never, parse_float=_finite)
    except (ValueError, RecursionError):
        raise RefusedByJudge from None
    if not isinstance(value, dict):
        raise RefusedByJudge
    _check(value)
    return value


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(dict(pairs)) < len(pairs):
        raise RefusedByJudge
    return dict(pairs)


def _never(_: str) -> Any:
    raise RefusedByJudge


def _finite(text: str) -> float:
    # The digits before a fraction are counted too, as those of an integer are.
    if isinf(float(text)) or len(re.split(r"[.eE]", text.lstrip("-"))[0]) > 4300:
        raise RefusedByJudge
    return float(text)


def _check(value: Any) -> None:
    """Depth, number of values, and surrogates."""
    count, depth, level = 0, 0, [value]
    while level:
        count += len(level)
        below: list[Any] = []
        for each in level:
            if isinstance(each, dict):
                _encodable("".join(each))
                below += each.values()
            elif isinstance(each, list):
                below += each
            elif isinstance(each, str):
                _encodable(each)
        depth += any(isinstance(each, dict | list) for each in level)
        level = below
    if depth > MAX_DEPTH or count > MAX_VALUES:
        raise RefusedByJudge


def _encodable(text: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise RefusedByJudge from None


def look(body: bytes) -> Hashable:
    """Parse ``body`` and compare; the name is the rule that refused it, or what its value is like."""
    try:
        expected = judged(body)
    except RefusedByJudge:
        expected = None
    try:
        document = parse(body)
    except (ValidationError, PayloadTooLarge) as error:
        assert expected is None, "what the judge accepts is refused"
        return refused(error, body)
    assert expected is not None, "what the judge refuses is accepted"
    assert repr(document.value) == repr(expected), "another value than the judge's"
    assert json.loads(document.text) == expected
    form = canonical(document.value, plain=document.plain)
    assert form == canonical(document.value) == bytes(canonical_walk(document.value)), "two canonical forms"
    is_ours = _outside_rfc8785(document.value)
    if not is_ours:
        assert form == rfc8785.dumps(document.value), "another form than that of rfc8785"
    inner = open_wrapper(document)
    assert repr(json.loads(inner.text.removeprefix(BYTE_ORDER_MARK))) == repr(inner.value), (
        "another text than the value"
    )
    assert canonical(inner.value, plain=inner.plain) == canonical(inner.value)
    return "accepted", document.plain, inner is document, is_ours, min(len(form).bit_length(), 12)


def _outside_rfc8785(value: Any) -> bool:
    """Whether an integer is beyond 2^53-1, which RFC 8785 leaves open."""
    try:
        rfc8785.dumps(value)
    except rfc8785.IntegerDomainError:
        return True
    return False


def refused(error: AgentError, body: bytes) -> Hashable:
    """The rule; a refusal is small and says nothing of the content."""
    answer = failure_document(error, execution_ref="0" * 36, timestamp="2026-03-02T08:15:00.000000Z")
    assert len(json.dumps(answer).encode()) < LARGEST_ANSWER, "a refusal of 16 KiB or more"
    assert _SAYABLE.fullmatch(error.message), "a refusal says something else"
    assert isinstance(error, ValidationError)
    (problem,) = error.problems
    assert problem.path == "$"
    place = error.message.rpartition(", at line ")[2].split(", column ")
    if len(place) == 2:
        assert 1 <= int(place[0]) <= body.count(b"\n") + 1
        assert 1 <= int(place[1]) <= len(body) + 1
    return problem.rule, re.sub(r"\d+|\".*\"", "", error.message)


def made(pool: Sequence[bytes], rng: random.Random) -> bytes:
    """A damaged body; now and then one whose structure was damaged before."""
    body = rng.choice(pool)
    if rng.randrange(3) == 0:
        with suppress(ValueError, RecursionError):
            body = restructured(body, rng)
    if rng.randrange(12) == 0:
        body = b'{"payload":' + body + b"}"
    return mutated(body, rng) if rng.randrange(8) else body


def _smallest() -> list[bytes]:
    return sorted((body for _, body in bodies()), key=len)[:40]


def parser() -> Target:
    """Bytes to ``parse`` and ``open_wrapper``."""
    return Target("parser", [*_SMALL, *saved("parser"), *_smallest()], made, look, share=2)


# How a body comes: its coding, its announced length less its own, and the bytes that a read gives.


class Arriving(io.RawIOBase):
    """A stream that gives a body in small pieces, and breaks where it should."""

    def __init__(self, body: bytes, piece: int, breaks_at: int | None) -> None:
        self._body = body
        self._piece = piece
        self._breaks_at = breaks_at
        self._at = 0

    def read(self, size: int = -1) -> bytes:
        if self._breaks_at is not None and self._at >= self._breaks_at:
            raise OSError("the sender is gone")
        end = self._at + min(size, self._piece)
        found = self._body[self._at : end]
        self._at += len(found)
        return found


def look_at_arrival(case: bytes) -> Hashable:
    """Read a body that comes as the first line of ``case`` says."""
    head, _, body = case.partition(b"\n")
    fields = head.decode("latin-1").split("|")
    if len(fields) != 4:
        return "no case"
    coding, announced, piece, breaks = fields
    try:
        length = None if announced == "-" else max(0, len(body) + int(announced))
        stream = Arriving(body, max(1, int(piece)), None if breaks == "-" else int(breaks))
    except ValueError:
        return "no case"
    try:
        found = read_body(stream, content_length=length, encoding=coding or None, at_most=AT_MOST)
    except (ValidationError, PayloadTooLarge) as error:
        return _refused_arrival(error)
    assert len(found) <= AT_MOST, "more than the bound"
    sent = body if length is None else body[:length]
    if "gzip" not in coding.lower():
        assert found == sent, "other bytes than were sent"
    elif sent:
        assert found == _inflated(sent), "other bytes than were packed"
    return "read", coding, length is None, min(len(found).bit_length(), 15)


def _refused_arrival(error: ValidationError) -> str:
    assert len(error.message) < 200
    assert all(problem.path == "$" for problem in error.problems)
    return error.message


def _inflated(data: bytes) -> bytes:
    """All members, by zlib's own one-shot for each."""
    out = b""
    while data:
        member = zlib.decompressobj(31)
        out += member.decompress(data) + member.flush()
        assert member.eof, "a member that does not end was read"
        data = member.unused_data
    return out


def made_arrival(pool: Sequence[bytes], rng: random.Random) -> bytes:
    head, _, body = rng.choice(pool).partition(b"\n")
    if rng.randrange(3) == 0:
        coding = rng.choice(["gzip", "gzip", "x-gzip", " GZIP ", "identity", "", "br", "gzip, gzip"])
        announced = rng.choice(["-", "0", "0", "-1", "1", "-9999999", "99999999"])
        breaks = rng.choice(["-", "-", "-", str(rng.randrange(len(body) + 1))])
        head = f"{coding}|{announced}|{rng.choice([1, 7, 100, 20_000])}|{breaks}".encode()
    kind = rng.randrange(6)
    if kind == 0:
        body = gzip.compress(
            rng.choice([b"", b"x", b"{}" * 9, b"\0" * rng.choice([AT_MOST, AT_MOST + 1, 10**6])]), mtime=0
        )
    elif kind == 1:
        body += rng.choice(pool).partition(b"\n")[2]
    elif kind < 5:
        body = mutated(body, rng)
    return head + b"\n" + body


def arrival() -> Target:
    """Streams to ``read_body``: gzip, chunks, announced lengths, senders that go away."""
    plain = _smallest()[:8]
    packed = [b"gzip|0|100|-\n" + gzip.compress(body, mtime=0) for body in plain]
    return Target(
        "arrival",
        [b"|0|100|-\n" + plain[0], b"|-|7|-\n" + plain[1], *packed, *saved("arrival")],
        made_arrival,
        look_at_arrival,
    )
