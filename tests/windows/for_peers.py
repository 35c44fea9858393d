"""Writes conversations for ``peers/table.py``, each with the windows that ours gives for the same limits.

``python -m tests.windows.for_peers FILE`` (``make bench-peers``): those of the shared data that have tools and are the
messages of a model's chat, no half exchange among them. Tokens are counted as the table counts them.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from agent.core.canonical import encode
from agent.core.exchanges import whole_exchanges
from agent.core.pairs import Call, Place, named_invocations, paired_calls
from agent.core.turn import SessionTurn
from agent.core.window.policy import Policy
from agent.core.window.window import build_window
from agent.errors import BudgetTooSmall
from tests.windows.conversations import with_tools

LIMITS: Final = 26
_ROLES: Final = ("system", "user", "assistant", "tool")


class AsPeersCount:
    """A quarter of the characters of the text, and of the names and arguments of calls."""

    name = "characters/4"
    is_exact = True
    overhead = 0

    def __call__(self, turn: SessionTurn) -> int:
        called = 0
        if turn.role != "tool":
            called = sum(len(_name(entry)) + len(_arguments(entry)) for _, _, entry in named_invocations(turn))
        return 1 + (len(turn.content or "") + called) // 4


def conversation(turns: Sequence[SessionTurn], pairs: Mapping[Place, Call]) -> dict[str, Any]:
    """The conversation of ``turns`` as peers are given it, with our windows."""
    count = AsPeersCount()
    total = sum(map(count, turns))
    limits = sorted({max(1, round(total * place / LIMITS)) for place in range(1, LIMITS + 1)})
    places = {turn.turn_id: place for place, turn in enumerate(turns)}
    return {
        "messages": [_message(turn, pairs) for turn in turns],
        "limits": limits,
        "ours": [_ours(turns, pairs, count, limit, places) for limit in limits],
    }


def _ours(
    turns: Sequence[SessionTurn],
    pairs: Mapping[Place, Call],
    count: AsPeersCount,
    limit: int,
    places: Mapping[str, int],
) -> dict[str, Any] | None:
    try:
        window = build_window(turns, Policy(max_tokens=limit), count, pairs=pairs)
    except BudgetTooSmall:
        return None
    kept = [places[turn.turn_id] for turn in window.messages if turn.turn_id in places]
    return {"kept": kept, "tokens": sum(map(count, window.messages))}


def _message(turn: SessionTurn, pairs: Mapping[Place, Call]) -> dict[str, Any]:
    named = list(named_invocations(turn))
    is_result = turn.role == "tool"
    answered = [pairs[place].place for place, _, _ in named if place in pairs] if is_result else []
    calls = [] if is_result else [(place, entry) for place, _, entry in named]
    return {
        "role": turn.role,
        "content": turn.content or "",
        # By its place: recorded ids come back for other calls.
        "calls": [{"id": _id(place), "name": _name(entry), "arguments": _arguments(entry)} for place, entry in calls],
        "answers": [_id(place) for place in answered],
    }


def _id(place: Place) -> str:
    return f"{place.turn_id}/{place.number}"


def _name(entry: Mapping[str, Any]) -> str:
    return str(entry.get("tool_name"))


def _arguments(entry: Mapping[str, Any]) -> str:
    return encode(entry["arguments"]).decode() if "arguments" in entry else ""


def conversations() -> Iterator[dict[str, Any]]:
    """Those that a model's chat could be, and that are long enough to be cut."""
    for found in with_tools():
        turns = found.session.shown
        pairs = paired_calls(found.session.all)
        whole = whole_exchanges(turns, pairs, open_end=True)
        is_chat = all(turn.role in _ROLES and not turn.erased for turn in turns)
        if is_chat and len(turns) > 4 and len(whole.turns) == len(turns) and not whole.calls:
            yield {"name": found.name, **conversation(turns, pairs)}


def main(path: Path) -> None:
    """Write the file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(each) + "\n" for each in conversations()))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
