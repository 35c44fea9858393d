"""The capture: bytes in, exactly one DecisionEvent appended, an answer out (CONTRACT 6, 7).

Holds no state between captures and reads nothing from the store. It alerts, enforces and retries on nobody's behalf.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol

import orjson

from agent.capture.request import NATIVE, CaptureAnswer, CaptureRequest, Spans
from agent.capture.spent_tokens import spent_tokens
from agent.capture.validation import validate_payload, warnings_for
from agent.content.policy import FULL, ContentPolicy
from agent.core.canonical import encode, inputs_hash
from agent.core.decision import DecisionEvent, Inputs, Outputs, constraints_applied
from agent.core.native import derive_ids
from agent.core.receipt import Receipt
from agent.core.timestamps import utc_text
from agent.edge.document import Document, open_wrapper, parse
from agent.errors import MAX_PROBLEMS, IdempotencyConflict, PayloadTooLarge, Problem, StoreWriteError
from agent.formats import Translation, reader

if TYPE_CHECKING:
    from agent.content.found import Found
    from agent.content.redacted import Detect

EntitiesOf = Callable[[Mapping[str, Any]], list[dict[str, Any]]]

# CONTRACT 10: the store takes bodies up to 32 MiB.
MAX_ENVELOPE_BYTES: Final = 32 * 1024 * 1024


class EventStore(Protocol):
    """The port to the store: what a capture needs of it."""

    def append(self, envelope: bytes, *, idempotency_key: str, traceparent: str | None = None) -> Receipt:
        """Append one event, as a step of the trace that is named.

        Raises StoreConnectionError, StoreWriteError or RateLimitExceeded.
        """


class Kept(NamedTuple):
    """What an import needs of a capture: the store's receipt, and the reference of the event that counts."""

    receipt: Receipt
    execution_ref: str


def _detect(text: str) -> Sequence[Found]:
    """What of ``text`` is redacted, by the detectors, which only a capture that redacts loads."""
    from agent.content.detectors import find

    return find(text)


