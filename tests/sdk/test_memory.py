"""Which store a memory is on, what a session may be called, and the list of sessions."""

from __future__ import annotations

import sqlite3
import uuid
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from agent.core.ids import conversation_of_session, conversation_uuid, session_uuid
from agent.errors import ConfigurationError, StoreConnectionError, ValidationError
from agent.sdk import ConversationMemory, InMemoryConversationMemory, Message, session_key
from tests.sdk.memories import INTENTS, in_memory, standing, texts

UUID = "3f2504e0-4f89-41d3-9a0c-0305e82c3301"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to be in, with an environment that says nothing of a store."""
    monkeypatch.chdir(tmp_path)
    for name in ("RUVECTOR_SERVICE_URL", "RUVECTOR_API_KEY", "INTENTS_CONFIG", "K_SERVICE"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


def say_hello(memory: ConversationMemory) -> list[str]:
    with memory:
        memory.for_session("s").append(Message("user", "hello"))
        return texts(memory.for_session("s"))


def test_without_a_store_it_is_the_one_of_the_environment(here: Path, monkeypatch: pytest.MonkeyPatch):
    assert say_hello(ConversationMemory()) == ["hello"]
    assert (here / "memory-graph.db").is_file()
    monkeypatch.setenv("RUVECTOR_SERVICE_URL", f"embedded:{here / 'other.db'}")
    assert say_hello(ConversationMemory()) == ["hello"]
    assert (here / "other.db").is_file()


@pytest.mark.parametrize("name", ["a.db", " spaced .db ", "http.db", "naïve.db"])
def test_a_path_is_an_embedded_store_to_the_letter(here: Path, name: str):
    assert say_hello(ConversationMemory(name)) == ["hello"]
    assert say_hello(ConversationMemory(here / name)) == ["hello", "hello"]
    assert [file.name for file in here.iterdir() if not file.name.endswith(("-wal", "-shm"))] == [name]


def test_an_address_as_everywhere_is_taken_too(here: Path):
    assert say_hello(ConversationMemory("embedded:./e.db")) == ["hello"]
    assert (here / "e.db").is_file()


def test_nothing_is_made_before_it_is_used(here: Path):
    ConversationMemory("unused.db").close()
    assert list(here.iterdir()) == []


def test_an_address_that_is_none_is_refused_by_the_variables_name(here: Path):
    for store, key, variable in (
        ("http://", None, "RUVECTOR_SERVICE_URL"),
        ("https://store.example", None, "RUVECTOR_API_KEY"),
        ("https://store.example", "line\nbreak", "RUVECTOR_API_KEY"),
        ("", None, "RUVECTOR_SERVICE_URL"),
    ):
        with pytest.raises(ConfigurationError) as caught:
            ConversationMemory(store, api_key=key)
        assert caught.value.variable == variable


def test_a_key_goes_with_an_address(here: Path):
    ConversationMemory("https://store.example", api_key="a-key-of-the-store").close()
    ConversationMemory("https://store.example", environ={"RUVECTOR_API_KEY": "a-key-of-the-store"}).close()


def test_a_path_at_which_no_store_can_be_is_refused_at_once(here: Path):
    (here / "text").write_text("no database at all, but a text that is long enough to be one" * 20)
    for path in (here / "missing" / "a.db", here / "text"):
        with pytest.raises(StoreConnectionError):
            ConversationMemory(path)


def test_a_deployed_function_has_no_disk_to_keep_a_store_on(here: Path):
    deployed = {"K_SERVICE": "recall"}
    for store in (None, "a.db"):
        with pytest.raises(ConfigurationError):
            ConversationMemory(store, environ=deployed)
    assert say_hello(InMemoryConversationMemory(environ=deployed)) == ["hello"]


def test_hints_are_those_of_the_environment_unless_they_are_given(here: Path):
    (here / "intents.yaml").write_text(
        "param_mapping:\n  order_id:\n    type: string\n    pattern: 'O-\\d{5}'\n    prompt: Which order is it?\n"
    )
    given = InMemoryConversationMemory(environ={}, intents=INTENTS)
    found = InMemoryConversationMemory(environ={"INTENTS_CONFIG": str(here / "intents.yaml")})
    none = InMemoryConversationMemory(environ={})
    for memory, params in ((given, {"order_id": "O-12345"}), (found, {"order_id": "O-12345"}), (none, {})):
        with memory:
            session = memory.for_session("s")
            session.ask("order_id", "Which?")
            assert session.answer("It is O-12345").params == params


YAML = "param_mapping:\n  order_id:\n    pattern: 'O-\\d{5}'\n"


@pytest.mark.parametrize("named", [str, Path, lambda path: SimplePath(str(path))])
def test_intents_may_be_the_path_of_their_file(here: Path, named: Callable[[Path], Any]):
    (here / "intents.yaml").write_text(YAML)
    intents = named(here / "intents.yaml")
    for memory in (
        InMemoryConversationMemory(environ={}, intents=intents),
        ConversationMemory("a.db", intents=intents),
    ):
        with memory:
            session = memory.for_session("s")
            session.ask("order_id")
            assert session.answer("It is O-12345").params == {"order_id": "O-12345"}


class SimplePath:
    """A path of somebody else's kind."""

    def __init__(self, path: str) -> None:
        self._path = path

    def __fspath__(self) -> str:
        return self._path


