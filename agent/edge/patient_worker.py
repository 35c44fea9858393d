"""gunicorn's worker of threads, whose threads wait for nobody: slow clients wait in its loop.

As it comes, a thread is taken by each connection that says nothing (5 s), by half a head (for ever), by a body that
does not come, and its loop stands still while it closes on a client that does not (2 s each): eight such clients stop
a service of eight threads (ADR 25). Here

- a request has a thread when its head is there, and its body where that is small. Until then it waits in the loop,
  ``ARRIVING_S`` in all;
- what is large, or comes in chunks, has threads of its own: they may be kept waiting, those of small requests never;
- reading and writing have a time for the whole (``timed_socket``), and an answer that is not taken waits in the loop;
- who is being closed on is waited for in the loop, too;
- when there are as many connections as there may be, the one that has been idle longest gives way to the next.
"""

from __future__ import annotations

import errno
import selectors
import socket
import time
from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from typing import Any, Final

from gunicorn.http.errors import LimitRequestHeaders
from gunicorn.workers.gthread import TConn, ThreadWorker

from agent.edge.arriving import MAX_WHOLE_BYTES, Arrival, Arriving
from agent.edge.timed_socket import READING_S, WRITING_S, TimedSocket

# For the whole of a head and a small body, and for a client to see our answer before the connection is closed.
ARRIVING_S: Final = 10.0
LEAVING_S: Final = 2.0
# Of all answers together that wait to be taken: then the one that has waited longest gives way.
MAX_UNSENT_BYTES: Final = 16 * 1024 * 1024
# For what is large, in threads of small requests. They mostly wait; memory is bounded by the room (ADR 21).
_LARGE_THREADS: Final = 4
_NOT_NOW: Final = frozenset({errno.EAGAIN, errno.ECONNABORTED})
_NO_MORE_FILES: Final = frozenset({errno.EMFILE, errno.ENFILE})


class Connection(TConn):  # type: ignore[misc]  # gunicorn has no types
    """A connection, with what came of its next request."""

    def __init__(self, cfg: Any, sock: TimedSocket, client: Any, server: Any) -> None:
        super().__init__(cfg, sock, client, server)
        self.arriving = Arriving()
        self.is_refused = False
        self.is_leaving = False
        self.handed_over_at = 0.0
        self.reading_s = READING_S
        # The loop has waited for what a thread is given.
        self.data_ready = True

    def is_left(self) -> bool:
        """Whether the client will send no more: gone, nearly always."""
        try:
            return not self.sock.recv(1, socket.MSG_DONTWAIT | socket.MSG_PEEK)
        except BlockingIOError:
            return False
        except OSError:
            return True

    def close(self, graceful: bool = False) -> None:  # noqa: FBT001, FBT002 - the server calls it so
        """Close it, or ``graceful`` only its sending side: the worker waits for the client, and not here."""
        if graceful:
            with suppress(OSError):
                self.sock.shutdown(socket.SHUT_WR)
                self.is_leaving = True
                return
        super().close()


