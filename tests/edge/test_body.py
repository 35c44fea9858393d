"""Bytes of a request, under the bound (CONTRACT 2; field case H06)."""

import gzip
import io
import tracemalloc
import zlib
from typing import BinaryIO

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.edge.body import MAX_BODY_BYTES, read_body
from agent.errors import PayloadTooLarge, Problem, ValidationError


class Counted(io.RawIOBase):
    """A stream that says how much was read of it and hands out at most ``piece`` bytes at once."""

    def __init__(self, data: bytes, piece: int = 1 << 30) -> None:
        self.data, self.piece, self.read_so_far = data, piece, 0

    def read(self, size: int = -1) -> bytes:
        assert size > 0, "a bound is asked for"
        part = self.data[self.read_so_far :][: min(size, self.piece)]
        self.read_so_far += len(part)
        return part


class Endless(io.RawIOBase):
    """A client that never stops sending."""

    handed_out = 0

    def read(self, size: int = -1) -> bytes:
        self.handed_out += size
        return b"a" * size


class Broken(io.RawIOBase):
    """A client that is gone."""

    def read(self, size: int = -1) -> bytes:
        raise ConnectionResetError


def refused(stream: BinaryIO, *, content_length: int | None = None, encoding: str | None = None) -> ValidationError:
    with pytest.raises(ValidationError) as raised:
        read_body(stream, content_length=content_length, encoding=encoding)
    return raised.value


@pytest.mark.parametrize("length", [MAX_BODY_BYTES + 1, 40_000_000, 10**18])
def test_a_body_that_announces_too_much_is_refused_before_it_is_read(length):
    stream = Counted(b"a" * 100)
    error = refused(stream, content_length=length)
    assert isinstance(error, PayloadTooLarge)
    assert error.problems == (Problem("$", "size"),)
    assert stream.read_so_far == 0


def test_a_body_of_exactly_ten_mebibytes_is_read_announced_or_chunked():
    data = b"a" * MAX_BODY_BYTES
    assert read_body(io.BytesIO(data), content_length=len(data), encoding=None) == data
    assert read_body(io.BytesIO(data), content_length=None, encoding=None) == data
    assert read_body(io.BytesIO(gzip.compress(data)), content_length=None, encoding="gzip") == data


def test_a_chunked_body_one_byte_too_long_is_refused():
    error = refused(io.BytesIO(b"a" * (MAX_BODY_BYTES + 1)))
    assert (error.status, error.problems) == (413, (Problem("$", "size"),))


def test_an_endless_chunked_body_is_read_to_one_byte_beyond_the_bound_and_no_further():
    stream = Endless()
    assert refused(stream).status == 413
    assert stream.handed_out == MAX_BODY_BYTES + 1


def test_nothing_is_read_beyond_the_announced_length():
    stream = Counted(b"abcdef")
    assert read_body(stream, content_length=4, encoding=None) == b"abcd"
    assert stream.read_so_far == 4


def test_a_body_shorter_than_announced_is_refused():
    error = refused(io.BytesIO(b"{}"), content_length=3)
    assert (error.status, error.problems) == (400, (Problem("$", "encoding"),))
    assert "Content-Length" in error.message


@pytest.mark.parametrize("encoding", [None, "gzip"])
def test_a_client_that_breaks_off_is_refused_without_the_foreign_error(encoding):
    error = refused(Broken(), encoding=encoding)
    assert error.problems == (Problem("$", "encoding"),)
    assert error.__cause__ is None


@pytest.mark.parametrize("encoding", ["br", "deflate", "zstd", "gzip, gzip", "identity, gzip", "gzip;q=1"])
def test_another_coding_than_gzip_is_refused(encoding):
    error = refused(io.BytesIO(b"{}"), content_length=2, encoding=encoding)
    assert (error.status, error.problems) == (400, (Problem("$", "encoding"),))


