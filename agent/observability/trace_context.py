"""The trace that a request belongs to, from its headers: W3C ``traceparent``, else ``X-Cloud-Trace-Context``.

Strict: a header that does not hold is ignored, as W3C Trace Context 3.2.2 asks. ``tracestate`` is not read and not sent
on: it is free text of the caller, which may hold what no third party is to see, and the store has no use for it.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

# W3C Trace Context 3.2: lower-case hex, no id all zero, version ff is invalid. More may follow in a version to come
# (3.2.4), after a dash; version 00 ends after the flags.
_TRACEPARENT: Final = re.compile(
    r"(?!ff)(?P<version>[0-9a-f]{2})-(?!0{32})(?P<trace_id>[0-9a-f]{32})-(?!0{16})(?P<span_id>[0-9a-f]{16})"
    r"-(?P<flags>[0-9a-f]{2})(?P<more>-.*)?\Z",
    re.ASCII,
)
# Google Cloud: TRACE_ID/SPAN_ID;o=OPTIONS, where SPAN_ID is a decimal number of 64 bits; both parts after the
# trace id may be absent.
_CLOUD_TRACE: Final = re.compile(
    r"(?!0{32})(?P<trace_id>[0-9A-Fa-f]{32})(?:/(?P<span_id>[0-9]{1,20}))?(?:;o=(?P<options>[0-9]{1,3}))?\Z", re.ASCII
)
_LARGEST_SPAN_ID: Final = 2**64 - 1
_SAMPLED: Final = 1


class TraceContext(NamedTuple):
    """The caller's place in a trace, in lower-case hex; ``span_id`` is None where only the trace is known."""

    trace_id: str
    span_id: str | None
    sampled: bool

    def trace_name(self, project: str | None) -> str:
        """Name the trace as Cloud Logging does; without a project just by its id."""
        return f"projects/{project}/traces/{self.trace_id}" if project else self.trace_id


def trace_context(traceparent: str | None, cloud_trace: str | None) -> TraceContext | None:
    """Read the trace context of a request from its two headers, the W3C one first; None where neither holds."""
    return (_from_traceparent(traceparent) if traceparent else None) or (
        _from_cloud_trace(cloud_trace) if cloud_trace else None
    )


def forwarded(traceparent: str | None) -> str | None:
    """The caller's ``traceparent`` for who is called on its behalf, where we add no span of ours; None if it is none.

    As it came in version 00; of a later version only what that version has, as 3.2.4 asks of who does not know more.
    """
    found = _from_traceparent(traceparent) if traceparent else None
    if traceparent is None or found is None or found.span_id is None:
        return None
    as_it_came = traceparent.strip(" \t")
    return as_it_came if as_it_came.startswith("00-") else written(found.trace_id, found.span_id, sampled=found.sampled)


def written(trace_id: str, span_id: str, *, sampled: bool) -> str:
    """The header for a span with these ids in lower-case hex."""
    return f"00-{trace_id}-{span_id}-{'01' if sampled else '00'}"


def _from_traceparent(header: str) -> TraceContext | None:
    match = _TRACEPARENT.match(header.strip(" \t"))
    if match is None or (match["version"] == "00" and match["more"] is not None):
        return None
    return TraceContext(match["trace_id"], match["span_id"], bool(int(match["flags"], 16) & _SAMPLED))


def _from_cloud_trace(header: str) -> TraceContext | None:
    match = _CLOUD_TRACE.match(header.strip(" \t"))
    if match is None:
        return None
    number = int(match["span_id"] or 0)
    if number > _LARGEST_SPAN_ID:
        return None
    sampled = bool(int(match["options"] or 0) & _SAMPLED)
    return TraceContext(match["trace_id"].lower(), f"{number:016x}" if number else None, sampled)
