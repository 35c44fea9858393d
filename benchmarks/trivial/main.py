"""The least that the function host can serve: the baseline of the cold start."""

from __future__ import annotations

import flask


def handler(request: flask.Request) -> str:  # noqa: ARG001 - the host's signature
    return "ok"
