"""A request waits without a thread until its head is there, and its body where that is small."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.edge.arriving import MAX_HEAD_BYTES, MAX_WHOLE_BYTES, Arrival, Arriving

HEAD = b"POST / HTTP/1.1\r\nHost: a\r\n"


def arrival(sent: bytes) -> Arrival:
    return Arriving().take(sent)


def posted(length: int, body: bytes = b"") -> bytes:
    return HEAD + b"Content-Length: %d\r\n\r\n" % length + body


@pytest.mark.parametrize(
    "sent", [b"", b"P", b"POST / HTTP/1.1\r\n", HEAD, HEAD + b"\r", b"\r\n", b"\r\nGET / HTTP/1.1\r\n"]
)
def test_a_head_without_its_end_is_waited_for(sent):
    assert arrival(sent) is Arrival.PART


def test_a_request_without_a_body_is_whole_with_its_head():
    assert arrival(HEAD + b"\r\n") is Arrival.WHOLE


def test_a_small_body_is_waited_for():
    assert arrival(posted(3, b"ab")) is Arrival.PART
    assert arrival(posted(3, b"abc")) is Arrival.WHOLE
    assert arrival(posted(3, b"abcGET / HT")) is Arrival.WHOLE


@pytest.mark.parametrize(
    "header",
    [b"Transfer-Encoding: chunked", b"transfer-encoding:xchunked", b"Expect: 100-continue", b"Content-Length: 70000"],
)
def test_of_what_is_large_or_of_no_known_size_the_head_is_enough(header):
    assert arrival(HEAD + header + b"\r\n\r\n") is Arrival.HEAD
    assert arrival(HEAD + b"Content-Length: 4\r\n" + header + b"\r\n\r\n") is Arrival.HEAD


def test_just_as_much_waits_as_is_said():
    small = MAX_WHOLE_BYTES - len(posted(MAX_WHOLE_BYTES))
    assert arrival(posted(small)) is Arrival.PART
    assert arrival(posted(small + 1)) is Arrival.HEAD


def test_of_two_lengths_the_longer_is_waited_for_and_the_parser_refuses_them():
    assert arrival(HEAD + b"Content-Length: 0\r\nContent-Length: 9\r\n\r\n") is Arrival.PART


@pytest.mark.parametrize("sent", [b"\x16\x03\x01\x02", b"\x00", b" GET / HTTP/1.1", b"\xff" * 9, b"\n"])
def test_what_no_request_begins_with_is_not_waited_for(sent):
    assert arrival(sent) is not Arrival.PART


def test_a_head_without_end_is_refused_at_its_bound():
    assert arrival(b"G" * MAX_HEAD_BYTES) is Arrival.PART
    assert arrival(b"G" * (MAX_HEAD_BYTES + 1)) is Arrival.REFUSED


@pytest.mark.parametrize("sent", [b"GET / HTTP/1.1\n\n", b"GET / HTTP/1.1\r\nHost: a\nX: b\r\n"])
def test_a_bare_line_feed_is_given_to_the_parser_which_refuses_it(sent):
    assert arrival(sent) is Arrival.WHOLE
    one_by_one = Arriving()
    assert [one_by_one.take(sent[at : at + 1]) for at in range(len(sent))][-1] is not Arrival.PART


requests = st.builds(
    lambda headers, length, body: HEAD + b"".join(headers) + b"Content-Length: %d\r\n\r\n" % length + body,
    st.lists(st.sampled_from([b"A: b\r\n", b"Transfer-Encoding: chunked\r\n", b"X: \r\n"]), max_size=3),
    st.integers(0, 30),
    st.binary(max_size=40),
)


@given(requests | st.binary(max_size=40), st.lists(st.integers(0, 120), max_size=5))
def test_however_it_is_cut_the_same_has_arrived(sent, cuts):
    places = sorted({0, len(sent), *(cut for cut in cuts if cut < len(sent))})
    pieces = [sent[start:end] for start, end in pairwise(places)] or [b""]
    cut = Arriving()
    seen = Arrival.PART
    for piece in pieces:
        seen = cut.take(piece)
        if seen is not Arrival.PART:
            break
    else:
        assert seen is arrival(sent)
        return
    # What is behind it is no longer asked about.
    assert arrival(sent) is seen
