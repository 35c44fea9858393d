"""Every read and erasure of the client against the store's own server, in process."""

import json
import uuid
from collections.abc import Iterator

import httpx
import pytest

from agent.bootstrap import new_id, utc_now
from agent.errors import StoreNotFound, StoreWriteError
from agent.ruvector.client import MAX_READ_BYTES, RuvectorClient
from agent.ruvector.embedded import EmbeddedTransport
from agent.ruvector.reads import segment
from store.server import create_app
from store.urls import open_store
from tests.ruvector.fakes import BASE, store_client
from tests.store.surface import envelope

USER = "ann/lee? ü"
CONVERSATION = "b7a1e0d4-5c39-4e82-8f16-2d7c9b0a4e13"


def turn(content: str, role: str = "user") -> dict[str, object]:
    return {"turn_id": str(uuid.uuid4()), "role": role, "content": content, "timestamp": "2026-03-02T08:15:00Z"}


class Conversations:
    """A client on a store of its own, and sessions to put there."""

    def __init__(self) -> None:
        store = open_store("sqlite:///:memory:")
        transport = EmbeddedTransport(create_app(store, clock=utc_now, new_id=new_id), close_store=store.close)
        self.client = RuvectorClient(transport, base_url="http://embedded.invalid", api_key=None, kind="embedded")

    def capture(self, *turns: dict[str, object], session: str | None = None, user: str = USER, tag: str = "t") -> str:
        """Append a capture of ``turns``; the session's id."""
        session = session or str(uuid.uuid4())
        context = {"user_id": user, "agent_id": "helper", "tags": [tag]}
        payload = {"session_id": session, "conversation_id": CONVERSATION, "turns": turns, "context": context}
        body = envelope(payload, execution_ref=str(uuid.uuid4()))
        self.client.append(json.dumps(body).encode(), idempotency_key=body["payload"]["inputs_hash"])
        return session


@pytest.fixture
def conversations() -> Iterator[Conversations]:
    opened = Conversations()
    yield opened
    opened.client.close()


def test_the_feed_is_followed_to_its_end_and_on(conversations):
    reads = conversations.client.reads
    for number in range(3):
        conversations.capture(turn(f"hello {number}"))
    first = reads.feed(limit=2)
    second = reads.feed(first.next_cursor, limit=2)
    end = reads.feed(second.next_cursor, limit=2)
    assert [event.position for event in (*first.events, *second.events)] == [1, 2, 3]
    assert (end.events, end.is_open) == ((), False)
    conversations.capture(turn("later"))
    [later] = reads.feed(end.next_cursor).events
    assert (later.position, later.type) == (4, "conversation_capture")
    # An event that is fed can be appended as it is, and is known.
    assert conversations.client.append(later.text, idempotency_key=later.key).duplicate
    assert reads.feed(types=("plan_approved",)).events == ()


def test_one_event_and_lists_of_them_are_read(conversations):
    session = conversations.capture(turn("one"))
    conversations.capture(turn("two"))
    reads = conversations.client.reads
    [newest] = reads.events(limit=1, order="desc").events
    assert newest.position == 2
    assert reads.event(newest.run_id) == newest
    [event] = reads.events(
        session_id=session, agent_id="conversation-memory-agent", until="9999-01-01T00:00:00Z"
    ).events
    assert event.payload["inputs"]["session_id"] == session
    assert reads.events(since="9999-01-01T00:00:00Z").events == ()


def test_sessions_are_listed_by_what_they_hold(conversations):
    reads = conversations.client.reads
    older = conversations.capture(turn("the blue whale"), tag="a")
    newer = conversations.capture(turn("a red fox"), turn("which?", "assistant"), user="bob", tag="b")
    page = reads.sessions(limit=1, total=True)
    assert ([row.session_id for row in page.sessions], page.total) == ([newer], 2)
    rest = reads.sessions(cursor=page.next_cursor)
    assert ([row.session_id for row in rest.sessions], rest.next_cursor) == ([older], None)
    assert [row.session_id for row in reads.sessions(offset=1).sessions] == [older]
    for found in (
        reads.sessions(user_id=USER),
        reads.sessions(tag="a"),
        reads.sessions(q="whale"),
        reads.sessions(agent_id="helper", conversation_id=CONVERSATION, user_id=USER, since="2000-01-01T00:00:00Z"),
    ):
        assert [row.session_id for row in found.sessions] == [older]
    row = reads.session(newer)
    assert row == page.sessions[0]
    assert (row.turn_count, row.first_user_content, row.users, row.tags, row.agents) == (
        2,
        "a red fox",
        ("bob",),
        ("b",),
        ("helper",),
    )
    assert row.version == 2


