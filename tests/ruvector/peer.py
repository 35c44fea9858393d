"""A store peer on a real socket that misbehaves as a script says.

Each request that arrives takes the next step of the script; the last step repeats. A step is a function of the
exchange that writes what it likes and says whether the connection stays open.
"""

import socket
import ssl
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from types import TracebackType
from typing import Self

from tests.live.host import free_port

ACCEPTED = b'{"status":"accepted","eventId":"e-1"}'
DRIP_S = 0.03


@dataclass(frozen=True)
class Received:
    connection: int
    method: str
    path: str
    headers: dict[str, str]
    body: bytes
    at: float = field(default_factory=time.monotonic)


@dataclass(frozen=True)
class Exchange:
    connection: socket.socket
    stop: threading.Event
    request: Received


Step = Callable[[Exchange], bool]


def answer(status: int, body: bytes = b"", *, keep: bool = True, **headers: str) -> Step:
    """A well-formed answer with Content-Length; header names with _ for -."""
    return raw(response_bytes(status, body, **headers), keep=keep)


def response_bytes(status: int, body: bytes = b"", **headers: str) -> bytes:
    lines = [f"HTTP/1.1 {status} Whatever", f"Content-Length: {len(body)}"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def acknowledge() -> Step:
    return answer(201, ACCEPTED)


def raw(*pieces: bytes, keep: bool = False) -> Step:
    """The pieces as they are, one send each."""

    def step(exchange: Exchange) -> bool:
        for piece in pieces:
            exchange.connection.sendall(piece)
        return keep

    return step


def echo(exchange: Exchange) -> bool:
    """Answers with the request's own path."""
    exchange.connection.sendall(response_bytes(200, exchange.request.path.encode()))
    return True


def close_without_answer() -> Step:
    return raw()


def reset() -> Step:
    """Close with a TCP reset."""

    def step(exchange: Exchange) -> bool:
        exchange.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        return False

    return step


def silence() -> Step:
    """Never answer, and hold the connection until the client lets go of it."""

    def step(exchange: Exchange) -> bool:
        while not exchange.stop.is_set() and exchange.connection.recv(1024):
            pass
        return False

    return step


def drip(at_once: bytes, slowly: bytes) -> Step:
    """``at_once`` and then one byte of ``slowly`` now and then, until the client lets go."""

    def step(exchange: Exchange) -> bool:
        exchange.connection.sendall(at_once)
        for place in range(len(slowly)):
            if exchange.stop.wait(DRIP_S):
                break
            exchange.connection.sendall(slowly[place : place + 1])
        return False

    return step


def hold(step: Step) -> Step:
    """Take the step, then neither read nor close while the peer lives."""

    def held(exchange: Exchange) -> bool:
        step(exchange)
        exchange.stop.wait()
        return False

    return held


def after_the_body(step: Step) -> Step:
    """The step of an eager peer that reads the request to its end first."""

    def later(exchange: Exchange) -> bool:
        return step(replace(exchange, request=with_body(exchange)))

    return later


def with_body(exchange: Exchange) -> Received:
    """The request with the rest of its body, which is read now."""
    pieces = [exchange.request.body]
    missing = int(exchange.request.headers.get("content-length", "0")) - len(exchange.request.body)
    while missing > 0:
        piece = exchange.connection.recv(65536)
        if not piece:
            raise ConnectionError
        pieces.append(piece)
        missing -= len(piece)
    return replace(exchange.request, body=b"".join(pieces))


class Peer:
    """Listens on 127.0.0.1 while it is entered; ``received`` holds the requests in the order of their arrival.

    An ``eager`` one takes its step as soon as it has a head, and leaves the body to the step.
    """

    def __init__(
        self,
        *script: Step,
        tls: ssl.SSLContext | None = None,
        host: str = "127.0.0.1",
        port: int = 0,
        eager: bool = False,
    ) -> None:
        self._script = script
        self._tls = tls
        self._eager = eager
        self._family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self._host = host
        self.port = port
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._connections: list[socket.socket] = []
        self._threads: list[threading.Thread] = []
        self._closed: list[threading.Event] = []
        self.received: list[Received] = []

    def __enter__(self) -> Self:
        self._listener = socket.create_server((self._host, self.port), family=self._family)
        self.port = self._listener.getsockname()[1]
        self._start(self._accept)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop.set()
        # A shutdown wakes accept and recv; closing alone would not.
        self._listener.shutdown(socket.SHUT_RDWR)
        with self._lock:
            for connection in self._connections:
                shut(connection)
        for thread in self._threads:
            thread.join(10)
        assert not any(thread.is_alive() for thread in self._threads)
        self._listener.close()

    @property
    def url(self) -> str:
        host = f"[{self._host}]" if ":" in self._host else self._host
        return f"{'https' if self._tls else 'http'}://{host}:{self.port}"

    @property
    def connections(self) -> int:
        return len(self._connections)

    def close_connections(self) -> None:
        """Close every connection from this side, as a server does with idle ones; returns when the FIN is sent."""
        with self._lock:
            for connection in self._connections:
                shut(connection)

    def wait_until_closed(self, connection: int) -> None:
        """Wait until both sides are done with the connection of this number."""
        assert self._closed[connection].wait(10)

    def wait_until_open(self, number: int) -> None:
        """Wait until so many connections are open and the others closed."""
        end = time.monotonic() + 10
        while sum(not closed.is_set() for closed in self._closed) != number:
            assert time.monotonic() < end
            time.sleep(0.001)

    def send_stray_bytes(self, data: bytes) -> None:
        with self._lock:
            for connection in self._connections:
                connection.sendall(data)

    def _start(self, target: Callable[..., None], *arguments: object) -> None:
        thread = threading.Thread(target=target, args=arguments, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        while not self._stop.is_set():
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._start(self._serve, connection)

    def _serve(self, plain: socket.socket) -> None:
        try:
            connection = self._tls.wrap_socket(plain, server_side=True) if self._tls else plain
        except OSError:
            plain.close()
            return
        with self._lock:
            number = len(self._connections)
            self._connections.append(connection)
            self._closed.append(threading.Event())
            if self._stop.is_set():
                shut(connection)
        try:
            with connection:
                self._answer(connection, number)
        except OSError:
            return
        finally:
            self._closed[number].set()

    def _answer(self, connection: socket.socket, number: int) -> None:
        while (request := self._read_head(connection, number)) is not None:
            exchange = Exchange(connection, self._stop, request)
            if not self._eager:
                exchange = replace(exchange, request=with_body(exchange))
            with self._lock:
                place = len(self.received)
                self.received.append(exchange.request)
            step = self._script[min(place, len(self._script) - 1)]
            if not step(exchange):
                return

    def _read_head(self, connection: socket.socket, number: int) -> Received | None:
        data = b""
        while b"\r\n\r\n" not in data:
            piece = connection.recv(65536)
            if not piece:
                return None
            data += piece
        head, _, body = data.partition(b"\r\n\r\n")
        first, *lines = head.decode("latin-1").split("\r\n")
        method, path, _ = first.split(" ")
        headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
        return Received(number, method, path, headers, body)


def shut(connection: socket.socket) -> None:
    try:
        connection.shutdown(socket.SHUT_RDWR)
    except OSError:
        return  # closed already


def closed_port() -> int:
    """A port of 127.0.0.1 on which nobody listens."""
    return free_port()
