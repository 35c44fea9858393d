"""Which sessions a list has: by each of its names, and what no name takes is refused at the call."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from agent.core.ids import conversation_uuid
from agent.errors import ValidationError
from agent.sdk import ConversationMemory, Message
from agent.sdk.captures import capture
from tests.sdk.memories import START, in_memory


def listed(memory: ConversationMemory, **which: Any) -> list[str | None]:
    return [row.native_session_id for row in memory.sessions(**which)]


@pytest.fixture
def filled(memory: ConversationMemory) -> ConversationMemory:
    """Sessions a, b and c of two users and agents; each is a few seconds later than the one before."""
    for name, user, agent in (("a", "ada", "shop"), ("b", "ada", "desk"), ("c", "grace", "desk")):
        session = memory.for_session(name, f"about {name}", user_id=user, agent_id=agent)
        session.append(Message("user", f"words of {name}"))
    return memory


@pytest.mark.parametrize(
    ("which", "found"),
    [
        ({}, ["c", "b", "a"]),
        ({"limit": 2}, ["c", "b"]),
        ({"user_id": "ada"}, ["b", "a"]),
        ({"agent_id": "desk"}, ["c", "b"]),
        ({"user_id": "ada", "agent_id": "desk"}, ["b"]),
        ({"user_id": "nobody"}, []),
        ({"user_id": ""}, []),
        ({"tag": "none has one"}, []),
        ({"conversation_id": "about b"}, ["b"]),
        ({"conversation_id": conversation_uuid("about b").upper()}, ["b"]),
        ({"q": "words"}, ["c", "b", "a"]),
        ({"q": "words a"}, ["a"]),
        ({"user_id": None, "q": None, "since": None, "limit": None}, ["c", "b", "a"]),
    ],
)
def test_a_list_has_the_sessions_that_its_names_say(filled: ConversationMemory, which, found):
    assert listed(filled, **which) == found


def test_a_list_is_bounded_by_the_last_activity(filled: ConversationMemory):
    middle = next(row for row in filled.sessions() if row.native_session_id == "b").last_activity
    assert listed(filled, since=middle) == ["c", "b"]
    assert listed(filled, until=middle) == ["a"]
    moment = datetime.fromisoformat(middle)
    assert listed(filled, since=moment, until=moment + timedelta(microseconds=1)) == ["b"]
    assert listed(filled, since=START - timedelta(days=1)) == ["c", "b", "a"]


def test_a_tag_that_a_capture_of_another_writer_had_is_found(memory: ConversationMemory):
    for name, tags in (("s", ["vip"]), ("t", [])):
        turn = {"turn_id": "1", "role": "user", "content": "hello", "timestamp": "2026-03-02T09:00:00Z"}
        payload = {"session_id": name, "conversation_id": name, "turns": [turn], "context": {"tags": tags}}
        capture(
            memory.store.service,
            {**payload, "capture_options": {"derive_ids": True}},
            execution_ref=memory.store.new_id(),
        )
    assert listed(memory, tag="vip") == ["s"]


@pytest.mark.parametrize("name", ["tags", "user", "offset", "cursor", "from", "session_id"])
def test_a_name_that_nobody_knows_is_a_type_error_at_the_call(memory: ConversationMemory, name: str):
    with pytest.raises(TypeError):
        memory.sessions(**{name: "x"})
    with pytest.raises(TypeError):
        memory.sessions("ada")


@pytest.mark.parametrize(
    ("which", "problem"),
    [
        *(({name: 5}, (f"$.{name}", "type")) for name in ("user_id", "agent_id", "tag", "conversation_id", "q")),
        *(({name: 5}, (f"$.{name}", "type")) for name in ("since", "until")),
        *(({name: "half \ud800"}, (f"$.{name}", "surrogate")) for name in ("user_id", "tag", "q", "conversation_id")),
        *(({"since": text}, ("$.since", "format")) for text in ("yesterday", "2026-03-02", "2026-03-02T08:15:03", "")),
        ({"until": datetime(2026, 3, 2)}, ("$.until", "format")),
        ({"q": ""}, ("$.q", "minLength")),
        ({"q": " \t"}, ("$.q", "minLength")),
        ({"q": "x" * 501}, ("$.q", "maxLength")),
        ({"limit": 0}, ("$.limit", "minimum")),
        ({"limit": "3"}, ("$.limit", "type")),
    ],
)
def test_a_value_that_no_name_takes_is_refused_at_the_call(memory: ConversationMemory, which, problem):
    with pytest.raises(ValidationError) as caught:
        memory.sessions(**which)
    assert [(each.path, each.rule) for each in caught.value.problems] == [problem]


def test_what_may_stand_in_a_session_is_taken_by_the_store():
    with in_memory(user_id="日本 &?#/%\0") as memory:
        memory.for_session("s").append(Message("user", "日" * 500))
        assert listed(memory, user_id="日本 &?#/%\0", q="日" * 500, since=datetime(1, 1, 2, tzinfo=UTC)) == ["s"]
