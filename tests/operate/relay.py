"""The address of a service whose process is replaced: each new connection goes to the process of the moment."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterator


class Relay:
    """Listens on 127.0.0.1; ``to`` is the port that new connections are passed on to."""

    def __init__(self, to: int) -> None:
        self.to = to
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._open: list[socket.socket] = []
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._listener.getsockname()[1]}"

    def close(self) -> None:
        for each in (self._listener, *self._open):
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                caller, _ = self._listener.accept()
                behind = socket.create_connection(("127.0.0.1", self.to))
                self._open += [caller, behind]
                for source, target in ((caller, behind), (behind, caller)):
                    threading.Thread(target=_copy, args=(source, target), daemon=True).start()


def _copy(source: socket.socket, target: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while data := source.recv(65536):
            target.sendall(data)
    # Both directions end with either: who waits for an answer that will not come is told.
    for each in (source, target):
        with contextlib.suppress(OSError):
            each.shutdown(socket.SHUT_RDWR)


@contextlib.contextmanager
def relay(to: int) -> Iterator[Relay]:
    """A relay for the length of a block."""
    made = Relay(to)
    try:
        yield made
    finally:
        made.close()
