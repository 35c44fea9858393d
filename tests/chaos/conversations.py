"""Real conversations, out of tests/data, that clients bring turn by turn under ids of their own."""

from __future__ import annotations

import functools
import json
import random
import uuid
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from agent.core.canonical import inputs_hash
from tests.conftest import TESTS
from tests.formats.round_trips import captures, lines

Mode = Literal["snapshot", "delta", "chat"]
_LEAST_TURNS = 4
_MOST_TURNS = 40
_SOURCES = (
    ("openai-chat", "tau-bench-airline__3.jsonl"),
    ("openai-chat", "api-recording__openai-chat__5.jsonl"),
    ("anthropic", "api-recording__anthropic__7.jsonl"),
    ("sharegpt", "sharegpt-format__fastchat-dummy__10.jsonl"),
    ("swe-agent", "swe-agent__histories__2.jsonl"),
    ("chatgpt-export", "chatgpt-export__chatgpt2graph.json"),
)
_WHOLE_FILES = (
    ("claude-code", "claude-code__claude-md-transcripts__sample_session.jsonl"),
    ("codex", "agent-trace__traceforge__codex__29.jsonl"),
)
_IDS = uuid.UUID("5f1b7a52-6c1a-5b1e-9c07-0d6f6c1f7a10")


@functools.cache
def corpus() -> tuple[tuple[dict[str, Any], ...], ...]:
    """The turns of each conversation that is long enough to grow, as native payloads have them."""
    payloads: list[dict[str, Any]] = []
    for form, name in _SOURCES:
        path = TESTS / "data" / name
        documents = list(lines(path)) if path.suffix == ".jsonl" else [json.loads(path.read_text())]
        for document in documents:
            unwrapped = {"messages": document["traj"]} if "traj" in document else document
            payloads += captures(form, unwrapped)
    for form, name in _WHOLE_FILES:
        payloads += captures(form, list(lines(TESTS / "data" / name)))
    return tuple(tuple(each["turns"][:_MOST_TURNS]) for each in payloads if len(each["turns"]) >= _LEAST_TURNS)


class Capture(NamedTuple):
    """One payload as it is posted, and what is expected of it.

    ``sent_hash`` is its ``inputs_hash``; ``reaches`` so many turns of its conversation are there once it is
    acknowledged. ``refused`` is the status that is the right answer to it, where it is not to be taken.
    """

    path: str
    body: bytes
    sent_hash: str
    talk: Talk | None
    reaches: int = 0
    key: str | None = None
    refused: int | None = None


@dataclass
class Talk:
    """A conversation that grows. ``place``: so many turns were acknowledged. Two clients may hold the same one."""

    session_id: str
    conversation_id: str
    mode: Mode
    turns: tuple[dict[str, Any], ...]
    place: int = 0

    @property
    def name(self) -> tuple[str, str]:
        return self.session_id, self.conversation_id

    @property
    def is_over(self) -> bool:
        return self.place >= len(self.turns)

    def grown(self, count: int, key: str | None) -> Capture:
        """The next capture: ``count`` turns more, alone or behind all of before."""
        reaches = min(len(self.turns), self.place + count)
        if self.mode == "chat":
            return self._chat(reaches, key)
        first = self.place if self.mode == "delta" else 0
        payload = {
            "session_id": self.session_id,
            "conversation_id": self.conversation_id,
            "turns": self.turns[first:reaches],
            "context": {"user_id": "chaos", "tags": [self.mode]},
        }
        return Capture("/", _encoded(payload), inputs_hash(json.loads(_encoded(payload))), self, reaches, key)

    def _chat(self, reaches: int, key: str | None) -> Capture:
        messages = [{"role": turn["role"], "content": turn["content"]} for turn in self.turns[:reaches]]
        body = {"session_id": self.session_id, "conversation_id": self.conversation_id, "messages": messages}
        sent_hash = inputs_hash({"body": body, "format": "openai-chat"})
        return Capture("/?format=openai-chat", _encoded(body), sent_hash, self, reaches, key)


def begun(chance: random.Random, mode: Mode, *, session: str, conversation: str) -> Talk:
    """A new talk about what one of the real conversations is about."""
    told = chance.choice(corpus())
    if mode == "chat":
        kept = [turn for turn in told if turn["role"] != "tool" and turn["content"]]
        told = tuple(kept) or told
    turns = tuple(_own(turn, place, session, conversation) for place, turn in enumerate(told))
    return Talk(session, conversation, mode, turns)


def new_id(chance: random.Random) -> str:
    return str(uuid.UUID(int=chance.getrandbits(128), version=4))


def _own(turn: dict[str, Any], place: int, session: str, conversation: str) -> dict[str, Any]:
    """``turn`` under ids of this talk: the same every time, so that a snapshot is one of the same turns."""
    own = {
        "turn_id": _id(session, conversation, str(place)),
        "role": turn["role"],
        "content": turn["content"],
        "timestamp": turn["timestamp"],
    }
    calls = [
        {**call, "invocation_id": _id(session, conversation, call["invocation_id"])}
        for call in turn.get("tool_invocations", ())
    ]
    return {**own, "tool_invocations": calls} if calls else own


def _id(*names: str) -> str:
    return str(uuid.uuid5(_IDS, "/".join(names)))


def _encoded(payload: Any) -> bytes:
    return json.dumps(payload, ensure_ascii=False).encode()
