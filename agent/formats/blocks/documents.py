"""Documents of a provider that speaks in blocks: request bodies, answers alone, and recorded calls.

What a request says beside its messages is kept with the conversation; of a recording of several calls it is counted,
since each call has its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from agent.errors import MAX_PROBLEMS, Problem, ValidationError
from agent.formats.blocks.message import Dialect, read_message, read_system
from agent.formats.common_fields import POSTED, refusal_of
from agent.formats.conversation.message import Conversation, Ignored, Message
from agent.formats.conversation.model_calls import ModelCall, lines_of
from agent.formats.conversation.recording import Recorded
from agent.formats.conversation.usage import token_usage
from agent.formats.end_user import context_of, end_user


class Answer(NamedTuple):
    """What a call came back with: its message, and what the answer says ``beside`` it."""

    message: Mapping[str, Any]
    beside: Mapping[str, Any]
    model: str | None
    usage: Mapping[str, int] | None


def usage_with_caches(
    usage: Any, sent: Sequence[str], answered: str, total: str | None = None
) -> dict[str, int] | None:
    """Token counts of an answer from the members of ``usage`` with these names.

    ``sent`` are counts that make what was sent: the first is always there, the others, of what was read from a cache
    or written to one, may be missing.
    """
    if not isinstance(usage, dict):
        return None
    counts: list[Any] = [usage.get(name) for name in sent]
    counts[1:] = [0 if count is None else count for count in counts[1:]]
    if not all(isinstance(count, int) and not isinstance(count, bool) and count >= 0 for count in counts):
        return None
    sums = {"sent": sum(counts), "answered": usage.get(answered), "total": None if total is None else usage.get(total)}
    return token_usage(sums, "sent", "answered", "total")


@dataclass(frozen=True, slots=True)
class Provider:
    """``request_of`` is the request body of a call that is this provider's, None of another's; ``answer_of`` what it
    came back with, None where it failed. ``model`` is the member of a request that names the model.
    """

    dialect: Dialect
    request_of: Callable[[Recorded], Mapping[str, Any] | None]
    answer_of: Callable[[Recorded], Answer | None]
    model: str


def read_body(provider: Provider, document: Any) -> Conversation | ValidationError:
    """The conversation of a request body, or of a list of messages alone."""
    problems: list[Problem] = []
    body: Mapping[str, Any] = document if isinstance(document, dict) else {"messages": document}
    path = "$.messages" if isinstance(document, dict) else "$"
    messages = _inputs(provider.dialect, body, "$.system", path, problems)
    if problems:
        return refusal_of(problems)
    model = body.get(provider.model)
    if isinstance(model, str):
        # It is the list's (CONTRACT 3a), no message's own.
        messages = [
            message._replace(model=model, derived=["model"]) if message.role == "assistant" else message
            for message in messages
        ]
    ignored = Ignored()
    context = context_of([end_user(provider.dialect.name, body, "$", ignored)], "$", ignored)
    return Conversation(messages, context=context, native=_options(body, messages), ignored=ignored)


def read_recorded(provider: Provider, calls: Sequence[Recorded]) -> Iterator[Conversation | ValidationError]:
    """What was said in recorded calls of this provider; calls of others, and those without an answer, are counted."""
    ignored = Ignored()
    problems: list[Problem] = []
    said: list[ModelCall] = []
    options: list[tuple[str, Mapping[str, Any]]] = []
    for number, call in enumerate(calls):
        path = "$" if len(calls) == 1 else f"$.interactions[{number}]"
        request, answer = provider.request_of(call), provider.answer_of(call)
        if request is None and answer is None:
            ignored.add("calls of something else", path)
            continue
        inputs: list[Message] = []
        user = None
        if request is not None:
            at = f"{path}.request"
            inputs = _inputs(provider.dialect, request, f"{at}.system", f"{at}.messages", problems)
            options.append((at, _options(request, inputs)))
            user = end_user(provider.dialect.name, request, at, ignored)
        outputs: Sequence[Message] = ()
        if answer is None:
            ignored.add("calls without an answer", f"{path}.response")
        else:
            outputs = _outputs(provider.dialect, answer, f"{path}.response", problems)
        said.append(ModelCall(inputs, outputs, user))
    if problems:
        yield refusal_of(problems)
        return
    is_one = len(said) == 1
    for path, found in options:
        if found and not is_one:
            ignored.add("options of calls", path)
    native = options[0][1] if is_one and options else {}
    for number, line in enumerate(lines_of(said)):
        beside = ignored if number == 0 else Ignored()
        context = context_of(line.users, "$", beside)
        yield Conversation(line.messages, number=number, leaf=line.leaf, context=context, native=native, ignored=beside)


def _inputs(
    dialect: Dialect, body: Mapping[str, Any], system_path: str, path: str, problems: list[Problem]
) -> list[Message]:
    found = read_system(dialect, body["system"], system_path, problems) if "system" in body else []
    messages = body.get("messages")
    if not isinstance(messages, list):
        problems.append(Problem(path, "type" if "messages" in body else "required"))
        return []
    if not messages:
        problems.append(Problem(path, "minItems"))
    for index, message in enumerate(messages):
        found += read_message(dialect, message, index, f"{path}[{index}]", problems)
        if len(problems) > MAX_PROBLEMS:
            break
    return found


def _options(body: Mapping[str, Any], messages: Sequence[Message]) -> dict[str, Any]:
    has_system = any(message.place == "system" for message in messages)
    said = {"messages", "system"} if has_system else {"messages"}
    return {name: value for name, value in body.items() if name not in said and name not in POSTED}


def _outputs(dialect: Dialect, answer: Answer, path: str, problems: list[Problem]) -> list[Message]:
    """The turns of an answer. Its usage is counted once, on its first turn of the assistant."""
    turns = read_message(dialect, answer.message, 0, path, problems)
    first = next((place for place, turn in enumerate(turns) if turn.role == "assistant"), 0)
    for place, turn in enumerate(turns):
        if turn.role == "assistant":
            turns[place] = turn._replace(model=answer.model)
        if place == first:
            native = {**(turn.native or {}), "answer": dict(answer.beside)} if answer.beside else turn.native
            turns[place] = turns[place]._replace(native=native, usage=answer.usage)
    return turns
