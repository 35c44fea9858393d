"""Requests that are wrong before anybody looks at a body: heads, paths, methods, framings, and what is no HTTP."""

from __future__ import annotations

import json
import socket
from typing import Final, NamedTuple

_WAIT_S: Final = 20.0
_HOST: Final = b"Host: a\r\n"
_CHUNKED: Final = b"Transfer-Encoding: chunked\r\n"


class Said(NamedTuple):
    """What came back: the status of each answer, and whether all of it was typed JSON. Nothing: it was closed."""

    statuses: tuple[int, ...]
    is_typed: bool

    @property
    def text(self) -> str:
        return ", ".join(map(str, self.statuses)) or "closed"


def get(path: bytes, headers: bytes = b"", method: bytes = b"GET") -> bytes:
    return method + b" " + path + b" HTTP/1.1\r\n" + _HOST + headers + b"Connection: close\r\n\r\n"


def framed(headers: bytes, body: bytes, path: bytes) -> bytes:
    return b"POST " + path + b" HTTP/1.1\r\n" + _HOST + headers + b"\r\n" + body


def hostile_requests(path: str) -> dict[str, bytes]:
    """By name; ``path`` is one that takes a body."""
    to = path.encode()
    smuggled = b"GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n"
    return {
        "10 000 headers": get(b"/", b"".join(b"X-%d: a\r\n" % n for n in range(10_000))),
        "a header of 1 MB": get(b"/", b"X: " + b"a" * 1_000_000 + b"\r\n"),
        "a header of 1 MB without end": b"GET / HTTP/1.1\r\nX: " + b"a" * 1_000_000,
        "a path of 8 KB": get(b"/" + b"a" * 8192),
        "a path of 1 MB": get(b"/" + b"a" * 1_000_000),
        "a query of 8 KB": get(b"/?" + b"a=b&" * 2048),
        "a method of 10 KB": get(b"/", method=b"G" * 10_240),
        "no method that there is": get(b"/", method=b"BREW"),
        "HTTP/2 preface": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00",
        "TLS hello": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(range(64)) * 8,
        "SSH": b"SSH-2.0-OpenSSH_9.6\r\n",
        "HTTP/0.9": b"GET /\r\n\r\n",
        "HTTP/9.9": b"GET / HTTP/9.9\r\n\r\n",
        "noise": bytes(range(256)) * 40,
        "lines without carriage return": b"GET / HTTP/1.1\nHost: a\n\n",
        "NUL in the path": b"GET /\x00 HTTP/1.1\r\n" + _HOST + b"\r\n",
        "NUL in a header": get(b"/", b"X: a\x00b\r\n"),
        "a folded header": get(b"/", b"X: a\r\n b\r\n"),
        "a space before a colon": framed(b"Content-Length : 5\r\n", smuggled, to),
        "length and chunks": framed(b"Content-Length: 5\r\n" + _CHUNKED, b"0\r\n\r\n" + smuggled, to),
        "chunks and length": framed(_CHUNKED + b"Content-Length: 5\r\n", b"0\r\n\r\n" + smuggled, to),
        "two lengths": framed(b"Content-Length: 0\r\nContent-Length: 60\r\n", smuggled, to),
        "a length twice": framed(b"Content-Length: 2\r\nContent-Length: 2\r\n", b"{}" + smuggled, to),
        "a signed length": framed(b"Content-Length: +2\r\n", b"{}" + smuggled, to),
        "a length below nought": framed(b"Content-Length: -1\r\n", smuggled, to),
        "a length of 5 000 digits": framed(b"Content-Length: " + b"9" * 5000 + b"\r\n", b"{}", to),
        "chunks that are no chunks": framed(b"Transfer-Encoding: xchunked\r\n", b"0\r\n\r\n" + smuggled, to),
        "chunks within chunks": framed(b"Transfer-Encoding: chunked, chunked\r\n", b"0\r\n\r\n" + smuggled, to),
        "chunks, then identity": framed(b"Transfer-Encoding: chunked, identity\r\n", b"0\r\n\r\n" + smuggled, to),
        "a chunk size of no digits": framed(_CHUNKED, b"zz\r\n{}\r\n0\r\n\r\n", to),
        "a chunk size below nought": framed(_CHUNKED, b"-2\r\n{}\r\n0\r\n\r\n", to),
        "a chunk of 16 digits": framed(_CHUNKED, b"FFFFFFFFFFFFFFFF\r\n{}", to),
        "a chunk extension of 1 MB": framed(_CHUNKED, b"2;" + b"a" * 1_000_000, to),
        "chunk extensions with a line feed": framed(_CHUNKED, b"2;a\nb\r\n{}\r\n0\r\n\r\n", to),
        "trailers of 1 MB": framed(_CHUNKED, b"0\r\n" + b"X: a\r\n" * 170_000, to),
        "pipelined garbage": framed(b"Content-Length: 2\r\n", b"{}" + bytes(range(256)), to),
        "a hundred in one go": get(b"/openapi.json").replace(b"Connection: close\r\n", b"") * 5 + get(b"/nowhere") * 95,
        "a path upwards": get(b"/../../etc/passwd"),
        "a path upwards, encoded": get(b"/%2e%2e%2f%2e%2e%2fetc%2fpasswd"),
        "a path of two slashes": get(b"//health"),
        "a path with a parameter": get(b"/health;a=b"),
        "an encoded NUL": get(b"/health%00.json"),
        "overlong UTF-8": get(b"/%c0%af%c0%ae%c0%ae"),
        "half an escape": get(b"/%"),
        "bytes beyond ASCII": get(b"/\xff\xfe"),
        "absolute form": get(b"http://elsewhere.invalid/health"),
        "asterisk": get(b"*", method=b"OPTIONS"),
        "CONNECT": get(b"elsewhere.invalid:443", method=b"CONNECT"),
        "TRACE": get(b"/", b"X-Trace: me\r\n", method=b"TRACE"),
        "Upgrade: h2c": get(b"/health", b"Upgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAoAAAAAIAAAAA\r\n"),
        "an expectation nobody knows": framed(b"Expect: the-unexpected\r\nContent-Length: 2\r\n", b"{}", to),
    }


def said(port: int, request: bytes) -> Said:
    """Send ``request``, close our side, and read until it is closed; TimeoutError where it never is."""
    answer = bytearray()
    with socket.create_connection(("127.0.0.1", port), timeout=_WAIT_S) as connection:
        try:
            connection.sendall(request)
            connection.shutdown(socket.SHUT_WR)
            while piece := connection.recv(1 << 16):
                answer += piece
        except (ConnectionResetError, BrokenPipeError):
            # Closed on before all of it was sent: what came before that counts.
            pass
    return _read(bytes(answer))


def _read(answer: bytes) -> Said:
    statuses = []
    is_typed = True
    while answer:
        head, _, rest = answer.partition(b"\r\n\r\n")
        line, *headers = head.decode("latin-1").lower().split("\r\n")
        statuses.append(int(line.split(" ")[1]))
        named = dict(header.split(": ", 1) for header in headers)
        if statuses[-1] < 200:
            answer = rest
            continue
        body, answer = rest[: int(named["content-length"])], rest[int(named["content-length"]) :]
        is_typed = is_typed and named["content-type"].startswith("application/json") and _is_json(body)
    return Said(tuple(statuses), is_typed)


def _is_json(body: bytes) -> bool:
    # What answers HEAD and OPTIONS may have none.
    try:
        return not body or isinstance(json.loads(body), dict)
    except ValueError:
        return False
