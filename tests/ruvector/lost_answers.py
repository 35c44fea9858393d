"""Every way in which a peer takes a request and loses its answer, each a step of a script."""

from tests.ruvector.peer import ACCEPTED, close_without_answer, raw, reset

LOST_ANSWERS = {
    "closed without an answer": close_without_answer(),
    "reset": reset(),
    "closed in the middle of the head": raw(b"HTTP/1.1 201 Created\r\nContent-Le"),
    "closed in the middle of the body": raw(b"HTTP/1.1 201 Created\r\nContent-Length: 90\r\n\r\n" + ACCEPTED),
    "closed in the middle of a chunk": raw(b"HTTP/1.1 201 Created\r\nTransfer-Encoding: chunked\r\n\r\n25\r\n{"),
    "closed after an interim response": raw(b"HTTP/1.1 100 Continue\r\n\r\n"),
    "garbage": raw(b"\x16\x03\x01 this is no HTTP at all\r\n\r\n"),
    "another protocol": raw(b"HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n"),
    "two lengths": raw(b"HTTP/1.1 201 Created\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}"),
    "an endless head": raw(b"HTTP/1.1 201 Created\r\nX: " + b"x" * 70_000),
    "a head too long": raw(b"HTTP/1.1 201 Created\r\n" + b"X: y\r\n" * 11_000 + b"Content-Length: 2\r\n\r\n{}"),
    "endless interim responses": raw(*[b"HTTP/1.1 103 Early\r\nLink: x\r\n\r\n" * 1000] * 10),
    "an endless trailer": raw(
        b"HTTP/1.1 201 Created\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\nX: ", b"x" * 70_000, b"x" * 70_000
    ),
}
