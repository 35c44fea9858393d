"""Trace headers are read as W3C and Google Cloud write them, and ignored where they do not hold."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from opentelemetry.trace import get_current_span
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from agent.observability.trace_context import TraceContext, forwarded, trace_context

TRACE = "0af7651916cd43dd8448eb211c80319c"
SPAN = "b7ad6b7169203331"
VALID = f"00-{TRACE}-{SPAN}-01"
CONTEXT = TraceContext(TRACE, SPAN, sampled=True)


def test_a_traceparent_names_trace_span_and_sampling() -> None:
    assert trace_context(VALID, None) == CONTEXT
    assert trace_context(f"00-{TRACE}-{SPAN}-00", None) == TraceContext(TRACE, SPAN, sampled=False)


@pytest.mark.parametrize("flags", ["03", "ff", "09"])
def test_of_the_flags_only_the_sampled_bit_is_read(flags: str) -> None:
    assert trace_context(f"00-{TRACE}-{SPAN}-{flags}", None) == CONTEXT


@pytest.mark.parametrize("header", [f"01-{TRACE}-{SPAN}-01", f"fe-{TRACE}-{SPAN}-01-more of it", f" {VALID}\t"])
def test_a_version_to_come_and_white_space_around_are_accepted(header: str) -> None:
    assert trace_context(header, None) == CONTEXT


@pytest.mark.parametrize(
    "header",
    [
        "", "00", VALID.upper(), f"ff-{TRACE}-{SPAN}-01", f"00-{'0' * 32}-{SPAN}-01", f"00-{TRACE}-{'0' * 16}-01",
        f"{VALID}-more", f"{VALID}0", f"01-{TRACE}-{SPAN}-01more", f"{VALID}\n", f"{VALID},{VALID}",
        f"00-{TRACE[:-1]}-{SPAN}-01", f"00-{TRACE}-{SPAN}-1", f"00-{TRACE[:-1]}g-{SPAN}-01",
        f"00-{TRACE[:-1]}٣-{SPAN}-01",
    ],
)  # fmt: skip
def test_a_traceparent_that_does_not_hold_is_ignored(header: str) -> None:
    assert trace_context(header, None) is None


@given(
    place=st.integers(0, len(VALID) - 1),
    character=st.sampled_from("0123456789abcdefABCDEFg- \t"),
    version=st.sampled_from(["00", "01", "cc", "ff"]),
    tail=st.sampled_from(["", " ", "-", "-x", "0"]),
)
@settings(deadline=None, max_examples=200)
def test_a_traceparent_is_read_as_the_reference_implementation_reads_it(
    place: int, character: str, version: str, tail: str
) -> None:
    header = version + VALID[2:]
    header = header[:place] + character + header[place + 1 :] + tail
    context = TraceContextTextMapPropagator().extract({"traceparent": header})
    expected = get_current_span(context).get_span_context()
    ours = trace_context(header, None)
    assert (ours is not None) == expected.is_valid
    if ours is not None:
        assert (int(ours.trace_id, 16), int(ours.span_id or "", 16)) == (expected.trace_id, expected.span_id)
        assert ours.sampled == expected.trace_flags.sampled


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        (f"{TRACE}/{int(SPAN, 16)};o=1", CONTEXT),
        (f"{TRACE.upper()}/{int(SPAN, 16)};o=1", CONTEXT),
        (f"{TRACE}/1;o=0", TraceContext(TRACE, "0000000000000001", sampled=False)),
        (f"{TRACE}/1", TraceContext(TRACE, "0000000000000001", sampled=False)),
        (f"{TRACE}/{2**64 - 1};o=3", TraceContext(TRACE, "f" * 16, sampled=True)),
        (TRACE, TraceContext(TRACE, None, sampled=False)),
        (f"{TRACE}/0;o=1", TraceContext(TRACE, None, sampled=True)),
        (f"{TRACE}/{2**64};o=1", None),
        (f"{'0' * 32}/1;o=1", None),
        (f"{TRACE}/abc;o=1", None),
        (f"{TRACE}/1;o=1\n", None),
        (f"{TRACE}/1;o=x", None),
        (f"{TRACE}/٣;o=1", None),
        (TRACE[:-1], None),
    ],
)
def test_a_cloud_trace_header_is_read_as_google_writes_it(header: str, expected: TraceContext | None) -> None:
    assert trace_context(None, header) == expected


def test_the_w3c_header_comes_first_and_the_other_stands_in_for_a_bad_one() -> None:
    other = f"{'a' * 32}/1;o=1"
    assert trace_context(VALID, other) == CONTEXT
    assert trace_context("nonsense", other) == TraceContext("a" * 32, "0000000000000001", sampled=True)


@given(st.text(), st.text())
@settings(deadline=None, max_examples=100)
def test_no_header_raises(traceparent: str, cloud_trace: str) -> None:
    assert trace_context(traceparent, cloud_trace) is None


def test_a_trace_is_named_by_its_project_where_that_is_known() -> None:
    assert CONTEXT.trace_name("memory-prod") == f"projects/memory-prod/traces/{TRACE}"
    assert CONTEXT.trace_name(None) == TRACE


@pytest.mark.parametrize(
    ("header", "sent_on"),
    [
        (f"00-{'a' * 32}-{'b' * 16}-01", f"00-{'a' * 32}-{'b' * 16}-01"),
        (f" 00-{'a' * 32}-{'b' * 16}-03 ", f"00-{'a' * 32}-{'b' * 16}-03"),
        (f"cc-{'a' * 32}-{'b' * 16}-01-a text of somebody", f"00-{'a' * 32}-{'b' * 16}-01"),
        (f"cc-{'a' * 32}-{'b' * 16}-02", f"00-{'a' * 32}-{'b' * 16}-00"),
        ("nonsense", None),
        (f"00-{'0' * 32}-{'b' * 16}-01", None),
        ("", None),
        (None, None),
    ],
)
def test_the_callers_header_is_sent_on_as_it_came_and_of_a_later_version_what_is_known(
    header: str | None, sent_on: str | None
) -> None:
    assert forwarded(header) == sent_on
