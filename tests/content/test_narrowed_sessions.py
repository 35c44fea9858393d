"""Real conversations in every format go through each mode, and what is stored of them is written in every format."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest

from agent.capture.validation import validate_payload
from agent.content.narrowing import narrowed
from agent.content.policy import ContentPolicy
from agent.core.canonical import encode
from agent.core.graph import build_graph
from agent.errors import Problem, ValidationError
from agent.formats import MARKDOWN, NATIVE, READS, TEXT, WRITES, format_named
from agent.formats.writers import writer
from agent.formats.writing import RECORD_FIELDS, Session
from tests.content.found_texts import find
from tests.formats.corpus import BOTH_WAYS, OURS, documents
from tests.formats.small_sessions import SESSIONS, small_session
from tests.formats.whole_sessions import captures, unstored

MODES = ("redacted", "none")
POLICY = ContentPolicy("none", b"a key of sixteen", frozenset({"city", "text", "input", "content", "type"}))
NAMES = ("session_id", "conversation_id")
WRITERS = (*WRITES, NATIVE, MARKDOWN, TEXT)
# Short ones are words that ids and names have, too.
FEWEST_CHARACTERS = 8


@cache
def payloads(form: str) -> tuple[dict[str, Any], ...]:
    """What our copies of real conversations in ``form`` become."""
    return tuple(
        payload for _, _, document in documents(OURS, form) for pieces in captures(form, document) for payload in pieces
    )


def narrow(payload: dict[str, Any], mode: str) -> dict[str, Any]:
    return narrowed(payload, mode, POLICY, find).payload


def said(payload: dict[str, Any]) -> Iterator[str]:
    """Each line of each content that is long enough to be nothing else."""
    for turn in payload["turns"]:
        yield from (line for line in turn["content"].splitlines() if len(line) >= FEWEST_CHARACTERS)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("form", READS)
def test_a_narrowed_conversation_is_a_capture_with_the_same_graph(form: str, mode: str) -> None:
    for payload in payloads(form):
        held = narrow(payload, mode)
        validate_payload(held)
        assert build_graph(held) == build_graph(payload)
        # The second time a hash is not ours to: only the length stays.
        held = narrow(held, mode) if mode == "none" else held
        assert encode(narrow(held, mode)) == encode(held)


@pytest.mark.parametrize("form", READS)
def test_nothing_of_what_was_said_is_left_in_the_mode_none(form: str) -> None:
    for payload in payloads(form):
        held = narrow(payload, "none")
        # Names, ids and keys stay, and a text may well repeat one.
        stays = json.dumps([held, build_graph(held)], ensure_ascii=False)
        names = json.dumps(_names(payload), ensure_ascii=False)
        left = [line for line in said(payload) if json.dumps(line, ensure_ascii=False)[1:-1] in stays]
        assert [line for line in left if line not in names] == []


def _names(value: Any) -> list[str]:
    """What of a payload stays: keys, and the texts that are ids and names."""
    if isinstance(value, list):
        return [name for item in value for name in _names(item)]
    if not isinstance(value, dict):
        return []
    named = (
        "tool_name",
        "model",
        "native_id",
        "native_parent_turn_id",
        "native_session_id",
        "agent",
        "agent_id",
        "user_id",
    )
    own = [str(value[name]) for name in named if name in value]
    return [*value, *own, *(name for member in value.values() for name in _names(member))]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("form", READS)
def test_a_narrowed_conversation_is_written_in_every_format(form: str, mode: str) -> None:
    for payload in payloads(form):
        check_written(unstored(narrow(payload, mode)))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", SESSIONS)
def test_a_narrowed_small_session_is_written_in_every_format(name: str, mode: str) -> None:
    with small_session(name) as session:
        said = [
            {"turn_id": turn.turn_id, "role": turn.role, "content": turn.content}
            | {member: value for member, value in turn.fields.items() if member not in RECORD_FIELDS}
            for turn in session.all
        ]
        check_written(unstored(narrow({**dict.fromkeys(NAMES, session.session_id), "turns": said}, mode)))


def check_written(session: Session) -> None:
    for name in WRITERS:
        written = writer(name)(session)
        assert written.turns == len(session.all if name == NATIVE else session.shown)
        if name not in (MARKDOWN, TEXT):
            for document in written.documents:
                json.loads(document)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("form", READS)
def test_what_is_written_of_a_narrowed_conversation_is_read_as_well_as_that_of_the_whole(form: str, mode: str) -> None:
    for payload in payloads(form):
        for name in BOTH_WAYS:
            whole = refused(name, unstored(payload))
            assert refused(name, unstored(narrow(payload, mode))) == whole


def refused(name: str, session: Session) -> list[tuple[Problem, ...]]:
    """What the reader of a format has against what its writer writes."""
    documents = [json.loads(text) for text in writer(name)(session).documents]
    read = [each for document in documents for each in format_named(name).read(document)]
    return [tuple(each.problems) for each in read if isinstance(each, ValidationError)]
