"""The names of other conversation memories: each is what docs/python-aliases.md says, through an embedded store."""

import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.errors import AgentError, StoreConnectionError, StoreNotFound, ValidationError
from agent.sdk import InMemoryConversationMemory, Message, other_names
from agent.sdk.other_names import OtherNames, generate_session_id, is_valid_session_id, references_earlier
from tests.conftest import REPOSITORY

START = datetime(2026, 3, 2, 8, 15, tzinfo=UTC)


class Clock:
    """A clock that stands until it is moved."""

    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> datetime:
        return self.now

    def pass_hours(self, hours: float) -> None:
        self.now += timedelta(hours=hours)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def memory(clock: Clock) -> Iterator[InMemoryConversationMemory]:
    with InMemoryConversationMemory(clock=clock, environ={}) as memory:
        yield memory


def texts(memory: InMemoryConversationMemory, session_id: str) -> list[tuple[str, str]]:
    return [(message.role, message.text) for message in memory.get_history(session_id)]


# The table of the docs


class Row:
    """A row of the table: what it calls, and what does the same."""

    def __init__(self, line: str) -> None:
        called, same, gives = (cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip("|")))
        self.called, self.same, self.gives = called.strip("`"), same.strip("`"), gives
        self.name = re.match(r"memory\.(\w+)\(", self.called)[1]


def rows() -> list[Row]:
    page = (REPOSITORY / "docs" / "python-aliases.md").read_text()
    return [Row(line) for line in page.splitlines() if line.startswith("| `memory.")]


# What a row without a second column comes to, in the session of `prepared`.
ALONE: dict[str, Callable[[Any], bool]] = {
    "get_conversation_context": lambda found: found == "User: Hello\nAssistant (front): Hi\nUser: Where is my parcel?",
    "get_conversation_insights": lambda found: (
        found
        == {
            "session_id": "s-1",
            "message_count": 3,
            "duration": 0.0,
            "topics": ["parcel"],
            "agents_used": ["front"],
            "user_messages": 2,
            "assistant_messages": 1,
        }
    ),
    "get_memory_stats": lambda found: (
        found == {"total_sessions": 1, "total_messages": 4, "avg_messages_per_session": 4.0}
    ),
    "cleanup_old_sessions": lambda found: found == 0,
    "generate_session_id": lambda found: re.fullmatch(r"session_\d{13}_[a-z0-9]{9}", found) is not None,
}


def prepared(memory: InMemoryConversationMemory) -> dict[str, Any]:
    """A session that was used, and the words that the rows of the table call with."""
    session = memory.for_session("s-1")
    session.extend(
        [Message("user", "Hello"), Message("assistant", "Hi", agent="front"), Message("user", "Where is my parcel?")]
    )
    session.merge({"parcel_id": "P-1"})
    given = {"session_id": "s-1", "role": "assistant", "message": "On its way.", "agent_type": None}
    more = {"params": {"city": "Rome"}, "name": "order_id", "text": "What about that one?"}
    return {
        "memory": memory,
        "Message": Message,
        "other_names": other_names,
        "history": session.history(),
        **given,
        **more,
    }


def told(memory: InMemoryConversationMemory) -> Any:
    """All that the session says of itself; ids are new each time."""
    session = memory.for_session("s-1")
    messages = [(each.role, each.text, each.agent, each.timestamp) for each in session.history()]
    return messages, {**session.state(), "version": None}


@pytest.mark.parametrize("row", rows(), ids=lambda row: row.name)
def test_a_row_of_the_table_does_what_it_says(row: Row, memory: InMemoryConversationMemory, clock: Clock) -> None:
    found = eval(row.called, prepared(memory))
    if not row.same:
        assert ALONE[row.name](found)
        return
    with InMemoryConversationMemory(clock=clock, environ={}) as other:
        same = eval(row.same, prepared(other))
        if row.name == "get_history":
            found, same = ([each._replace(turn_id=None) for each in messages] for messages in (found, same))
        if row.name in ALONE:
            assert ALONE[row.name](found)
            assert ALONE[row.name](same)
        else:
            assert found == same
        assert told(memory) == told(other)


def test_every_name_is_in_the_table_and_every_row_is_a_name() -> None:
    named = {name for name in vars(OtherNames) if not name.startswith("_")}
    assert {row.name for row in rows()} == named
    assert all(row.gives for row in rows())


# Messages, parameters, figures


