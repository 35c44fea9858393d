"""Opaque cursors for pages: where to go on, bound to the list that gave it.

A cursor says nothing secret and grants nothing, so its check is a plain hash: it finds damage and mix-ups, and a
forged one only reads what the same caller could read without. It holds no state of the process: it outlives restarts.
"""

from __future__ import annotations

import base64
import hashlib
import struct
from typing import Final

import orjson

from store.errors import BadRequest
from store.port import SessionsCursor

_POSITION: Final = struct.Struct(">BQ")
_POSITION_KIND: Final = 1
_SESSIONS: Final = struct.Struct(">BQqq")
_SESSIONS_KIND: Final = 2
_CHECK_BYTES: Final = 6
_LARGEST: Final = 2**63 - 1


def binding(*filters: str | bytes | int | bool | None) -> str:
    """What names a list: its own name, then its filters and order. Two lists never have the same."""
    return orjson.dumps([value.hex() if isinstance(value, bytes) else value for value in filters]).decode()


def write_cursor(position: int, binding: str) -> str:
    """The cursor that goes on from ``position`` in the list that ``binding`` names."""
    return _text(_POSITION.pack(_POSITION_KIND, position), binding)


def read_cursor(text: str, binding: str, *, name: str = "cursor") -> int:
    """The position in a cursor. Raises BadRequest for one that was changed or belongs to another list.

    ``name`` is what the query calls it.
    """
    (position,) = _values(text, binding, _POSITION, _POSITION_KIND, name)
    return position


def write_sessions_cursor(cursor: SessionsCursor, binding: str) -> str:
    """The cursor of a list of sessions."""
    value = _SESSIONS.pack(_SESSIONS_KIND, cursor.position, cursor.activity_us, cursor.session_key)
    return _text(value, binding)


def read_sessions_cursor(text: str, binding: str) -> SessionsCursor:
    """As ``read_cursor``, for a list of sessions."""
    return SessionsCursor(*_values(text, binding, _SESSIONS, _SESSIONS_KIND, "cursor"))


def _text(value: bytes, binding: str) -> str:
    # Rounded up to whole groups of base64, so that no padding has to be quoted in a URL.
    check_bytes = _CHECK_BYTES + -len(value) % 3
    check = hashlib.sha256(value + binding.encode()).digest()[:check_bytes]
    return base64.urlsafe_b64encode(value + check).decode("ascii")


def _values(text: str, binding: str, layout: struct.Struct, kind: int, name: str) -> tuple[int, ...]:
    """The numbers after the kind; the first is a position."""
    try:
        raw = base64.b64decode(text.encode("ascii"), altchars=b"-_", validate=True)
        found, *values = layout.unpack(raw[: layout.size])
    except (ValueError, struct.error):
        raise BadRequest(f"{name} is not one that this list gave") from None
    # Written again it must be the same text: that checks hash, length and spare bits of base64 at once.
    if found != kind or values[0] > _LARGEST or _text(raw[: layout.size], binding) != text:
        raise BadRequest(f"{name} is not one that this list gave")
    return tuple(values)
