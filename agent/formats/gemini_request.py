"""What a ``generateContent`` call is sent: contents, the instruction beside them, and what else it says.

The Python SDK takes more than the API does: ``contents`` may be a string or one part, and strings and parts may stand
in the list, of which those next to each other are one content, the calls among them one of the model's. Such a content
has no role. Its first turn says in ``metadata.native`` how it came: ``as``, one of ``text``, ``part`` (instead of a
list), ``items`` (in the list) and ``list`` (a list in the list), and ``strings``, the places of the parts that came as
strings.

Source: google-genai, ``_transformers.t_contents``; the Gemini API reference, ``models.generateContent``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from agent.errors import MAX_PROBLEMS, Problem
from agent.formats.common_fields import POSTED
from agent.formats.conversation.message import Message
from agent.formats.gemini_native import messages_of
from agent.formats.gemini_pairs import OpenCalls
from agent.formats.gemini_parts import CAMEL, ROLES, Turn, member, read_content

SYSTEM: Final = "system"
_PARTS: Final = (
    *("text", "functionCall", "functionResponse", "inlineData", "fileData", "executableCode", "codeExecutionResult"),
    *("toolCall", "toolResponse", "thoughtSignature"),
)
_CONTENT_FIELDS: Final = frozenset({"role", "parts"})
_NOT_KEPT: Final = POSTED | {"contents", "systemInstruction", "system_instruction"}
# What no other API than this calls so; strings and parts in ``contents`` alone are too much like anything else.
_SIGNS: Final = ("generationConfig", "safetySettings", "systemInstruction", "toolConfig", "cachedContent")
_PART_PATH: Final = re.compile(r"\.parts\[([0-9]+)\](.*)", re.DOTALL)
_CAME: Final = ("text", "part", "items", "list")
_MODELS: Final = ("gemini", "gemma")


class Sent(NamedTuple):
    """A content of a request: where it stands, its place in the list, and what its first turn keeps of how it came."""

    content: Any
    path: str
    place: str
    came: Mapping[str, Any]


def is_request(document: Any, *, is_sure: bool = False) -> bool:
    """Contents; and what the Python SDK takes for such where something else shows it (``is_sure``: it is known)."""
    if not isinstance(document, dict):
        return False
    contents = document.get("contents")
    listed = contents if isinstance(contents, list) else [contents]
    objects = [content for content in listed if isinstance(content, dict)]
    if objects and all(_is_content(content) for content in objects):
        return True
    is_known = is_sure or _has_sign(document)
    return bool(listed) and is_known and all(_is_bare(each) or _is_content(each) for each in listed)


def is_chat(document: Any) -> bool:
    """A list of contents alone: nothing but parts that are none of another format's, and at least one with a role."""
    if not isinstance(document, list) or not document:
        return False
    plain = all(isinstance(each, dict) and each.keys() <= _CONTENT_FIELDS and _is_content(each) for each in document)
    return plain and any(each.get("role") for each in document) and all(map(_has_known_parts, document))


def _is_content(content: Any) -> bool:
    if not isinstance(content, dict):
        return False
    role, parts = content.get("role"), content.get("parts")
    if not (role is None or role == "" or (isinstance(role, str) and role in ROLES)):
        return False
    return isinstance(parts, list) and not any(isinstance(part, dict) and "type" in part for part in parts)


def _has_known_parts(content: Mapping[str, Any]) -> bool:
    return all(isinstance(part, dict) and _is_part(part) for part in content["parts"])


def _is_part(value: Mapping[str, Any]) -> bool:
    return any(member(value, name) is not None for name in _PARTS)


def _is_bare(value: Any) -> bool:
    """A string or a part where a content is expected, or a list of such."""
    return bool(value) and all(map(_is_single, value)) if isinstance(value, list) else _is_single(value)


def _is_single(value: Any) -> bool:
    return isinstance(value, str) or (
        isinstance(value, dict) and _CONTENT_FIELDS.isdisjoint(value) and "type" not in value and _is_part(value)
    )


def _has_sign(document: Mapping[str, Any]) -> bool:
    model = document.get("model")
    named = isinstance(model, str) and any(each in model.lower() for each in _MODELS)
    # The last is how our own writer begins.
    return named or any(member(document, name) is not None for name in _SIGNS) or "session_id" in document


