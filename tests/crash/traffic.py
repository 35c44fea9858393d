"""What one writer sends: new sessions, grown snapshots, revisions, and what was sent before, all by chance."""

import json
import random
import uuid
from collections import deque
from typing import Any

from agent.core.decision import Outputs
from tests.store.surface import CAPTURED_AT, envelope

MOST_TURNS = 12
MOST_OPEN = 6
# Of this many turns one is large: its write takes long enough to be met by a kill.
LARGE_ONE_IN = 30
LARGE = 60_000


class Traffic:
    """Captures of one writer, each the whole snapshot of a conversation, as clients send them.

    Its conversations are its own; their sessions are too, but for those in ``shared``, where others write as well.
    """

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self._open: list[dict[str, Any]] = []
        self._acknowledged: deque[dict[str, Any]] = deque(maxlen=20)

    def next(self, shared: str) -> dict[str, Any]:
        """The next envelope to post."""
        if not self._open:
            return self._begun(shared)
        make = self._rng.choices([self._begun, self._grown, self._revised, self._again], [3, 4, 2, 2])[0]
        return make(shared)

    def acknowledged(self, body: dict[str, Any]) -> None:
        """``body`` was answered, so it may be sent again as something that is there."""
        self._acknowledged.append(body)

    def _begun(self, shared: str) -> dict[str, Any]:
        session = shared if self._rng.random() < 0.4 else self._id()
        payload = {
            "session_id": session,
            "conversation_id": self._id(),
            "turns": [self._turn() for _ in range(self._rng.randint(1, 3))],
            "context": {"user_id": self._rng.choice(["ann", "ben"]), "tags": ["crash"]},
        }
        self._open = [*self._open, payload][-MOST_OPEN:]
        return self._sent(payload)

    def _grown(self, _shared: str) -> dict[str, Any]:
        payload = self._rng.choice(self._open)
        payload["turns"] += [self._turn() for _ in range(self._rng.randint(1, 2))]
        if len(payload["turns"]) >= MOST_TURNS:
            self._open.remove(payload)
        return self._sent(payload)

    def _revised(self, _shared: str) -> dict[str, Any]:
        payload = self._rng.choice(self._open)
        self._rng.choice(payload["turns"])["content"] = self._text()
        return self._sent(payload)

    def _again(self, shared: str) -> dict[str, Any]:
        """Something that is stored: as it was sent, or under another reference, as a client that forgot sends it."""
        if not self._acknowledged:
            return self._begun(shared)
        body: dict[str, Any] = json.loads(json.dumps(self._rng.choice(self._acknowledged)))
        if self._rng.random() < 0.5:
            body["runId"] = body["payload"]["execution_ref"] = self._id()
        return body

    def _sent(self, payload: dict[str, Any]) -> dict[str, Any]:
        now: dict[str, Any] = json.loads(json.dumps(payload))
        outputs = json.loads(Outputs.of(now).encode(CAPTURED_AT))
        return envelope(now, execution_ref=self._id(), outputs=outputs)

    def _turn(self) -> dict[str, Any]:
        return {
            "turn_id": self._id(),
            "role": self._rng.choice(["user", "assistant"]),
            "content": self._text(),
            "timestamp": "2026-03-02T08:00:00Z",
        }

    def _text(self) -> str:
        size = LARGE if self._rng.randrange(LARGE_ONE_IN) == 0 else self._rng.randint(1, 400)
        return self._rng.randbytes(size // 2 + 1).hex()

    def _id(self) -> str:
        return str(uuid.UUID(int=self._rng.getrandbits(128), version=4))
