"""The format ``gemini``: what ``generateContent`` is sent and answers, and recorded calls of it.

``{systemInstruction?, contents, ...}`` in the API's spelling or the Python SDK's, one content or a list, a list of
contents alone (a saved chat), a ``GenerateContentResponse``, a list of its chunks, and recorded calls
``{request, response}``. A content's turns are named by its place. Calls mostly have no ids: a response is for the next
call of its function. Several candidates are branches, of which the first goes on.

Refuses, with every path that is wrong: contents and parts that are no objects, unknown roles, wrong types.

Sources: the Gemini API reference (``models.generateContent``, ``Content``, ``Part``, ``Candidate``); google-genai.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from agent.errors import MAX_PROBLEMS, Problem, ValidationError
from agent.formats.common_fields import POSTED, refusal_of
from agent.formats.conversation.message import Conversation, Ignored, Message
from agent.formats.conversation.model_calls import Line, ModelCall, lines_of
from agent.formats.conversation.recording import Recorded, recorded_calls
from agent.formats.gemini_answer import Answer, answers_of, is_response, is_stream, joined, response_of_call
from agent.formats.gemini_native import messages_of
from agent.formats.gemini_pairs import OpenCalls
from agent.formats.gemini_parts import CAMEL, ROLES, member, read_content
from agent.formats.writing import Session, Written

SYSTEM: Final = "system"
_PARTS: Final = (
    *("text", "functionCall", "functionResponse", "inlineData", "fileData", "executableCode", "codeExecutionResult"),
    *("toolCall", "toolResponse", "thoughtSignature"),
)
_CONTENT_FIELDS: Final = frozenset({"role", "parts"})
_NOT_KEPT: Final = POSTED | {"contents", "systemInstruction", "system_instruction"}


def detect(document: Any) -> bool:
    """Contents, alone or in a request, responses, or recorded calls with either."""
    calls = recorded_calls(document)
    if calls is not None:
        return any(_is_request(call.request) or response_of_call(call) is not None for call in calls)
    return _is_request(document) or is_response(document) or is_stream(document) or _is_chat(document)


def _is_request(document: Any) -> bool:
    if not isinstance(document, dict):
        return False
    contents = document.get("contents")
    listed = [contents] if isinstance(contents, dict) else contents
    if not isinstance(listed, list):
        return False
    objects = [content for content in listed if isinstance(content, dict)]
    return bool(objects) and all(_is_content(content) for content in objects)


def _is_content(content: Mapping[str, Any]) -> bool:
    role, parts = content.get("role"), content.get("parts")
    if not (role is None or role == "" or (isinstance(role, str) and role in ROLES)):
        return False
    return isinstance(parts, list) and not any(isinstance(part, dict) and "type" in part for part in parts)


def _is_chat(document: Any) -> bool:
    """A list of contents alone: nothing but parts that are none of another format's, and at least one with a role."""
    if not isinstance(document, list) or not document:
        return False
    plain = all(isinstance(each, dict) and each.keys() <= _CONTENT_FIELDS and _is_content(each) for each in document)
    return plain and any(each.get("role") for each in document) and all(map(_has_known_parts, document))


def _has_known_parts(content: Mapping[str, Any]) -> bool:
    return all(
        isinstance(part, dict) and any(member(part, name) is not None for name in _PARTS) for part in content["parts"]
    )


def read(document: Any) -> Iterator[Conversation | ValidationError]:
    """The conversations of ``document``: one in a request or a chat, in recorded calls as many as they begin."""
    recorded = recorded_calls(document)
    if recorded is not None:
        yield from _recorded(recorded)
    elif is_stream(document):
        yield from _recorded([Recorded(None, joined(document), None, None)], "$.candidates")
    elif is_response(document) and not _is_request(document):
        yield from _recorded([Recorded(None, document, None, None)], "$.candidates")
    else:
        yield _body(document)


def _body(document: Any) -> Conversation | ValidationError:
    problems: list[Problem] = []
    body = document if isinstance(document, dict) else {"contents": document}
    path = "$.contents" if isinstance(document, dict) else "$"
    messages = _request_messages(body, path, problems)
    if problems:
        return refusal_of(problems)
    return Conversation(messages, native=_options([body]))


