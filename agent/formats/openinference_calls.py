"""Spans of OpenInference, and of the Vercel AI SDK, put together into the calls of a model, by session.

A session is ``session.id``: of the span, else of one above it, else of its trace; without any, the trace. A span around
calls repeats them. Where no call was traced, what went into the outermost operation and came out of it is the talk
(``input.value``, ``output.value``).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from agent.errors import MAX_PROBLEMS, Problem, ValidationError
from agent.formats import openinference_vercel as vercel
from agent.formats.common_fields import POSTED, as_id, refusal_of
from agent.formats.conversation.message import Conversation, Ignored, Message
from agent.formats.conversation.model_calls import ModelCall, said_key
from agent.formats.conversation.usage import token_usage
from agent.formats.openinference_message import grouped, read_message
from agent.formats.spans import Record, attributes_record, latest, structured
from agent.formats.tool_calls import ArgumentReader
from agent.formats.traced_calls import Traced, conversations, counted, end_user_context, sessions_in, spans_above

INPUT: Final = "llm.input_messages"
OUTPUT: Final = "llm.output_messages"
_KIND: Final = "openinference.span.kind"
_VALUES: Final = ("input.value", "output.value")
_BESIDE: Final = (
    *("llm.invocation_parameters", "llm.provider", "llm.system", "llm.tools"),
    *("agent.name", "metadata", "tag.tags", "user.id", "ai.settings.", "ai.model.", "ai.telemetry.", "ai.prompt.tools"),
    "ai.schema",
)
_OF_THE_ANSWER: Final = ("llm.token_count.", "llm.finish_reason", "ai.response.", "ai.usage.", "gen_ai.response.")
_SAID_THERE: Final = ("ai.response.text", "ai.response.object", "ai.response.toolCalls", "ai.response.reasoning")
_READ: Final = (INPUT, OUTPUT, vercel.PROMPT_MESSAGES, "session.id", "llm.model_name", _KIND, vercel.OPERATION)
_OF_A_BODY: Final = POSTED | {"model"}


class _Span(NamedTuple):
    """A span that tells of a call. ``is_around``: of an operation that makes calls, and repeats what they say."""

    record: Record
    calls: list[ModelCall]
    is_around: bool


def is_ours(record: Record) -> bool:
    """Whether ``record`` is a span of OpenInference, or of the AI SDK."""
    operation = record.attributes.get(vercel.OPERATION)
    is_vercel = isinstance(operation, str) and operation.startswith("ai.")
    return is_vercel or _KIND in record.attributes or has_messages(record.attributes)


def has_messages(attributes: Mapping[str, Any]) -> bool:
    """Whether messages stand in these attributes, flattened or not."""
    nested = attributes.get("llm")
    if isinstance(nested, dict) and ("input_messages" in nested or "output_messages" in nested):
        return True
    return any(name.startswith((INPUT, OUTPUT)) for name in attributes)


def read_attributes(document: Mapping[str, Any]) -> Iterator[Conversation | ValidationError]:
    """The conversation of a document that is a call's attributes, without its span."""
    ignored = Ignored()
    yield from counted(_session(None, [attributes_record(document)], [], ignored), ignored)


def read_records(document: Any) -> Iterator[Conversation | ValidationError]:
    """The conversations of the spans in ``document``, by session in the order of their first spans."""
    ignored = Ignored()
    by_session = sessions_in(document, is_ours, own_session, ignored)
    records = [record for some in by_session.values() for record in some]
    answers = [each for r in records if (each := vercel.answer_id(r.attributes)) is not None and not _is_around(r)]
    found = (each for session, some in by_session.items() for each in _session(session, some, answers, ignored))
    yield from counted(found, ignored)


def own_session(record: Record) -> str | None:
    """The session that a span names itself."""
    session = record.attributes.get("session.id", vercel.session_of(record.attributes))
    return as_id(session)


def _is_around(record: Record) -> bool:
    operation = record.attributes.get(vercel.OPERATION)
    if isinstance(operation, str):
        return not operation.rpartition(".")[2].startswith("do")
    return record.attributes.get(_KIND) not in ("LLM", None)


def _session(
    session: str | None, records: Sequence[Record], answers: Sequence[Any], ignored: Ignored
) -> Iterator[Conversation | ValidationError]:
    problems: list[Problem] = []
    spans = [_Span(record, _calls(record, ignored, problems), _is_around(record)) for record in records]
    if problems:
        yield refusal_of(problems[: MAX_PROBLEMS + 1])
        return
    kept = [each for each in spans if each.calls and not each.is_around]
    above = spans_above(records, (each.record for each in kept))
    said = {said_key(message) for each in kept for message in _messages(each)}
    for each in spans:
        if each.calls and each.is_around:
            place = each.record.trace_id, each.record.span_id
            is_repeated = place in above or all(said_key(message) in said for message in _messages(each))
            if is_repeated or vercel.answer_id(each.record.attributes) in answers:
                ignored.add("spans that repeat others", each.record.path())
            else:
                kept.append(each)
    if not kept:
        kept = _by_values(records)
    _count_others(spans, kept, ignored)
    ends = [latest(each.record) for each in kept]
    if None not in ends:
        kept.sort(key=lambda each: latest(each.record) or 0)
    traced = Traced(context=end_user_context("openinference", records, ignored))
    for each in kept:
        traced.calls += each.calls
        traced.started = traced.started or each.record.start
        _add_native(traced, each.record, ignored)
    yield from conversations(session, traced)


def _messages(span: _Span) -> list[Message]:
    return [message for call in span.calls for message in (*call.inputs, *call.outputs)]


