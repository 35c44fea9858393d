"""What web pages of configured origins may do with the recall function (``CORS_ORIGINS``); off unless there are any.

Who may call is for its keys to say. A page sees the tag that spares it an unchanged session, how long it must wait, and
what is said of a file.
"""

from __future__ import annotations

from agent.core.cors import Cors


def recall_cors(origins: tuple[str, ...]) -> Cors:
    """The rules for the pages of ``origins``, each exact as browsers write it, or "*"."""
    return Cors(
        origins,
        methods="GET, HEAD, POST, OPTIONS",
        headers="Authorization, Content-Type, If-None-Match, X-Agent-Id",
        exposed="Content-Disposition, ETag, Retry-After, X-Agent-Id, X-Erased-Turns, X-Left-Out",
    )
