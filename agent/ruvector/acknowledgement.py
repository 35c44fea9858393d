"""What counts as the store's acknowledgement of an append (CONTRACT 10), and the receipt in it.

A 201 with a JSON object, or a 200 whose ``status`` is ``accepted`` or ``duplicate``. Both receipts are read: ours,
with position and turns, and the deployed service's, which names the event alone. An optional field that is malformed,
or that our own answer could not carry, counts as absent: the event is stored all the same.
"""

from __future__ import annotations

import json
import re
from typing import Any, Final, NoReturn

import jiter

from agent.core.receipt import Receipt, TurnCounts
from agent.core.timestamps import is_date_time

_COUNTS: Final = ("new", "known", "revised", "erased")
# Ids go into response headers and logs.
_ID: Final = re.compile(r"[\x21-\x7e]{1,255}\Z")
_MAX_TEXT: Final = 255
_MAX_COUNT: Final = 2**63 - 1


def read_receipt(status: int, body: bytes, *, latency_ms: int, attempts: int = 1) -> Receipt:
    """The receipt in an answer of HTTP ``status``. Raises ValueError where the answer acknowledges nothing."""
    if status not in (200, 201):
        raise ValueError("no acknowledgement: the status")
    document = _parse(body)
    said = document.get("status") if isinstance(document, dict) else None
    if not isinstance(document, dict) or (status == 200 and said not in ("accepted", "duplicate")):
        raise ValueError("no acknowledgement: the body")
    return Receipt(
        event_id=_id(document, "eventId", "event_id"),
        duplicate=said == "duplicate",
        position=_count(document.get("position")),
        turns=_turns(document.get("turns")),
        execution_ref=_id(document, "executionRef", "execution_ref"),
        timestamp=_timestamp(document.get("timestamp")),
        latency_ms=latency_ms,
        attempts=attempts,
        kept_fuller=_count(document.get("kept_fuller")) or 0,
    )


def _parse(body: bytes) -> object:
    try:
        return jiter.from_json(body, allow_inf_nan=False)
    except ValueError:
        return _parse_odd(body)


def _parse_odd(body: bytes) -> object:
    """What RFC 8259 allows and jiter refuses: lone surrogates, integers of thousands of digits, more than 200 levels.

    A byte order mark is ignored. Raises ValueError for what is no JSON, or nested too deep for the interpreter.
    """
    try:
        return json.loads(body.decode("utf-8-sig"), parse_int=_shortened, parse_constant=_no_number)
    except (ValueError, RecursionError):
        raise ValueError("no acknowledgement: no JSON") from None  # the parser's text may quote the body


def _shortened(digits: str) -> int:
    # Far beyond any count as it is, and int() refuses more than 4300 digits.
    return int(digits[:40])


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _id(document: dict[str, Any], *names: str) -> str | None:
    for name in names:
        value = document.get(name)
        if isinstance(value, str) and _ID.match(value):
            return value
    return None


def _count(value: object) -> int | None:
    # JSON true is a Python int.
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _MAX_COUNT else None


def _timestamp(value: object) -> str | None:
    # A date-time may have any number of fraction digits.
    return value if isinstance(value, str) and len(value) <= _MAX_TEXT and is_date_time(value) else None


def _turns(value: object) -> TurnCounts | None:
    if not isinstance(value, dict):
        return None
    new, known, revised, erased = map(_count, map(value.get, _COUNTS))
    if new is None or known is None or revised is None or erased is None:
        return None
    return TurnCounts(new, known, revised, erased)