def test_a_message_that_was_added_is_there_with_who_spoke(memory: InMemoryConversationMemory) -> None:
    memory.add_message("s", "user", "Hello")
    memory.add_message("s", "agent", "Hi", agent_type="front")
    assert texts(memory, "s") == [("user", "Hello"), ("assistant", "Hi")]
    assert [message.agent for message in memory.get_history("s")] == [None, "front"]
    assert [message.text for message in memory.get_history("s", 1)] == ["Hi"]


def test_a_message_that_is_none_is_refused_and_nothing_is_kept(memory: InMemoryConversationMemory) -> None:
    with pytest.raises(ValidationError):
        memory.add_message("s", "robot", "Hello")
    assert memory.get_history("s") == []


def test_parameters_are_merged_and_what_is_waited_for_is_asked_for(memory: InMemoryConversationMemory) -> None:
    memory.merge_params("s", {"a": 1, "b": 2})
    memory.merge_params("s", {"b": None, "c": 3})
    memory.set_waiting_param("s", "order_id")
    assert memory.get_params("s") == {"a": 1, "c": 3}
    assert memory.for_session("s").waiting() == "order_id"
    memory.set_waiting_param("s", None)
    assert memory.for_session("s").waiting() is None


def test_a_session_that_nobody_wrote_to_is_empty_by_every_name(memory: InMemoryConversationMemory) -> None:
    assert memory.get_history("none") == []
    assert memory.get_params("none") == {}
    assert memory.get_conversation_context("none") == ""
    assert memory.get_conversation_summary("none") == {
        "message_count": 0,
        "last_activity": None,
        "session_started": None,
    }
    assert memory.get_conversation_insights("none") == {
        "session_id": "none",
        "message_count": 0,
        "duration": 0.0,
        "topics": [],
        "agents_used": [],
        "user_messages": 0,
        "assistant_messages": 0,
    }
    assert memory.get_memory_stats() == {
        "total_sessions": 0,
        "total_messages": 0,
        "avg_messages_per_session": 0.0,
    }


def test_a_context_names_the_agent_of_a_capture_where_its_messages_do_not(clock: Clock) -> None:
    with InMemoryConversationMemory(clock=clock, environ={}, agent_id="front") as memory:
        memory.add_message("s", "user", "Hello")
        memory.add_message("s", "assistant", "h" * 201)
        memory.add_message("s", "assistant", "Hi", agent_type="billing")
        expected = f"User: Hello\nAssistant (front): {'h' * 200}...\nAssistant (billing): Hi"
        assert memory.get_conversation_context("s") == expected
        assert memory.get_conversation_context("s", max_chars=10) == expected[-10:]
        assert memory.get_conversation_insights("s")["agents_used"] == ["front", "billing"]


@pytest.mark.parametrize("count", [-1, "10", None, 1.5, True])
def test_a_context_is_of_so_many_characters(memory: InMemoryConversationMemory, count: Any) -> None:
    memory.add_message("s", "user", "Hello")
    assert memory.get_conversation_context("s", max_chars=0) == ""
    with pytest.raises(ValidationError) as refused:
        memory.get_conversation_context("s", max_chars=count)
    assert refused.value.problems[0].path == "$.max_chars"


def test_a_summary_says_when_the_session_was_captured_first_and_last(
    memory: InMemoryConversationMemory, clock: Clock
) -> None:
    memory.add_message("s", "user", "Hello")
    clock.pass_hours(2)
    memory.add_message("s", "assistant", "Hi")
    assert memory.get_conversation_summary("s") == {
        "message_count": 2,
        "session_started": "2026-03-02T08:15:00.000000Z",
        "last_activity": "2026-03-02T10:15:00.000000Z",
    }
    assert memory.get_conversation_insights("s")["duration"] == 7200.0


def test_the_figures_of_the_store_are_of_all_its_sessions(memory: InMemoryConversationMemory) -> None:
    for session_id, count in (("a", 1), ("b", 2)):
        for _ in range(count):
            memory.add_message(session_id, "user", "Hello")
    assert memory.get_memory_stats() == {
        "total_sessions": 2,
        "total_messages": 3,
        "avg_messages_per_session": 1.5,
    }


# Erasing what is old


def erased(memory: InMemoryConversationMemory, session_id: str) -> bool:
    return all(message.erased for message in memory.get_history(session_id))


