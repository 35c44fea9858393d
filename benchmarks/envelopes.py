"""Writes for the store, as the capture function sends them: envelopes of conversations under ever new ids."""

from __future__ import annotations

import json
import random
import re
import uuid
from typing import Any

from agent.bootstrap import capture_service_on, new_id
from agent.capture.service import NATIVE, CaptureRequest
from agent.content.policy import FULL
from agent.core.receipt import Receipt
from benchmarks.captures import Untraced
from benchmarks.payloads import Variations, compact, conversation

_WORD = re.compile(r"[A-Za-z]{2,}")
_RECEIPT = Receipt(
    event_id=None, duplicate=False, position=None, turns=None, execution_ref=None, timestamp=None, latency_ms=0
)


class _Kept:
    """A store that keeps what it was sent, and stores nothing."""

    def __init__(self) -> None:
        self.envelope = b""

    def append(self, envelope: bytes, *, idempotency_key: str, traceparent: str | None = None) -> Receipt:  # noqa: ARG002 - the port's signature
        self.envelope = envelope
        return _RECEIPT


class Envelopes:
    """Turns captures' bodies into the bytes of their writes."""

    def __init__(self) -> None:
        self._kept = _Kept()
        self._service = capture_service_on(lambda: self._kept, FULL)  # type: ignore[arg-type, return-value] # not the client, but its port

    def of(self, body: bytes) -> bytes:
        """The write of one capture."""
        self._service.capture(CaptureRequest(body, NATIVE, None, new_id()), Untraced())
        return self._kept.envelope


class TenTurns:
    """The writes of the ten-turn conversation, each under ids of its own. Their texts are all the same."""

    def __init__(self, seed: int) -> None:
        self._variations = Variations(compact(conversation()), seed=seed)
        self._envelopes = Envelopes()

    def many(self, count: int) -> list[bytes]:
        return [self._envelopes.of(body) for body in self._variations.many(count)]


class LongSession:
    """One session of many turns. No two have the same text: its words are those of the conversation, in any order.

    Without calls and results, which would have to be the same from one capture to the next.
    """

    def __init__(self, count: int, seed: int) -> None:
        chance = random.Random(seed)
        self._payload = conversation()
        for name in ("session_id", "conversation_id"):
            self._payload[name] = _fresh_id(chance)
        source = self._payload.pop("turns")
        words = _WORD.findall(json.dumps([turn["content"] for turn in source]))
        self._turns = [_turn(source[place % len(source)], words, chance) for place in range(count)]
        self._envelopes = Envelopes()

    @property
    def session_id(self) -> str:
        session_id: str = self._payload["session_id"]
        return session_id

    def write(self, first: int, last: int) -> bytes:
        """The write of the turns from ``first`` on, ``last`` excluded."""
        return self._envelopes.of(compact({**self._payload, "turns": self._turns[first:last]}))

    def turns_json(self) -> list[bytes]:
        """The turns as sent, each as JSON."""
        return [compact(turn) for turn in self._turns]


def _turn(source: dict[str, Any], words: list[str], chance: random.Random) -> dict[str, Any]:
    turn = {**source, "turn_id": _fresh_id(chance)}
    turn.pop("tool_invocations", None)
    text = turn["content"] or "word " * 20
    turn["content"] = _WORD.sub(lambda _: chance.choice(words), text)
    return turn


def _fresh_id(chance: random.Random) -> str:
    return str(uuid.UUID(int=chance.getrandbits(128), version=4))
