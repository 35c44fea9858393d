"""What the store's server answers where a request is no HTTP at all: typed JSON without a word of it (CONTRACT 10).

gunicorn has pages for that, and repeats in them what was sent.
"""

from __future__ import annotations

import json

from flask import Response

from agent.edge.host import type_protocol_errors


def refuse_protocol_errors() -> None:
    """Have gunicorn answer what it cannot read as HTTP as the store answers (CONTRACT 10), without a word of it."""
    type_protocol_errors(_refusal)


def _refusal(status: int) -> Response:
    # Our table of statuses has no others for it: a bad request, or a fault.
    if status < 500 or status == 501:
        return _json(400, "bad_request", "the request is not HTTP that the server can read")
    return _json(500, "internal_error", "the server failed")


def _json(status: int, error: str, message: str) -> Response:
    return Response(json.dumps({"error": error, "message": message}), status=status, content_type="application/json")