@pytest.mark.parametrize("encoding", [None, "", "identity", " Identity "])
def test_identity_is_no_coding(encoding):
    assert read_body(io.BytesIO(b"{}"), content_length=2, encoding=encoding) == b"{}"


@pytest.mark.parametrize("encoding", ["gzip", "GZIP", " gzip ", "x-gzip"])
def test_gzip_is_undone_under_any_spelling(encoding):
    data = gzip.compress(b'{"a": 1}')
    assert read_body(io.BytesIO(data), content_length=len(data), encoding=encoding) == b'{"a": 1}'


@pytest.mark.parametrize("encoding", [None, "gzip"])
@pytest.mark.parametrize("content_length", [0, None])
def test_no_bytes_at_all_stay_no_bytes(encoding, content_length):
    assert read_body(io.BytesIO(b""), content_length=content_length, encoding=encoding) == b""


def test_a_small_body_that_inflates_beyond_the_bound_is_refused_without_inflating_it_whole():
    bomb = gzip.compress(bytes(80 * 1024 * 1024), compresslevel=9)
    assert len(bomb) < 100_000
    tracemalloc.start()
    try:
        error = refused(io.BytesIO(bomb), content_length=len(bomb), encoding="gzip")
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert (error.status, error.problems) == (413, (Problem("$", "size"),))
    assert peak < 2 * MAX_BODY_BYTES


def test_one_byte_beyond_the_bound_is_refused_after_inflation():
    data = gzip.compress(b"a" * (MAX_BODY_BYTES + 1))
    assert refused(io.BytesIO(data), encoding="gzip").status == 413


def test_a_chunked_gzip_body_that_is_too_long_itself_is_refused_however_little_it_holds():
    header = b"\x1f\x8b\x08\x08" + bytes(6) + b"n" * MAX_BODY_BYTES + b"\0"
    assert refused(io.BytesIO(header + gzip.compress(b"{}")[10:]), encoding="gzip").status == 413


GOOD = gzip.compress(b'{"a": "some text that is long enough"}')
BAD_GZIP = {
    "not gzip": b'{"a": 1}',
    "zlib, not gzip": zlib.compress(b"{}"),
    "cut in the data": GOOD[:-12],
    "cut in the trailer": GOOD[:-1],
    "cut in the header": GOOD[:5],
    "a wrong checksum": GOOD[:-8] + bytes([GOOD[-8] ^ 1]) + GOOD[-7:],
    "garbage behind": GOOD + b"garbage",
    "zeros behind": GOOD + bytes(8),
    "half a member behind": GOOD + GOOD[:9],
}


@pytest.mark.parametrize("piece", [1, 7, 1 << 20])
@pytest.mark.parametrize("data", BAD_GZIP.values(), ids=BAD_GZIP.keys())
def test_broken_gzip_is_refused_however_it_arrives(data, piece):
    error = refused(Counted(data, piece), encoding="gzip")
    assert (error.status, error.problems) == (400, (Problem("$", "encoding"),))
    assert error.__cause__ is None


@settings(deadline=None, max_examples=60)
@given(st.lists(st.binary(max_size=70_000) | st.just(bytes(60_000)), max_size=4), st.integers(1, 40_000))
def test_gzip_of_any_bytes_in_any_number_of_members_comes_back_exactly(members, piece):
    data = b"".join(gzip.compress(member) for member in members)
    assert read_body(Counted(data, piece), content_length=None, encoding="gzip") == b"".join(members)


@settings(deadline=None, max_examples=60)
@given(st.binary(max_size=50_000), st.integers(1, 20_000), st.booleans())
def test_a_body_comes_back_exactly_in_pieces_of_any_size(data, piece, chunked):
    length = None if chunked else len(data)
    assert read_body(Counted(data, piece), content_length=length, encoding=None) == data


def test_thousands_of_empty_gzip_members_are_read_in_reasonable_time():
    data = gzip.compress(b"") * 20_000
    assert read_body(io.BytesIO(data), content_length=len(data), encoding="gzip") == b""
