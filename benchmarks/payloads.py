"""Capture payloads to measure with: the ten-turn conversation under ever new ids, and longer ones made of its turns."""

from __future__ import annotations

import json
import random
import re
import uuid
from pathlib import Path
from typing import Any

_CONVERSATION = Path(__file__).parent / "data" / "conversation.json"
_UUID = re.compile(rb"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def conversation() -> dict[str, Any]:
    """The ten-turn payload as committed."""
    loaded: dict[str, Any] = json.loads(_CONVERSATION.read_bytes())
    return loaded


def compact(payload: dict[str, Any]) -> bytes:
    """JSON as most clients send it: no white space, UTF-8."""
    return json.dumps(payload, separators=(",", ":"), ensure_ascii=False).encode()


class Variations:
    """Copies of one payload that differ in every id, and in nothing else. Reproducible by ``seed``."""

    def __init__(self, body: bytes, seed: int) -> None:
        self._gaps = _UUID.split(body)
        ids = _UUID.findall(body)
        order = {each: place for place, each in enumerate(dict.fromkeys(ids))}
        self._places = [order[each] for each in ids]
        self._distinct = len(order)
        self._random = random.Random(seed)

    def next(self) -> bytes:
        fresh = [str(uuid.UUID(int=self._random.getrandbits(128), version=4)).encode() for _ in range(self._distinct)]
        parts = [self._gaps[0]]
        for place, gap in zip(self._places, self._gaps[1:], strict=True):
            parts += (fresh[place], gap)
        return b"".join(parts)

    def many(self, count: int) -> list[bytes]:
        return [self.next() for _ in range(count)]


def with_turns(count: int) -> bytes:
    """The conversation's turns repeated until there are ``count`` turns, each with an id of its own.

    Without calls and results: they count against the same limit of 10 000 as turns (CONTRACT 1).
    """
    payload = conversation()
    source = payload["turns"]
    ids = random.Random(count)
    turns = []
    for place in range(count):
        turn = {**source[place % len(source)], "turn_id": str(uuid.UUID(int=ids.getrandbits(128), version=4))}
        turn.pop("tool_invocations", None)
        turns.append(turn)
    return compact({**payload, "turns": turns})
