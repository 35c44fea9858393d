"""What a capture says, read again from the bytes that were captured.

The answer holds ids and no content (CONTRACT 7). Whoever has just sent the bytes may look at them: this pairs each
turn of the answer with its role, its text and its calls, by the same readers that the capture used.
"""

from __future__ import annotations

from dataclasses import dataclass

from agent.capture.request import NATIVE
from agent.core.native import derive_ids
from agent.edge.document import open_wrapper, parse
from agent.formats import reader
from agent.recall.drawings.shown_turn import ShownTurn


@dataclass(frozen=True, slots=True)
class ShownInputs:
    """The turns in the order of the answer, and the native ids as the event has them: None where there is none."""

    turns: tuple[ShownTurn, ...]
    native_session_id: object
    native_conversation_id: object


def inputs_shown(body: bytes, source: str, *, captured_at: str) -> ShownInputs:
    """What ``body`` says, a capture in the format ``source`` that was accepted."""
    document = open_wrapper(parse(body))
    if source == NATIVE:
        payload = document.value
        if payload.get("capture_options", {}).get("derive_ids", False):
            payload = derive_ids(payload)
    else:
        payload = reader(source).read(document.value, captured_at=captured_at).payload
    return ShownInputs(
        turns=tuple(map(ShownTurn.of, payload["turns"])),
        native_session_id=payload.get("native_session_id"),
        native_conversation_id=payload.get("native_conversation_id"),
    )
