"""Opaque cursors for lists of events: the position to go on from, bound to the list that it came from.

A cursor says nothing secret and grants nothing, so its check is a plain hash: it finds damage and mix-ups, and a
forged one only reads what the same caller could read without.
"""

from __future__ import annotations

import base64
import hashlib
import struct
from typing import Final

from store.errors import BadRequest

_LAYOUT: Final = struct.Struct(">BQ")
_VERSION: Final = 1
_CHECK_BYTES: Final = 6
_LARGEST: Final = 2**63 - 1
_REFUSED: Final = "cursor is not one that this list gave"


def write_cursor(position: int, binding: str) -> str:
    """The cursor that goes on from ``position`` in the list that ``binding`` names (its filters and order)."""
    value = _LAYOUT.pack(_VERSION, position)
    return base64.urlsafe_b64encode(value + _check(value, binding)).decode("ascii")


def read_cursor(text: str, binding: str) -> int:
    """The position in a cursor. Raises BadRequest for one that was changed or belongs to another list."""
    try:
        raw = base64.b64decode(text.encode("ascii"), altchars=b"-_", validate=True)
        version, position = _LAYOUT.unpack(raw[: _LAYOUT.size])
    except (ValueError, struct.error):
        raise BadRequest(_REFUSED) from None
    # Written again it must be the same text: that checks version, hash and spare bits of base64 at once.
    if version != _VERSION or position > _LARGEST or write_cursor(position, binding) != text:
        raise BadRequest(_REFUSED)
    return int(position)


def _check(value: bytes, binding: str) -> bytes:
    return hashlib.sha256(value + binding.encode()).digest()[:_CHECK_BYTES]