def options_of(requests: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """What requests say beside their contents (model, tools, configuration), the later ones' word."""
    options: dict[str, Any] = {}
    for request in requests:
        options |= {name: value for name, value in request.items() if name not in _NOT_KEPT}
    return options


def request_messages(body: Mapping[str, Any], path: str, problems: list[Problem]) -> list[Message]:
    """The messages of a request whose contents stand at ``path``."""
    messages = list(instructions(body, path.removesuffix(".contents"), problems))
    calls = OpenCalls()
    for sent in sent_contents(body, path, problems):
        messages += read_messages(sent, calls, problems)
        if len(problems) >= MAX_PROBLEMS:
            break
    return messages


def sent_contents(body: Mapping[str, Any], path: str, problems: list[Problem]) -> list[Sent]:
    """The contents of a request, that stand at ``path``; none where there are none, with the problem."""
    contents = body.get("contents")
    if isinstance(contents, list):
        if not contents:
            problems.append(Problem(path, "minItems"))
        return list(_listed(contents, path))
    if isinstance(contents, str):
        return [Sent({"parts": [{"text": contents}]}, path, "0", {"as": "text"})]
    if isinstance(contents, dict):
        is_part = _is_bare(contents)
        return [Sent({"parts": [contents]} if is_part else contents, path, "0", {"as": "part"} if is_part else {})]
    problems.append(Problem(path, "required" if "contents" not in body else "type"))
    return []


def _listed(contents: list[Any], path: str) -> Iterator[Sent]:
    run: list[Any] = []
    for index, each in enumerate(contents):
        if run and not (_is_single(each) and _is_call(each) == _is_call(run[-1])):
            yield _together(run, f"{path}[{index - len(run)}]", str(index - len(run)), "items")
            run = []
        if _is_single(each):
            run.append(each)
        elif isinstance(each, list) and _is_bare(each):
            yield _together(each, f"{path}[{index}]", str(index), "list")
        else:
            yield Sent(each, f"{path}[{index}]", str(index), {})
    if run:
        place = len(contents) - len(run)
        yield _together(run, f"{path}[{place}]", str(place), "items")


def _is_call(value: Any) -> bool:
    """Whether a string or a part is a call, which the SDK takes for the model's."""
    return isinstance(value, dict) and member(value, "functionCall") is not None


def _together(items: list[Any], path: str, place: str, came: str) -> Sent:
    parts = [{"text": each} if isinstance(each, str) else each for each in items]
    strings = [number for number, each in enumerate(items) if isinstance(each, str)]
    return Sent({"parts": parts}, path, place, {"as": came, **({"strings": strings} if strings else {})})


class Contents:
    """Contents while they are written, each as it came where that says the same."""

    def __init__(self) -> None:
        self._listed: list[Any] = []
        self._count = 0
        # Instead of the list, where nothing else is in it.
        self._alone: Any = None
        # Whether the last content is strings and parts in the list, and these calls: what goes on there would join it.
        self._open: bool | None = None

    def add(self, content: dict[str, Any], native: Mapping[str, Any] | None) -> None:
        """Append ``content``, whose first turn has kept ``native``; None where it is made anew."""
        self._count += 1
        came = None if native is None else native.get("as")
        items = None if native is None else _items(content, native)
        is_open = None if items is None or came == "list" else _is_call(items[-1])
        if items is None or (is_open is not None and is_open == self._open):
            self._listed.append(content)
            self._open = None
            return
        self._listed.extend([items] if is_open is None else items)
        self._open = is_open
        self._alone = items[0] if came in ("text", "part") and len(items) == 1 else None

    def join(self, content: Mapping[str, Any]) -> bool:
        """Put the parts of ``content`` behind those of the last content, where that is one of the same role."""
        last = self._listed[-1] if self._listed else None
        if not isinstance(last, dict) or last.get("role") != content.get("role") or not last.get("parts"):
            return False
        self._listed[-1] = {**last, "parts": [*last["parts"], *content.get("parts", ())]}
        return True

    def written(self) -> Any:
        """The contents as they go into a request."""
        return self._listed if self._alone is None or self._count > 1 else self._alone


def _items(content: Mapping[str, Any], native: Mapping[str, Any]) -> list[Any] | None:
    """What ``content`` came as, item by item; None where it came as it is, or cannot be that any more."""
    came, parts, strings = native.get("as"), content.get("parts"), native.get("strings", [])
    if came not in _CAME or content.keys() != {"parts"} or not isinstance(parts, list) or not parts:
        return None
    if not isinstance(strings, list) or not all(type(each) is int for each in strings):
        return None
    places = {0} if came == "text" else set(strings)
    items = [
        part["text"] if place in places and part.keys() == {"text"} else part
        for place, part in enumerate(parts)
        if isinstance(part, dict)
    ]
    is_one_run = len({_is_call(item) for item in items}) == 1 or came == "list"
    return items if is_one_run and len(items) == len(parts) and all(map(_is_single, items)) else None


def instructions(body: Mapping[str, Any], path: str, problems: list[Problem]) -> Iterator[Message]:
    """The instruction beside the contents of a request at ``path``, where there is one."""
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


def read_messages(sent: Sent, calls: OpenCalls, problems: list[Problem], *, default: str = "user") -> list[Message]:
    """The messages of a content, the first at its place; none where it is refused."""
    if not isinstance(sent.content, dict):
        problems.append(Problem(sent.path, "type"))
        return []
    found = len(problems)
    turns = turns_of(sent, problems, default=default)
    if len(problems) > found:
        return []
    return as_sent(messages_of(calls.add(turns), sent.content, sent.place, CAMEL), sent)


def turns_of(sent: Sent, problems: list[Problem], *, default: str = "user") -> list[Turn]:
    """The turns of a content that is an object. Appends to ``problems``; then the answer does not count."""
    own: list[Problem] = []
    turns = read_content(sent.content, sent.path, default, own)
    problems += [Problem(_as_it_came(problem.path, sent), problem.rule) for problem in own]
    return turns


def _as_it_came(path: str, sent: Sent) -> str:
    """``path`` within a content, where its parts did not come in one."""
    part = _PART_PATH.match(path.removeprefix(sent.path))
    if part is None or "as" not in sent.came:
        return path
    place, rest = int(part[1]), part[2]
    if sent.came["as"] == "part":
        return sent.path + rest
    if sent.came["as"] == "list":
        return f"{sent.path}[{place}]{rest}"
    return f"{sent.path.rpartition('[')[0]}[{int(sent.place) + place}]{rest}"


def as_sent(messages: list[Message], sent: Sent) -> list[Message]:
    """``messages`` of a content with what they keep of how and where it came."""
    if sent.came and messages:
        messages = [messages[0]._replace(native={**(messages[0].native or {}), **sent.came}), *messages[1:]]
    return [_in_contents(message) for message in messages]


def _in_contents(message: Message) -> Message:
    # The first of the system's turns goes out as the instruction beside the contents, unless it did not come as that.
    return message if message.role != SYSTEM else message._replace(native={**(message.native or {}), "in": "contents"})