class PatientWorker(ThreadWorker):  # type: ignore[misc]  # gunicorn has no types
    """See the module. All but ``handle`` runs in the loop."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.leaving_conns: deque[Connection] = deque()
        self.unsent_conns: deque[Connection] = deque()

    def init_process(self) -> None:
        """Threads for what is large as well: they start when it comes."""
        self.large_pool = ThreadPoolExecutor(_LARGE_THREADS * self.cfg.threads)
        super().init_process()

    def accept(self, listener: Any) -> None:
        """Take a connection; it waits in the loop until it has a request."""
        try:
            taken, client = listener.accept()
        except OSError as error:
            if error.errno in _NO_MORE_FILES:
                self._make_room()
            elif error.errno not in _NOT_NOW:
                raise
            return
        self.nr_conns += 1
        if self.nr_conns >= self.worker_connections:
            self._make_room()
        self._await(Connection(self.cfg, TimedSocket.of(taken), client, listener.getsockname()), b"")

    def enqueue_req(self, conn: Connection) -> None:
        """The next request on a connection that is kept: what was read ahead of it may be all or the half of it."""
        self._await(conn, conn.parser.unreader.take_buffered())

    def on_client_socket_readable(self, conn: Connection, client: TimedSocket) -> None:
        """The next request of a connection that is kept."""
        if not _has_given_way(client):
            super().on_client_socket_readable(conn, client)

    def on_pending_socket_readable(self, conn: Connection, client: TimedSocket) -> None:
        """More of a request, or its end."""
        if _has_given_way(client):
            return
        arrival = self._receive(conn)
        if arrival is Arrival.PART:
            return
        self.poller.unregister(client)
        self.pending_conns.remove(conn)
        self._hand_over(conn, arrival)

    def murder_pending(self) -> None:
        """Close on who did not send a head in its time. A body that did not come is told so by the application."""
        now = time.monotonic()
        if not self.alive:
            # The server is ending: nobody new is waited for so long.
            for conn in self.pending_conns:
                conn.timeout = min(conn.timeout, now + LEAVING_S)
        while self.pending_conns and self.pending_conns[0].timeout <= now:
            conn = self.pending_conns.popleft()
            if conn.arriving.has_head:
                self.poller.unregister(conn.sock)
                conn.reading_s = 0.0
                self._hand_over(conn, Arrival.WHOLE)
            else:
                self._drop(conn)
        for waiting in (self.unsent_conns, self.leaving_conns):
            while waiting and waiting[0].timeout <= now:
                self._drop(waiting.popleft())

    def finish_request(self, conn: Connection, fs: Future[Any]) -> None:
        """As the worker does, once the answer is sent; and who is being closed on is waited for."""
        if conn.sock.unsent and conn.sock.fileno() >= 0:
            self._wait_until_sent(conn, fs)
            return
        super().finish_request(conn, fs)
        if conn.is_leaving:
            self.nr_conns += 1
            conn.timeout = time.monotonic() + LEAVING_S
            self.leaving_conns.append(conn)
            self.poller.register(conn.sock, selectors.EVENT_READ, partial(self._read_off, conn))

    def handle(self, conn: Connection) -> Any:
        """Answer what is there, in a thread."""
        if conn.is_refused:
            self.handle_error(None, conn.sock, conn.client, LimitRequestHeaders("the head is too long, or none"))
            return False
        conn.init()
        conn.parser.unreader.unread(bytes(conn.arriving.data))
        conn.arriving = Arriving()
        conn.sock.allow(reading_s=conn.reading_s)
        return super().handle(conn)

    def _await(self, conn: Connection, read_ahead: bytes) -> None:
        """Hand over the next request of a connection if it is there, and wait for it otherwise."""
        arrival: Arrival | None = conn.arriving.take(read_ahead)
        if arrival is Arrival.PART:
            arrival = self._receive(conn)
        if arrival is not Arrival.PART:
            self._hand_over(conn, arrival)
            return
        conn.timeout = time.monotonic() + ARRIVING_S
        self.pending_conns.append(conn)
        self.poller.register(conn.sock, selectors.EVENT_READ, partial(self.on_pending_socket_readable, conn))

    def _receive(self, conn: Connection) -> Arrival | None:
        """What there is with the bytes that came; None where the client is gone."""
        try:
            piece = conn.sock.recv(MAX_WHOLE_BYTES, socket.MSG_DONTWAIT)
        except BlockingIOError:
            return Arrival.PART
        except OSError:
            return None
        if piece:
            return conn.arriving.take(piece)
        if not conn.arriving.has_head:
            return None
        # It sends no more, and may still read what we say to that.
        return Arrival.WHOLE

    def _hand_over(self, conn: Connection, arrival: Arrival | None) -> None:
        if arrival is None:
            self.nr_conns -= 1
            conn.close()
            return
        conn.is_refused = arrival is Arrival.REFUSED
        conn.handed_over_at = time.monotonic()
        pool = self.large_pool if arrival is Arrival.HEAD else self.tpool
        done = pool.submit(self.handle, conn)
        done.add_done_callback(lambda future: self.method_queue.defer(self.finish_request, conn, future))

    def _wait_until_sent(self, conn: Connection, done: Future[Any]) -> None:
        conn.timeout = time.monotonic() + WRITING_S
        self.unsent_conns.append(conn)
        self.poller.register(conn.sock, selectors.EVENT_WRITE, partial(self._send_on, conn, done))
        while sum(len(waiting.sock.unsent) for waiting in self.unsent_conns) > MAX_UNSENT_BYTES:
            self._drop(self.unsent_conns.popleft())

    def _send_on(self, conn: Connection, done: Future[Any], client: TimedSocket) -> None:
        """The client takes more of its answer, or is gone."""
        if _has_given_way(client):
            return
        try:
            if not client.flush():
                return
        except OSError:
            self.unsent_conns.remove(conn)
            self._drop(conn)
            return
        self.poller.unregister(client)
        self.unsent_conns.remove(conn)
        self.finish_request(conn, done)

    def _read_off(self, conn: Connection, client: TimedSocket) -> None:
        """Drop what still comes from who is being closed on, or let go of it when it has closed."""
        if _has_given_way(client):
            return
        with suppress(OSError):
            if client.recv(MAX_WHOLE_BYTES, socket.MSG_DONTWAIT):
                return
        self.leaving_conns.remove(conn)
        self._drop(conn)

    def _make_room(self) -> None:
        for idle in (self.leaving_conns, self.keepalived_conns, self.unsent_conns, self.pending_conns):
            if idle:
                self._drop(idle.popleft())
                return

    def _drop(self, conn: Connection) -> None:
        """Close on a connection that the loop waits for."""
        with suppress(OSError, KeyError, ValueError):
            self.poller.unregister(conn.sock)
        self.nr_conns -= 1
        conn.close()


def _has_given_way(client: TimedSocket) -> bool:
    """Whether a connection was closed between the loop's look at all of them and its turn."""
    return client.fileno() < 0