def test_a_file_of_intents_that_does_not_hold_is_refused_at_once(here: Path):
    (here / "wrong.yaml").write_text("param_mapping: {order_id: {pattern: '('}}\n")
    for path in ("missing.yaml", "", here, here / "wrong.yaml"):
        with pytest.raises(ConfigurationError) as caught:
            ConversationMemory("a.db", intents=path)
        assert caught.value.variable == "INTENTS_CONFIG"
    assert not (here / "a.db").exists()


@pytest.mark.parametrize("given", [{"order_id": {}}, 5, True, b"intents.yaml", (), INTENTS.hints])
def test_what_are_no_intents_is_a_type_error_at_once(given: Any):
    with pytest.raises(TypeError, match="intents must be Intents, or the path of the file that holds them"):
        InMemoryConversationMemory(environ={}, intents=given)


def test_a_memory_and_a_handle_say_what_they_are_and_not_what_the_caller_named(here: Path):
    for memory, kind in (
        (InMemoryConversationMemory(environ={}), "InMemoryConversationMemory, embedded"),
        (ConversationMemory("planted.db", environ={}), "ConversationMemory, embedded"),
        (ConversationMemory("http://127.0.0.1:9/planted", environ={}), "ConversationMemory, http"),
    ):
        session = memory.for_session("planted")
        assert repr(memory) == f"<{kind} store>"
        assert repr(session) == f"<SessionHandle {session_uuid('planted')}, {kind.split()[1]} store>"
        memory.close()
        assert "planted" not in repr(memory) + repr(session)
    assert list(here.iterdir()) == []


def test_a_memory_in_memory_leaves_nothing_and_shares_nothing(here: Path):
    with in_memory() as one, in_memory() as other:
        one.for_session("s").append(Message("user", "hello"))
        assert texts(other.for_session("s")) == []
    assert list(here.iterdir()) == []


def test_names_that_go_with_captures_are_strings():
    for name in ("agent_id", "user_id", "source_system"):
        with pytest.raises(ValidationError) as caught:
            in_memory(**{name: 5})
        assert caught.value.problems[0].path == f"$.context.{name}"
    with in_memory() as memory, pytest.raises(ValidationError):
        memory.for_session("s", user_id=5)


@pytest.mark.parametrize("name", ["chat-7", "日本語", "a b/c?d#e", "x" * 256, "..", " "])
def test_a_string_that_may_be_an_id_is_found_beside_the_uuid_that_it_becomes(memory: ConversationMemory, name: str):
    session = memory.for_session(name)
    session.append(Message("user", "hello"))
    assert (session.session_id, session.session_uuid) == (name, session_uuid(name))
    (row,) = memory.sessions()
    assert (row.session_id, row.native_session_id) == (session_uuid(name), name)
    assert texts(memory.for_session(session_uuid(name))) == ["hello"]


