"""Files split into the texts of their values, whatever their shape, a piece of the file at a time."""

from __future__ import annotations

import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.capture.json_pieces import Fault, Piece, Shape, pieces_of, shape_of
from agent.edge.json_text import BLANK

_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
_HEADS = st.dictionaries(st.text(), _VALUES, max_size=3) | st.lists(_VALUES, max_size=3)


class Dripping(io.BytesIO):
    """A file that is read a few bytes at a time, however many are asked for."""

    def read(self, size: int | None = -1, /) -> bytes:
        return super().read(min(7, size) if size is not None and size >= 0 else 7)


def split(data: bytes) -> tuple[Shape, list[Piece]]:
    shape = shape_of(Dripping(data))
    return shape, list(pieces_of(Dripping(data), shape))


def texts(data: bytes) -> list[bytes]:
    return [piece.text for piece in split(data)[1]]


@given(st.lists(_VALUES, min_size=1), st.sampled_from([None, 1]), st.booleans(), st.booleans())
def test_an_array_gives_its_elements(values: list[object], indent: int | None, marked: bool, ascii_only: bool) -> None:
    text = json.dumps(values, indent=indent, ensure_ascii=ascii_only)
    data = (b"\xef\xbb\xbf" if marked else b"") + text.encode(errors="surrogatepass")
    shape, pieces = split(data)
    assert shape is Shape.ARRAY
    assert [json.loads(piece.text.decode(errors="surrogatepass")) for piece in pieces] == values
    # A reader may go on behind any of them.
    for place, piece in enumerate(pieces):
        behind = io.BytesIO(data)
        behind.seek(piece.end)
        assert list(pieces_of(behind, shape, start=piece.end)) == pieces[place + 1 :]
        assert data[piece.start : piece.end].strip(BLANK) == piece.text


@given(_HEADS, st.lists(_VALUES, min_size=1), st.sampled_from(["\n", "\r\n", "\n\n \n"]), st.booleans())
def test_lines_give_their_values(head: object, values: list[object], between: str, ended: bool) -> None:
    lines = [json.dumps(value) for value in (head, *values)]
    shape, pieces = split((between.join(lines) + (between if ended else "")).encode())
    assert shape is Shape.LINES
    assert [json.loads(piece.text) for piece in pieces] == [head, *values]
    assert [piece.is_ended for piece in pieces] == [True] * len(values) + [ended]


@given(st.lists(st.dictionaries(st.text(), _VALUES, min_size=1), min_size=1, max_size=3))
def test_objects_over_several_lines_are_one_value_each(values: list[object]) -> None:
    data = "\n".join(json.dumps(value, indent=2) for value in values).encode()
    shape, pieces = split(data)
    assert shape is Shape.VALUES
    assert [json.loads(piece.text) for piece in pieces] == values


@pytest.mark.parametrize(
    ("data", "shape", "found"),
    [
        (b"", Shape.EMPTY, []),
        (b"\xef\xbb\xbf \r\n", Shape.EMPTY, []),
        (b"[]", Shape.ARRAY, []),
        (b'{"a": [1\n{"b": 2}\n', Shape.LINES, [b'{"a": [1', b'{"b": 2}']),
        (b'[1, "a"]\n[2]\n', Shape.LINES, [b'[1, "a"]', b"[2]"]),
        (b"plain text\nand more", Shape.LINES, [b"plain text", b"and more"]),
        ('{"a": 1}'.encode("utf-16"), Shape.WIDE, []),
        ('{"a": 1}'.encode("utf-16-le"), Shape.WIDE, []),
        (b'["}", "]", "\\"]"]', Shape.ARRAY, [b'"}"', b'"]"', b'"\\"]"']),
        (b"[1,,2,NaN,}]", Shape.LINES, [b"[1,,2,NaN,}]"]),
        (b"[1,,2,NaN]", Shape.ARRAY, [b"1", b"2", b"NaN"]),
    ],
)
def test_the_shape_of_a_file_is_that_of_its_first_line(data: bytes, shape: Shape, found: list[bytes]) -> None:
    assert split(data)[0] is shape
    assert texts(data) == found


@pytest.mark.parametrize("data", [b'[\n{"a": 1},\n{"b": "c', b'[\n{"a": 1},\n', b'[\n{"a": 1}', b'[\n{"a": 1}, "b'])
def test_an_array_that_breaks_off_says_so_behind_what_is_whole(data: bytes) -> None:
    first, last = split(data)[1]
    assert (first.text, first.fault) == (b'{"a": 1}', None)
    assert (last.fault, last.is_ended) == (Fault.CUT_OFF, False)


def test_what_stands_behind_an_array_is_told() -> None:
    assert [piece.fault for piece in split(b'[\n{"a": 1}\n]\n{"b": 2}')[1]] == [None, Fault.BEHIND_THE_END]


def test_a_value_that_is_too_large_is_left_out_and_a_line_after_it_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agent.capture.json_pieces.MAX_PIECE_BYTES", 100)
    data = b'{"a": 1}\n{"b": "' + b"x" * 10**6 + b'"}\n{"c": 3}\n'
    assert [(piece.text, piece.fault) for piece in split(data)[1]] == [
        (b'{"a": 1}', None),
        (b"", Fault.TOO_LARGE),
        (b'{"c": 3}', None),
    ]
    array = b'[\n{"a": 1}, {"b": "' + b"x" * 10**6 + b'"}, {"c": 3}]'
    assert [piece.fault for piece in split(array)[1]] == [None, Fault.TOO_LARGE]


class Endless(io.RawIOBase):
    """So many bytes that are all the same, without holding them; ``asked`` is the most that was read at once."""

    def __init__(self, byte: bytes, size: int) -> None:
        super().__init__()
        self._byte = byte
        self.left = size
        self.asked = 0

    def read(self, size: int = -1, /) -> bytes:
        self.asked = max(self.asked, size)
        some = self._byte * min(size, self.left)
        self.left -= len(some)
        return some


@pytest.mark.parametrize("blank", [b" ", b"\n"])
def test_what_is_passed_is_let_go_however_much_it_is(blank: bytes) -> None:
    stream = Endless(blank, 50_000_000)
    assert shape_of(stream) is Shape.EMPTY
    assert (stream.left, stream.asked <= 1024 * 1024) == (0, True)


@pytest.mark.parametrize("text", [b"[", b'{"a":', b'{"":\n'])
def test_what_is_nested_without_end_is_given_up_soon(text: bytes) -> None:
    stream = Endless(text, 40_000_000)
    shape_of(stream)
    assert stream.left > 30_000_000
    stream = Endless(b"[", 40_000_000)
    (piece,) = pieces_of(stream, Shape.ARRAY)
    assert piece.fault is Fault.TOO_DEEP
    assert stream.left > 30_000_000


def test_an_element_that_is_too_deep_does_not_end_its_array() -> None:
    assert texts(b"[\n" + b"[" * 200 + b"]" * 200 + b", 1]") == [b"[" * 200 + b"]" * 200, b"1"]


def test_a_value_behind_the_first_that_is_too_large_ends_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agent.capture.json_pieces.MAX_PIECE_BYTES", 100)
    data = b'{\n"a": 1}\n{\n"b": "' + b"x" * 10**6 + b'"}'
    assert [piece.fault for piece in split(data)[1]] == [None, Fault.TOO_LARGE]
