"""Documents as sessions: each conversation of a document on its own, as an import would keep it, and written again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from agent.bootstrap import capture_service_on, new_id
from agent.content.policy import FULL
from agent.core.canonical import encode
from agent.core.history import history
from agent.core.ids import conversation_uuid, session_uuid
from agent.core.turn import SessionTurn
from agent.formats import reader
from agent.formats.conversation.message import Conversation
from agent.formats.conversation.payload import Scope, payloads
from agent.formats.writing import Capture, Session
from tests.formats.chat_messages import CAPTURED_AT
from tests.formats.round_trips import check_payload, conversations
from tests.formats.sessions import memory


def captures(form: str, document: Any) -> Iterator[list[dict[str, Any]]]:
    """The captures of each conversation of ``document`` that has messages."""
    for conversation in conversations(form, document):
        if conversation.messages:
            found = list(payloads(conversation.messages, conversation, _scope(conversation), form))
            for payload in found:
                check_payload(payload)
            yield found


def _scope(conversation: Conversation) -> Scope:
    session = conversation.session_id or "a session"
    return Scope(session, conversation.conversation_id, CAPTURED_AT, number=conversation.number)


def sessions(form: str, document: Any) -> Iterator[Session]:
    """The conversations of ``document``, each as a session in a store of its own."""
    for found in captures(form, document):
        with memory() as store:
            service = capture_service_on(lambda: store.client, FULL)
            for number, payload in enumerate(found):
                service.keep_translated(payload, f"{number:064x}", execution_ref=new_id())
            yield store.session(found[0]["session_id"], conversation_uuid(found[0]["conversation_id"]))


@contextmanager
def posted(form: str, document: dict[str, Any]) -> Iterator[Session]:
    """The session that ``document`` becomes where it is posted as it is; it names its session itself."""
    with memory() as store:
        store.capture(encode(document).decode(), form)
        yield store.session(session_uuid(document["session_id"]))


def taken(form: str, document: dict[str, Any]) -> Session:
    """What ``posted`` gives, without a store: where thousands of documents are read."""
    return unstored(dict(reader(form).read(document, captured_at=CAPTURED_AT).payload))


def unstored(payload: Mapping[str, Any]) -> Session:
    """The session that one capture becomes."""
    conversation = conversation_uuid(payload["conversation_id"])
    turns: list[SessionTurn] = []
    for turn in payload["turns"]:
        before = turns[-1].turn_id if turns else None
        fields = {"parent_turn_id": before, **turn, "conversation_id": conversation, "execution_ref": "it"}
        parent, seq = fields["parent_turn_id"], len(turns) + 1
        turns.append(
            SessionTurn(turn["turn_id"], seq, conversation, parent, turn["role"], turn["content"], False, fields)
        )
    beside = {name: payload[name] for name in payload.keys() - {"session_id", "conversation_id", "turns"}}
    capture = Capture(conversation, beside, is_translated=True)
    without_parent = {turn["turn_id"] for turn in payload["turns"] if "parent_turn_id" not in turn}
    return Session(payload["session_id"], None, history(turns), tuple(turns), {"it": capture}, {}, without_parent)
