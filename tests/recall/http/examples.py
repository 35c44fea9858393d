"""The small session of docs/recall.md as the read side answers about it: the examples of its description too."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any

from agent.capture.service import CaptureRequest, CaptureService
from agent.intents import load_intents
from agent.observability.tracing import NoSpans
from tests.conftest import REPOSITORY
from tests.recall.http.site import Site, site

PAGE = (REPOSITORY / "docs" / "recall.md").read_text()
INTENTS = REPOSITORY / "config" / "intents.example.yaml"
STARTED = datetime.fromisoformat("2026-03-02T08:15:00+00:00")
CHAT = "/api/conversation/chat-7"
# How many bytes a store keeps of an event is its own affair, and so is what its cursors are made of.
OF_THE_STORE = {"bytes", "next_cursor"}


def payloads(text: str) -> list[str]:
    """What the commands in ``text`` capture, in order."""
    return re.findall(r"<<'END'\n(.*?)\nEND$", text, re.DOTALL | re.MULTILINE)


# Those that the page begins with.
CAPTURES = payloads(PAGE.partition("## Settings")[0])

# What docs/windows.md and the description post: a list that was never captured.
POSTED = {
    "messages": [
        {"role": "system", "content": "You are the parcel desk. Be brief."},
        {"role": "user", "content": "Where is parcel 4471? I sent it on Monday, and it should be in Bern by now."},
        {"role": "assistant", "content": "It left Zurich this morning and is in Bern this afternoon."},
        {"role": "user", "content": "And parcel 4472?"},
    ],
    "max_tokens": 60,
    "reserved_tokens": 10,
}


class _Clock:
    """Instants of capture, a minute apart."""

    def __init__(self) -> None:
        self._now = STARTED

    def __call__(self) -> datetime:
        self._now += timedelta(minutes=1)
        return self._now


class ExampleSite:
    """A site into which the page's captures are made, always at the same instants and under the same names."""

    def __init__(self, made: Site) -> None:
        self.made = made
        self._captured = 0
        self._service = CaptureService(
            lambda: made.client, clock=_Clock(), elapsed=lambda: 0.0, peak_memory=lambda: 1, release="0.1.0"
        )

    def capture(self, payload: str) -> None:
        self._captured += 1
        reference = f"eeeeeeee-0000-4000-8000-00000000010{self._captured}"
        self._service.capture(CaptureRequest(payload.encode(), "native", None, reference), NoSpans())


@contextmanager
def example_site() -> Iterator[ExampleSite]:
    """A site without a session, that reads answers as the page's does."""
    with site(hints=load_intents(INTENTS).hints) as made:
        yield ExampleSite(made)


def answers() -> dict[str, Any]:
    """What is answered to each kind of request, by the names of the description's examples."""
    with example_site() as example:
        for payload in CAPTURES:
            example.capture(payload)
        made = example.made
        found = {name: _got(made, f"{CHAT}/{name}") for name in ("state", "summary", "insights", "stats", "graph")}
        found["conversation"] = _got(made, CHAT)
        found["openai-chat"] = _got(made, f"{CHAT}?format=openai-chat")
        found["export"] = _got(made, f"{CHAT}/export")
        found["conversations"] = _got(made, "/api/conversations?limit=1")
        found["store_stats"] = _got(made, "/api/stats")
        found["health"] = _got(made, "/health")
        found["context"] = _got(made, f"{CHAT}/context?max_tokens=40&explain=true")
        found["context in openai-chat"] = _got(made, f"{CHAT}/context?max_tokens=40&format=openai-chat")
        found["posted_context"] = json.loads(made.web.post("/api/context", json=POSTED).get_data())
        body = json.dumps({"user_message": "O-12345", "turn_id": "m-3"})
        found["hydrate"] = json.loads(made.web.post(f"{CHAT}/hydrate", data=body).get_data())
        return found


def stable(document: dict[str, Any]) -> dict[str, Any]:
    """``document`` without what depends on the store's own layout."""
    return {name: value for name, value in document.items() if name not in OF_THE_STORE}


def _got(made: Site, path: str) -> Any:
    return json.loads(made.web.get(path).get_data())
