"""What a route answers: JSON in one piece, or in pieces that are sent as they come."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any, Final

import orjson

from store.errors import StoreAnswerError
from store.http.fault_log import log_fault

JSON: Final = "application/json"


class Pieces:
    """A body that comes in pieces. The first is there once this is made, so that what is refused is refused by then.

    A fault after that is logged, and raised again without its text: the host closes the connection, and the reader
    has half a JSON document and no end of the message. Nothing else would tell it.
    """

    __slots__ = ("_first", "_pieces")

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces = pieces
        self._first: bytes | None = next(pieces)

    def __iter__(self) -> Iterator[bytes]:
        return self

    def __next__(self) -> bytes:
        first, self._first = self._first, None
        if first is not None:
            return first
        try:
            return next(self._pieces)
        except StopIteration:
            raise
        except Exception as error:  # noqa: BLE001 - whatever it is, half an answer is sent
            log_fault("an answer broke off", error)
            raise StoreAnswerError("the answer broke off; the log says why") from None

    def close(self) -> None:
        """Let go of what the pieces come from; the host calls it, a reader that went away or not (PEP 3333)."""
        close = getattr(self._pieces, "close", None)
        if close is not None:
            close()


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer; JSON unless ``headers`` name another Content-Type."""

    status: int
    body: bytes | Pieces
    headers: Mapping[str, str] = field(default_factory=dict)


def answer(value: Any, status: int = HTTPStatus.OK) -> Answer:
    """``value`` as JSON."""
    return Answer(status, orjson.dumps(value))


def page(name: str, rows: tuple[bytes, ...], **more: Any) -> Answer:
    """``rows``, which are JSON, under ``name``, and the members ``more`` after them."""
    # Spliced, not parsed: the rows are most of it.
    tail = orjson.dumps(more)[1:]
    return Answer(HTTPStatus.OK, b'{"%b":[%b],%b' % (name.encode(), b",".join(rows), tail))


def refusal(fault: StoreAnswerError, **more: str) -> Answer:
    """The answer to what was refused or failed."""
    details = {"details": fault.details} if fault.details else {}
    body = {"error": fault.error, "message": fault.message, **details, **more}
    return Answer(fault.status, orjson.dumps(body), fault.headers)
