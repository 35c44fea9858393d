"""What the tests of every format share: into a store and out again, and what was said, compared."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from agent.core.pairs import named_invocations, paired_calls
from agent.core.turn import SessionTurn
from agent.errors import ValidationError
from agent.formats import format_named
from agent.formats.conversation.message import Conversation
from agent.formats.conversation.payload import Scope, payloads
from agent.formats.writing import Session, Written
from tests.formats.chat_messages import CAPTURED_AT, check_contract
from tests.formats.sessions import memory

NATIVE = ("native", "native_absent")


def conversations(form: str, document: Any) -> list[Conversation]:
    """What ``form`` reads from ``document``; it has to read all of it, and leave the document as it is."""
    before = json.dumps(document)
    found = list(format_named(form).read(document))
    assert json.dumps(document) == before
    errors = [each for each in found if isinstance(each, ValidationError)]
    assert not errors, [error.problems for error in errors]
    return [each for each in found if isinstance(each, Conversation)]


def captures(form: str, document: Any, session_id: str = "a session") -> list[dict[str, Any]]:
    """The native payloads of ``document``, each as narrow as CONTRACT 1."""
    found = []
    for conversation in conversations(form, document):
        scope = Scope(
            conversation.session_id or session_id,
            conversation.conversation_id,
            CAPTURED_AT,
            number=conversation.number,
        )
        found += payloads(conversation.messages, conversation, scope, form)
    for payload in found:
        check_payload(payload)
    return found


def check_payload(payload: dict[str, Any]) -> None:
    """``check_contract``, with what other formats than openai-chat say besides."""
    turns = [
        {
            name: value
            for name, value in turn.items()
            if name not in {"token_usage", "native_id", "native_parent_turn_id"}
        }
        for turn in payload["turns"]
    ]
    for turn in turns:
        entries = turn.get("tool_invocations", [])
        assert all(isinstance(entry.get("success", True), bool) for entry in entries)
        if entries:
            turn["tool_invocations"] = [
                {name: value for name, value in entry.items() if name != "success"} for entry in entries
            ]
    check_contract({**payload, "turns": turns})


@contextmanager
def stored(form: str, document: Any, session_id: str = "a session") -> Iterator[Session]:
    """The one session that ``document`` becomes in a store."""
    with memory() as kept:
        found = captures(form, document, session_id)
        for payload in found:
            kept.capture(payload)
        (session,) = {payload["session_id"] for payload in found}
        yield kept.session(session)


def bare(session: Session) -> Session:
    """``session`` without what readers keep of messages: only the turns' own fields are left."""

    def without(turn: SessionTurn) -> SessionTurn:
        metadata = turn.fields.get("metadata")
        if not isinstance(metadata, dict):
            return turn
        left = {name: value for name, value in metadata.items() if name not in NATIVE}
        return replace(turn, fields={**turn.fields, "metadata": left})

    return replace(session, shown=tuple(map(without, session.shown)), all=tuple(map(without, session.all)))


def written(form: str, session: Session) -> tuple[Any, Written]:
    """The one document that ``form`` writes of ``session``, and what it says of it."""
    result = format_named(form).write(session)
    (text,) = result.documents
    assert text.endswith("\n")
    assert "\n" not in text[:-1]
    return json.loads(text), result


def spoken(session: Session) -> list[dict[str, Any]]:
    """What must survive every round trip: roles, texts, calls, arguments, results, errors, ids and order."""
    pairs = paired_calls(session.all)
    told = []
    for turn in session.shown:
        calls, results = [], []
        for place, invocation_id, entry in named_invocations(turn):
            if turn.role == "tool":
                call = pairs.get(place)
                answers = (
                    entry.get("native_id", invocation_id) if call is None else (call.native_id or call.invocation_id)
                )
                results.append((answers, entry["tool_name"], entry.get("success")))
            else:
                calls.append((entry.get("native_id", invocation_id), entry["tool_name"], entry.get("arguments", ...)))
        told.append(
            {
                "role": turn.role,
                "content": turn.content,
                "native_id": turn.fields.get("native_id"),
                "calls": calls,
                "results": results,
            }
        )
    return told


def again(form: str, document: Any) -> list[dict[str, Any]]:
    """What is spoken in ``document``, read once more."""
    with stored(form, document, document["session_id"] if isinstance(document, dict) else "a session") as session:
        return spoken(session)


def lines(path: Path) -> Iterable[Any]:
    """The JSON documents of a file of lines; what is none is left out."""
    for line in path.read_text().splitlines():
        try:
            yield json.loads(line)
        except ValueError:
            continue
