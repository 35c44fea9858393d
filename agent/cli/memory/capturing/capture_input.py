"""The bytes of one capture, from a file or from standard input, under the bound of the HTTP surface (CONTRACT 2).

A gzip file is inflated, known by its first bytes and not by its name. What cannot be read, is empty, or is no UTF-8 is
refused in words about the file; everything else about the bytes is for the parser to judge.
"""

from __future__ import annotations

import os
from io import BytesIO
from pathlib import Path
from typing import BinaryIO, Final

from agent.edge.body import MAX_BODY_BYTES, read_body
from agent.errors import Problem, ValidationError

STDIN: Final = "-"
# RFC 1952 2.3.1.
_GZIP: Final = b"\x1f\x8b"
_BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"
_WIDE_MARKS: Final = (b"\xff\xfe", b"\xfe\xff")
# In UTF-16 and UTF-32 one of the first characters of JSON text, which are ASCII, has a NUL byte; in UTF-8 none has.
_WIDEST: Final = 4


def read_input(name: str, stdin: BinaryIO | None) -> bytes:
    """The bytes of the file ``name``, or of ``stdin`` for ``-``.

    Raises ValidationError, or PayloadTooLarge beyond 10 MiB, whose messages name the file.
    """
    shown = "standard input" if name == STDIN else name
    try:
        raw = _read(name, stdin)
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else type(error).__name__
        raise ValidationError(f"cannot read {shown}: {reason}") from error
    body = read_body(BytesIO(raw), content_length=None, encoding="gzip" if raw.startswith(_GZIP) else None)
    _check(body, shown)
    return body


def _check(body: bytes, shown: str) -> None:
    if not body.removeprefix(_BYTE_ORDER_MARK).strip():
        raise ValidationError(f"{shown} is empty", [Problem("$", "empty")])
    if body.startswith(_WIDE_MARKS) or b"\0" in body[:_WIDEST]:
        raise ValidationError(
            f"{shown} is UTF-16 or UTF-32, and JSON is UTF-8: convert it with iconv -f UTF-16 -t UTF-8",
            [Problem("$", "utf8")],
        )
    try:
        body.decode()
    except UnicodeDecodeError as error:
        raise ValidationError(
            f"{shown} is not UTF-8 from byte {error.start} on: convert it, as with iconv -f CP1252 -t UTF-8",
            [Problem("$", "utf8")],
        ) from None


def _read(name: str, stdin: BinaryIO | None) -> bytes:
    if not name:
        raise ValidationError("--input names no file")
    # One byte beyond the bound is enough to be refused for size.
    if name != STDIN:
        with Path(name).open("rb") as file:
            return file.read(MAX_BODY_BYTES + 1)
    if stdin is None:
        raise ValidationError("there is no standard input")
    return stdin.read(MAX_BODY_BYTES + 1)
