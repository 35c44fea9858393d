"""Records of the GenAI conventions put together into the calls of a model that they tell of, by session.

A call is told by its span's attributes, by the event ``gen_ai.client.inference.operation.details``, or by a message
event each (``otel_genai_events``), which belong together by their span. A session is ``gen_ai.conversation.id``: of the
record, else of a span above it, else of its trace; without any, the trace. Spans of agents and of tools repeat what
calls say; those that do not are read (agents), or counted (tools).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from agent.errors import MAX_PROBLEMS, Problem, ValidationError
from agent.formats.common_fields import POSTED, as_id, refusal_of
from agent.formats.conversation.message import Conversation, Ignored, Message
from agent.formats.conversation.model_calls import ModelCall, said_key
from agent.formats.conversation.usage import token_usage
from agent.formats.end_user import FIELDS
from agent.formats.otel_genai_events import CHOICE, ROLES, body_of, message_of_event
from agent.formats.otel_genai_message import read_instructions, read_message
from agent.formats.spans import Record, attributes_record, latest, structured
from agent.formats.tool_calls import ArgumentReader
from agent.formats.traced_calls import Traced, conversations, counted, end_user_context, sessions_in, spans_above

INPUT: Final = "gen_ai.input.messages"
OUTPUT: Final = "gen_ai.output.messages"
INSTRUCTIONS: Final = "gen_ai.system_instructions"
CONVERSATION: Final = "gen_ai.conversation.id"
OPERATION: Final = "gen_ai.operation.name"
DETAILS: Final = "gen_ai.client.inference.operation.details"
# Where pydantic-ai has the whole run of an agent.
_ALL: Final = "pydantic_ai.all_messages"
_MESSAGES: Final = (INPUT, OUTPUT, _ALL)
_TOOL: Final = "execute_tool"
_AGENTS: Final = ("invoke_agent", "create_agent", "invoke_workflow")
_USAGE: Final = (
    ("gen_ai.usage.input_tokens", "gen_ai.usage.output_tokens"),
    ("gen_ai.usage.prompt_tokens", "gen_ai.usage.completion_tokens"),
)
# What a call's attributes say of the whole conversation, and of the one answer.
_BESIDE: Final = (
    "gen_ai.request.",
    "gen_ai.agent.",
    "gen_ai.tool.definitions",
    "gen_ai.provider.",
    "gen_ai.output.type",
    *(name for name, *_ in FIELDS["otel-genai"]),
)
_OF_THE_ANSWER: Final = ("gen_ai.response.", "gen_ai.usage.")
_OF_A_BODY: Final = POSTED | {"model"}
_SEVERAL: Final = "gen_ai.request.choice.count"


def is_ours(record: Record) -> bool:
    """Whether ``record`` tells of an operation of the GenAI conventions."""
    if record.event is not None and record.event in (*ROLES, DETAILS):
        return True
    names = record.attributes.keys()
    return OPERATION in names or any(name in names for name in _MESSAGES) or any(e.name in ROLES for e in record.events)


def says_messages(record: Record) -> bool:
    """Whether messages stand in ``record``."""
    events = (record.event, *(event.name for event in record.events))
    return any(name in record.attributes for name in _MESSAGES) or any(name in ROLES for name in events)


@dataclass(slots=True)
class _Call:
    """What is told of one call: raw messages with their paths."""

    record: Record
    told: list[Record] = field(default_factory=list)
    inputs: list[tuple[str, Any]] = field(default_factory=list)
    outputs: list[tuple[str, Any]] = field(default_factory=list)
    instructions: tuple[str, Any] | None = None
    by_attributes: bool = False
    whole: bool = False
    choices: bool = False

    def attribute(self, name: str) -> Any:
        return next((each.attributes[name] for each in self.told if name in each.attributes), None)

    @property
    def is_agents(self) -> bool:
        # The whole run stands in its place among the calls: it may end with results that no call was sent.
        return self.attribute(OPERATION) in _AGENTS and not self.whole


class _Read(NamedTuple):
    call: _Call
    calls: list[ModelCall]


def read_attributes(document: Mapping[str, Any]) -> Iterator[Conversation | ValidationError]:
    """The conversation of a document that is a call's attributes, without its span."""
    ignored = Ignored()
    yield from counted(_session(None, [attributes_record(document)], ignored), ignored)


def read_records(document: Any) -> Iterator[Conversation | ValidationError]:
    """The conversations of the records in ``document``, by session in the order of their first records."""
    ignored = Ignored()
    by_session = sessions_in(document, is_ours, _conversation_id, ignored)
    yield from counted(
        (each for session, some in by_session.items() for each in _session(session, some, ignored)), ignored
    )


