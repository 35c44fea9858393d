"""What web pages of configured origins may do with the store (``CORS_ORIGINS``); off unless there are any.

Who may call is for ``store.http.access`` to say.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent.core.cors import Cors

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIApplication


def with_cors(app: WSGIApplication, origins: tuple[str, ...]) -> WSGIApplication:
    """``app`` for the pages of ``origins``, each exact as browsers write it, or "*"; ``app`` itself without any."""
    cors = Cors(
        origins,
        methods="GET, HEAD, POST, DELETE",
        headers="Authorization, Content-Type, Idempotency-Key, X-Agent-Id",
        exposed="Retry-After",
    )
    return cors.around(app)
