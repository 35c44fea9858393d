"""A store in this process behind the same client: WSGI in place of a socket, closed when the client is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import httpx


class EmbeddedTransport(httpx.WSGITransport):
    """Hands requests to a WSGI application; ``close_store`` lets go of what the application holds open."""

    def __init__(self, application: Any, *, close_store: Callable[[], None]) -> None:
        super().__init__(app=application)
        self._close_store = close_store

    def close(self) -> None:
        """Close the store."""
        self._close_store()
