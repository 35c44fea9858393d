"""The format ``otel-genai``: spans and log records of the OpenTelemetry GenAI conventions, of both generations.

Since 1.37 the messages stand in attributes (``gen_ai.input.messages``, ``gen_ai.output.messages``,
``gen_ai.system_instructions``), of spans or of ``gen_ai.client.inference.operation.details``; before, each message is
an event (``gen_ai.user.message`` and its like). Every call repeats the history, which is read once. Written are the
attributes of the current convention. What is no record is counted; refused is a message of an unknown role or with a
wrong type, and then its session.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from agent.errors import ValidationError
from agent.formats.conversation.message import Conversation
from agent.formats.otel_genai_calls import INPUT, INSTRUCTIONS, OUTPUT, is_ours, read_attributes, read_records
from agent.formats.spans import Record, listed, record_of
from agent.formats.writing import Session, Written

_ATTRIBUTES: Final = (INPUT, OUTPUT, INSTRUCTIONS)
# How many records are looked at: messages may come after many spans that have none.
_LOOKED_AT: Final = 10_000


def detect(document: Any) -> bool:
    """Records of which one tells of a GenAI operation, one such record alone, or what ``write`` writes."""
    if _is_attributes(document):
        return True
    records = (record_of(raw, at) for (at, raw), _ in zip(listed(document), range(_LOOKED_AT), strict=False))
    return any(record is not None and is_ours(record) for record in records)


def _is_attributes(document: Any) -> bool:
    return isinstance(document, dict) and (INPUT in document or OUTPUT in document)


def read(document: Any) -> Iterator[Conversation | ValidationError]:
    """The conversations of ``document``, by session; a session with a message that cannot be read is an error."""
    yield from read_attributes(document) if _is_attributes(document) else read_records(document)


def key(record: Any) -> str | None:
    """What the records of one group have in common: their trace, else their conversation; None for no record of ours.

    Two traces of one conversation are two groups of one session, and make the same turns read together or apart.
    """
    found = [each for at, raw in listed(record) if (each := record_of(raw, at)) is not None and is_ours(each)]
    return next((_key(each) for each in found), None)


def _key(record: Record) -> str:
    return record.trace_id or str(record.attributes.get("gen_ai.conversation.id") or "")


def write(session: Session) -> Written:
    """The history of ``session`` as message attributes of the current convention."""
    from agent.formats.otel_genai_out import write as write_attributes  # a capture only reads

    return write_attributes(session)
