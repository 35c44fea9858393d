"""``session.stats()``: what the history counts, and how full its window is, as /stats and the command line have it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from agent.errors import ValidationError
from agent.recall.held import HeldSessions
from agent.recall.window_stats import WindowStats
from agent.sdk import Message, SessionHandle
from tests.sdk.memories import in_memory

PROMPT = Message("system", "You are the parcel desk. Be brief.")


def fill(session: SessionHandle, exchanges: int = 40) -> None:
    session.append(PROMPT)
    for number in range(exchanges):
        session.extend([Message("user", f"Where is parcel {number}?"), Message("assistant", "In Bern.")])


def test_it_has_all_members_of_the_other_surfaces(session):
    fill(session, 2)
    assert session.stats().keys() == {*WindowStats._fields, "by_role", "token_usage"}


def test_the_figures_are_those_of_the_window_for_the_same_arguments(session):
    fill(session)
    asked: dict[str, Any] = {"max_tokens": 200, "strategy": "rolling_window", "model": "gpt-4o"}
    stats, manifest = session.stats(**asked), session.context(**asked).manifest
    assert (stats["total_messages"], stats["in_context"]) == (81, manifest.kept)
    assert (stats["limit"], stats["context_tokens"]) == (200, manifest.tokens)
    assert (stats["total_tokens"], stats["percent_used"]) == (manifest.total_tokens, manifest.percent_used)
    assert (stats["strategy"], stats["pruned"], stats["last_prune"]) == ("rolling_window", 0, None)
    assert stats["line"].startswith(f"{manifest.kept} messages in context, {manifest.dropped} left out")


def test_what_was_pruned_is_told_by_the_store_s_clock():
    now = [datetime(2026, 3, 2, 10, 30, tzinfo=UTC)]
    with in_memory(clock=lambda: now[0]) as memory:
        session = memory.for_session("chat-7")
        fill(session, 10)
        assert session.prune(4) == 16
        now[0] += timedelta(minutes=15)
        stats = session.stats()
    assert (stats["total_messages"], stats["pruned"], stats["last_pruned"]) == (5, 16, 16)
    assert stats["last_prune"].startswith("2026-03-02T10:30:00")
    assert stats["oldest_in_memory"].startswith("2026-03-02T10:30:00")
    assert stats["line"] == "5 messages in context, 16 pruned 15 min ago, oldest from 10:30"


def test_where_not_even_the_smallest_window_fits_nothing_is_in_context(session):
    fill(session, 1)
    stats = session.stats(3)
    assert (stats["in_context"], stats["context_tokens"], stats["limit"]) == (0, 0, 3)


def test_a_session_that_nobody_wrote_to_has_figures_of_nothing(memory, session):
    for handle in (session, memory.for_session("chat-7", "new")):
        stats = handle.stats()
        assert (stats["total_messages"], stats["in_context"], stats["by_role"]) == (0, 0, {})
        assert (stats["oldest_in_memory"], stats["line"]) == (None, "0 messages in context")
        fill(session, 1)


def test_an_open_batch_is_counted(session):
    fill(session, 1)
    with session.batch():
        session.append(Message("user", "And parcel 7?"))
        stats = session.stats()
        assert (stats["total_messages"], stats["in_context"]) == (4, 4)


def test_a_conversation_has_its_own_figures(memory, session):
    fill(session, 3)
    other = memory.for_session("chat-7", "second")
    other.append(Message("user", "a stamp, please"))
    assert (other.stats()["total_messages"], other.stats()["in_context"]) == (1, 1)
    assert other.stats(scope="session")["in_context"] == 8


def test_a_session_that_is_held_without_content_has_the_same_figures(memory, session):
    fill(session, 20)
    whole = session.stats(300)
    memory.store.held = HeldSessions(memory.store.reads, whole_bytes=1)
    assert {**session.stats(300), "line": ""} == {**whole, "line": ""}


@pytest.mark.parametrize(
    ("asked", "path"),
    [
        ({"max_tokens": "many"}, "$.max_tokens"),
        ({"max_tokens": 10**400}, "$.max_tokens"),
        ({"strategy": "best"}, "$.strategy"),
        ({"model": 5}, "$.model"),
        ({"scope": "all"}, "$.scope"),
    ],
)
def test_what_no_window_is_cut_by_is_refused(session, asked: dict[str, Any], path: str):
    for _ in range(2):
        with pytest.raises(ValidationError) as caught:
            session.stats(**asked)
        assert [problem.path for problem in caught.value.problems] == [path]
        fill(session, 1)
