"""What is written: turns of one session become one capture, by the service that the capture function has (CONTRACT 6).

Nothing is read, and no parent is named: the store puts what is new behind what is there, whoever wrote that.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Self

from agent.capture.request import NATIVE, CaptureRequest
from agent.capture.service import CaptureService
from agent.core.canonical import encode
from agent.core.ids import is_uuid, turn_uuid
from agent.core.session import SessionState
from agent.edge.body import MAX_BODY_BYTES
from agent.errors import PayloadTooLarge, Problem, ValidationError
from agent.observability.tracing import NoSpans
from agent.sdk.session_name import SessionName


class Turns(NamedTuple):
    """Turns that go into one capture, in order; ``formats`` are those that some of them came in.

    ``may_be_known``: some are named by who gave them, and so may be in the store already.
    """

    turns: tuple[Mapping[str, Any], ...] = ()
    formats: frozenset[str] = frozenset()
    may_be_known: bool = False

    @classmethod
    def together(cls, parts: Sequence[Turns]) -> Self:
        """All of ``parts``, in their order."""
        return cls(
            tuple(turn for part in parts for turn in part.turns),
            frozenset().union(*(part.formats for part in parts)),
            any(part.may_be_known for part in parts),
        )

    @property
    def may_part(self) -> bool:
        """Whether something new may follow what is there already.

        In a capture a turn continues the one before it (CONTRACT 1). Behind one that was said long ago it would begin
        a branch, and hide from the history whatever was said since.
        """
        return self.may_be_known and len(self.turns) > 1

    def new_first(self, session: str, state: SessionState) -> Turns:
        """The same, with what ``state`` has already behind what is new: that keeps its place in the session anyway."""
        known = [state.turns.find(turn_uuid(session, turn["turn_id"])) is not None for turn in self.turns]
        behind = sorted(zip(known, self.turns, strict=True), key=lambda pair: pair[0])
        return self._replace(turns=tuple(turn for _, turn in behind))


def payload_of(name: SessionName, turns: Turns, context: Mapping[str, str]) -> dict[str, Any]:
    """The native payload (CONTRACT 1) of ``turns``; ids that are no UUIDs are left for the capture to derive."""
    payload: dict[str, Any] = {
        "session_id": name.sent_session,
        "conversation_id": name.sent_conversation,
        "turns": list(turns.turns),
        "context": dict(context),
    }
    if len(turns.formats) == 1:
        # Whoever writes these turns in the format that they came in gives back all that they said.
        payload["native"] = {"format": next(iter(turns.formats))}
    if not all(map(is_uuid, _ids(payload))):
        payload["capture_options"] = {"derive_ids": True}
    return payload


def capture(service: CaptureService, payload: Mapping[str, Any], *, execution_ref: str) -> None:
    """Keep ``payload`` as one event.

    Raises ValidationError where it is refused (nothing was written), StoreError or RateLimitExceeded where the store
    did not acknowledge it.
    """
    try:
        body = encode(payload)
    except (ValueError, TypeError):
        message = "what is written must be JSON: text without half surrogate pairs, and numbers of at most 4300 digits"
        raise ValidationError(message, [Problem("$.turns", "json")]) from None
    if len(body) > MAX_BODY_BYTES:
        raise PayloadTooLarge(f"what is written has more than {MAX_BODY_BYTES} bytes", [Problem("$", "size")])
    request = CaptureRequest(body=body, format=NATIVE, idempotency_key=None, execution_ref=execution_ref)
    service.capture(request, NoSpans())


def _ids(payload: Mapping[str, Any]) -> list[Any]:
    turns: Sequence[Mapping[str, Any]] = payload["turns"]
    return [
        payload["session_id"],
        payload["conversation_id"],
        *(turn["turn_id"] for turn in turns),
        *(turn["parent_turn_id"] for turn in turns if turn.get("parent_turn_id") is not None),
        *(entry["invocation_id"] for turn in turns for entry in turn.get("tool_invocations", ())),
    ]