@pytest.mark.parametrize("name", ["", "x" * 257, "nul\0", "日" * 1000])
def test_any_other_string_is_told_apart_by_its_uuid_alone(memory: ConversationMemory, name: str):
    memory.for_session(name).append(Message("user", "hello"))
    memory.for_session(f"{name}!"[:3000]).append(Message("user", "others"))
    assert texts(memory.for_session(name)) == ["hello"]
    row = next(row for row in memory.sessions() if row.session_id == session_uuid(name))
    assert row.native_session_id is None


def test_a_uuid_is_itself_in_any_case(memory: ConversationMemory):
    memory.for_session(UUID.upper()).append(Message("user", "hello"))
    assert texts(memory.for_session(UUID)) == ["hello"]
    (row,) = memory.sessions()
    assert (row.session_id, row.native_session_id) == (UUID, None)


@pytest.mark.parametrize(("name", "rule"), [(None, "type"), (7, "type"), (b"s", "type"), ("\ud800", "surrogate")])
def test_what_is_no_string_of_characters_names_no_session(memory: ConversationMemory, name: object, rule: str):
    with pytest.raises(ValidationError) as caught:
        memory.for_session(name)
    assert [(each.path, each.rule) for each in caught.value.problems] == [("$.session_id", rule)]
    if name is not None:
        with pytest.raises(ValidationError) as caught:
            memory.for_session("s", name)
        assert [(each.path, each.rule) for each in caught.value.problems] == [("$.conversation_id", rule)]


@pytest.mark.parametrize(
    ("act", "allowed"),
    [
        (lambda memory: memory.for_session(5), "session_id must be a string"),
        (lambda memory: memory.for_session("s", user_id=5), "user_id must be a string"),
        (lambda memory: memory.for_session("s").history(0), "limit must be a whole number of at least 1"),
        (lambda memory: memory.for_session("s").prune(-1), "max_messages must be a whole number of at least 0"),
        (lambda memory: memory.for_session("s").merge([]), "params must be a mapping of names to JSON values"),
        (lambda memory: memory.for_session("s").set_waiting(""), "name must not be empty"),
        (lambda memory: memory.for_session("s").ask(5, "?"), "param must be a string"),
        (lambda memory: memory.for_session("s").update(last_result={1}), "last_result must be a JSON value"),
        (lambda memory: memory.sessions(since="x"), "since must be an RFC 3339 date-time with an offset"),
        (lambda memory: memory.sessions(q=" "), "q must have 1 to 500 characters, and not white space alone"),
        (lambda memory: memory.cleanup_old_sessions(0), "hours must be a number above 0"),
        (lambda _: session_key({}), "an interaction must name a session: by its context.session_id, or by its id"),
    ],
)
def test_a_refusal_says_what_is_allowed(memory: ConversationMemory, act: Callable[[ConversationMemory], Any], allowed):
    with pytest.raises(ValidationError) as caught:
        act(memory)
    assert caught.value.message.startswith(allowed)


def test_a_session_has_one_conversation_unless_another_is_named(memory: ConversationMemory):
    assert memory.for_session("s").conversation_uuid == conversation_of_session(session_uuid("s"))
    assert memory.for_session("s", "sales").conversation_uuid == conversation_uuid("sales")
    assert memory.for_session("s", UUID.upper()).conversation_uuid == UUID
    assert memory.for_session("s", "").conversation_uuid == conversation_uuid("")


