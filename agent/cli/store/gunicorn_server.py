"""The store's application on gunicorn, the server that the function host brings: threads, one process or several.

SIGTERM and SIGINT end it when the requests in flight are answered, or after 30 s. What the server itself logs goes
through our log lines, which hold no content; its pages for what is no HTTP become typed JSON. It opens no control
socket. The only module of the command line that imports gunicorn.
"""

from __future__ import annotations

import os
import signal
import socket
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from gunicorn.app.base import BaseApplication
from gunicorn.arbiter import Arbiter
from gunicorn.glogging import Logger

from agent.bootstrap import ServedStore
from agent.edge.patient_worker import Connection, PatientWorker
from agent.edge.server_settings import BELIEVED
from agent.errors import InternalError
from agent.hosted_store import refuse_protocol_errors
from agent.observability.logs import JsonLines

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIApplication

GRACEFUL_TIMEOUT_S: Final = 30
# Longer than clients of ours keep an idle connection, so that it is they who let go of it.
_KEEP_ALIVE_S: Final = 60
# The longest request line that gunicorn bounds: a search and a cursor fit.
_REQUEST_LINE_BYTES: Final = 8190
# Who ends its sending side and still reads is answered, unless it is this late.
_WAITED_S: Final = 1.0
_ENDING: Final = (signal.SIGTERM, signal.SIGINT, signal.SIGQUIT)


@dataclass(frozen=True, slots=True)
class Serving:
    """What is served where: ``make`` makes the store in each worker, ``ready`` is called once it listens.

    ``grace_s``: how long requests in flight may take when it is asked to end.
    """

    bound: socket.socket
    threads: int
    workers: int
    make: Callable[[], ServedStore]
    ready: Callable[[], None]
    grace_s: int = GRACEFUL_TIMEOUT_S


def serve(serving: Serving) -> int:
    """Serve until a signal ends it; returns the exit code of this process, be it the server's or a worker's.

    Raises KeyboardInterrupt where SIGINT ended it, and InternalError where no worker could start.
    """
    refuse_protocol_errors()
    server = os.getpid()
    arbiter = _Arbiter(_Application(serving))
    try:
        arbiter.run()
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else 0
        if os.getpid() != server:
            return code
        if arbiter.interrupted:
            raise KeyboardInterrupt from None
        if code != 0:
            raise InternalError("the server's workers could not start; the lines above say why") from None
    return 0


class _Application(BaseApplication):  # type: ignore[misc]  # gunicorn has no types
    def __init__(self, serving: Serving) -> None:
        self._serving = serving
        self._served: ServedStore | None = None
        # The server takes it over by its number.
        self._descriptor = serving.bound.detach()
        super().__init__()

    def load_config(self) -> None:
        settings = {
            "bind": f"fd://{self._descriptor}",
            "worker_class": _Worker,
            "workers": self._serving.workers,
            "threads": self._serving.threads,
            "graceful_timeout": self._serving.grace_s,
            # A worker that a long request keeps busy is no dead one.
            "timeout": 0,
            "keepalive": _KEEP_ALIVE_S,
            "limit_request_line": _REQUEST_LINE_BYTES,
            "control_socket_disable": True,
            **BELIEVED,
            "logger_class": _Log,
            "loglevel": "error",
            "post_fork": _start_worker,
            "when_ready": lambda _server: self._serving.ready(),
            "worker_exit": lambda _server, _worker: self._let_go(),
        }
        for name, value in settings.items():
            self.cfg.set(name, value)

    def load(self) -> WSGIApplication:
        """Called in each worker: a database that was opened before a fork would be damaged by it."""
        self._served = self._serving.make()
        return self._served.application

    def _let_go(self) -> None:
        if self._served is not None:
            self._served.close()


class _Arbiter(Arbiter):  # type: ignore[misc]  # gunicorn has no types
    interrupted = False

    def handle_int(self) -> None:
        """SIGINT: as SIGTERM, and remembered for the exit code. A second one waits no longer than 2 s."""
        self.interrupted = True
        self.handle_term()

    def spawn_worker(self) -> Any:
        """As the arbiter does, but a worker that is asked to end while it starts does so.

        It has the arbiter's handlers until it sets its own: they would take the signal, and tell nobody.
        """
        before = signal.pthread_sigmask(signal.SIG_BLOCK, _ENDING)
        try:
            return super().spawn_worker()
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _start_worker(_server: object, _worker: object) -> None:
    for number in _ENDING:
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _ENDING)


class _Worker(PatientWorker):
    def handle(self, conn: Connection) -> Any:
        """As the worker does, but for what waited for a thread longer than its caller did.

        Working that off would keep those waiting who come after a standstill, until they are gone too. Nothing of it
        was done, so it is sent again like any other that had no answer.
        """
        waited_s = time.monotonic() - conn.handed_over_at
        return False if waited_s > _WAITED_S and conn.is_left() else super().handle(conn)

    def handle_quit(self, sig: int, frame: object) -> None:
        """SIGINT and SIGQUIT: as SIGTERM.

        What the worker does instead takes a lock in the handler of a signal, which may have come to its holder.
        """
        self.handle_exit(sig, frame)


class _Log(Logger):  # type: ignore[misc]  # gunicorn has no types
    def setup(self, cfg: Any) -> None:
        """As the logger does, and then ours in place of its handlers: theirs would write what was sent."""
        super().setup(cfg)
        self.error_log.handlers[:] = [JsonLines(sys.stderr)]
