"""A store that answers at once: what is left of a capture's cost is then the capture's own.

A canned 201 that carries the caller's own ``runId`` back. ``python -m benchmarks.stub_store`` prints its port and
serves until stdin ends.
"""

from __future__ import annotations

from benchmarks.canned import response, serve

_RUN_ID = b'"runId":"'
_RECEIPT = (
    b'{"status":"accepted","eventId":"5b0a7c1e-63a1-4d3c-9a55-3f0c9d3f7a11","executionRef":"%s",'
    b'"timestamp":"2026-01-01T00:00:00.000000Z","position":1,"turns":{"new":10,"known":0,"revised":0,"erased":0}}'
)
_HEALTHY = b'{"status":"ok"}'


def answer(request: bytes, _body_size: int) -> bytes:
    """A receipt for a write, and health for whatever else."""
    if not request.startswith(b"POST"):
        return response(b"200 OK", _HEALTHY)
    at = request.find(_RUN_ID) + len(_RUN_ID)
    return response(b"201 Created", _RECEIPT % request[at : at + 36])


if __name__ == "__main__":
    serve(answer)
