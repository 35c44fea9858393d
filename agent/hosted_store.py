"""What the store's server answers before the store is asked: typed JSON without a word of the request (CONTRACT 10).

That is where a request is no HTTP at all, and where there is no memory for another large body.

gunicorn has pages for that, and repeats in them what was sent.
"""

from __future__ import annotations

import json

from flask import Response

from agent.edge.host import type_protocol_errors
from agent.errors import RateLimitExceeded


def refuse_protocol_errors() -> None:
    """Have gunicorn answer what it cannot read as HTTP as the store answers (CONTRACT 10), without a word of it."""
    type_protocol_errors(_refusal)


def no_room(error: RateLimitExceeded) -> Response:
    """The 503 that a writer tries again after, since it is the store's memory that is short and not its quota."""
    answer = _json(503, "unavailable", "the store is at work on as many large bodies as it has memory for")
    answer.headers["Retry-After"] = error.headers["Retry-After"]
    return answer


def _refusal(status: int) -> Response:
    # Our table of statuses has no others for it: a bad request, or a fault.
    if status < 500 or status == 501:
        return _json(400, "bad_request", "the request is not HTTP that the server can read")
    return _json(500, "internal_error", "the server failed")


def _json(status: int, error: str, message: str) -> Response:
    return Response(json.dumps({"error": error, "message": message}), status=status, content_type="application/json")
