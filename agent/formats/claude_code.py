"""The format ``claude-code``: the records of a Claude Code transcript, one a line in its files.

``document`` is the list of the records of one file, or of one session (``key``), or ``{records: [...]}``. A session is
one conversation, and its sidechains are conversations of their own. Lines that are no records are counted and skipped;
what is refused is only a document that is no list. Anthropic publishes no reference of the records; their messages are
those of its Messages API.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from agent.core.json_path import json_path
from agent.errors import Problem, ValidationError
from agent.formats.claude_code_transcript import Transcript, uuids_of
from agent.formats.common_fields import MAX_ID_CHARACTERS, refusal_of
from agent.formats.conversation.message import Conversation, Ignored

_MESSAGES: Final = frozenset({"user", "assistant"})


def detect(document: Any) -> bool:
    """A list in which some record is a message of a session: ``type``, ``message`` and ``sessionId``."""
    records = _records(document)
    return records is not None and any(_is_message(record) for record in records)


def key(record: Any) -> str | None:
    """The session that ``record`` belongs to; None where it belongs to none, or is no record of a transcript."""
    if not isinstance(record, dict) or not isinstance(record.get("type"), str):
        return None
    session = record.get("sessionId")
    return session if isinstance(session, str) and 0 < len(session) <= MAX_ID_CHARACTERS else None


def _is_message(record: Any) -> bool:
    return key(record) is not None and record["type"] in _MESSAGES and isinstance(record.get("message"), dict)


def _records(document: Any) -> list[Any] | None:
    records = document.get("records") if isinstance(document, dict) else document
    return records if isinstance(records, list) else None


def read(document: Any) -> Iterator[Conversation | ValidationError]:
    """The conversations of ``document``: of each session the main one and its sidechains.

    What was left out is counted with the first.
    """
    records = _records(document)
    if records is None:
        yield refusal_of([Problem("$.records" if isinstance(document, dict) else "$", "type")])
        return
    at: tuple[str | int, ...] = ("records",) if isinstance(document, dict) else ()
    ignored = Ignored()
    uuids = uuids_of(records)
    sessions: dict[str | None, Transcript] = {}
    summaries: list[tuple[Mapping[str, Any], str]] = []
    for index, record in enumerate(records):
        path = json_path((*at, index))
        if not isinstance(record, dict) or not isinstance(record.get("type"), str):
            ignored.add("junk", path)
        elif record["type"] == "summary":
            summaries.append((record, path))
        else:
            session = key(record)
            if session not in sessions:
                sessions[session] = Transcript(session, ignored, uuids)
            sessions[session].add(record, path)
    for record, path in summaries:
        leaf = record.get("leafUuid")
        told = next((each for each in sessions.values() if isinstance(leaf, str) and each.holds(leaf)), None)
        if told is None:
            ignored.add("summaries of other sessions", path)
        else:
            told.add_summary(record)
    conversations = [each for transcript in sessions.values() for each in transcript.conversations()]
    first, *others = conversations or [Conversation(())]
    yield replace(first, ignored=ignored)
    yield from others