def test_turns_are_read_between_bounds(conversations):
    turns = [turn(str(number)) for number in range(4)]
    session = conversations.capture(*turns)
    reads = conversations.client.reads
    assert [each.seq for each in reads.turns(session, last=2).turns] == [3, 4]
    assert [each.content for each in reads.turns(session, after_seq=1, before_seq=4).turns] == ["1", "2"]
    assert reads.turns(session, changed_after=1).turns == ()


def test_what_a_tenant_has_is_counted(conversations):
    conversations.capture(turn("one"), turn("two", "assistant"))
    stats = conversations.client.reads.stats()
    assert (stats.sessions, stats.turns, stats.events) == (1, 2, 1)
    assert stats.bytes > 0


def test_a_session_is_erased_with_a_receipt_and_a_row_of_the_audit(conversations):
    session = conversations.capture(turn("secret"), turn("sure", "assistant"))
    client = conversations.client
    receipt = client.erasure.session(session)
    assert (receipt.kind, receipt.sessions, receipt.turns, receipt.events) == ("session", 1, 2, 1)
    assert (receipt.position, receipt.key_name, receipt.files) == (2, "embedded", "rewritten")
    assert {each.erased for each in client.turns(session).turns} == {True}
    [entry] = client.reads.audit(limit=1).audit
    assert (entry.subject, entry.key_name, entry.at) == (session, "embedded", receipt.at)
    again = client.erasure.session(session)
    assert (again.turns, again.events) == (0, 0)
    page = client.reads.audit(limit=1)
    assert page.next_after == entry.id
    assert client.reads.audit(after=entry.id).next_after is None


def test_a_turn_is_erased_alone(conversations):
    first, second = turn("secret"), turn("sure", "assistant")
    session = conversations.capture(first, second)
    receipt = conversations.client.erasure.turn(str(first["turn_id"]))
    assert (receipt.kind, receipt.turns) == ("turn", 1)
    assert [each.erased for each in conversations.client.turns(session).turns] == [True, False]


def test_a_user_of_any_name_is_exported_and_erased(conversations):
    conversations.capture(turn("mine"))
    conversations.capture(turn("another's"), user="bob")
    erasure = conversations.client.erasure
    document = json.loads(erasure.export_user(USER))
    assert "mine" in json.dumps(document)
    assert "another's" not in json.dumps(document)
    receipt = erasure.user(USER)
    assert (receipt.kind, receipt.turns, receipt.events) == ("user", 1, 1)
    assert erasure.user("bob").turns == 1


NOWHERE = "6ba7b810-9dad-11d1-80b4-00c04fd430c8"
READS = {
    "session": lambda client: client.reads.session(NOWHERE),
    "turns": lambda client: client.reads.turns(NOWHERE),
    "event": lambda client: client.reads.event(NOWHERE),
    "erase session": lambda client: client.erasure.session(NOWHERE),
    "erase turn": lambda client: client.erasure.turn(NOWHERE),
    "erase user": lambda client: client.erasure.user("nobody"),
    "export": lambda client: client.erasure.export_user("nobody"),
}


@pytest.mark.parametrize("read", READS.values(), ids=READS)
def test_what_is_not_there_is_not_found(conversations, read):
    with pytest.raises(StoreNotFound):
        read(conversations.client)


@pytest.mark.parametrize("name", ["", ".", "..", "half \ud800"])
def test_a_name_that_no_address_holds_is_not_found(name):
    with pytest.raises(StoreNotFound):
        segment(name)


def test_an_erasure_is_repeated_after_a_lost_answer_unless_writes_are_at_most_once(store, waits):
    receipt = {
        "status": "erased", "kind": "user", "position": 3, "sessions": 0, "turns": 0, "events": 0,
        "at": "2026-03-02T08:15:00Z", "key_name": "acme-1", "files": "pending",
    }  # fmt: skip
    route = store.delete(f"{BASE}/v1/users/ann%2Flee")
    route.side_effect = [httpx.ReadError, httpx.Response(200, json=receipt)]
    transport = httpx.MockTransport(store.handler)
    assert store_client(BASE, waits, transport=transport).erasure.user("ann/lee").files == "pending"
    route.side_effect = [httpx.ReadError]
    with pytest.raises(Exception, match="could not be reached"):
        store_client(BASE, waits, transport=transport, at_most_once=True).erasure.user("ann/lee")


@pytest.mark.parametrize(
    "read",
    [
        lambda client: client.reads.stats(),
        lambda client: client.reads.sessions(),
        lambda client: client.reads.audit(),
        lambda client: client.erasure.user("u"),
        lambda client: client.erasure.export_user("u"),
    ],
)
def test_an_answer_that_is_longer_than_is_taken_is_an_error(waits, read):
    def application(environ, start_response):
        start_response("200 OK", [])
        return [b" " * (MAX_READ_BYTES + 1)]

    client = store_client(BASE, waits, transport=EmbeddedTransport(application, close_store=lambda: None))
    with pytest.raises(StoreWriteError) as caught:
        read(client)
    assert caught.value.upstream_status == 200
