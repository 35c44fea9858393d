"""The patient worker in this process, its loop step by step, and clients on real sockets that come to it."""

from __future__ import annotations

import logging
import os
import resource
import socket
import struct
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from gunicorn.config import Config
from gunicorn.glogging import Logger

from agent.edge.patient_worker import Connection, PatientWorker
from agent.edge.timed_socket import TimedSocket

GENEROUS_STEPS = 6000
STEP_S = 0.005
# What a socket holds here is little, so that an answer waits; and less than a thread would wait for (timed_socket).
BUFFER = 16 * 1024
ANSWER = b"x" * 1_900_000
GET = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"
LAST_GET = b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"


class Stepped(PatientWorker):
    """The worker, whose loop goes on when a test says so, in a process that keeps its own signals."""

    def init_signals(self) -> None:
        pass

    def load_wsgi(self) -> None:
        self.wsgi = answer

    def run(self) -> None:
        self.poller.register(self.method_queue.fileno(), 1, self.method_queue.run_callbacks)
        self.set_accept_enabled(True)

    def step_until(self, holds: Callable[[], bool]) -> None:
        for _ in range(GENEROUS_STEPS):
            if holds():
                return
            self.step()
        raise AssertionError("it has not come about")

    def step(self) -> None:
        self.wait_for_and_dispatch_events(STEP_S)


def answer(_environ: Any, start: Any) -> list[bytes]:
    start("200 OK", [("Content-Length", str(len(ANSWER)))])
    return [ANSWER]


class Server:
    """A worker with its listener, and the clients that came to it."""

    def __init__(self, worker: Stepped, listener: socket.socket, stack: ExitStack) -> None:
        self.worker, self.listener, self._stack = worker, listener, stack

    def client(self, says: bytes = b"") -> socket.socket:
        """One that is connected; it is not yet taken."""
        client = self._stack.enter_context(socket.socket())
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, BUFFER)
        client.connect(self.listener.getsockname())
        client.settimeout(30)
        client.sendall(says)
        return client

    def waiting(self, says: bytes = GET) -> socket.socket:
        """One whose answer waits to be taken."""
        client = self.client(says)
        unsent = self.worker.unsent_conns
        self.worker.step_until(lambda: bool(unsent) and unsent[-1].client == client.getsockname())
        return client

    def pending(self, says: bytes) -> socket.socket:
        """One of whose request so much is there."""
        before = len(self.worker.pending_conns)
        client = self.client(says)
        self.worker.step_until(lambda: len(self.worker.pending_conns) > before)
        return client


@contextmanager
def own_logs() -> Iterator[None]:
    """A logger of gunicorn's changes those of the process: afterwards they are as they were."""
    loggers = [logging.getLogger(f"gunicorn.{name}") for name in ("error", "access")]
    before = [(each.handlers[:], each.filters[:], each.level, each.propagate) for each in loggers]
    try:
        yield
    finally:
        for each, (handlers, filters, level, propagate) in zip(loggers, before, strict=True):
            each.handlers, each.filters, each.propagate = handlers, filters, propagate
            each.setLevel(level)


@contextmanager
def served(connections: int) -> Iterator[Server]:
    cfg = Config()
    for name, value in (("threads", 1), ("worker_connections", connections), ("keepalive", 60)):
        cfg.set(name, value)
    with own_logs(), ExitStack() as stack:
        listener = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, BUFFER)
        worker = Stepped(1, os.getppid(), [listener], None, 30, cfg, Logger(cfg))
        worker.init_process()
        yield Server(worker, listener, stack)
        worker.tpool.shutdown()
        worker.large_pool.shutdown()
        # What the threads have handed back since the last step.
        worker.step()
        for held in (worker.pending_conns, worker.unsent_conns, worker.leaving_conns, worker.keepalived_conns):
            for conn in held:
                conn.close()
        worker.poller.close()
        worker.method_queue.close()
        worker.tmp.close()
        for end in worker.PIPE:
            os.close(end)


def reset(client: socket.socket) -> None:
    """Go without a word: the other side is told by an error."""
    client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    client.close()


def is_closed(client: socket.socket) -> bool:
    """Whether nothing more comes: what was on its way is read off."""
    try:
        while client.recv(1 << 20):
            pass
    except ConnectionResetError:
        pass
    except TimeoutError:
        return False
    return True


@contextmanager
def no_more_files() -> Iterator[None]:
    """This process may open none, as one that has too many open."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    lowest = os.open(os.devnull, os.O_RDONLY)
    os.close(lowest)
    resource.setrlimit(resource.RLIMIT_NOFILE, (lowest, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def connection(server: Server, client: socket.socket) -> Connection:
    taken, address = server.listener.accept()
    assert address == client.getsockname()
    return Connection(server.worker.cfg, TimedSocket.of(taken), address, server.listener.getsockname())
