"""What ``history --verbose`` says of a turn beside its text and its calls."""

import json
import unicodedata
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

from agent.cli.exit_codes import ExitCode
from agent.cli.memory.sessions.turn_text import Page
from agent.core.turn import SessionTurn
from agent.errors import StoreNotFound
from agent.recall.speakers import speakers
from agent.ruvector.feed import FedEvent, FeedPage
from tests.cli.memory.test_history import EVIL, SESSION, UNSAFE, capture, client_of, history, payload, said
from tests.core.session_turns import ONE, turn_id
from tests.strategies import json_values
from tests.strategies import text as any_text

TOKENS = {"prompt_tokens": 5, "completion_tokens": 2**63 - 1, "total_tokens": 7}


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "store.db"


def turn(number: int = 1, role: str = "assistant", **fields: Any) -> SessionTurn:
    return SessionTurn(turn_id(number), number, ONE, None, role, "words", False, fields)


def notes(shown: SessionTurn, **speaker: str) -> list[str]:
    """The lines below the text."""
    page = Page("utf-8", None, names_conversations=False, speakers=speaker)
    return page.text(shown).splitlines()[2:]


def test_model_agent_tokens_and_metadata_have_a_line_each(store: Path) -> None:
    told = {
        "model": "gpt-4o",
        "token_usage": TOKENS,
        "metadata": {"agent": "desk", "n": [2**70, 1.5], "where": "Köln"},
    }
    capture(store, payload(said(1, "Here.", role="assistant", **told)))
    code, out, err = history(store, verbose=True)
    assert (code, err) == (ExitCode.OK, "")
    assert out.splitlines()[1:] == [
        "    Here.",
        "  model: gpt-4o",
        "  agent: desk",
        f"  tokens: prompt 5, completion {2**63 - 1}, total 7",
        '  metadata: {"n":[1180591620717411303424,1.5],"where":"Köln"}',
    ]


def test_what_is_not_there_or_empty_has_no_line() -> None:
    assert notes(turn()) == []
    assert notes(turn(metadata={}, model=None, token_usage=None)) == []
    assert notes(turn(metadata=[], model="")) == []


def test_what_another_writer_put_there_is_shown_as_json() -> None:
    shown = turn(model=["m"], token_usage=5, metadata="a\nb")
    assert notes(shown) == ['  model: ["m"]', "  tokens: 5", '  metadata: "a\\nb"']
    assert notes(turn(metadata={"agent": 5}, token_usage={"x": None})) == [
        "  tokens: x null",
        '  metadata: {"agent":5}',
    ]


def test_each_invocation_says_of_itself_whether_it_succeeded() -> None:
    calls = [
        {"tool_name": "look", "invocation_id": "AA", "success": True},
        {"tool_name": "wait", "invocation_id": "bb"},
        {"tool_name": "book", "invocation_id": "cc", "success": False},
    ]
    assert notes(turn(tool_invocations=calls)) == [
        *("  > look()", "  success: true"),
        "  > wait()",
        *("  > book()", "  success: false"),
    ]
    assert notes(turn(role="tool", tool_invocations=calls[2:])) == ["  < book", "  success: false"]


def test_an_erased_turn_has_no_notes(store: Path) -> None:
    capture(store, payload(said(1, model="m"), said(2)))
    with closing(client_of(store)) as client:
        client.erasure.turn(turn_id(1))
    assert "model" not in history(store, verbose=True)[1]


def test_hostile_notes_move_no_cursor_and_pass_for_nothing_else(store: Path) -> None:
    invocation = {"tool_name": EVIL, "invocation_id": turn_id(20), "success": True}
    evil = said(
        1, EVIL, role="assistant", model=EVIL, metadata={"agent": EVIL, EVIL: EVIL}, tool_invocations=[invocation]
    )
    capture(store, payload(evil))
    out = history(store, verbose=True)[1]
    assert {unicodedata.category(each) for each in out.replace("\n", "")} & UNSAFE == set()
    starts = [line[:8] for line in out.splitlines() if not line.startswith("    ")]
    assert starts == ["#1 assis", "  > \\x1b", "  succes", "  model:", "  agent:", "  metada"]


@settings(deadline=None)
@given(any_text, any_text, json_values)
def test_every_note_is_one_line(model: str, agent: str, value: Any) -> None:
    lines = notes(turn(model=model, metadata={"x": value}), **{turn_id(1): agent})
    assert [line.partition(":")[0] for line in lines] == [*(["  model"] if model else []), "  agent", "  metadata"]


# Who spoke.


def with_context(agent: Any, *turns: dict[str, Any]) -> dict[str, Any]:
    return {**payload(*turns), "context": {"agent_id": agent}}


def test_an_assistant_is_the_agent_of_its_capture_unless_the_turn_says_who(store: Path) -> None:
    named = said(3, role="assistant", metadata={"agent": "night desk"})
    capture(store, with_context("desk", said(1), said(2, role="assistant"), named))
    capture(store, payload(said(4, role="assistant")))
    capture(store, with_context("other desk", said(5, role="assistant")))
    out = history(store, verbose=True)[1]
    told = [part.partition("agent: ")[2] for part in out.split("\n\n")]
    assert [each.strip() for each in told] == ["", "desk", "night desk", "", "other desk"]


def test_a_revision_is_its_own_capture_s(store: Path) -> None:
    capture(store, with_context("desk", said(1, "a", role="assistant")))
    capture(store, with_context("other desk", said(1, "b", role="assistant")))
    assert history(store, verbose=True)[1].splitlines()[1:] == ["    b", "  agent: other desk"]


class Reads:
    """A store's events, newest first, and how many of them were read; None: it has no list of events."""

    def __init__(self, *texts: bytes | None) -> None:
        self._texts = texts
        self.pages = 0

    def raw_events(self, **_: Any) -> FeedPage:
        if None in self._texts:
            raise StoreNotFound("no such address")
        self.pages += 1
        text = self._texts[self.pages - 1] or b""
        event = FedEvent(text, self.pages, f"r-{self.pages}", None, None)
        return FeedPage((event,), str(self.pages) if self.pages < len(self._texts) else None)


def event_of(agent: Any) -> bytes:
    return json.dumps({"payload": {"inputs": {"context": {"agent_id": agent}}}}).encode()


def spoken(reads: Reads, *turns: SessionTurn) -> dict[str, str]:
    return speakers(reads, SESSION, turns)  # type: ignore[arg-type]  # all that it reads


def brought_by(number: int) -> SessionTurn:
    return turn(number, execution_ref=f"r-{number}")


def test_events_are_read_only_as_far_as_a_turn_asks_for_one() -> None:
    reads = Reads(*map(event_of, ("a", "b", "c")))
    assert spoken(reads, brought_by(2)) == {turn_id(2): "b"}
    assert reads.pages == 2
    assert spoken(Reads(), turn(1, "user", execution_ref="r-1"), turn(2, metadata={"agent": "x"})) == {turn_id(2): "x"}


@pytest.mark.parametrize("text", [event_of(5), b"[]", b'{"payload": 7}', b'{"payload": {"inputs": {"context": []}}}'])
def test_an_event_that_names_no_agent_is_nobody_s(text: bytes) -> None:
    assert spoken(Reads(text), brought_by(1)) == {}


def test_a_store_without_a_list_of_events_knows_no_agents() -> None:
    assert spoken(Reads(None), brought_by(1)) == {}


def test_a_turn_whose_event_is_not_there_is_nobody_s() -> None:
    assert spoken(Reads(event_of("a")), brought_by(9), turn(2)) == {}
