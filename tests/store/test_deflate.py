"""What packs a chunk is a matter of speed alone: ISA-L and zlib read each other's streams."""

import importlib
import sys
import zlib
from collections.abc import Iterator
from types import ModuleType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import store.log.deflate


@pytest.fixture(params=["with ISA-L", "without ISA-L"], scope="module")
def deflate(request: pytest.FixtureRequest) -> Iterator[ModuleType]:
    with pytest.MonkeyPatch.context() as patch:
        if request.param == "without ISA-L":
            # An import of what is None there is an ImportError.
            patch.setitem(sys.modules, "isal.isal_zlib", None)
        yield importlib.reload(store.log.deflate)
    importlib.reload(store.log.deflate)


@settings(max_examples=50, deadline=None)
@given(text=st.binary(max_size=3000))
def test_every_text_comes_back_by_us_and_by_zlib(deflate: ModuleType, text: bytes) -> None:
    stream = deflate.compress(text)
    assert stream[0] == 0x78, "a chunk is told from a plain one by this"
    assert (deflate.decompress(stream), zlib.decompress(stream)) == (text, text)


def test_text_that_repeats_itself_becomes_short(deflate: ModuleType) -> None:
    assert len(deflate.compress(b"lorem ipsum " * 1000)) < 300


@pytest.mark.parametrize("broken", [b"", b"\x78", b"no stream", zlib.compress(b"text")[:-1]])
def test_what_is_no_whole_stream_is_a_value_error(broken: bytes, deflate: ModuleType) -> None:
    with pytest.raises(ValueError, match="not a zlib stream"):
        deflate.decompress(broken)