def test_sessions_without_a_capture_for_so_long_are_erased(memory: InMemoryConversationMemory, clock: Clock) -> None:
    memory.add_message("old", "user", "Hello")
    memory.add_message("kept on", "user", "Hello")
    clock.pass_hours(20)
    memory.add_message("kept on", "user", "Still here")
    memory.add_message("new", "user", "Hello")
    clock.pass_hours(4.01)
    assert memory.cleanup_old_sessions() == 1
    assert erased(memory, "old")
    assert texts(memory, "kept on") == [("user", "Hello"), ("user", "Still here")]
    assert texts(memory, "new") == [("user", "Hello")]
    assert list(memory.sessions(q="Hello")) == [row for row in memory.sessions() if row.native_session_id != "old"][:2]


def test_what_is_as_old_to_the_moment_is_kept(memory: InMemoryConversationMemory, clock: Clock) -> None:
    memory.add_message("s", "user", "Hello")
    clock.pass_hours(24)
    assert memory.cleanup_old_sessions(24) == 0
    assert memory.cleanup_old_sessions(23.999) == 1


def test_what_was_erased_is_not_erased_again(memory: InMemoryConversationMemory, clock: Clock) -> None:
    for place in range(5):
        memory.add_message(f"s{place}", "user", "Hello")
    memory.store.client.erasure.session(memory.for_session("s0").session_uuid)
    clock.pass_hours(48)
    assert memory.cleanup_old_sessions() == 4
    done = len(memory.store.reads.audit().audit)
    assert memory.cleanup_old_sessions() == 0
    assert len(memory.store.reads.audit().audit) == done


def test_a_session_that_lost_its_turns_one_by_one_still_loses_what_names_its_user(clock: Clock) -> None:
    with InMemoryConversationMemory(clock=clock, environ={}, user_id="Anna") as memory:
        memory.add_message("s", "user", "Hello")
        memory.store.client.erasure.turn(str(memory.get_history("s")[0].turn_id))
        clock.pass_hours(48)
        assert memory.cleanup_old_sessions() == 1
        assert [row.users for row in memory.sessions()] == [()]
        assert memory.cleanup_old_sessions() == 0


def test_more_sessions_than_a_page_holds_are_erased(memory: InMemoryConversationMemory, clock: Clock) -> None:
    for place in range(203):
        memory.add_message(f"s{place}", "user", "Hello")
    clock.pass_hours(48)
    assert memory.cleanup_old_sessions() == 203
    assert list(memory.sessions(q="Hello")) == []


def test_no_session_is_older_than_time(memory: InMemoryConversationMemory) -> None:
    memory.add_message("s", "user", "Hello")
    assert memory.cleanup_old_sessions(10**30) == 0
    assert memory.cleanup_old_sessions(24 * 365 * 1500) == 0


@pytest.mark.parametrize(
    ("hours", "rule"),
    [
        *((hours, "exclusiveMinimum") for hours in (0, 0.0, -1, -0.5, float("-inf"))),
        *((hours, "number_range") for hours in (float("nan"), float("inf"))),
        *((hours, "type") for hours in (True, False, "24", None)),
    ],
)
def test_hours_that_are_no_number_above_zero_erase_nothing(
    memory: InMemoryConversationMemory, clock: Clock, hours: Any, rule: str
) -> None:
    memory.add_message("s", "user", "Hello")
    clock.pass_hours(48)
    with pytest.raises(ValidationError) as refused:
        memory.cleanup_old_sessions(hours)
    assert [(problem.path, problem.rule) for problem in refused.value.problems] == [("$.hours", rule)]
    assert not erased(memory, "s")


class Between:
    """The store's reads, where something happens between the list and the look at a session."""

    def __init__(self, memory: InMemoryConversationMemory, happens: Callable[[], None]) -> None:
        self._reads = memory.store.reads
        self._happens = happens

    def session(self, session_id: str) -> Any:
        self._happens()
        return self._reads.session(session_id)


def cleanup_where(memory: InMemoryConversationMemory, happens: Callable[[], None]) -> int:
    """``cleanup_old_sessions`` of the same memory, with this happening in it."""

    class Store:
        reads = Between(memory, happens)
        client = memory.store.client
        clock = memory.store.clock

    class Memory(OtherNames):
        store = Store()
        sessions = memory.sessions
        for_session = memory.for_session

    return Memory().cleanup_old_sessions()


