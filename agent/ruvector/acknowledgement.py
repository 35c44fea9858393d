"""What counts as the store's acknowledgement of an append (CONTRACT 10), and the receipt in it.

A 201 with a JSON object, or a 200 whose ``status`` is ``accepted`` or ``duplicate``. Both receipts are read: ours,
with position and turns, and the deployed service's, which names the event alone. An optional field that is malformed
counts as absent: the event is stored all the same.
"""

from __future__ import annotations

import re
from typing import Any, Final

import jiter

from agent.core.receipt import Receipt, TurnCounts
from agent.core.timestamps import is_date_time

_COUNTS: Final = ("new", "known", "revised", "erased")
# Ids go into response headers and logs.
_ID: Final = re.compile(r"[\x21-\x7e]{1,255}\Z")


def read_receipt(status: int, body: bytes, *, latency_ms: int) -> Receipt:
    """The receipt in an answer of HTTP ``status``. Raises ValueError where the answer acknowledges nothing."""
    if status not in (200, 201):
        raise ValueError("no acknowledgement: the status")
    document = jiter.from_json(body, allow_inf_nan=False)
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
    )


def _id(document: dict[str, Any], *names: str) -> str | None:
    for name in names:
        value = document.get(name)
        if isinstance(value, str) and _ID.match(value):
            return value
    return None


def _count(value: object) -> int | None:
    # JSON true is a Python int.
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _timestamp(value: object) -> str | None:
    return value if isinstance(value, str) and is_date_time(value) else None


def _turns(value: object) -> TurnCounts | None:
    if not isinstance(value, dict):
        return None
    new, known, revised, erased = map(_count, map(value.get, _COUNTS))
    if new is None or known is None or revised is None or erased is None:
        return None
    return TurnCounts(new, known, revised, erased)