def _options(requests: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """What requests say beside their contents (model, tools, configuration), the later ones' word."""
    options: dict[str, Any] = {}
    for request in requests:
        options |= {name: value for name, value in request.items() if name not in _NOT_KEPT}
    return options


def _request_messages(body: Mapping[str, Any], path: str, problems: list[Problem]) -> list[Message]:
    """The messages of a request whose contents stand at ``path``."""
    contents = body.get("contents")
    listed = [contents] if isinstance(contents, dict) else contents
    beside = path.removesuffix(".contents")
    messages = list(_instruction(body, beside, problems))
    if not isinstance(listed, list):
        problems.append(Problem(path, "required" if "contents" not in body else "type"))
        return messages
    if not listed:
        problems.append(Problem(path, "minItems"))
    calls = OpenCalls()
    for index, content in enumerate(listed):
        at = path if isinstance(contents, dict) else f"{path}[{index}]"
        messages += read_messages(content, at, str(index), calls, problems)
        if len(problems) >= MAX_PROBLEMS:
            break
    return messages


class _History:
    """Reads the requests of a recording, of which each mostly sends again what the one before it sent."""

    def __init__(self) -> None:
        self._contents: list[Any] = []
        self._messages: list[Message] = []
        self._calls = OpenCalls()

    def messages(self, body: Mapping[str, Any], path: str, problems: list[Problem]) -> list[Message]:
        """What ``_request_messages`` says of ``body``."""
        contents, start = body.get("contents"), len(self._contents)
        if problems or not isinstance(contents, list) or len(contents) <= start or contents[:start] != self._contents:
            self._contents, self._messages, self._calls, start = [], [], OpenCalls(), 0
        if not isinstance(contents, list):
            return _request_messages(body, path, problems)
        for index, content in enumerate(contents[start:], start):
            self._messages += read_messages(content, f"{path}[{index}]", str(index), self._calls, problems)
            if len(problems) >= MAX_PROBLEMS:
                break
        self._contents = contents
        return [*_instruction(body, path.removesuffix(".contents"), problems), *self._messages]


def _instruction(body: Mapping[str, Any], path: str, problems: list[Problem]) -> Iterator[Message]:
    config = body.get("config")
    named = ((body, path), (config if isinstance(config, dict) else {}, f"{path}.config"))
    for holder, at in named:
        found = member(holder, "systemInstruction")
        if found is not None:
            message = instruction_of(found, f"{at}.systemInstruction", problems)
            if message is not None:
                yield message
            return


def instruction_of(value: Any, path: str, problems: list[Problem]) -> Message | None:
    """A ``systemInstruction``, a content of whatever role or a string as the Python SDK takes it; None if refused."""
    if isinstance(value, str):
        return Message(SYSTEM, value, SYSTEM, native={"is_text": True})
    if not isinstance(value, dict):
        problems.append(Problem(path, "type"))
        return None
    found = len(problems)
    turns = read_content({"role": SYSTEM, "parts": value.get("parts")}, path, SYSTEM, problems)
    if len(problems) == found and len(turns) != 1:
        problems.append(Problem(f"{path}.parts", "type"))
    if len(problems) > found:
        return None
    return messages_of([turns[0]._replace(role=SYSTEM)], value, SYSTEM, CAMEL)[0]


def read_messages(
    content: Any, path: str, place: str, calls: OpenCalls, problems: list[Problem], *, default: str = "user"
) -> list[Message]:
    """The messages of the content at ``path``, the first at ``place``; none where it is refused."""
    if not isinstance(content, dict):
        problems.append(Problem(path, "type"))
        return []
    found = len(problems)
    turns = read_content(content, path, default, problems)
    if len(problems) > found:
        return []
    return [_in_contents(message) for message in messages_of(calls.add(turns), content, place, CAMEL)]


def _in_contents(message: Message) -> Message:
    # The first of the system's turns goes out as the instruction beside the contents, unless it did not come as that.
    return message if message.role != SYSTEM else message._replace(native={**(message.native or {}), "in": "contents"})


def _recorded(calls: Sequence[Recorded], answers_at: str | None = None) -> Iterator[Conversation | ValidationError]:
    """What was said in recorded calls of this API; calls of others, and those without an answer, are counted.

    ``answers_at`` is where the candidates of a response stand that came alone.
    """
    ignored = Ignored()
    problems: list[Problem] = []
    said: list[ModelCall] = []
    requests: list[tuple[ModelCall, Mapping[str, Any]]] = []
    history = _History()
    for number, call in enumerate(calls):
        path = "$" if len(calls) == 1 else f"$.interactions[{number}]"
        sent = call.request if _is_request(call.request) else None
        response = response_of_call(call)
        if sent is None and response is None:
            ignored.add("calls of something else", path)
            continue
        inputs = [] if sent is None else history.messages(sent, f"{path}.request.contents", problems)
        answers = [] if response is None else answers_of(response)
        if not answers:
            ignored.add("calls without an answer", f"{path}.response")
        outputs = list(_answered(answers, answers_at or f"{path}.response.candidates", problems))
        said += [ModelCall(inputs, output) for output in outputs or [[]]]
        requests += [] if sent is None else [(said[-1], sent)]
    if problems:
        yield refusal_of(problems)
        return
    for number, line in enumerate(lines_of(_with_given_ids(said))):
        options = _options(sent for call, sent in requests if _begins(call, line))
        beside = ignored if number == 0 else Ignored()
        yield Conversation(line.messages, number=number, leaf=line.leaf, native=options, ignored=beside)


def _answered(answers: Sequence[Answer], path: str, problems: list[Problem]) -> Iterator[list[Message]]:
    """The messages of each candidate, the first one last: it is the one that the conversation went on from."""
    for index, answer in reversed(list(enumerate(answers))):
        # One without a content says why in the candidate (``finishReason``).
        content = {} if answer.content is None else answer.content
        messages = read_messages(content, f"{path}[{index}].content", "0", OpenCalls(), problems, default="assistant")
        yield [_of_answer(message, answer, first=place == 0) for place, message in enumerate(messages)]


def _of_answer(message: Message, answer: Answer, *, first: bool) -> Message:
    native = dict(message.native or {})
    if first:
        kept = {"candidate": answer.candidate, "response": answer.response}
        native |= {name: value for name, value in kept.items() if value}
    # Without a role it would be the user's when it is sent again.
    absent = [name for name in message.absent if name != "role"]
    fields = native.get("fields")
    if isinstance(fields, dict) and fields.get("role", "model") in (None, ""):
        native["fields"] = {name: value for name, value in fields.items() if name != "role"}
    derived = [name for name, value in (("timestamp", answer.timestamp), ("model", answer.model)) if value is not None]
    return message._replace(
        native=native or None,
        absent=absent,
        timestamp=answer.timestamp,
        model=answer.model if message.role == "assistant" else None,
        usage=answer.usage if first else None,
        derived=derived,
    )


def _with_given_ids(calls: Sequence[ModelCall]) -> list[ModelCall]:
    """``calls`` in which an answer is what a later call sent again, where only its calls were given ids.

    The API answers without ids, and clients that need some make them up before they send the history again.
    """
    known = list(calls)
    waiting: dict[int, list[int]] = {}
    for number, later in enumerate(calls):
        for start in [start for start in waiting if start < len(later.inputs)]:
            found = [place for place in waiting[start] if _is_sent_again(known[place], later)]
            for place in found:
                outputs = map(_sent_again, known[place].outputs, later.inputs[start:])
                known[place] = ModelCall(later.inputs[:start], list(outputs))
            waiting[start] = [place for place in waiting[start] if place not in found]
        if any(call.native_id == call.name for message in later.outputs for call in message.calls):
            waiting.setdefault(len(later.inputs), []).append(number)
    return known


def _is_sent_again(earlier: ModelCall, later: ModelCall) -> bool:
    start = len(earlier.inputs)
    again = later.inputs[start : start + len(earlier.outputs)]
    return (
        len(again) == len(earlier.outputs)
        and all(
            _was_given_ids(came, sent) or _is_same(came, sent)
            for came, sent in zip(earlier.outputs, again, strict=True)
        )
        and all(map(_is_same, earlier.inputs, later.inputs[:start]))
    )


def _was_given_ids(came: Message, sent: Message) -> bool:
    same = (came.role, came.content, len(came.calls)) == (sent.role, sent.content, len(sent.calls))
    return same and all(
        one._replace(native_id=None) == other._replace(native_id=None) and one.native_id in (one.name, other.native_id)
        for one, other in zip(came.calls, sent.calls, strict=True)
    )


def _is_same(one: Message, other: Message) -> bool:
    return (one.role, one.content, list(one.calls), [each.native_id for each in one.results]) == (
        other.role,
        other.content,
        list(other.calls),
        [each.native_id for each in other.results],
    )


def _sent_again(came: Message, sent: Message) -> Message:
    of_answer = {name: value for name, value in (came.native or {}).items() if name in ("candidate", "response")}
    native = {**(sent.native or {}), **of_answer}
    return sent._replace(
        native=native or None, timestamp=came.timestamp, model=came.model, usage=came.usage, derived=came.derived
    )


def _begins(call: ModelCall, line: Line) -> bool:
    return bool(call.inputs) and _is_same(call.inputs[0], line.messages[0])


def write(session: Session) -> Written:
    """The history of ``session`` as ``systemInstruction`` and ``contents``."""
    from agent.formats.gemini_out import write as write_contents  # a capture only reads

    return write_contents(session)
