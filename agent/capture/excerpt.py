"""The part of a refused payload that is worth explaining.

``jsonschema`` takes 0.1 ms a turn and a payload may hold 10 000, most of them sound. An excerpt keeps of each long list
only what the gate refuses, and knows where it stood. It holds the caller's own objects, no copies.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from typing import Any, Final, NamedTuple

from agent.capture.gate import is_accepted
from agent.core.timestamps import is_date_time

_Parts = tuple[str | int, ...]

_NIL: Final = "00000000-0000-0000-0000-000000000000"
_SOUND_TURN: Final[Mapping[str, Any]] = {
    "turn_id": _NIL,
    "role": "user",
    "content": "",
    "timestamp": "2000-01-01T00:00:00Z",
}


class Excerpt(NamedTuple):
    """``payload`` with fewer items in its lists; ``places`` names, for each such list, where its items stood."""

    payload: dict[str, Any]
    places: Mapping[_Parts, list[int]]

    def original(self, parts: _Parts) -> _Parts:
        """The path in the whole payload of what stands at ``parts`` in the excerpt."""
        return tuple(
            self.places[parts[:depth]][part] if isinstance(part, int) and parts[:depth] in self.places else part
            for depth, part in enumerate(parts)
        )


def excerpt(payload: Mapping[str, Any], *, at_most: int) -> Excerpt:
    """Keep of turns, their invocations and the tags the first ``at_most`` that are refused; of a sound list, one."""
    places: dict[_Parts, list[int]] = {}
    short = dict(payload)
    shell = _shell(payload)

    def kept(items: list[Any], is_sound: Callable[[Any], bool], at: _Parts) -> list[Any]:
        refused = list(islice(_refused(items, is_sound), at_most))
        # Not none: an empty list may be refused for being empty.
        places[at] = refused or list(range(len(items)))[:1]
        return [items[place] for place in places[at]]

    context = payload.get("context")
    if isinstance(context, dict) and isinstance(context.get("tags"), list):
        tags = kept(context["tags"], lambda tag: isinstance(tag, str), ("context", "tags"))
        short["context"] = {**context, "tags": tags}
    if isinstance(payload.get("turns"), list):
        short["turns"] = kept(payload["turns"], lambda turn: _is_sound_turn(turn, shell), ("turns",))
        for place, turn in enumerate(short["turns"]):
            if isinstance(turn, dict) and isinstance(turn.get("tool_invocations"), list):
                invocations = kept(
                    turn["tool_invocations"],
                    lambda one: is_accepted({**shell, "turns": [{**_SOUND_TURN, "tool_invocations": [one]}]}),
                    ("turns", place, "tool_invocations"),
                )
                short["turns"][place] = {**turn, "tool_invocations": invocations}
    return Excerpt(short, places)


def _shell(payload: Mapping[str, Any]) -> dict[str, Any]:
    """A sound payload around one turn, with the same notion of an id."""
    options = payload.get("capture_options")
    derive = isinstance(options, dict) and options.get("derive_ids") is True
    return {"session_id": _NIL, "conversation_id": _NIL, "capture_options": {"derive_ids": derive}}


def _is_sound_turn(turn: Any, shell: Mapping[str, Any]) -> bool:
    return is_accepted({**shell, "turns": [turn]}) and is_date_time(turn["timestamp"])


def _refused(items: list[Any], is_sound: Callable[[Any], bool]) -> Iterator[int]:
    return (place for place, item in enumerate(items) if not is_sound(item))
