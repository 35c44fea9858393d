"""What holds for any message: it comes back as it was given, whatever it says, from whichever thread."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.sdk import ConversationMemory, Message
from agent.sdk.json_value import json_copy, unshared
from tests.sdk.memories import in_memory, texts

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)
MESSAGES = st.tuples(
    st.sampled_from(["user", "assistant", "tool", "system"]),
    TEXT,
    st.none(),
    st.dictionaries(TEXT.filter(lambda name: name != "memory"), JSON, max_size=3),
).map(lambda said: Message(*said))


@settings(deadline=None, max_examples=60)
@given(st.lists(MESSAGES, min_size=1, max_size=4), TEXT)
def test_a_message_comes_back_as_it_was_given_in_any_session(messages: list[Message], name: str):
    with in_memory() as memory:
        one_by_one, at_once = memory.for_session(name), memory.for_session(f"{name}!")
        for message in messages:
            one_by_one.append(message)
        at_once.extend(messages)
        for session in (one_by_one, at_once, memory.for_session(name)):
            shown = session.history()
            assert [(each.role, each.text, each.metadata) for each in shown] == [
                (each.role, each.text, each.metadata) for each in messages
            ]
            assert [each.seq for each in shown] == list(range(1, len(messages) + 1))


@settings(deadline=None, max_examples=60)
@given(st.dictionaries(TEXT, JSON.filter(lambda value: value is not None), max_size=4))
def test_parameters_come_back_as_they_were_merged(params: dict[str, object]):
    with in_memory() as memory:
        session = memory.for_session("s")
        session.merge(params)
        assert session.params() == params


@given(JSON)
def test_a_copy_is_equal_and_another(value: object):
    for copy in (json_copy(value), unshared(value)):
        assert copy == value
        assert not isinstance(value, dict | list) or copy is not value


@pytest.mark.parametrize("kind", ["memory", "file"])
def test_threads_of_one_process_lose_and_double_nothing(tmp_path: Path, kind: str):
    store = ":memory:" if kind == "memory" else tmp_path / "memory.db"
    with ConversationMemory(store, environ={}) as memory:
        shared = memory.for_session("s")

        def write(name: int) -> None:
            own = memory.for_session("s")
            for number in range(12):
                (shared if number % 2 else own).append(Message("user", f"{name} {number}"))
                assert f"{name} {number}" in texts(own)
                assert f"{name} {number}" in texts(shared)

        with ThreadPoolExecutor(4) as pool:
            list(pool.map(write, range(4)))
        found = texts(shared)
        assert sorted(found) == sorted(f"{name} {number}" for name in range(4) for number in range(12))
        for name in range(4):
            assert [text for text in found if text.startswith(f"{name} ")] == [f"{name} {n}" for n in range(12)]
