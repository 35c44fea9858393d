import errno
import gzip
import io
import os
from pathlib import Path

import pytest

from agent.cli.memory.capturing.capture_input import read_input
from agent.edge.body import MAX_BODY_BYTES
from agent.errors import PayloadTooLarge, Problem, ValidationError

_NOBODY = 65534
TEXT = '{"content": "Zoë 完成"}'


def test_a_file_is_read_as_it_is_and_so_is_standard_input(tmp_path: Path) -> None:
    file = tmp_path / "capture.json"
    file.write_bytes(TEXT.encode())
    assert read_input(str(file), None) == TEXT.encode()
    assert read_input("-", io.BytesIO(TEXT.encode())) == TEXT.encode()


def test_a_utf_8_byte_order_mark_is_left_to_the_parser() -> None:
    assert read_input("-", io.BytesIO(b"\xef\xbb\xbf" + TEXT.encode())) == b"\xef\xbb\xbf" + TEXT.encode()


def test_gzip_is_known_by_its_first_bytes(tmp_path: Path) -> None:
    file = tmp_path / "capture.json"
    file.write_bytes(gzip.compress(TEXT.encode()))
    assert read_input(str(file), None) == TEXT.encode()


def test_gzip_that_breaks_off_is_refused() -> None:
    with pytest.raises(ValidationError) as caught:
        read_input("-", io.BytesIO(gzip.compress(TEXT.encode())[:-9]))
    assert caught.value.problems == (Problem("$", "encoding"),)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "utf-32-be"])
def test_utf_16_and_utf_32_are_called_by_their_name(encoding: str) -> None:
    with pytest.raises(ValidationError, match=r"^standard input is UTF-16 or UTF-32") as caught:
        read_input("-", io.BytesIO(TEXT.encode(encoding)))
    assert caught.value.problems == (Problem("$", "utf8"),)


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
@pytest.mark.parametrize("text", [f"\n\t{TEXT}", "[1]", " "])
def test_utf_16_and_utf_32_are_known_by_their_nul_bytes_whatever_comes_first(text: str, encoding: str) -> None:
    with pytest.raises(ValidationError, match=r"^standard input is UTF-16 or UTF-32"):
        read_input("-", io.BytesIO(text.encode(encoding)))


@pytest.mark.parametrize("encoding", ["cp1252", "latin-1", "cp437"])
def test_another_encoding_is_said_to_be_none_with_the_place_and_without_the_text(encoding: str) -> None:
    with pytest.raises(ValidationError) as caught:
        read_input("-", io.BytesIO('{"content": "Zoë"}'.encode(encoding)))
    assert caught.value.problems == (Problem("$", "utf8"),)
    assert caught.value.message == (
        "standard input is not UTF-8 from byte 15 on: convert it, as with iconv -f CP1252 -t UTF-8"
    )


def test_no_name_is_no_file() -> None:
    with pytest.raises(ValidationError, match=r"^--input names no file$"):
        read_input("", None)


@pytest.mark.parametrize("content", [b"", b" \n\t", b"\xef\xbb\xbf", b"\xef\xbb\xbf\n", gzip.compress(b"", mtime=0)])
def test_an_empty_file_is_called_empty(content: bytes, tmp_path: Path) -> None:
    file = tmp_path / "capture.json"
    file.write_bytes(content)
    with pytest.raises(ValidationError) as caught:
        read_input(str(file), None)
    assert caught.value.message == f"{file} is empty"


def test_a_directory_and_a_missing_file_are_named(tmp_path: Path) -> None:
    with pytest.raises(ValidationError) as directory:
        read_input(str(tmp_path), None)
    assert directory.value.message == f"cannot read {tmp_path}: Is a directory"
    with pytest.raises(ValidationError) as missing:
        read_input(str(tmp_path / "none"), None)
    assert missing.value.message == f"cannot read {tmp_path / 'none'}: No such file or directory"


def test_a_file_without_permission_is_named(tmp_path: Path) -> None:
    file = tmp_path / "capture.json"
    file.touch(mode=0)
    user = os.geteuid()
    # Root may read every file, and may be nobody for a while.
    os.seteuid(user or _NOBODY)
    try:
        with pytest.raises(ValidationError) as caught:
            read_input(str(file), None)
    finally:
        os.seteuid(user)
    assert caught.value.message == f"cannot read {file}: Permission denied"


class Unreadable(io.BytesIO):
    def __init__(self, error: OSError) -> None:
        super().__init__()
        self._error = error

    def read(self, size: int | None = -1) -> bytes:
        raise self._error


def test_a_stream_that_cannot_be_read_is_said_so_with_the_system_s_reason() -> None:
    with pytest.raises(ValidationError) as caught:
        read_input("-", Unreadable(PermissionError(errno.EACCES, "x")))
    assert caught.value.message == "cannot read standard input: Permission denied"
    with pytest.raises(ValidationError) as nameless:
        read_input("-", Unreadable(io.UnsupportedOperation("x")))
    assert nameless.value.message == "cannot read standard input: UnsupportedOperation"


def test_a_process_without_standard_input_is_said_so() -> None:
    with pytest.raises(ValidationError, match=r"^there is no standard input$"):
        read_input("-", None)


def test_ten_mebibytes_are_read_and_one_byte_more_is_refused_without_reading_on() -> None:
    body = b"{" + b" " * (MAX_BODY_BYTES - 2) + b"}"
    assert read_input("-", io.BytesIO(body)) == body
    endless = io.BytesIO(body + b" " * 5000)
    with pytest.raises(PayloadTooLarge) as caught:
        read_input("-", endless)
    assert caught.value.problems == (Problem("$", "size"),)
    assert endless.tell() == MAX_BODY_BYTES + 1


def test_gzip_that_inflates_beyond_the_bound_is_refused() -> None:
    with pytest.raises(PayloadTooLarge):
        read_input("-", io.BytesIO(gzip.compress(b" " * (MAX_BODY_BYTES + 1))))
