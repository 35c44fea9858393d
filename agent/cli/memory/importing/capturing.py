"""One conversation into the store: checked whole, then captured, in pieces where one capture cannot hold it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from agent.capture.body import MAX_BODY_BYTES
from agent.capture.document import Document, open_wrapper, parse
from agent.capture.json_text import MAX_VALUES
from agent.capture.service import CaptureService, Kept
from agent.capture.validation import validate_payload
from agent.cli.memory.importing.account import Told
from agent.cli.memory.importing.conversations import EMPTY, Found
from agent.core.native import derive_ids
from agent.core.receipt import TurnCounts
from agent.errors import PayloadTooLarge, Problem, RateLimitExceeded, StoreWriteError, ValidationError

# A store that asks for patience is asked again so often, after no more than so many seconds.
_TRIES: Final = 20
_MOST_PATIENCE_S: Final = 60.0
_TOO_LARGE: Final = 413


class _Capture(NamedTuple):
    """One capture of a conversation: what it is captured as, and how."""

    payload: Mapping[str, Any]
    keep: Callable[[CaptureService, str], Kept]


class Capturing:
    """Captures conversations through ``service``; only checks them where that is None.

    ``wait`` waits so many seconds and says whether the import goes on. Used by several threads.
    """

    def __init__(
        self, service: CaptureService | None, *, new_id: Callable[[], str], wait: Callable[[float], bool]
    ) -> None:
        self._service = service
        self._new_id = new_id
        self._wait = wait

    def __call__(self, found: Found) -> Told:
        """Capture ``found``. Raises StoreError and RateLimitExceeded where the store does not take what it should."""
        told = Told(found.place, found.number, found.form, ignored=found.ignored)
        if found.conversation is not None and not found.conversation.messages:
            return told._replace(ignored={**found.ignored, EMPTY: 1})
        try:
            captures = self._native(found.document) if found.document is not None else self._foreign(found)
            first = captures[0].payload
            told = told._replace(
                session_id=first["session_id"].lower(),
                native_session_id=first.get("native_session_id"),
                conversation_id=first["conversation_id"].lower(),
                native_conversation_id=first.get("native_conversation_id"),
                turns=sum(len(each.payload["turns"]) for each in captures),
                calls=sum(_calls(turn) for each in captures for turn in each.payload["turns"]),
                captures=len(captures),
            )
            return told if self._service is None else self._kept(told, captures, self._service)
        except ValidationError as error:
            return Told(found.place, found.number, found.form, ignored=found.ignored, error=error)

    def _kept(self, told: Told, captures: list[_Capture], service: CaptureService) -> Told:
        counts: TurnCounts | None = TurnCounts(0, 0, 0, 0)
        duplicates = 0
        reference = None
        for each in captures:
            receipt, reference = self._patiently(each, service)
            duplicates += receipt.duplicate
            if counts is None or receipt.turns is None:
                counts = None
            else:
                counts = TurnCounts(*(one + more for one, more in zip(counts, receipt.turns, strict=True)))
        return told._replace(counts=counts, duplicates=duplicates, reference=reference)

    def _patiently(self, capture: _Capture, service: CaptureService) -> Kept:
        execution_ref = self._new_id()
        for left in reversed(range(_TRIES)):
            try:
                return capture.keep(service, execution_ref)
            except StoreWriteError as error:
                if error.upstream_status == _TOO_LARGE:
                    raise PayloadTooLarge("the store takes no capture as large", [Problem("$", "size")]) from error
                raise
            except RateLimitExceeded as error:
                if not left or not self._wait(_patience(error)):
                    raise
        raise AssertionError("the last try has returned or raised")

    def _native(self, document: Document) -> list[_Capture]:
        # The bounds of what is posted: such a payload is one that could have been.
        if len(document.text) > MAX_BODY_BYTES:
            raise PayloadTooLarge(f"the capture has more than {MAX_BODY_BYTES} bytes", [Problem("$", "size")])
        if len(document.text) >= 2 * MAX_VALUES:
            parse(document.text)
        opened = open_wrapper(document)
        payload = opened.value
        validate_payload(payload)
        if payload.get("capture_options", {}).get("derive_ids", False):
            payload = derive_ids(payload)
        return [_Capture(payload, lambda service, ref: service.keep_native(opened, execution_ref=ref))]

    def _foreign(self, found: Found) -> list[_Capture]:
        captures = []
        for piece, payload in enumerate(found.payloads()):
            validate_payload(payload)
            captures.append(_Capture(payload, _keeping(found, payload, piece)))
        return captures


def _keeping(found: Found, payload: dict[str, Any], piece: int) -> Callable[[CaptureService, str], Kept]:
    assert found.hashes is not None  # noqa: S101 - foreign, by the caller
    hashes = found.hashes
    return lambda service, ref: service.keep_translated(payload, hashes.of(found.number, piece), execution_ref=ref)


def _calls(turn: Mapping[str, Any]) -> int:
    return 0 if turn["role"] == "tool" else len(turn.get("tool_invocations", ()))


def _patience(error: RateLimitExceeded) -> float:
    asked = error.headers.get("Retry-After", "")
    return min(float(asked), _MOST_PATIENCE_S) if asked.isdecimal() else 1.0
