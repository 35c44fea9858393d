"""What of a turn has a meaning to look for: its text, or where it has none, what it called and with what."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import orjson

from agent.core.turn import SessionTurn
from agent.core.window.marker import is_marker

DIGEST_BYTES = 16


class Said(NamedTuple):
    """The text of one turn, never blank. ``version``: a position in the log at which the turn said it."""

    turn_id: str
    version: int
    text: str

    @property
    def digest(self) -> bytes:
        """What the text is filed under."""
        return digest_of(self.text)


def digest_of(text: str) -> bytes:
    """16 bytes that stand for ``text``; half a surrogate pair counts as it is."""
    return hashlib.blake2b(text.encode(errors="surrogatepass"), digest_size=DIGEST_BYTES).digest()


def said(turn: SessionTurn) -> Said | None:
    """What ``turn`` says; None for one that says nothing: erased, a marker, or blank."""
    if turn.erased or is_marker(turn):
        return None
    text = text_of(turn.content, turn.invocations)
    return Said(turn.turn_id, turn.version, text) if text else None


def text_of(content: object, invocations: Iterable[Mapping[str, Any]]) -> str:
    """The text of a turn with this ``content`` and these ``tool_invocations``; empty where there is none."""
    if isinstance(content, str) and content.strip():
        return content
    calls = (f"{_text(call.get('tool_name'))} {_text(call.get('arguments'))}".strip() for call in invocations)
    return "\n".join(filter(None, calls))


def _text(value: object) -> str:
    if value is None or isinstance(value, str):
        return value or ""
    try:
        return orjson.dumps(value).decode()
    except TypeError:
        # An integer of more than 64 bits, half a surrogate pair: nothing that has a meaning.
        return ""
