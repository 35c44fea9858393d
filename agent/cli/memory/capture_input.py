"""The bytes of one capture, from a file or from standard input, under the bound of the HTTP surface (CONTRACT 2).

A gzip file is inflated, known by its first bytes and not by its name. What cannot be read, is empty, or is UTF-16 is
refused in words about the file; everything else about the bytes is for the parser to judge.
"""

from __future__ import annotations

import os
from io import BytesIO
from pathlib import Path
from typing import BinaryIO, Final

from agent.capture.body import MAX_BODY_BYTES, read_body
from agent.errors import Problem, ValidationError

STDIN: Final = "-"
# RFC 1952 2.3.1.
_GZIP: Final = b"\x1f\x8b"
# Byte order marks of UTF-16 and UTF-32, and the opening brace of an object in either without one.
_WIDE: Final = (b"\xff\xfe", b"\xfe\xff", b"\x00\x00\xfe\xff", b"{\x00", b"\x00{", b"\x00\x00\x00{")


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
    if not body.strip():
        raise ValidationError(f"{shown} is empty", [Problem("$", "empty")])
    if body.startswith(_WIDE):
        raise ValidationError(
            f"{shown} is UTF-16 or UTF-32, and JSON is UTF-8: convert it with iconv -f UTF-16 -t UTF-8",
            [Problem("$", "utf8")],
        )
    return body


def _read(name: str, stdin: BinaryIO | None) -> bytes:
    # One byte beyond the bound is enough to be refused for size.
    if name != STDIN:
        with Path(name).open("rb") as file:
            return file.read(MAX_BODY_BYTES + 1)
    if stdin is None:
        raise ValidationError("there is no standard input")
    return stdin.read(MAX_BODY_BYTES + 1)
