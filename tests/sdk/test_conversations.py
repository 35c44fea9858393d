"""Which conversation a handle writes to: the one that is named for it, or the one with the session's newest turn."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from agent.bootstrap import new_id
from agent.core.ids import conversation_of_session, conversation_uuid, session_uuid
from agent.errors import StoreWriteError
from agent.recall.held import HeldSession
from agent.ruvector.client import RuvectorClient
from agent.sdk import ConversationMemory, Message, SessionHandle
from agent.sdk.opened_store import OpenedStore
from agent.sdk.session_name import SessionName
from tests.sdk.memories import INTENTS, events_of, inputs_of, texts, ticking

OF_ITS_OWN = conversation_of_session(session_uuid("s"))
OPENAI = {"role": "user", "content": "read as a format does", "name": "ada"}


def conversations(memory: ConversationMemory, session: SessionHandle) -> list[str]:
    return [inputs["conversation_id"] for inputs in inputs_of(memory, session)]


@pytest.mark.parametrize("message", [Message("user", "hello"), OPENAI])
def test_a_session_without_turns_begins_in_the_conversation_of_the_contract(memory: ConversationMemory, message):
    session = memory.for_session("s")
    assert session.conversation_uuid == OF_ITS_OWN
    session.append(message)
    assert session.conversation_uuid == OF_ITS_OWN
    assert conversations(memory, session) == [OF_ITS_OWN]


@pytest.mark.parametrize("message", [Message("assistant", "hello"), OPENAI])
def test_a_handle_goes_on_in_the_conversation_that_the_session_has(memory: ConversationMemory, message):
    named = memory.for_session("s", "sales")
    named.append(Message("user", "how much?"))
    session = memory.for_session("s")
    session.append(message)
    session.merge({"a": 1})
    assert session.conversation_uuid == conversation_uuid("sales")
    assert set(conversations(memory, session)) == {conversation_uuid("sales")}
    assert texts(named) == texts(session)
    assert len(session.history()) == 2
    assert named.params() == {"a": 1}
    # One path: nothing forked.
    turns = memory.store.reads.turns(session.session_uuid).turns
    assert [turn.parent_turn_id for turn in turns] == [None, *(turn.turn_id for turn in turns[:-1])]


def test_it_is_the_conversation_with_the_newest_turn(memory: ConversationMemory):
    sales, support = memory.for_session("s", "sales"), memory.for_session("s", "support")
    sales.append(Message("user", "how much?"))
    support.append(Message("user", "it broke"))
    sales.append(Message("assistant", "ten"))
    memory.for_session("s").append(Message("user", "fine"))
    assert texts(sales) == ["how much?", "ten", "fine"]
    support.merge({"ticket": 1})
    assert memory.for_session("s").conversation_uuid == support.conversation_uuid


def test_a_handle_stays_where_it_first_wrote(memory: ConversationMemory):
    session, sales = memory.for_session("s"), memory.for_session("s", "sales")
    session.append(Message("user", "one"))
    sales.append(Message("user", "how much?"))
    session.append(Message("user", "two"))
    assert conversations(memory, session) == [OF_ITS_OWN, sales.conversation_uuid, OF_ITS_OWN]
    assert session.conversation_uuid == OF_ITS_OWN


def test_a_handle_that_has_not_written_yet_is_bound_to_nothing(memory: ConversationMemory):
    session = memory.for_session("s")
    assert (texts(session), session.conversation_uuid) == ([], OF_ITS_OWN)
    memory.for_session("s", "sales").append(Message("user", "how much?"))
    session.append(Message("assistant", "ten"))
    assert texts(memory.for_session("s", "sales")) == ["how much?", "ten"]


def test_a_batch_goes_on_there_too_and_shows_it_before(memory: ConversationMemory):
    memory.for_session("s", "sales").append(Message("user", "how much?"))
    session = memory.for_session("s")
    with session.batch():
        session.append(Message("assistant", "ten"))
        session.append(Message("assistant", "at least"))
        assert {message.conversation_id for message in session.history()} == {conversation_uuid("sales")}
    assert texts(memory.for_session("s", "sales")) == ["how much?", "ten", "at least"]
    with memory.for_session("t").batch() as new:
        new.append(Message("user", "hello"))
        assert new.history()[0].conversation_id == conversation_of_session(session_uuid("t"))


def test_a_session_that_was_erased_goes_on_where_it_was(memory: ConversationMemory):
    sales = memory.for_session("s", "sales")
    sales.append(Message("user", "how much?"))
    memory.store.client.erasure.session(sales.session_uuid)
    session = memory.for_session("s")
    session.append(Message("user", "anew"))
    assert session.conversation_uuid == sales.conversation_uuid
    assert texts(session) == ["", "anew"]


class Counted:
    """The reads and the held sessions of a memory, counted."""

    def __init__(self, memory: ConversationMemory) -> None:
        self.looked, self.held = 0, 0
        self._newest, self._session = memory.store.newest_conversation, memory.store.held.session
        memory.store.newest_conversation = self.newest
        memory.store.held = self

    def newest(self, session_id: str) -> str | None:
        self.looked += 1
        return self._newest(session_id)

    def session(self, session_id: str) -> HeldSession:
        self.held += 1
        return self._session(session_id)


def test_whoever_only_writes_looks_once_and_holds_nothing(memory: ConversationMemory):
    memory.for_session("s", "sales").append(Message("user", "how much?"))
    counted = Counted(memory)
    session = memory.for_session("s")
    for number in range(5):
        session.append(Message("user", str(number)))
    memory.for_session("s", "sales").append(Message("user", "named"))
    assert (counted.looked, counted.held) == (1, 0)
    new = memory.for_session("new")
    for number in range(5):
        new.append(Message("user", str(number)))
    assert (counted.looked, counted.held) == (2, 0)


def test_clearing_empties_what_the_session_shows_and_the_conversation_that_it_is_written_to(memory: ConversationMemory):
    sales, support = memory.for_session("s", "sales"), memory.for_session("s", "support")
    sales.append(Message("user", "how much?", metadata={"memory": {"params": {"customer": 1}}}))
    support.append(Message("user", "it broke", metadata={"memory": {"params": {"ticket": 2}}}))
    session = memory.for_session("s")
    session.clear()
    assert (texts(session), session.params()) == ([], {})
    assert (texts(support), support.params()) == ([], {})
    assert (texts(sales), sales.params()) == (["how much?"], {"customer": 1})
    sales.append(Message("assistant", "ten"))
    assert texts(session) == ["ten"]
    assert texts(sales) == ["how much?", "ten"]


def test_pruning_cuts_what_the_session_shows_and_the_conversation_that_it_is_written_to(memory: ConversationMemory):
    sales, support = memory.for_session("s", "sales"), memory.for_session("s", "support")
    for number in range(3):
        sales.append(Message("user", f"sales {number}"))
        support.append(Message("user", f"support {number}"))
    session = memory.for_session("s")
    assert session.prune(2) == 4
    assert texts(session) == ["sales 2", "support 2"]
    assert texts(support) == ["support 1", "support 2"]
    assert texts(sales) == ["sales 0", "sales 1", "sales 2"]


def test_what_one_handle_writes_by_name_and_another_without_is_one_history_in_a_file(tmp_path: Path):
    for number, name in enumerate(["sales", None, "sales", None]):
        with ConversationMemory(tmp_path / "a.db", environ={}) as memory:
            memory.for_session("s", name).append(Message("user", str(number)))
    with ConversationMemory(tmp_path / "a.db", environ={}) as memory:
        assert texts(memory.for_session("s")) == texts(memory.for_session("s", "sales")) == ["0", "1", "2", "3"]
        assert len(events_of(memory, memory.for_session("s"))) == 4


class Refusing:
    """A store's client that reads nothing: each question is answered with ``status``."""

    def __init__(self, client: RuvectorClient, status: int) -> None:
        self.close, self._status = client.close, status

    def ask(self, *_: object) -> object:
        raise StoreWriteError("refused", upstream_status=self._status)


def handle_that_reads_nothing(memory: ConversationMemory, status: int) -> SessionHandle:
    """A session of the store of ``memory``."""
    client = memory.store.client
    asked = Refusing(client, status)
    opened = OpenedStore(client, asked, intents=INTENTS, clock=ticking(), new_id=new_id, process_id=os.getpid)
    return SessionHandle(opened, SessionName.of("s", None), {})


@pytest.mark.parametrize("status", [403, 405])
def test_who_may_only_write_writes_to_the_conversation_of_the_contract(memory: ConversationMemory, status: int):
    session = handle_that_reads_nothing(memory, status)
    session.append(Message("user", "hello"))
    session.append(Message("user", "again"))
    assert session.conversation_uuid == OF_ITS_OWN
    assert texts(memory.for_session("s")) == ["hello", "again"]
    with pytest.raises(StoreWriteError):
        session.history()


@pytest.mark.parametrize("status", [401, 500])
def test_a_store_that_fails_to_say_where_a_session_is_is_not_written_to(memory: ConversationMemory, status: int):
    session = handle_that_reads_nothing(memory, status)
    with pytest.raises(StoreWriteError):
        session.append(Message("user", "hello"))
    assert texts(memory.for_session("s")) == []