def _calls(record: Record, ignored: Ignored, problems: list[Problem]) -> list[ModelCall]:
    attributes = record.attributes
    if vercel.OPERATION in attributes and not has_messages(attributes):
        sent, answered = vercel.inputs(attributes), vercel.outputs(attributes)
        name = vercel.PROMPT_MESSAGES if vercel.PROMPT_MESSAGES in attributes else vercel.PROMPT
        if not isinstance(sent, list):
            if name in attributes:
                ignored.add("messages that are no JSON", record.attribute_path(name))
            sent = []
        model, usage, time = vercel.told(attributes)
    else:
        flat = _flat(attributes)
        name = INPUT
        sent, answered = _under(flat, INPUT), _under(flat, OUTPUT)
        counts = ("llm.token_count.prompt", "llm.token_count.completion", "llm.token_count.total")
        model, usage, time = attributes.get("llm.model_name"), token_usage(flat, *counts), None
    arguments = ArgumentReader()
    inputs = _read(sent, record, name, arguments, problems)
    outputs = _read(answered, record, OUTPUT, arguments, problems)
    inputs = [message._replace(timestamp=record.start) for message in inputs]
    model = model if isinstance(model, str) and model else None
    agent = attributes.get("agent.name")
    metadata = {"agent": agent} if isinstance(agent, str) and agent else None
    span = _span_of(record)
    outputs = [
        message._replace(
            model=model,
            usage=usage if place == 0 else None,
            timestamp=record.end or time,
            metadata=metadata,
            native={**(message.native or {}), "span": span} if span else message.native,
        )
        for place, message in enumerate(outputs)
    ]
    if not outputs:
        return [ModelCall(inputs, ())] if inputs else []
    # The first answer comes last: the conversation went on from it.
    return [ModelCall(inputs, [message]) for message in reversed(outputs)]


def _read(
    messages: Iterable[Any], record: Record, name: str, arguments: ArgumentReader, problems: list[Problem]
) -> list[Message]:
    found = []
    for place, message in enumerate(messages):
        path = record.attribute_path(name, place)
        if not isinstance(message, dict):
            problems.append(Problem(path, "type"))
        elif (turn := read_message(message, path, arguments, problems)) is not None:
            found.append(turn)
    return found


def _flat(attributes: Mapping[str, Any]) -> dict[str, Any]:
    """The attributes under ``llm``, flattened, however they are nested."""
    flat: dict[str, Any] = {}
    for name, value in attributes.items():
        if name == "llm" or name.startswith("llm."):
            # Some exporters have the lists as they are, or as JSON.
            members = structured(value) if name in (INPUT, OUTPUT, "llm") else value
            flat |= dict(vercel.flat_members(name, members))
    return flat


def _under(flat: Mapping[str, Any], name: str) -> list[dict[str, Any]]:
    return [
        {key.removeprefix("message."): value for key, value in message.items()} for message in grouped(flat, f"{name}.")
    ]


def _by_values(records: Sequence[Record]) -> list[_Span]:
    """The outermost operations that say what went in and what came out."""
    telling = [record for record in records if all(isinstance(record.attributes.get(name), str) for name in _VALUES)]
    inside = {(record.trace_id, record.span_id) for record in telling if record.span_id is not None}
    parents = {(record.trace_id, record.span_id): record.parent_id for record in records}
    found = []
    for record in telling:
        at, seen = record.parent_id, set[str]()
        while at is not None and at not in seen and (record.trace_id, at) not in inside:
            seen.add(at)
            at = parents.get((record.trace_id, at))
        if at is None or at in seen:
            sent, answered = (record.attributes[name] for name in _VALUES)
            question = Message("user", sent, "0", timestamp=record.start)
            answer = Message("assistant", answered, "1", timestamp=record.end, native={"span": _span_of(record)})
            found.append(_Span(record, [ModelCall([question], [answer])], is_around=False))
    return found


def _span_of(record: Record) -> dict[str, Any]:
    found = {"trace_id": record.trace_id, "span_id": record.span_id} | {
        name: structured(value)
        for name, value in record.attributes.items()
        if name.startswith(_OF_THE_ANSWER) and name not in _SAID_THERE
    }
    return {name: value for name, value in found.items() if value is not None}


def _count_others(spans: Iterable[_Span], kept: Sequence[_Span], ignored: Ignored) -> None:
    messages = [message for each in kept for message in _messages(each)]
    answered = {result.native_id for message in messages for result in message.results}
    results = {message.content for message in messages if message.role == "tool"}
    used = {id(each.record) for each in kept}
    for each in spans:
        if each.calls or id(each.record) in used:
            continue
        attributes = each.record.attributes
        if attributes.get(_KIND) == "TOOL" or attributes.get(vercel.OPERATION) == "ai.toolCall":
            call_id = attributes.get("tool.id", attributes.get("ai.toolCall.id"))
            value = attributes.get("output.value", attributes.get("ai.toolCall.result"))
            is_known = call_id in answered if isinstance(call_id, str) else isinstance(value, str) and value in results
            kind = "tool spans that repeat messages" if is_known else "tool spans of no message"
            ignored.add(kind, each.record.path())
        else:
            ignored.add("spans without messages", each.record.path())


def _add_native(traced: Traced, record: Record, ignored: Ignored) -> None:
    found: dict[str, Any] = {}
    for name, value in record.attributes.items():
        if name == "llm" or name.startswith((*_READ, *_OF_THE_ANSWER)) or name == vercel.PROMPT:
            continue
        if name.startswith(_BESIDE) or (not record.holder and name not in _OF_A_BODY):
            found[name] = structured(value)
        elif record.holder:
            ignored.add("attributes of other kinds", record.attribute_path(name))
    traced.add_native(found)