def _conversation_id(record: Record) -> str | None:
    found = record.attributes.get(CONVERSATION)
    return as_id(found)


def _session(
    session: str | None, records: Sequence[Record], ignored: Ignored
) -> Iterator[Conversation | ValidationError]:
    problems: list[Problem] = []
    calls = _calls(records, ignored, problems)
    read = [_Read(call, _model_calls(call, problems)) for call in calls]
    if problems:
        yield refusal_of(problems[: MAX_PROBLEMS + 1])
        return
    kept = [each for each in read if not each.call.is_agents]
    said = {said_key(m) for each in kept for call in each.calls for m in (*call.inputs, *call.outputs)}
    above = spans_above(records, (each.call.record for each in kept))
    for each in read:
        if each.call.is_agents:
            messages = [m for call in each.calls for m in (*call.inputs, *call.outputs)]
            place = each.call.record.trace_id, each.call.record.span_id
            if place in above or all(said_key(m) in said for m in messages):
                ignored.add("spans that repeat others", each.call.record.path())
            else:
                kept.append(each)
    _count_tools(records, kept, ignored)
    traced = Traced(context=end_user_context("otel-genai", records, ignored))
    ends = [latest(each.call.record) for each in kept]
    if None not in ends:
        kept.sort(key=lambda each: latest(each.call.record) or 0)
    for each in kept:
        traced.calls += each.calls
        traced.started = traced.started or each.call.record.start
        _add_native(traced, each.call, ignored)
    yield from conversations(session, traced)


def _calls(records: Iterable[Record], ignored: Ignored, problems: list[Problem]) -> list[_Call]:
    """The calls that ``records`` tell of, in the order in which their first records come."""
    calls: dict[tuple[str | None, str | int | None], _Call] = {}
    anonymous: dict[str | None, _Call] = {}
    for number, record in enumerate(records):
        if record.event in ROLES and record.span_id is None:
            # Without a span an answer ends what belongs together.
            call = anonymous.get(record.trace_id)
            if call is None or (call.choices and record.event != CHOICE):
                call = anonymous[record.trace_id] = calls[record.trace_id, number] = _Call(record)
            call.choices = record.event == CHOICE
        else:
            place = record.trace_id, number if record.span_id is None else record.span_id
            call = calls.setdefault(place, _Call(record))
        if record.event is None:
            # The span says more of its call than its events do.
            call.record = record
            call.told.insert(0, record)
        else:
            call.told.append(record)
    for call in calls.values():
        _tell(call, ignored, problems)
    return [call for call in calls.values() if call.inputs or call.outputs or call.instructions]


def _tell(call: _Call, ignored: Ignored, problems: list[Problem]) -> None:
    for record in call.told:
        if any(name in record.attributes for name in (*_MESSAGES, INSTRUCTIONS)):
            if call.by_attributes:
                ignored.add("events that repeat their span", record.path())
            else:
                _by_attributes(call, record, ignored, problems)
    for record in call.told:
        events: list[tuple[str, Any, Mapping[str, Any], tuple[str | int, ...]]] = [
            (event.name, None, event.attributes, ("events", place)) for place, event in enumerate(record.events)
        ]
        if record.event is not None:
            events.append((record.event, record.body, record.attributes, ()))
        for name, body, attributes, at in events:
            if name not in ROLES:
                if name != DETAILS:
                    ignored.add("events of other kinds", record.path(*at))
            elif call.by_attributes:
                ignored.add("events that repeat their span", record.path(*at))
            else:
                message = message_of_event(name, body_of(body, attributes))
                (call.outputs if name == CHOICE else call.inputs).append((record.path(*at), message))
                call.choices = True


def _by_attributes(call: _Call, record: Record, ignored: Ignored, problems: list[Problem]) -> None:
    for name, into in ((INPUT, call.inputs), (OUTPUT, call.outputs), (_ALL, call.inputs)):
        if name not in record.attributes or (name == _ALL and (call.inputs or call.outputs)):
            continue
        value = structured(record.attributes[name])
        path = record.attribute_path(name)
        if isinstance(value, str):
            # Exporters cut long attributes.
            ignored.add("messages that are no JSON", path)
        elif not isinstance(value, list):
            problems.append(Problem(path, "type"))
        else:
            into += [(record.attribute_path(name, place), message) for place, message in enumerate(value)]
            call.by_attributes = True
            call.whole = call.whole or name == _ALL
    if INSTRUCTIONS in record.attributes:
        call.instructions = record.attribute_path(INSTRUCTIONS), structured(record.attributes[INSTRUCTIONS])
        call.by_attributes = True