def _entities_of(payload: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The entities of ``payload``, by what only a capture that asks for them loads."""
    from agent.entities.entities import entities_of

    return entities_of(payload)


def _about_entities(captured: _Captured, found: list[dict[str, Any]]) -> list[Problem]:
    """The warning where nobody looked, or where ``found`` stops at its bounds: there may be more."""
    if captured.mode == "none":
        return [Problem("$.capture_options.extract_entities", "entities_not_read")]
    from agent.entities.entities import is_cut  # late, as the rules themselves

    return [Problem("$.capture_options.extract_entities", "entities_cut")] if is_cut(captured.payload, found) else []


class _Captured(NamedTuple):
    """A payload that passed: native, with UUIDs, and what is stored and hashed of it.

    ``payload`` is the one that is stored: narrowed where ``mode`` is not ``full``. ``redactions`` counts by kind what
    was replaced where content was redacted; ``entities`` are named in what is stored, None where nobody asked.
    """

    payload: dict[str, Any]
    inputs: Inputs
    warnings: tuple[Problem, ...] = ()
    ids_derived: bool = False
    snapshot_path: str | None = None
    mode: str = "full"
    redactions: dict[str, int] | None = None
    entities: list[dict[str, Any]] | None = None


class CaptureService:
    """Turns posted bytes into one appended DecisionEvent.

    ``clock`` gives the instant of capture (aware), ``elapsed`` monotonic seconds, ``peak_memory`` the process's peak
    resident size in bytes; ``store`` is looked up on first use, so that an instance starts without it. ``content`` says
    how much of a payload may be stored, ``detect`` finds what is redacted, ``entities`` what is named in a payload.
    """

    def __init__(
        self,
        store: Callable[[], EventStore],
        *,
        clock: Callable[[], datetime],
        elapsed: Callable[[], float],
        peak_memory: Callable[[], int],
        release: str,
        content: ContentPolicy = FULL,
        detect: Detect = _detect,
        entities: EntitiesOf = _entities_of,
    ) -> None:
        self._store = store
        self._clock = clock
        self._elapsed = elapsed
        self._peak_memory = peak_memory
        self._release = release
        self._content = content
        self._detect = detect
        self._entities = entities

    def capture(self, request: CaptureRequest, spans: Spans) -> CaptureAnswer:
        """Validate, build, append, answer.

        Raises ValidationError where the payload is refused (nothing was written), IdempotencyConflict where the
        caller's key belongs to another payload, StoreError or RateLimitExceeded where the store did not acknowledge.
        """
        started = self._elapsed()
        timestamp = utc_text(self._clock())
        with spans.span("validate"):
            captured = self._validated(request, timestamp)
        with spans.span("build"):
            captured = self._with_entities(captured)
            outputs, event = self._built(captured, request.execution_ref, started, timestamp)
            envelope = event.envelope()
            spent = spent_tokens(captured.payload)
            spans.conversation(outputs.conversation_id, input_tokens=spent.input, output_tokens=spent.output)
        # The envelope holds the text, and the tree may take ten times the body: a store in this process is about to
        # build its own.
        captured = captured._replace(payload={}, inputs=captured.inputs._replace(text=b""))
        event = event._replace(inputs=captured.inputs)
        with spans.span("append"):
            receipt = self._append(envelope, request.idempotency_key, captured, spans.traceparent)
            spans.set(duplicate=receipt.duplicate, turns=outputs.turn_count, bytes=len(envelope))
        return _answer(event, outputs, receipt, captured)

    def keep_native(self, document: Document, *, execution_ref: str) -> Kept:
        """Capture a native payload that was parsed before, without an answer. Raises as ``capture`` does."""
        started = self._elapsed()
        return self._kept(self._native(open_wrapper(document)), execution_ref, started)

    def keep_translated(self, payload: dict[str, Any], sent_hash: str, *, execution_ref: str) -> Kept:
        """Capture ``payload``, which a format's reader made of something with this hash (CONTRACT 5).

        It has to be one that ``validate_payload`` accepts: of a conversation in pieces all are checked before the
        first is kept. Raises as ``capture`` does, and PayloadTooLarge for what no store takes.
        """
        started = self._elapsed()
        return self._kept(self._captured(payload, sent_hash, ids_derived=True), execution_ref, started)

    def _kept(self, captured: _Captured, execution_ref: str, started: float) -> Kept:
        _, event = self._built(self._with_entities(captured), execution_ref, started, utc_text(self._clock()))
        envelope = event.envelope()
        if len(envelope) > MAX_ENVELOPE_BYTES:
            raise PayloadTooLarge("the capture is larger than a store takes", [Problem("$", "size")])
        receipt = self._append(envelope, None, captured)
        return Kept(receipt, (receipt.execution_ref if receipt.duplicate else None) or execution_ref)

    def _built(
        self, captured: _Captured, execution_ref: str, started: float, timestamp: str
    ) -> tuple[Outputs, DecisionEvent]:
        outputs = Outputs.of(captured.payload, entities=captured.entities)
        telemetry: dict[str, Any] = {
            "duration_ms": int((self._elapsed() - started) * 1000),
            "memory_bytes": self._peak_memory(),
            "release": self._release,
        }
        if captured.redactions is not None:
            telemetry["redactions"] = captured.redactions
        event = DecisionEvent(
            inputs=captured.inputs,
            outputs=outputs.encode(timestamp),
            constraints_applied=constraints_applied(
                captured.payload, ids_derived=captured.ids_derived, content=captured.mode
            ),
            execution_ref=execution_ref,
            timestamp=timestamp,
            telemetry=telemetry,
        )
        return outputs, event

    def _with_entities(self, captured: _Captured) -> _Captured:
        """``captured`` with what is named in what is stored, where its caller asks for that."""
        options = captured.payload.get("capture_options")
        if not options or not options.get("extract_entities"):
            return captured
        found = [] if captured.mode == "none" else self._entities(captured.payload)
        warnings = [*captured.warnings, *_about_entities(captured, found)]
        return captured._replace(entities=found, warnings=tuple(warnings[-MAX_PROBLEMS:]))

    def _validated(self, request: CaptureRequest, timestamp: str) -> _Captured:
        document = open_wrapper(parse(request.body))
        if request.format != NATIVE:
            return self._translated(document, request.format, timestamp)
        return self._native(document)

    def _native(self, document: Document) -> _Captured:
        payload = document.value
        validate_payload(payload)
        warnings = (*document.warnings, *warnings_for(payload))[:MAX_PROBLEMS]
        sent_hash = inputs_hash(payload, plain=document.plain)
        if not payload.get("capture_options", {}).get("derive_ids", False):
            return self._captured(payload, sent_hash, text=document.text, warnings=warnings)
        return self._captured(derive_ids(payload), sent_hash, warnings=warnings, ids_derived=True)

    def _translated(self, document: Document, name: str, timestamp: str) -> _Captured:
        translation: Translation = reader(name).read(document.value, captured_at=timestamp)
        validate_payload(translation.payload)
        sent_hash = inputs_hash({"body": document.value, "format": name}, plain=document.plain)
        return self._captured(
            translation.payload,
            sent_hash,
            warnings=(*document.warnings, *translation.warnings)[:MAX_PROBLEMS],
            ids_derived=True,
            snapshot_path=translation.snapshot_path,
        )

    def _captured(
        self,
        payload: dict[str, Any],
        sent_hash: str,
        *,
        text: bytes | None = None,
        warnings: tuple[Problem, ...] = (),
        ids_derived: bool = False,
        snapshot_path: str | None = None,
    ) -> _Captured:
        """The capture of ``payload``; ``text`` is the JSON of it as sent, None where it became another.

        Every capture comes through here: what neither the policy nor the capture itself allows, goes no further.
        """
        mode = self._content.held(payload.get("capture_options", {}).get("content"))
        redactions = None
        if mode != "full":
            # Late: most functions store content in full.
            from agent.content.narrowing import narrowed

            payload, redactions = narrowed(payload, mode, self._content, self._detect, ids_derived=ids_derived)
            text = None
        inputs = _rewritten(payload, sent_hash) if text is None else Inputs(text, sent_hash, sent_hash)
        return _Captured(payload, inputs, warnings, ids_derived, snapshot_path, mode, redactions)

    def _append(
        self, envelope: bytes, idempotency_key: str | None, captured: _Captured, traceparent: str | None = None
    ) -> Receipt:
        key = idempotency_key or captured.inputs.sent_hash
        try:
            return self._store().append(envelope, idempotency_key=key, traceparent=traceparent)
        except StoreWriteError as error:
            # CONTRACT 7: a 409 to a write without a caller's key stays a write error.
            if error.upstream_status == 409 and idempotency_key is not None:
                raise IdempotencyConflict("the Idempotency-Key was used before with another payload") from error
            raise


def _rewritten(payload: dict[str, Any], sent_hash: str) -> Inputs:
    """``inputs`` that are not the text as sent: the native payload that it became (CONTRACT 6)."""
    return Inputs(encode(payload), inputs_hash(payload), sent_hash)


def _answer(event: DecisionEvent, outputs: Outputs, receipt: Receipt, captured: _Captured) -> CaptureAnswer:
    encoded = event.outputs
    execution_ref = event.execution_ref
    if receipt.duplicate and receipt.execution_ref == execution_ref:
        # An earlier attempt of this very invocation was stored and its answer lost: the event is this one. What the
        # store counts now is not what it counted then.
        receipt = receipt._replace(duplicate=False, turns=None, kept_fuller=0)
    if receipt.duplicate:
        execution_ref = receipt.execution_ref or execution_ref
        first = receipt.timestamp or event.timestamp
        # Entities are found in what is stored, and that was another run's affair.
        encoded = outputs._replace(entities=None).encode(first)
        shown = event.replayed(encoded, execution_ref, first)
    else:
        shown = event.answer(receipt.latency_ms)
    ours = _told_by_store(captured, receipt)
    warnings = [*captured.warnings[: MAX_PROBLEMS - len(ours)], *ours]
    body = orjson.dumps(
        {
            "success": True,
            "output": orjson.Fragment(encoded),
            "decision_event": shown,
            "receipt": _receipt(receipt),
            "warnings": [warning.as_dict() for warning in warnings],
        }
    )
    return CaptureAnswer(
        body,
        execution_ref,
        receipt.duplicate,
        outputs.turn_count,
        receipt.latency_ms,
        counts=receipt.turns,
        attempts=receipt.attempts,
    )


def _told_by_store(captured: _Captured, receipt: Receipt) -> list[Problem]:
    """The warnings about what the store did with turns that it has."""
    told = []
    if captured.snapshot_path is not None and receipt.turns is not None and receipt.turns.revised:
        told.append(Problem(captured.snapshot_path, "history_rewritten"))
    if receipt.kept_fuller:
        told.append(Problem("$.turns", "fuller_body_kept"))
    return told


def _receipt(receipt: Receipt) -> dict[str, Any]:
    """The receipt as far as the store says: what it does not say is absent."""
    said: dict[str, Any] = {"duplicate": receipt.duplicate}
    if receipt.event_id is not None:
        said["event_id"] = receipt.event_id
    if receipt.position is not None:
        said["position"] = receipt.position
    if receipt.turns is not None:
        said["turns"] = receipt.turns.as_dict()
    if receipt.kept_fuller:
        said["kept_fuller"] = receipt.kept_fuller
    return said
