"""One small session as the read side answers about it: the examples of its description and of docs/recall.md."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any

from agent.capture.service import CaptureRequest, CaptureService
from agent.observability.tracing import NoSpans
from tests.recall.http.site import Site, site

STARTED = datetime.fromisoformat("2026-03-02T08:15:00+00:00")
CHAT = "/api/conversation/chat-7"
# How many bytes a store keeps of an event is its own affair, and so is what its cursors are made of.
OF_THE_STORE = {"bytes", "next_cursor"}


def chat(*turns: dict[str, Any], session: str = "chat-7") -> dict[str, Any]:
    return {
        "session_id": session,
        "conversation_id": f"{session}-main",
        "turns": list(turns),
        "context": {"agent_id": "parcel-desk", "user_id": "ada", "tags": ["demo"]},
        "capture_options": {"derive_ids": True},
    }


CAPTURES = (
    chat(
        {
            "turn_id": "m-1",
            "role": "user",
            "content": "I want to check my order",
            "timestamp": "2026-03-02T08:14:58Z",
        },
        {
            "turn_id": "m-2",
            "role": "assistant",
            "content": "Which order?",
            "timestamp": "2026-03-02T08:14:59Z",
            "metadata": {"memory": {"waiting_for_param": "order_id", "last_intent_id": "order_status"}},
        },
    ),
    chat(
        {
            "turn_id": "n-1",
            "role": "user",
            "content": "When do you open on Sunday?",
            "timestamp": "2026-03-02T09:00:00Z",
        },
        session="chat-8",
    ),
)


class _Clock:
    """Instants of capture, a minute apart."""

    def __init__(self) -> None:
        self._now = STARTED

    def __call__(self) -> datetime:
        self._now += timedelta(minutes=1)
        return self._now


@contextmanager
def example_site() -> Iterator[Site]:
    """A site with the example captured, always at the same instants."""
    with site() as made:
        service = CaptureService(
            lambda: made.client, clock=_Clock(), elapsed=lambda: 0.0, peak_memory=lambda: 1, release="0.1.0"
        )
        for number, payload in enumerate(CAPTURES, 1):
            body = json.dumps(payload).encode()
            reference = f"eeeeeeee-0000-4000-8000-00000000010{number}"
            service.capture(CaptureRequest(body, "native", None, reference), NoSpans())
        yield made


def answers() -> dict[str, Any]:
    """What is answered to each kind of request, by the names of the description's examples."""
    with example_site() as made:
        found = {name: _got(made, f"{CHAT}/{name}") for name in ("state", "summary", "insights", "stats", "graph")}
        found["conversation"] = _got(made, CHAT)
        found["openai-chat"] = _got(made, f"{CHAT}?format=openai-chat")
        found["export"] = _got(made, f"{CHAT}/export")
        found["conversations"] = _got(made, "/api/conversations?limit=1")
        found["store_stats"] = _got(made, "/api/stats")
        found["health"] = _got(made, "/health")
        body = json.dumps({"user_message": "O-12345", "turn_id": "m-3"})
        found["hydrate"] = json.loads(made.web.post(f"{CHAT}/hydrate", data=body).get_data())
        return found


def stable(document: dict[str, Any]) -> dict[str, Any]:
    """``document`` without what depends on the store's own layout."""
    return {name: value for name, value in document.items() if name not in OF_THE_STORE}


def _got(made: Site, path: str) -> Any:
    return json.loads(made.web.get(path).get_data())