def _model_calls(call: _Call, problems: list[Problem]) -> list[ModelCall]:
    arguments = ArgumentReader()
    inputs = read_instructions(call.instructions[1], call.instructions[0], problems) if call.instructions else []
    for path, message in call.inputs:
        inputs += read_message(message, path, arguments, problems)
    if inputs and inputs[0].role == "system" and call.instructions is None and not call.choices:
        # It stands in the list, and not beside it.
        inputs[0] = inputs[0]._replace(native={**(inputs[0].native or {}), "is_message": True})
    # No message says when it was sent: it was before the call, or in the run, that first tells of it.
    time = call.record.end if call.whole else call.record.start
    inputs = [message._replace(timestamp=time) for message in inputs]
    outputs = [read_message(message, path, arguments, problems) for path, message in call.outputs]
    if not any(outputs):
        return [ModelCall(inputs, ())]
    if len(outputs) > 1 and _are_choices(call):
        # The usage is the call's: counted once. The first answer comes last: the conversation went on from it.
        answers = [_answer(call, each, has_usage=place == 0) for place, each in enumerate(outputs)]
        return [ModelCall(inputs, each) for each in reversed(answers)]
    return [ModelCall(inputs, _answer(call, [message for each in outputs for message in each], has_usage=True))]


def _are_choices(call: _Call) -> bool:
    """Whether the answers stand beside each other, and not one after the other as those of an agent do."""
    messages = [message for _, message in call.outputs]
    count = call.attribute(_SEVERAL)
    ends = all(isinstance(each, dict) and "finish_reason" in each for each in messages)
    one_by_one = any(isinstance(each, dict) and each.get("role") == "tool" for each in messages)
    return not one_by_one and (call.choices or ends or (isinstance(count, int) and count > 1))


def _answer(call: _Call, messages: Sequence[Message], *, has_usage: bool) -> list[Message]:
    """``messages`` with what their records say of them: of the last one, the time and what it cost."""
    told = {name: call.attribute(name) for pair in _USAGE for name in pair}
    usage = next((found for pair in _USAGE if (found := token_usage(told, *pair)) is not None), None)
    model = call.attribute("gen_ai.response.model") or call.attribute("gen_ai.request.model")
    agent = call.attribute("gen_ai.agent.name")
    answers = [
        message._replace(
            model=model if isinstance(model, str) and model else None,
            metadata={"agent": agent} if isinstance(agent, str) and agent else None,
        )
        if message.role == "assistant"
        else message
        for message in messages
    ]
    last = next((place for place in reversed(range(len(answers))) if answers[place].role == "assistant"), None)
    if last is not None:
        record = call.told[-1] if call.record.event is not None else call.record
        native = {**(answers[last].native or {}), "span": _span_of(call, record)}
        cost = usage if has_usage else None
        answers[last] = answers[last]._replace(timestamp=record.end, usage=cost, native=native)
    return answers


def _span_of(call: _Call, record: Record) -> dict[str, Any]:
    span: dict[str, Any] = {"trace_id": record.trace_id, "span_id": record.span_id}
    for each in reversed(call.told):
        span |= {name: value for name, value in each.attributes.items() if name.startswith(_OF_THE_ANSWER)}
    return {name: value for name, value in span.items() if value is not None}


def _add_native(traced: Traced, call: _Call, ignored: Ignored) -> None:
    known = (*_MESSAGES, INSTRUCTIONS, CONVERSATION, OPERATION, "event.name")
    for record in call.told:
        found: dict[str, Any] = {}
        for name, value in record.attributes.items():
            if name in known or name.startswith(_OF_THE_ANSWER):
                continue
            if name.startswith(_BESIDE) or (not record.holder and name not in _OF_A_BODY):
                found[name] = structured(value)
            elif record.holder:
                ignored.add("attributes of other kinds", record.attribute_path(name))
        traced.add_native(found)


def _count_tools(records: Iterable[Record], kept: Iterable[_Read], ignored: Ignored) -> None:
    messages = [m for each in kept for call in each.calls for m in (*call.inputs, *call.outputs)]
    answered = {result.native_id for message in messages for result in message.results}
    told = {(r.trace_id, r.span_id) for each in kept for r in each.call.told}
    for record in records:
        if says_messages(record) or (record.trace_id, record.span_id) in told:
            continue
        if record.attributes.get(OPERATION) == _TOOL:
            named: Mapping[str, Any] = record.attributes
            call_id = named.get("gen_ai.tool.call.id", named.get("gen_ai.tool.name"))
            is_known = isinstance(call_id, str) and call_id in answered
            ignored.add("tool spans that repeat messages" if is_known else "tool spans of no message", record.path())
        else:
            ignored.add("spans without messages", record.path())
