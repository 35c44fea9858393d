"""What has come of a request so far, and whether that is enough for somebody to work on it.

A thread that reads from a slow client is a thread less, so a request is given to one when its head is there and, if it
is small, its body (``patient_worker``). This only says who may wait where. What a request means the server's parser
says, from the same bytes; where the two could differ (two lengths, a length that is no number) the parser refuses.
"""

from __future__ import annotations

import re
from enum import Enum, auto
from typing import Final

# Of a head; the server's own bound of a line is a quarter of it.
MAX_HEAD_BYTES: Final = 32 * 1024
# Of head and body together that wait without a thread: ordinary captures fit.
MAX_WHOLE_BYTES: Final = 64 * 1024
_END: Final = b"\r\n\r\n"
_BARE_LINE_END: Final = re.compile(rb"(?<!\r)\n")
# What of a head tells how many bytes follow. Chunks tell it last, and who expects a 100 sends nothing before it.
_FRAMING: Final = re.compile(rb"\r\n(?:(transfer-encoding|expect)|content-length):[ \t]*([0-9]{0,18})", re.IGNORECASE)
_CARRIAGE_RETURN: Final = 0x0D


class Arrival(Enum):
    """How much of a request is there."""

    PART = auto()
    WHOLE = auto()
    # The head; the body is read while it is worked on, or asked for.
    HEAD = auto()
    # More than a head has, or nothing that HTTP begins with.
    REFUSED = auto()


class Arriving:
    """The bytes of one request, and of what was sent behind it."""

    __slots__ = ("_has_more", "_searched", "_whole", "data")

    def __init__(self) -> None:
        self.data = bytearray()
        self._searched = 0
        self._whole: int | None = None
        self._has_more = False

    @property
    def has_head(self) -> bool:
        """Whether the head has ended."""
        return self._whole is not None or self._has_more

    def take(self, piece: bytes) -> Arrival:
        """Add ``piece`` and say what there is now; no bytes at all change nothing."""
        self.data += piece
        if not self.has_head:
            found = self.data.find(_END, self._searched)
            if found < 0:
                return self._without_head()
            self._measure(found + len(_END))
        if self._whole is None:
            return Arrival.HEAD
        return Arrival.WHOLE if len(self.data) >= self._whole else Arrival.PART

    def _without_head(self) -> Arrival:
        data = self.data
        if len(data) > MAX_HEAD_BYTES or (data and data[0] != _CARRIAGE_RETURN and not 0x21 <= data[0] <= 0x7E):
            return Arrival.REFUSED
        if _BARE_LINE_END.search(data, max(0, self._searched - 1)):
            # RFC 9112 2.2: such a head never ends. The parser refuses it without another byte.
            return Arrival.WHOLE
        self._searched = max(0, len(data) - len(_END) + 1)
        return Arrival.PART

    def _measure(self, head: int) -> None:
        follows = 0
        for header in _FRAMING.finditer(self.data, 0, head):
            if header[1]:
                self._has_more = True
                return
            follows = max(follows, int(header[2] or 0))
        if head > MAX_HEAD_BYTES or head + follows > MAX_WHOLE_BYTES:
            self._has_more = True
        else:
            self._whole = head + follows
