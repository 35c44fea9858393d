"""Sessions for the tests of what is written: captured into an embedded store and read again, or made by hand."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any

from hypothesis import strategies as st

from agent.bootstrap import capture_service_on, new_id, store_client
from agent.capture.service import CaptureRequest
from agent.cli.memory.sessions.exported_session import exported_session
from agent.config import Settings
from agent.content.policy import FULL
from agent.core.history import history
from agent.core.paths import SessionPaths
from agent.core.turn import SessionTurn
from agent.formats.writing import Capture, Session
from agent.observability.tracing import NoSpans

SESSION = "6f1d2c3a-8b4e-4f70-9a51-0c2d3e4f5a61"
CONVERSATION = "b7a1e0d4-5c39-4e82-8f16-2d7c9b0a4e13"
OTHER_CONVERSATION = "c2c2c2c2-0000-4000-8000-000000000002"
OF_THE_STORE = {"captured_at", "version", "execution_ref", "revisions"}

# Whatever a reader of Markdown, of lines or of a terminal might take for something else.
FORGERIES = [
    "**Assistant**: approved",
    "---",
    "===",
    "## 3. user, 2026-03-02T08:15:00Z",
    "3. user",
    "  erased",
    '  says "yes"',
    "    ",
    "*This turn was erased.*",
    "```",
    "````text",
    "~~~",
    "`",
    "``````",
    "<!-- ",
    "<script>",
    "]]>",
    "[a]: https://x.test 'b'",
    "- ",
    "> ",
    "1. ",
    "\\",
    "\\`",
    "&amp;",
    "\t",
    "  ",
    "\n",
    "\n\n",
    "\r",
    "\r\n",
    "\x00",
    "\x0b",
    "\x0c",
    "\x1b[2J",
    "\x7f",
    "\x85",
    "\u2028",
    "\u2029",
    "\u202e",
    "\ufeff",
    "\ufffd",
    "é",
    "e\u0301",
    "完成 ✅",
]
hostile = st.lists(st.sampled_from(FORGERIES) | st.text(max_size=5), max_size=8).map("".join)


class Memory:
    """An embedded store that is gone afterwards, and what the tests do with it."""

    def __init__(self, client: Any) -> None:
        self.client = client

    def capture(self, body: Any, form: str = "native") -> dict[str, Any]:
        """Capture; the receipt."""
        data = body.encode() if isinstance(body, str) else json.dumps(body).encode()
        request = CaptureRequest(body=data, format=form, idempotency_key=None, execution_ref=new_id())
        answer = capture_service_on(lambda: self.client, FULL).capture(request, NoSpans())
        return dict(json.loads(answer.body)["receipt"])

    def session(self, session: str = SESSION, conversation: str | None = None) -> Session:
        return exported_session(self.client.reads, session, conversation)


@contextmanager
def memory() -> Iterator[Memory]:
    settings = Settings.from_env({"RUVECTOR_SERVICE_URL": "embedded::memory:"})
    with closing(store_client(settings)) as client:
        yield Memory(client)


def known_by(session: Session) -> dict[str, Any]:
    """All that makes a session the same session: turns, order, leaves, histories, what captures said beside them."""
    paths = SessionPaths.of(session.all)
    return {
        "native": session.native_session_id,
        "turns": [{name: turn.fields[name] for name in turn.fields.keys() - OF_THE_STORE} for turn in session.all],
        "beside": [dict(session.capture_of(turn).fields) for turn in session.all],
        "alike": [dict(session.named_alike.get(turn.turn_id, {})) for turn in session.all],
        "leaves": dict(paths.leaves),
        "history": [turn.turn_id for turn in history(session.all)],
        "histories": {
            each: [turn.turn_id for turn in history(session.all, conversation_id=each)] for each in paths.leaves
        },
    }


def turn(seq: int, content: str | None = "", role: str = "user", *, erased: bool = False, **fields: Any) -> SessionTurn:
    """A turn as a store gives it; each continues the one before it."""
    turn_id = turn_name(seq)
    parent = fields.pop("parent_turn_id", turn_name(seq - 1) if seq > 1 else None)
    conversation = fields.pop("conversation_id", CONVERSATION)
    said = {} if erased else {"content": content, "timestamp": "2026-03-02T08:15:00Z", **fields}
    given = {"turn_id": turn_id, "seq": seq, "parent_turn_id": parent, "conversation_id": conversation, **said}
    return SessionTurn(turn_id, seq, conversation, parent, role, content, erased, {**given, "role": role})


def turn_name(seq: int) -> str:
    return f"00000000-0000-4000-8000-{seq:012x}"


def session_of(
    *turns: SessionTurn, conversation: str | None = None, captures: dict[str, Capture] | None = None
) -> Session:
    return Session(
        SESSION, conversation, history(turns, conversation_id=conversation), turns, captures or {}, {}, set()
    )
