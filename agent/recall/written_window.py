"""A window as the document of a format, valid for the format's provider.

``agent.formats.prompt`` shapes the turns, the format's writer writes them. What came in this very format is given back
as it came, as far as its provider takes it: of the turns of a session their captures say what that was, so these are
read from the store. What has no place in the format is counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final

import jiter

from agent.core.ids import session_uuid
from agent.core.pairs import Call, Place
from agent.core.turn import SessionTurn
from agent.core.window.marker import is_marker
from agent.core.window.window import Window
from agent.formats.prompt import shaped
from agent.formats.writers import writer
from agent.formats.writing import Capture, Session
from agent.recall.captures_said import RememberedCaptures, read_captures
from agent.recall.exported_session import exported_session
from agent.recall.source import Source
from agent.recall.view import SeenSession

# The session of turns that are of none.
LIST_SESSION: Final = session_uuid("a list of messages")
# The manifest says of each turn whether it is there.
_TOLD_BY_THE_MANIFEST: Final = frozenset({"not_in_history"})
_BLANK: Final = "no_place"
# What a document says of where it is from: for a capture, and for no provider.
_OF_A_CAPTURE: Final = frozenset({"session_id", "conversation_id"})


@dataclass(frozen=True, slots=True)
class WrittenWindow:
    """A window as a format's document. ``left_out`` counts by kind what the format does not say of the turns.

    ``no_place`` among them are messages that the format has no place for at all.
    """

    document: dict[str, Any]
    left_out: dict[str, int]

    @property
    def for_provider(self) -> dict[str, Any]:
        """``document`` without what it says of a capture."""
        return {name: value for name, value in self.document.items() if name not in _OF_A_CAPTURE}


def written(
    window: Window,
    format_name: str,
    *,
    seen: SeenSession | None = None,
    source: Source | None = None,
    came_in: str | Mapping[str, str] | None = None,
    remembered: RememberedCaptures | None = None,
) -> WrittenWindow:
    """``window`` in the format (one of ``WRITES``), valid for its provider.

    The window must have been cut for this format (``ContextRequest.format``). ``seen`` and ``source``: the session that
    it is of, and where its captures are read: a message that came in this format is given back as it came. What is
    ``remembered`` of them is not read again. Of a list ``came_in`` says the format, or by turn where
    it is of several. Raises LookupError for another format.
    """
    pairs: Mapping[Place, Call] | None = None if seen is None else seen.pairs_for(window.messages)
    prompt = shaped(window.messages, format_name, pairs=pairs)
    if seen is None or source is None:
        session = _of_list(prompt.turns, came_in)
    else:
        session = _of_session(prompt.turns, window.messages, seen, source, remembered)
    found = writer(format_name)(session)
    (text,) = found.documents
    lost = Counter({kind: count for kind, count in found.lost.items() if kind not in _TOLD_BY_THE_MANIFEST})
    lost[_BLANK] += len(prompt.left_out)
    # jiter: arguments may hold integers of any size.
    return WrittenWindow(jiter.from_json(text.encode()), dict(+lost))


def _of_session(
    shown: Sequence[SessionTurn],
    kept: Sequence[SessionTurn],
    seen: SeenSession,
    source: Source,
    remembered: RememberedCaptures | None,
) -> Session:
    line = _line(shown)
    return exported_session(
        source.reads,
        seen.held.session_id,
        seen.view.conversation_id,
        shown=line,
        # Not the whole session: results stand behind their calls here, and a long one is not to be walked each time.
        turns=line,
        brought=[turn for turn in kept if not is_marker(turn)],
        captures=read_captures if remembered is None else partial(remembered.read, seen.held.state),
    )


def _of_list(shown: Sequence[SessionTurn], came_in: str | Mapping[str, str] | None) -> Session:
    """A session of these turns alone, one behind the other, brought by a capture for each format they came in."""
    line = _line(shown)
    if came_in is None:
        came_in = {}
    elif isinstance(came_in, str):
        came_in = {turn.turn_id: came_in for turn in line}
    captures = {name: Capture(None, {"native": {"format": name}}, is_translated=True) for name in came_in.values()}
    named = tuple(
        replace(turn, fields={**turn.fields, "execution_ref": came_in.get(turn.turn_id, "")}) for turn in line
    )
    return Session(LIST_SESSION, None, named, named, captures, {}, frozenset())


def _line(shown: Sequence[SessionTurn]) -> list[SessionTurn]:
    """``shown``, each continuing the one before it."""
    line: list[SessionTurn] = []
    for turn in shown:
        line.append(replace(turn, parent_turn_id=line[-1].turn_id if line else None, seq=len(line) + 1))
    return line
