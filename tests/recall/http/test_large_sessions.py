"""Sessions that are too large to be held whole: the same answers, and of the content only what an answer shows."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from agent.core.session import fold
from agent.recall.walked import WalkedSessions
from tests.recall.http.site import SESSION, Site, payload, said, site, turn_id

PATH = f"/api/conversation/{SESSION}"
CALL = {"tool_name": "track", "invocation_id": "call_1", "arguments": {"n": 7}}
NATIVE = {"capture_options": {"derive_ids": True}}
ASKED = [
    *("", "?limit=2", "?before_seq=5", "?after_seq=3&limit=2", "?at_seq=4", f"?leaf={turn_id(3)}"),
    *("?format=openai-chat", "?format=anthropic&limit=3", "?format=pydantic-ai"),
    *("/state", "/summary", "/insights", "/stats", "/graph", "/graph?format=mermaid", "/graph?format=dot"),
    *("/export", "/export?format=markdown", "/export?format=text", "/export?format=jsonl"),
]


@pytest.fixture
def made() -> Iterator[Site]:
    """A session with a call and its result in two captures, a branch, a revision, an erased turn and state."""
    with site() as made:
        memory = {"memory": {"params": {"a": 1}}, "citations": [1], "other": "kept"}
        asks = said(2, "Let me look.", "assistant", tool_invocations=[CALL], metadata=memory)
        made.capture(payload(said(1, "Where is the umbrella?"), asks, context={"agent_id": "desk"}, **NATIVE))
        made.capture(payload(said(3, "Lyon", "tool", tool_invocations=[CALL]), **NATIVE))
        made.capture(payload(said(4, "In Lyon.", "assistant"), said(5, "secret"), said(6, "Thanks")))
        made.capture(payload({**said(7, "In Paris.", "assistant"), "parent_turn_id": turn_id(3)}))
        made.capture(payload(said(8, "Sure?"), said(1, "Where is my umbrella?")))
        made.client.erasure.turn(turn_id(5))
        yield made


@pytest.mark.parametrize("asked", ASKED)
def test_a_session_that_is_held_without_content_is_shown_the_same(made: Site, asked: str) -> None:
    light = Site(made.client, whole_bytes=0)
    assert light.ask(PATH + asked).get_data() == made.ask(PATH + asked).get_data()
    # And again, from what is held by now.
    assert light.ask(PATH + asked).get_data() == made.ask(PATH + asked).get_data()


def test_it_is_hydrated_the_same(made: Site) -> None:
    light = Site(made.client, whole_bytes=0)
    for body in ({"user_message": "x"}, {"user_message": "x", "turn_id": turn_id(8)}):
        assert light.post(f"{PATH}/hydrate", body).get_data() == made.post(f"{PATH}/hydrate", body).get_data()


class Watched:
    """Reads of a store that count the turns that they gave, and the events."""

    def __init__(self, reads: Any) -> None:
        self._reads = reads
        self.turns = 0
        self.event_pages = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._reads, name)

    def turn_rows(self, session_id: str, **which: Any) -> Any:
        page = self._reads.turn_rows(session_id, **which)
        self.turns += len(page.turns)
        return page

    def raw_events(self, **which: Any) -> Any:
        self.event_pages += 1
        return self._reads.raw_events(**which)


def test_a_page_of_a_long_session_reads_that_page() -> None:
    with site() as made:
        for start in range(1, 3001, 500):
            made.capture(payload(*(said(number, f"t{number}") for number in range(start, start + 500))))
        watched = Watched(made.client.reads)
        light = Site(made.client, reads=watched, whole_bytes=0)
        light.get(f"{PATH}/summary")
        assert watched.turns == 3000
        found: list[str] = []
        query = "?limit=250"
        while True:
            watched.turns = 0
            page = light.get(PATH + query)
            assert watched.turns == len(page["messages"]) == 250
            found = [message["content"] for message in page["messages"]] + found
            if not page["has_more"]:
                break
            query = f"?limit=250&before_seq={page['next_before_seq']}"
        assert found == [f"t{number}" for number in range(1, 3001)]
        # Nobody in it has an agent: its events need not be read.
        assert watched.event_pages == 0


def test_the_agents_of_a_page_are_read_from_the_captures_of_that_page() -> None:
    with site() as made:
        for number in range(1, 401):
            made.capture(payload(said(number, "x", "assistant"), context={"agent_id": f"a{number % 7}"}))
        watched = Watched(made.client.reads)
        asked = Site(made.client, reads=watched)
        page = asked.get(f"{PATH}?limit=10&before_seq=101")
        assert [message["agent"] for message in page["messages"]] == [f"a{number % 7}" for number in range(91, 101)]
        assert watched.event_pages == 1
        asked.get(f"{PATH}?limit=10&before_seq=101")
        assert watched.event_pages == 1


def test_a_walk_over_a_session_is_made_once_until_it_changes(made: Site) -> None:
    first = made.get(PATH)["branches"]
    state = made.source.held.session(SESSION).state
    walked = made.source.walked.of(SESSION, state)
    assert [branch._asdict() for branch in walked.branches] == first
    assert made.source.walked.of(SESSION, state) is walked
    made.capture(payload(said(9, "more")))
    assert json.dumps(made.get(PATH)["branches"]) != json.dumps(first)


def test_so_many_walks_are_remembered_those_that_were_asked_for_last() -> None:
    walks, state = WalkedSessions(2), fold(())
    first = walks.of("a", state)
    walks.of("b", state)
    assert walks.of("a", state) is first
    walks.of("c", state)
    assert walks.of("a", state) is first
    assert walks.of("b", state) is not first
    assert walks.of("a", state) is not walks.of("c", state)
