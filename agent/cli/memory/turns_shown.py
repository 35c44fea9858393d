"""What the turns of a capture say, read again from the bytes that were captured.

The answer holds ids and no content (CONTRACT 7). Whoever has just sent the bytes may look at them: this pairs each
turn of the answer with its role, its text and its calls, by the same readers that the capture used.
"""

from __future__ import annotations

from agent.capture.document import open_wrapper, parse
from agent.capture.service import NATIVE
from agent.cli.memory.shown_turn import ShownTurn
from agent.core.native import derive_ids
from agent.formats import reader


def turns_shown(body: bytes, source: str, *, captured_at: str) -> tuple[ShownTurn, ...]:
    """The turns of ``body``, a capture in the format ``source`` that was accepted, in the order of the answer."""
    document = parse(body)
    if source == NATIVE:
        payload = open_wrapper(document).value
        if payload.get("capture_options", {}).get("derive_ids", False):
            payload = derive_ids(payload)
    else:
        payload = reader(source).read(document.value, captured_at=captured_at).payload
    return tuple(map(ShownTurn.of, payload["turns"]))
