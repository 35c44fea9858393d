"""One message of blocks, read into its turns, with nothing lost.

A result is a ``tool`` turn of its own, whoever carries it. What an assistant says before and after the result of a
server's tool are turns of their own, in order. In any other message the results come first, then what is left as one
turn. Texts of a turn are joined by a line break. Refuses roles that nobody knows and fields of the wrong type.

``metadata.native`` of a turn, all of it optional:

* ``parts``: its blocks in order. A number is the place of the block among those that the turn's own fields make
  (``makes``), ``[number, members]`` that block with these members, anything else the block as it came.
* ``at``: the places of these blocks in the message, where they are not one turn's after the other's.
* ``content``: ``text``, ``null`` or ``missing`` where the content was that and no list; ``list`` for instructions
  beside the messages that were one, where the provider writes a text.
* ``role``: the message's role, where it is not what the turn's tells.
* ``turn_of_message``: 1, 2... on the second, third turn of a message.
* ``in``: ``messages`` on instructions that stand among the messages.
* ``fields``: other members of the message, on its first turn.
* ``answer``: what an answer of the provider said beside its message, on its first turn of the assistant.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from agent.core.canonical import canonical
from agent.errors import Problem
from agent.formats.content_parts import without_binaries
from agent.formats.conversation.message import Call, Message, Result
from agent.formats.conversation.payload import call_key
from agent.formats.conversation.times import stated

ROLES: Final = {
    "user": "user",
    "human": "user",
    "assistant": "assistant",
    "model": "assistant",
    "system": "system",
    "developer": "system",
}


class Seen(NamedTuple):
    """What a block is: a call, the result of one with its text, or else what is shown of it (None: nothing)."""

    text: str | None = None
    call: Call | None = None
    result: Result | None = None


@dataclass(frozen=True, slots=True)
class Dialect:
    """How a provider spells blocks.

    ``see`` reads the block at a path and appends what is wrong with it; ``text``, ``call`` and ``results`` make one of
    a turn's fields, ``results`` all ways to write it, the usual one first. ``compact`` is a block with large binary
    data as digests. ``system_is_text``: instructions beside the messages are usually one text.
    """

    name: str
    see: Callable[[Mapping[str, Any], str, list[Problem]], Seen]
    text: Callable[[str], dict[str, Any]]
    call: Callable[[str, str, Any], dict[str, Any]]
    results: Callable[[Result, str], list[dict[str, Any]]]
    compact: Callable[[Any], Any]
    system_is_text: bool


class Demands(NamedTuple):
    """What a provider takes: patterns for a tool's name and a call's id, and whether arguments have to be an object."""

    tool_name: str
    call_id: str
    arguments_are_objects: bool


class _Source(NamedTuple):
    """A message while it is read: its role as sent and as ours, the form of its content, its blocks and what they are.

    ``usual`` is the form that a writer takes for it.
    """

    message: Mapping[str, Any]
    role: str
    form: str
    usual: str
    blocks: Sequence[Any]
    seen: Sequence[Seen]


def read_message(dialect: Dialect, message: Any, index: int, path: str, problems: list[Problem]) -> list[Message]:
    """The turns of the message at ``path``, which is ``index`` in its list; none where it is refused."""
    source = _source(dialect, message, path, problems)
    if source is None:
        return []
    return _turns(dialect, source, str(index), {"in": "messages"} if source.role == "system" else {})


def read_system(dialect: Dialect, content: Any, path: str, problems: list[Problem]) -> list[Message]:
    """The instructions that stand beside the messages, as a turn; none where they say nothing."""
    found = len(problems)
    form, blocks = _blocks({"content": content}, path, problems)
    seen = [_see(dialect, block, f"{path}[{place}]", problems) for place, block in enumerate(blocks)]
    if len(problems) > found or not any(each.text for each in seen):
        return []
    seen = [Seen(each.text) for each in seen]
    usual = "text" if dialect.system_is_text else "list"
    return _turns(dialect, _Source({"role": "system"}, "system", form, usual, blocks, seen), "system", {})


def usual_role(role: str) -> str:
    """The role of the message that carries a turn of ``role``, unless something else is said."""
    return "user" if role == "tool" else role


def makes(dialect: Dialect, role: str, content: str, calls: Sequence[Call], results: Sequence[Result]) -> list[Any]:
    """The blocks that the fields of a turn make; None in the place of one that they cannot tell exactly.

    Of a result all ways to write it, of which a message has one.
    """
    if role == "tool":
        result = results[0] if results else Result(None)
        is_exact = bool(result.native_id) and call_key(result.native_id or "") == result.native_id
        return dialect.results(result, content) if is_exact else []
    texts: list[Any] = [dialect.text(content)] if content else []
    return texts + [
        dialect.call(call.native_id, call.name, call.arguments)
        if call.native_id and call.arguments is not ... and call_key(call.native_id) == call.native_id
        else None
        for call in calls
    ]


def _source(dialect: Dialect, message: Any, path: str, problems: list[Problem]) -> _Source | None:
    if not isinstance(message, dict):
        problems.append(Problem(path, "type"))
        return None
    found = len(problems)
    role = message.get("role")
    if not (isinstance(role, str) and role in ROLES):
        rule = "required" if "role" not in message else "enum" if isinstance(role, str) else "type"
        problems.append(Problem(f"{path}.role", rule))
    form, blocks = _blocks(message, f"{path}.content", problems)
    seen = [_see(dialect, block, f"{path}.content[{place}]", problems) for place, block in enumerate(blocks)]
    if len(problems) > found:
        return None
    ours = ROLES[str(role)]
    if ours != "assistant":
        # Nobody else calls: shown, and kept as it came.
        seen = [Seen("[call]") if each.call is not None else each for each in seen]
    return _Source(message, ours, form, "list", blocks, seen)


def _blocks(message: Mapping[str, Any], path: str, problems: list[Problem]) -> tuple[str, list[Any]]:
    content = message.get("content")
    if isinstance(content, str):
        return "text", [content]
    if isinstance(content, list):
        return "list", content
    if content is not None:
        problems.append(Problem(path, "type"))
    return ("null" if "content" in message else "missing"), []


def _see(dialect: Dialect, block: Any, path: str, problems: list[Problem]) -> Seen:
    if isinstance(block, str):
        return Seen(block)
    if isinstance(block, dict):
        return dialect.see(block, path, problems)
    problems.append(Problem(path, "type"))
    return Seen()


def _turns(dialect: Dialect, source: _Source, place: str, marks: Mapping[str, Any]) -> list[Message]:
    groups = list(_segments(source.seen) if source.role == "assistant" else _results_first(source.seen))
    order = [at for group in groups for at in group]
    turns = []
    for number, group in enumerate(groups):
        turn = _said(source, group)._replace(place=f"{place}.{number}" if number else place)
        native = dict(marks)
        sent = source.message.get("role")
        if sent != usual_role(turn.role):
            native["role"] = sent
        if number:
            native["turn_of_message"] = number
        else:
            native |= _beside(source.message)
        if source.form != source.usual:
            native["content"] = source.form
        if source.form == "list":
            native |= _parts(dialect, turn, [source.blocks[at] for at in group])
        if order != sorted(order):
            native["at"] = group
        turns.append(turn._replace(native=native or None, timestamp=stated(source.message.get("timestamp"))))
    return turns


def _segments(seen: Sequence[Seen]) -> Iterator[list[int]]:
    """Each result alone, and what stands between results together."""
    open_: list[int] = []
    for at, each in enumerate(seen):
        if each.result is None:
            open_.append(at)
            continue
        if open_:
            yield open_
        yield [at]
        open_ = []
    if open_ or not seen:
        yield open_


def _results_first(seen: Sequence[Seen]) -> Iterator[list[int]]:
    """Each result alone, then what is left; where that shows nothing, it stays with the last result."""
    results = [[at] for at, each in enumerate(seen) if each.result is not None]
    left = [at for at, each in enumerate(seen) if each.result is None]
    if results and not any(seen[at].text is not None or seen[at].call is not None for at in left):
        results[-1] += left
        left = []
    yield from results
    if left or not results:
        yield left


def _said(source: _Source, group: Sequence[int]) -> Message:
    seen = [source.seen[at] for at in group]
    texts = [each.text for each in seen if each.text is not None]
    result = next((each.result for each in seen if each.result is not None), None)
    role = source.role if result is None else "tool"
    calls = [each.call for each in seen if each.call is not None]
    return Message(role, "\n".join(texts), "", calls=calls, results=() if result is None else (result,))


def _beside(message: Mapping[str, Any]) -> dict[str, Any]:
    fields = {name: without_binaries(name, value) for name, value in message.items() if name not in ("role", "content")}
    return {"fields": fields} if fields else {}


def _parts(dialect: Dialect, turn: Message, blocks: Sequence[Any]) -> dict[str, Any]:
    made = makes(dialect, turn.role, turn.content, turn.calls, turn.results)
    taken: set[int] = set()
    parts = []
    for block in blocks:
        part = _part(block, made, taken)
        parts.append(dialect.compact(block) if part is None else part)
    usual = [0] if turn.role == "tool" else list(range(len(made)))
    return {} if parts == usual else {"parts": parts}


def _part(block: Any, made: Sequence[Any], taken: set[int]) -> Any:
    """``block`` as a block of ``made`` that is not taken yet, with its other members; None where it is none.

    Its type may be another one: a call of a server's tool is a call.
    """
    if not isinstance(block, dict):
        return None
    for number, candidate in enumerate(made):
        if number in taken or candidate is None or not candidate.keys() <= block.keys():
            continue
        more = {
            name: value
            for name, value in block.items()
            if name not in candidate or (name == "type" and value != candidate[name])
        }
        if canonical({**candidate, **more}) == canonical(block):
            taken.add(number)
            return [number, more] if more else number
    return None
