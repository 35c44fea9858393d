"""The format ``openinference``: spans of OpenInference, and of the Vercel AI SDK, whose spans OpenInference takes over.

Messages stand in flattened attributes (``llm.input_messages.0.message.role``), those of the AI SDK as JSON in strings
(``ai.prompt.messages``). Every call repeats the history, which is read once; so do the spans around it. Written are the
attributes of one call. What is no record is counted; refused is a message of an unknown role or with a wrong type, and
then its session.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from agent.errors import ValidationError
from agent.formats.conversation.message import Conversation
from agent.formats.openinference_calls import has_messages, is_ours, own_session, read_attributes, read_records
from agent.formats.spans import listed, record_of
from agent.formats.writing import Session, Written

# How many records are looked at: ours may come after many spans of others.
_LOOKED_AT: Final = 10_000


def detect(document: Any) -> bool:
    """Spans of which one is of OpenInference or the AI SDK, one such span alone, or what ``write`` writes."""
    if isinstance(document, dict) and has_messages(document):
        return True
    records = (record_of(raw, at) for (at, raw), _ in zip(listed(document), range(_LOOKED_AT), strict=False))
    return any(record is not None and is_ours(record) for record in records)


def read(document: Any) -> Iterator[Conversation | ValidationError]:
    """The conversations of ``document``, by session; a session with a message that cannot be read is an error."""
    is_attributes = isinstance(document, dict) and has_messages(document)
    yield from read_attributes(document) if is_attributes else read_records(document)


def key(record: Any) -> str | None:
    """What the records of one group have in common: their trace, else their session; None for no record of ours.

    Two traces of one session are two groups of it, and make the same turns read together or apart.
    """
    found = [each for at, raw in listed(record) if (each := record_of(raw, at)) is not None and is_ours(each)]
    return next((each.trace_id or own_session(each) or "" for each in found), None)


def write(session: Session) -> Written:
    """The history of ``session`` as the attributes of one call."""
    from agent.formats.openinference_out import write as write_attributes  # a capture only reads

    return write_attributes(session)
