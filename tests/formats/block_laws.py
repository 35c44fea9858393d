"""The laws of the formats whose messages are lists of blocks, for one document; and documents and turns that lie."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from hypothesis import strategies as st

from agent.core.ids import conversation_uuid
from agent.core.turn import SessionTurn
from agent.formats import format_named
from agent.formats.blocks.documents import Provider
from agent.formats.conversation.message import Conversation
from agent.formats.conversation.payload import Scope, payloads
from agent.formats.conversation.recording import Recorded, recorded_calls
from agent.formats.writing import Session
from tests.formats.chat_messages import CAPTURED_AT, same_json
from tests.formats.round_trips import again, bare, check_payload, conversations, spoken, written
from tests.formats.sessions import memory
from tests.strategies import json_values


@contextmanager
def kept(form: str, conversation: Conversation) -> Iterator[Session]:
    """The session that ``conversation`` becomes in a store of its own."""
    scope = Scope("a session", None, CAPTURED_AT, number=conversation.number)
    with memory() as store:
        for payload in payloads(conversation.messages, conversation, scope, form):
            check_payload(payload)
            store.capture(payload)
        yield store.session(scope.session, conversation_uuid(scope.conversation))


def messages_of(form: str, document: Any) -> list[dict[str, Any]]:
    """All messages that stand in ``document``, sent or answered, in order; found without the reader."""
    return [message for _, messages in _calls(form, document) for message in messages]


def _calls(form: str, document: Any) -> Iterator[tuple[Any, list[dict[str, Any]]]]:
    """The instructions and the messages of each call of ``document``."""
    provider: Provider = vars(format_named(form))["PROVIDER"]
    recorded = recorded_calls(document)
    if recorded is None:
        answer = provider.answer_of(Recorded(None, document, None, None))
        if answer is not None:
            recorded = (Recorded(None, document, None, None),)
    if recorded is None:
        body = document if isinstance(document, dict) else {"messages": document}
        body = body.get("input", {}).get("converse", body)
        yield body.get("system"), body["messages"]
        return
    for call in recorded:
        request, answer = provider.request_of(call), provider.answer_of(call)
        if request is not None or answer is not None:
            yield (
                (request or {}).get("system"),
                [*(request or {}).get("messages", []), *([dict(answer.message)] if answer else [])],
            )


def check_laws(form: str, document: Any, *, bare_too: bool = True) -> None:
    """What came is given back as JSON, and said again without ``metadata.native``; both can be read once more.

    ``bare_too``: the format can say all of it without.
    """
    calls = list(_calls(form, document))
    everything = [message for _, messages in calls for message in messages]
    found = conversations(form, document)
    lengths = []
    for conversation in found:
        with kept(form, conversation) as session:
            given, _ = written(form, session)
            assert all(any(same_json(one, other) for other in everything) for one in given["messages"])
            lengths.append((given.get("system"), len(given["messages"])))
            assert again(form, given) == spoken(session)
            if bare_too:
                assert again(form, written(form, bare(session))[0]) == spoken(session)
    # The last call of all is the one that its conversation ends with.
    instructions, messages = calls[-1]
    assert any(same_json(one, instructions or None) and count == len(messages) for one, count in lengths)
    if len(calls) == 1:
        assert same_json(given["messages"], messages)


def says_who(form: str, document: Any) -> bool:
    """Whether ``document`` is read, each call and result with its id, and instructions that say something."""
    found = list(format_named(form).read(document))
    read = [each for each in found if isinstance(each, Conversation)]
    named = [each for one in read for message in one.messages for each in (*message.calls, *message.results)]
    return (
        len(read) == len(found)
        and all(each.native_id is not None for each in named)
        and not any(one.native.get("system") for one in read)
    )


def edited(session: Session, before: str, after: str) -> Session:
    """``session`` with another text in one of its turns."""

    def changed(turn: SessionTurn) -> SessionTurn:
        return replace(turn, content=after) if turn.content == before else turn

    return replace(session, shown=tuple(map(changed, session.shown)), all=tuple(map(changed, session.all)))


def lied_to(form: str, document: Any, data: st.DataObject) -> None:
    """Write ``document`` with other things in ``metadata.native``: what is said has to stay."""
    (conversation,) = conversations(form, document)
    with kept(form, conversation) as session:
        before = spoken(session)
        natives = [turn.fields.get("metadata", {}).get("native", {}) for turn in session.shown]
        number = data.draw(st.integers(0, len(natives) - 1))
        lie = data.draw(st.sampled_from(natives) | json_values | mutations(natives))

        def lying(turn: SessionTurn) -> SessionTurn:
            if turn.turn_id != session.shown[number].turn_id:
                return turn
            return replace(turn, fields={**turn.fields, "metadata": {**turn.fields.get("metadata", {}), "native": lie}})

        lying_session = replace(session, shown=tuple(map(lying, session.shown)), all=tuple(map(lying, session.all)))
        assert again(form, written(form, lying_session)[0]) == before


@st.composite
def mutations(draw: st.DrawFn, documents: Sequence[Any]) -> Any:
    """One of ``documents``, with anything in the place of something in it."""
    document = copy.deepcopy(draw(st.sampled_from(documents)))
    for _ in range(draw(st.integers(1, 3))):
        places = list(_places(document))
        if not places:
            return document
        holder, key = draw(st.sampled_from(places))
        action = draw(st.sampled_from(("replace", "remove", "swap")))
        if action == "remove":
            del holder[key]
        elif action == "swap":
            other, name = draw(st.sampled_from(places))
            holder[key] = json.loads(json.dumps(other[name]))
        else:
            holder[key] = draw(json_values)
    return document


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    if isinstance(value, dict | list):
        for key in list(value) if isinstance(value, dict) else range(len(value)):
            yield value, key
            yield from _places(value[key])