def test_a_session_that_became_active_since_it_was_listed_is_kept(
    memory: InMemoryConversationMemory, clock: Clock
) -> None:
    memory.add_message("s", "user", "Hello")
    clock.pass_hours(48)
    assert cleanup_where(memory, lambda: memory.add_message("s", "user", "I am back")) == 0
    assert texts(memory, "s") == [("user", "Hello"), ("user", "I am back")]


@pytest.mark.parametrize(("failure", "passes"), [(StoreNotFound("gone"), True), (StoreConnectionError("down"), False)])
def test_a_session_that_went_is_passed_over_and_a_store_that_fails_is_told(
    memory: InMemoryConversationMemory, clock: Clock, failure: AgentError, passes: bool
) -> None:
    memory.add_message("s", "user", "Hello")
    clock.pass_hours(48)

    def fail() -> None:
        raise failure

    if passes:
        assert cleanup_where(memory, fail) == 0
    else:
        with pytest.raises(StoreConnectionError):
            cleanup_where(memory, fail)
    assert not erased(memory, "s")


# Ids


def test_a_new_session_id_is_of_its_time_and_of_chosen_characters() -> None:
    given = iter("abc123xyz")
    found = generate_session_id(clock=lambda: START + timedelta(milliseconds=7.9), choose=lambda _: next(given))
    assert found == "session_1772439300007_abc123xyz"
    assert (
        InMemoryConversationMemory.generate_session_id(clock=lambda: START, choose=max)
        == "session_1772439300000_zzzzzzzzz"
    )


def test_new_session_ids_are_valid_and_differ() -> None:
    found = {generate_session_id() for _ in range(100)}
    assert len(found) == 100
    assert all(re.fullmatch(r"session_[0-9]{13}_[a-z0-9]{9}", each) for each in found)
    assert all(map(is_valid_session_id, found))


@pytest.mark.parametrize(
    "session_id", ["a", "A" * 256, "会話 1", "2f1c2a7e-0000-4000-8000-000000000001", " ", "😀" * 256]
)
def test_any_string_that_a_capture_may_carry_is_a_session_id(session_id: str) -> None:
    assert is_valid_session_id(session_id)


@pytest.mark.parametrize("session_id", ["", "A" * 257, "a\0b", "\ud800", None, 5, b"a", ["a"]])
def test_what_no_capture_may_carry_is_no_session_id(session_id: Any) -> None:
    assert not is_valid_session_id(session_id)


@given(st.text(alphabet=st.characters(exclude_categories=()), max_size=300))
def test_a_valid_session_id_is_found_by_its_name(session_id: str) -> None:
    if is_valid_session_id(session_id):
        with InMemoryConversationMemory(environ={}) as memory:
            handle = memory.for_session(session_id)
            assert handle.session_id == session_id


# What leans on what


@pytest.mark.parametrize(
    "said",
    [
        "Where is my parcel?",
        Message("user", "Where is my parcel?"),
        {"role": "user", "content": "Where is my parcel?"},
        {"role": "user", "text": "Where is my parcel?"},
    ],
)
def test_a_history_is_of_messages_as_a_session_takes_them(said: object) -> None:
    assert references_earlier("Cancel the parcel.", [said]).words == ("the parcel",)
    assert not references_earlier("Cancel the order.", [said])


def test_a_message_of_parts_is_something_that_was_said() -> None:
    parts = {"role": "user", "content": [{"type": "text", "text": "Hello"}]}
    assert references_earlier("What about that one?", [parts])


@pytest.mark.parametrize("history", [[], [Message("system", "Be kind.")], [{"role": "system", "content": "Be kind."}]])
def test_before_anybody_spoke_there_is_nothing_to_lean_on(history: list[object]) -> None:
    assert not references_earlier("What about that one?", history)


def test_what_is_no_message_is_refused() -> None:
    for text, history in (("that", [object()]), (5, ["Where is my parcel?"])):
        with pytest.raises(ValidationError):
            references_earlier(text, history)


def test_the_history_of_a_session_is_one_to_lean_on(memory: InMemoryConversationMemory) -> None:
    assert not memory.references_earlier("And tomorrow?", memory.get_history("s"))
    memory.add_message("s", "user", "How is the weather?")
    assert memory.references_earlier("And tomorrow?", memory.get_history("s")).words == ("And",)


def test_the_page_is_there_for_who_reads_it() -> None:
    assert len(rows()) == 13
    assert Path(REPOSITORY, "docs", "python-aliases.md").is_file()
