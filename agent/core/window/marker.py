"""Markers: the messages that stand where turns are missing, and say how many."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from agent.core.ids import name_uuid
from agent.core.turn import SessionTurn
from agent.core.window.counting import Counted

# The text of a marker that no turn is missing at: it opens a window that no user begins.
BEGINS: Final = "[Conversation begins]"
# No turn of a session has it: they count from 1.
_NO_SEQ: Final = 0


def marker_turn(missing: int, text: str, beside: SessionTurn) -> SessionTurn:
    """The marker for so many turns that are ``missing``, the last of which is ``beside``.

    ``text`` is the policy's; ``{count}`` in it becomes the number. With 0 missing it opens the window before
    ``beside``. The same turns give the same marker, with an id that no turn has.
    """
    content = text.replace("{count}", str(missing)) if missing else BEGINS
    return SessionTurn(
        turn_id=name_uuid(f"marker:{beside.turn_id}"),
        seq=_NO_SEQ,
        conversation_id=beside.conversation_id,
        parent_turn_id=None,
        role="system",
        content=content,
        erased=False,
        fields={"role": "system", "content": content, "metadata": {"marker": missing}},
    )


def missing_at(turn: SessionTurn) -> int | None:
    """How many turns are missing where ``turn`` stands; None where it is no marker, whatever it says of itself."""
    metadata = turn.fields.get("metadata")
    missing = metadata.get("marker") if isinstance(metadata, dict) else None
    is_made = turn.role == "system" and turn.seq == _NO_SEQ and type(missing) is int
    return missing if is_made else None


def is_marker(turn: SessionTurn) -> bool:
    """Whether ``turn`` is a marker that a window put there, and no message of the conversation."""
    return missing_at(turn) is not None


class Markers(dict[int, int]):
    """The tokens of the markers of a conversation with one ``text``, by how many turns are missing.

    ``beside`` is any turn of the conversation; ``counted`` counts. ``estimated``: those that the counter failed for.
    """

    def __init__(self, text: str, beside: SessionTurn, counted: Callable[[SessionTurn], Counted]) -> None:
        super().__init__()
        self.estimated: set[int] = set()
        self._text = text
        self._beside = beside
        self._counted = counted

    def __missing__(self, missing: int) -> int:
        tokens, is_estimated = self._counted(marker_turn(missing, self._text, self._beside))
        if is_estimated:
            self.estimated.add(missing)
        self[missing] = tokens
        return tokens
