"""What sessions are listed by: users, agents, tags and conversations, each as one row a session."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Final

from store.log.session_row import SessionRow

USER: Final = 1
AGENT: Final = 2
TAG: Final = 3
CONVERSATION: Final = 4

INSERT: Final = "INSERT INTO labels (tenant, kind, value, session_key) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING"
DELETE: Final = "DELETE FROM labels WHERE tenant = ? AND kind = ? AND value = ? AND session_key = ?"
_DIGEST_BYTES: Final = 16


def digest(value: str) -> bytes:
    """The key of a user, agent or tag: of one length however long the value, and not readable in an index."""
    return hashlib.sha256(value.encode()).digest()[:_DIGEST_BYTES]


def added(tenant: int, before: SessionRow, after: SessionRow) -> Iterator[tuple[int, int, bytes, int]]:
    """The rows of the names that ``after`` has and ``before`` has not."""
    pairs = ((USER, before.users, after.users), (AGENT, before.agents, after.agents), (TAG, before.tags, after.tags))
    for kind, there, now in pairs:
        if now is not there:
            yield from ((tenant, kind, digest(name), after.key) for name in now if name not in there)
