"""Windows of real conversations, and of any that can be: in every format what its provider takes, with nothing lost."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from agent.core.pairs import paired_calls
from agent.core.turn import SessionTurn
from agent.core.window.estimate import Estimator
from agent.core.window.policy import STRATEGIES, Policy
from agent.core.window.window import Window, cut_window, prepare
from agent.errors import BudgetTooSmall
from agent.formats import WRITES
from agent.formats.prompt import needs_user_first
from agent.formats.writing import Session
from tests.formats import small_sessions
from tests.formats.corpus import OURS, documents
from tests.formats.prompted import conversation, listed, marker, session_of_captures, whole_window, wrong_with
from tests.formats.small_sessions import assistant, result, user
from tests.formats.whole_sessions import captures

LAW = settings(deadline=None, max_examples=150, suppress_health_check=[HealthCheck.too_slow])
BUDGETS = 20
# What takes long to cut at every budget is for the sweep.
LONGEST = 16


def of_folder(folder: Path) -> Iterator[tuple[str, Session]]:
    """The conversations of a folder, each with the name of its file."""
    for form, name, document in documents(folder):
        for found in captures(form, document):
            yield name, session_of_captures(found)


def has_tools(session: Session) -> bool:
    return any(turn.invocations for turn in session.shown)


def check_whole(conversations: Iterator[tuple[str, Session]]) -> int:
    """Check that all of each conversation is taken in every format; how many lists that were."""
    count = 0
    for name, session in conversations:
        window = whole_window(session)
        for form in WRITES:
            assert wrong_with(session, form, window) == [], (name, form)
            count += 1
    return count


def windows(session: Session, *, user_first: bool) -> Iterator[Window]:
    """What all strategies make of a conversation with 20 budgets from nothing to all of it; each window once."""
    turns = [turn for turn in session.shown if not turn.erased]
    prepared = prepare(turns, Estimator(), pairs=paired_calls(session.all))
    total = prepared.count.overhead + sum(map(prepared.count, turns))
    seen: set[tuple[tuple[str, str | None], ...]] = set()
    for strategy in STRATEGIES:
        # An estimate keeps a part of the budget free.
        for step in range(BUDGETS + 3):
            policy = Policy(strategy=strategy, max_tokens=max(total * step // BUDGETS, 1), user_first=user_first)
            try:
                window = cut_window(prepared, policy)
            except BudgetTooSmall:
                continue
            known = tuple((turn.turn_id, turn.content) for turn in window.messages)
            if known not in seen:
                seen.add(known)
                yield window


def check_cut(name: str, session: Session) -> int:
    """Check that every window of a conversation is taken in every format; how many lists that were."""
    count = 0
    for user_first in (False, True):
        forms = [form for form in WRITES if needs_user_first(form) == user_first]
        for window in windows(session, user_first=user_first):
            for form in forms:
                assert wrong_with(session, form, window.messages) == [], (name, form)
                count += 1
    return count


def one_of_each(conversations: Iterator[tuple[str, Session]]) -> list[tuple[str, Session]]:
    """Of each file, the longest conversation with tools that is no longer than that."""
    found: dict[str, tuple[str, Session]] = {}
    for name, session in conversations:
        file, turns = name.partition("#")[0], len(session.shown)
        if has_tools(session) and turns <= LONGEST and turns > len(found[file][1].shown if file in found else ()):
            found[file] = name, session
    return list(found.values())


def test_our_own_conversations_are_taken_whole_in_every_format():
    assert check_whole(of_folder(OURS)) > 1000


def test_the_windows_of_our_own_conversations_are_taken_in_every_format():
    assert sum(check_cut(name, session) for name, session in one_of_each(of_folder(OURS))) > 1000


@pytest.mark.parametrize("name", small_sessions.SESSIONS)
def test_every_window_of_a_small_conversation_is_taken_in_every_format(name):
    session = conversation(small_sessions.SESSIONS[name])
    assert check_whole(iter([(name, session)])) == len(WRITES)
    assert check_cut(name, session) >= len(WRITES)


def test_the_shared_conversations_with_tools_are_taken_whole_in_every_format(shared):
    with_tools = ((name, session) for name, session in of_folder(shared / "data") if has_tools(session))
    assert check_whole(with_tools) > 1000


def test_the_windows_of_shared_conversations_are_taken_in_every_format(shared):
    assert sum(check_cut(name, session) for name, session in one_of_each(of_folder(shared / "data"))) > 1000


texts = st.sampled_from(["", " ", "Hi", "Two\nlines", "ends in a blank "])
ids = st.sampled_from(["call_1", "call_2", "ein Anruf/1", "c" * 70])
names = st.sampled_from(["go", "look", "größe messen"])


@st.composite
def exchanges(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Calls and their results, in any order, with what may be said between."""
    called = draw(st.lists(st.tuples(ids, names), min_size=1, max_size=3))
    calling = [assistant(draw(texts), *((call, name, {"n": 1}) for call, name in called))]
    if len(called) > 1 and draw(st.booleans()):
        calling = [assistant(draw(texts), (call, name, 7)) for call, name in called]
    results = [result(call, name, draw(texts)) for call, name in called]
    between = draw(st.sampled_from([[], [{"role": "system", "content": "Be brief."}], [assistant("Wait.")]]))
    place = draw(st.integers(0, len(results) - 1))
    return [*calling, *results[:place], *between, *results[place:]]


others = st.one_of(
    texts.map(user),
    texts.map(assistant),
    texts.map(lambda text: {"role": "system", "content": text}),
).map(lambda turn: [turn])
units = st.lists(st.tuples(st.one_of(others, exchanges()), st.booleans()), min_size=1, max_size=8)
ends = st.one_of(
    st.just([]),
    exchanges().map(lambda turns: turns[:1]),
    exchanges().map(lambda turns: [turns[0], {"role": "system", "content": "Be quick."}]),
)


def window_of(found: list[tuple[list[dict[str, Any]], bool]], end: list[dict[str, Any]]) -> tuple[Session, list[Any]]:
    """A conversation of these units, and the window that has those that are to be kept, and the end."""
    session = conversation([turn for unit, _ in found for turn in unit] + end)
    window: list[SessionTurn] = []
    missing, place = 0, 0
    for unit, is_kept in [*found, (end, True)]:
        turns = session.all[place : place + len(unit)]
        place += len(unit)
        if is_kept or any(turn.role == "system" for turn in turns):
            if missing and turns:
                window.append(marker(missing, session.all[place - len(unit) - 1]))
                missing = 0
            window += turns
        else:
            missing += len(turns)
    if missing:
        window.append(marker(missing, session.all[-1]))
    return session, window


@LAW
@given(units, ends)
@example([([user("a")], False), ([assistant("b")], True)], [])
@example([([assistant("", ("call_1", "go", {})), result("call_1", "go", "")], True)], [assistant("", ("call_1", "go"))])
def test_any_window_is_taken_in_every_format_with_its_markers(found, end):
    session, window = window_of(found, end)
    for form in WRITES:
        assert wrong_with(session, form, window) == [], form
        document, _ = listed(session, form, window)
        said = str(document)
        for turn in window:
            if turn.fields.get("metadata", {}).get("marker"):
                assert str(turn.content) in said, form
