"""One conversation into the store: checked whole, then captured, in pieces where one capture cannot hold it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple, TypeVar

from agent.capture.service import MAX_ENVELOPE_BYTES, CaptureService, Kept
from agent.capture.validation import validate_payload
from agent.cli.memory.importing.account import Told
from agent.cli.memory.importing.conversations import EMPTY, LARGE_TEXT, PIECE_BYTES, Found, Hashes, ReadAs
from agent.core.canonical import encode
from agent.core.decision import Outputs
from agent.core.native import derive_ids
from agent.core.receipt import TurnCounts
from agent.edge.body import MAX_BODY_BYTES
from agent.edge.document import Document, open_wrapper, parse
from agent.edge.json_text import MAX_VALUES
from agent.errors import PayloadTooLarge, Problem, RateLimitExceeded, StoreWriteError, ValidationError

# A store that asks for patience is asked again so often, after no more than so many seconds.
_TRIES: Final = 20
_MOST_PATIENCE_S: Final = 60.0
_TOO_LARGE: Final = 413
# What an event has beside its inputs and outputs, and more.
_BESIDE_BYTES: Final = 64 * 1024

T = TypeVar("T")


class _Capture(NamedTuple):
    """One capture of a conversation: what it is captured as, and how.

    ``keep_apart``: how where the store has a capture of the same document that is another one's; None for a native one.
    """

    payload: Mapping[str, Any]
    keep: Callable[[CaptureService, str], Kept]
    keep_apart: Callable[[CaptureService, str], Kept] | None = None


class Capturing:
    """Captures conversations through ``service``; only checks them where that is None.

    ``stored`` is the payload of the event with this reference; None where the store does not give it. ``wait`` waits
    so many seconds and says whether the import goes on. Used by several threads.
    """

    def __init__(
        self,
        service: CaptureService | None,
        *,
        stored: Callable[[str], Mapping[str, Any] | None],
        new_id: Callable[[], str],
        wait: Callable[[float], bool],
    ) -> None:
        self._service = service
        self._stored = stored
        self._new_id = new_id
        self._wait = wait

    def __call__(self, found: Found) -> Told:
        """Capture ``found``. Raises StoreError and RateLimitExceeded where the store does not take what it should."""
        told = Told(found.place, found.number, found.form, ignored=found.ignored, is_placed=found.is_placed)
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
        duplicates = kept_fuller = 0
        reference = None
        for each in captures:
            receipt, reference = self._kept_once(each, service)
            duplicates += receipt.duplicate
            kept_fuller += receipt.kept_fuller
            if counts is None or receipt.turns is None:
                counts = None
            else:
                counts = TurnCounts(*(one + more for one, more in zip(counts, receipt.turns, strict=True)))
        return told._replace(counts=counts, kept_fuller=kept_fuller, duplicates=duplicates, reference=reference)

    def _kept_once(self, capture: _Capture, service: CaptureService) -> Kept:
        """Capture it, once for each session and each way to read it: the same document may stand at many places."""
        kept = self._captured(capture.keep, service)
        if not kept.receipt.duplicate or capture.keep_apart is None:
            return kept
        first = self._patiently(lambda: self._stored(kept.execution_ref))
        if first is None or _is_same(first, capture.payload):
            return kept
        return self._captured(capture.keep_apart, service)

    def _captured(self, keep: Callable[[CaptureService, str], Kept], service: CaptureService) -> Kept:
        execution_ref = self._new_id()
        try:
            return self._patiently(lambda: keep(service, execution_ref))
        except StoreWriteError as error:
            if error.upstream_status == _TOO_LARGE:
                raise PayloadTooLarge("the store takes no capture as large", [Problem("$", "size")]) from error
            raise

    def _patiently(self, ask: Callable[[], T]) -> T:
        for left in reversed(range(_TRIES)):
            try:
                return ask()
            except RateLimitExceeded as error:
                if not left or not self._wait(_patience(error)):
                    raise
        raise AssertionError("the last try has returned or raised")  # pragma: no cover - for the type checker

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
        assert found.hashes is not None  # noqa: S101 - foreign, by the caller
        for piece, payload in enumerate(found.payloads()):
            validate_payload(payload)
            if found.size > LARGE_TEXT:
                _check_size(payload)
            captures.append(_capture_of(payload, found.number, piece, found.hashes))
        return captures


def _check_size(payload: dict[str, Any]) -> None:
    """Raise PayloadTooLarge for what no store takes: before the first piece is kept, and where none will be."""
    size = len(encode(payload))
    # With less, the graph of the most turns leaves room.
    if size > 2 * PIECE_BYTES:
        size += len(Outputs.of(payload).encode("")) + _BESIDE_BYTES
    if size > MAX_ENVELOPE_BYTES:
        raise PayloadTooLarge("the capture is larger than a store takes", [Problem("$", "size")])


def _capture_of(payload: dict[str, Any], number: int, piece: int, hashes: Hashes) -> _Capture:
    def keep(service: CaptureService, ref: str) -> Kept:
        return service.keep_translated(payload, hashes.of(number, piece), execution_ref=ref)

    def keep_apart(service: CaptureService, ref: str) -> Kept:
        return service.keep_translated(payload, hashes.apart(number, piece, ReadAs.of(payload)), execution_ref=ref)

    return _Capture(payload, keep, keep_apart)


def _is_same(event: Mapping[str, Any], payload: Mapping[str, Any]) -> bool:
    """Whether the stored ``event`` is of the session of ``payload``, and was read alike."""
    ours = ReadAs.of(payload)
    inputs = event.get("inputs")
    if not isinstance(inputs, Mapping):
        # Erased: the session is what is left of it.
        outputs = event.get("outputs")
        session = outputs.get("session_id") if isinstance(outputs, Mapping) else None
        return not isinstance(session, str) or session.lower() == ours.session
    theirs = ReadAs.of(inputs)
    return theirs == ours or (theirs.session == ours.session and theirs.format is None)


def _calls(turn: Mapping[str, Any]) -> int:
    return 0 if turn["role"] == "tool" else len(turn.get("tool_invocations", ()))


def _patience(error: RateLimitExceeded) -> float:
    asked = error.headers.get("Retry-After", "")
    return min(float(asked), _MOST_PATIENCE_S) if asked.isdecimal() else 1.0
