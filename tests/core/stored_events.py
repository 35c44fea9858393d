"""Events as the capture function writes them, to be replayed, damaged and fed; and the places in them."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from agent.capture.service import CaptureRequest, CaptureService
from agent.core.receipt import Receipt
from agent.observability.tracing import NoSpans
from tests.conftest import vectors

EXECUTION_REF = "eeeeeeee-0000-4000-8000-000000000001"
Path = tuple[str | int, ...]


class _Kept:
    def __init__(self) -> None:
        self.envelope = b""

    def append(self, envelope: bytes, *, idempotency_key: str, traceparent: str | None = None) -> Receipt:
        self.envelope = envelope
        return Receipt(None, False, None, None, None, None, 0)


def captured_text(payload: Any, name: str = "native", *, execution_ref: str = EXECUTION_REF) -> bytes:
    """The write of one capture."""
    kept = _Kept()
    service = CaptureService(
        lambda: kept,
        clock=lambda: datetime(2026, 3, 2, 8, 15, tzinfo=UTC),
        elapsed=lambda: 0.0,
        peak_memory=lambda: 1,
        release="0.0.0",
    )
    service.capture(CaptureRequest(json.dumps(payload).encode(), name, None, execution_ref), NoSpans())
    return kept.envelope


def captured(payload: Any, name: str = "native") -> dict[str, Any]:
    """The same, parsed."""
    envelope: dict[str, Any] = json.loads(captured_text(payload, name))
    return envelope


def vector(name: str) -> dict[str, Any]:
    """The event of a golden capture."""
    (case,) = (case for case in vectors() if case["name"] == name)
    return captured(case["input"])


def places(value: Any, path: Path = ()) -> Iterator[Path]:
    """The paths of all values in ``value``, itself included."""
    yield path
    members: Any = ()
    if isinstance(value, dict):
        members = value.items()
    elif isinstance(value, list):
        members = enumerate(value)
    for key, member in members:
        yield from places(member, (*path, key))


def at(value: Any, path: Path) -> Any:
    for key in path:
        value = value[key]
    return value


def replaced(value: Any, path: Path, other: Any) -> Any:
    """A copy with ``other`` at ``path``."""
    if not path:
        return other
    changed = copy.deepcopy(value)
    at(changed, path[:-1])[path[-1]] = other
    return changed


def removed(value: Any, path: Path) -> Any:
    """A copy without what stands at ``path``."""
    changed = copy.deepcopy(value)
    del at(changed, path[:-1])[path[-1]]
    return changed
