"""One conversation on its way into a store that asks for patience, takes nothing so large, or does not answer."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import pytest

from agent.bootstrap import new_id
from agent.capture.service import CaptureService
from agent.cli.memory.importing.account import Told
from agent.cli.memory.importing.capturing import Capturing
from agent.cli.memory.importing.conversations import Conversations, Found, Value
from agent.cli.memory.importing.recognition import Recognition
from agent.core.ids import session_uuid
from agent.core.receipt import Receipt, TurnCounts
from agent.errors import AgentError, RateLimitExceeded, StoreConnectionError, StoreWriteError
from tests.cli.memory.importing import chat

ACCEPTED = Receipt("e-1", duplicate=False, position=1, turns=TurnCounts(5, 0, 0, 0), execution_ref=None,
                   timestamp=None, latency_ms=1)  # fmt: skip
SILENT = ACCEPTED._replace(turns=None, position=None)


class Answers:
    """A store that answers as it is told, one answer after the other."""

    def __init__(self, answers: Sequence[Receipt | AgentError]) -> None:
        self._answers = list(answers)
        self.keys: list[str] = []

    def append(self, envelope: bytes, *, idempotency_key: str, traceparent: str | None = None) -> Receipt:
        self.keys.append(idempotency_key)
        answer = self._answers.pop(0)
        if isinstance(answer, AgentError):
            raise answer
        return answer


def captured(
    *answers: Receipt | AgentError, goes_on: bool = True, stored: Sequence[dict[str, Any] | AgentError | None] = ()
) -> tuple[Told, list[float], list[str]]:
    """What came of it, how long was waited each time, and the keys of all writes."""
    store, waited = Answers(answers), list[float]()

    def wait(seconds: float) -> bool:
        waited.append(seconds)
        return goes_on

    events = list(stored)

    def read(reference: str) -> dict[str, Any] | None:
        event = events.pop(0)
        if isinstance(event, AgentError):
            raise event
        return event

    service = CaptureService(
        lambda: store, clock=lambda: datetime(2026, 3, 2, tzinfo=UTC), elapsed=lambda: 0.0, peak_memory=lambda: 1,
        release="0",
    )  # fmt: skip
    conversations = Conversations(Recognition(), name="a.json", at=None, captured_at="2026-03-02T08:15:00Z")
    (found,) = conversations.of_document(Value(chat(1), plain=True, text=b"", size=1, place=0)) or ()
    assert isinstance(found, Found)
    return Capturing(service, stored=read, new_id=new_id, wait=wait)(found), waited, store.keys


def limited(after: str | None) -> RateLimitExceeded:
    return RateLimitExceeded("too many", headers={} if after is None else {"Retry-After": after})


def test_a_store_that_asks_for_patience_is_asked_again_with_the_same_key() -> None:
    told, waited, keys = captured(limited("3"), limited("7200"), limited(None), ACCEPTED)
    assert (told.counts, told.error) == (TurnCounts(5, 0, 0, 0), None)
    assert waited == [3.0, 60.0, 1.0]
    assert len(set(keys)) == 1


def test_patience_ends_with_the_import_and_after_twenty_tries() -> None:
    with pytest.raises(RateLimitExceeded):
        captured(limited("3"), goes_on=False)
    with pytest.raises(RateLimitExceeded):
        captured(*[limited("1")] * 20)


def test_what_a_store_finds_too_large_is_refused_and_other_failures_end_the_import() -> None:
    told, _, _ = captured(StoreWriteError("no", upstream_status=413))
    assert told.error is not None
    assert [problem.rule for problem in told.error.problems] == ["size"]
    for error in (StoreWriteError("no", upstream_status=403), StoreConnectionError("gone")):
        with pytest.raises(type(error)):
            captured(error)


def test_a_store_that_does_not_count_turns_leaves_the_counts_open() -> None:
    told, _, _ = captured(SILENT)
    assert (told.counts, told.turns, told.calls) == (None, 5, 1)


def stored_as(session: str, **native: str) -> dict[str, Any]:
    return {"inputs": {"session_id": session_uuid(session), "turns": [], "native": native}}


KNOWN = ACCEPTED._replace(duplicate=True, turns=TurnCounts(0, 5, 0, 0), execution_ref="e-0")


@pytest.mark.parametrize(
    ("event", "is_same"),
    [
        (stored_as("a.json#0", format="openai-chat"), True),
        (stored_as("b.json#0", format="openai-chat"), False),
        (stored_as("a.json#0", format="anthropic"), False),
        (stored_as("a.json#0", format="openai-chat", at="messages"), False),
        # Left out by what a store keeps, or erased: the session alone counts.
        (stored_as("a.json#0", format="[omitted:11]"), True),
        ({"outputs": {"session_id": session_uuid("a.json#0").upper()}}, True),
        ({"outputs": {"session_id": session_uuid("b.json#0")}}, False),
        ({}, True),
        # A store that shows no events.
        (None, True),
    ],
)
def test_what_is_there_already_counts_where_it_is_of_the_same_session_and_format(
    event: dict[str, Any] | None, is_same: bool
) -> None:
    told, _, keys = captured(KNOWN, ACCEPTED, stored=[event])
    assert (told.duplicates, len(set(keys))) == ((1, 1) if is_same else (0, 2))
    assert told.counts == (KNOWN if is_same else ACCEPTED).turns


def test_a_store_that_asks_for_patience_when_it_is_read_is_asked_again() -> None:
    told, waited, keys = captured(KNOWN, ACCEPTED, stored=[limited("3"), stored_as("b.json#0", format="openai-chat")])
    assert (told.duplicates, waited, len(keys)) == (0, [3.0], 2)
    with pytest.raises(StoreConnectionError):
        captured(KNOWN, stored=[StoreConnectionError("gone")])