@pytest.mark.parametrize(
    ("interaction", "key"),
    [
        ({"id": "i", "context": {"session_id": "s"}}, "s"),
        ({"id": "i", "context": {}}, "i"),
        ({"id": "i", "context": None}, "i"),
        ({"id": "i", "context": {"session_id": ""}}, "i"),
        ({"id": "i"}, "i"),
        (SimpleNamespace(id="i", context=SimpleNamespace(session_id="s")), "s"),
        (SimpleNamespace(id="i", context={"session_id": "s"}), "s"),
        (SimpleNamespace(id="i"), "i"),
    ],
)
def test_an_interaction_belongs_to_the_session_of_its_context_or_else_to_its_own(interaction, key):
    assert session_key(interaction) == key


@pytest.mark.parametrize(
    ("interaction", "rule"), [({}, "required"), (None, "required"), ({"id": ""}, "required"), ({"id": 7}, "type")]
)
def test_an_interaction_that_names_no_session_is_refused(interaction, rule):
    with pytest.raises(ValidationError) as caught:
        session_key(interaction)
    assert [each.rule for each in caught.value.problems] == [rule]


def test_sessions_come_with_the_newest_activity_first(memory: ConversationMemory):
    for name in ("a", "b", "c", "a"):
        memory.for_session(name).append(Message("user", f"said in {name}"))
    assert [row.native_session_id for row in memory.sessions()] == ["a", "c", "b"]
    assert [row.first_user_content for row in memory.sessions(limit=2)] == ["said in a", "said in c"]
    assert [row.native_session_id for row in memory.sessions(q="in b")] == ["b"]


def test_sessions_of_one_instant_come_once_each_also_when_one_is_added_on_the_way():
    # cases.md H31
    with in_memory(clock=standing) as memory:
        names = [f"s{number}" for number in range(450)]
        for name in names:
            memory.for_session(name).append(Message("user", "hello"))
        listed = memory.sessions()
        found = [next(listed).native_session_id for _ in range(3)]
        memory.for_session("added").append(Message("user", "hello"))
        found += [row.native_session_id for row in listed]
        assert sorted(set(found) - {"added"}) == sorted(names)
        assert len(found) == len(set(found))


@pytest.mark.parametrize(("limit", "rule"), [(0, "minimum"), (-1, "minimum"), ("abc", "type"), (True, "type")])
def test_a_limit_of_a_list_is_a_count_above_zero(memory: ConversationMemory, limit: object, rule: str):
    # cases.md H32
    with pytest.raises(ValidationError) as caught:
        memory.sessions(limit=limit)
    assert [(each.path, each.rule) for each in caught.value.problems] == [("$.limit", rule)]


def test_a_limit_may_be_larger_than_any_page(memory: ConversationMemory):
    memory.for_session("s").append(Message("user", "hello"))
    assert len(list(memory.sessions(limit=1_000_000))) == 1


def test_views_that_were_not_used_for_long_are_made_again(memory: ConversationMemory):
    for number in range(300):
        memory.for_session(str(number)).append(Message("user", "hello"))
        assert texts(memory.for_session(str(number))) == ["hello"]
    assert texts(memory.for_session("0")) == ["hello"]


def test_random_ids_are_what_the_caller_makes_them(here: Path):
    ids = (str(uuid.UUID(int=number)) for number in range(100))
    with in_memory(new_id=lambda: next(ids)) as memory:
        session = memory.for_session("s")
        session.append(Message("user", "hello"))
        assert session.history()[0].turn_id == str(uuid.UUID(int=0))


@pytest.mark.parametrize("store", [":memory:", "a.db"])
def test_a_memory_that_is_closed_reads_and_writes_nothing_more(here: Path, store: str):
    memory = ConversationMemory(store)
    session = memory.for_session("s")
    session.append(Message("user", "hello"))
    memory.close()
    memory.close()
    for act in (session.history, session.state, lambda: session.append(Message("user", "more")), memory.sessions):
        with pytest.raises(StoreConnectionError, match="closed"):
            act()


def test_what_is_closed_leaves_a_database_that_others_can_open(here: Path):
    say_hello(ConversationMemory("a.db"))
    with sqlite3.connect(here / "a.db") as database:
        assert database.execute("SELECT count(*) FROM sessions").fetchone() == (1,)
    database.close()
