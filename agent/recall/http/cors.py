"""What web pages of configured origins may do with the recall function (``CORS_ORIGINS``); off unless there are any.

Who may call is for its keys to say. A page sees every header that this side sends of its own: the tag that spares it an
unchanged session, how long it must wait, what is said of a file, what a failure is called in the log.
"""

from __future__ import annotations

from typing import Final

from agent.core.cors import Cors

EXPOSED: Final = (
    *("Allow", "Content-Disposition", "ETag", "Retry-After", "WWW-Authenticate", "X-Agent-Id", "X-Agent-Version"),
    *("X-Erased-Turns", "X-Execution-Ref", "X-Left-Out"),
)


def recall_cors(origins: tuple[str, ...]) -> Cors:
    """The rules for the pages of ``origins``, each exact as browsers write it, or "*"."""
    return Cors(
        origins,
        methods="GET, HEAD, POST, OPTIONS",
        headers="Authorization, Content-Type, If-None-Match, X-Agent-Id",
        exposed=", ".join(EXPOSED),
    )
