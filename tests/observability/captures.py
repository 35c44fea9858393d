"""One capture's spans, and the trace that it belongs to."""

from __future__ import annotations

import time
from collections.abc import Callable

from agent.observability.trace_context import TraceContext
from agent.observability.tracing import Tracing

REF = "3f0c9a1e-0000-4000-8000-000000000001"
TRACE = TraceContext("0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331", sampled=True)

MakeTracing = Callable[..., Tracing]


def capture(tracing: Tracing, trace: TraceContext | None = TRACE) -> float:
    """The three steps of a capture; how many seconds they took, export included."""
    before = time.monotonic()
    spans = tracing.request(trace, REF)
    with spans.span("validate"):
        pass
    with spans.span("build"):
        pass
    with spans.span("append"):
        spans.set(duplicate=False, turns=10, bytes=6400)
    spans.end()
    return time.monotonic() - before
