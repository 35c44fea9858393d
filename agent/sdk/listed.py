"""A list of messages that nobody captured, as turns: one for each message, in whatever form the messages are.

They are read as ``agent.sdk.given`` reads what is appended, and kept nowhere. A message that a format makes several
turns of (two results in one message) is one here, since it comes back whole or not at all; what makes no turn by itself
goes with the message before it. No time is made up. Refuses, by ValidationError with its place, what is no message.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, Final, NamedTuple

from agent.core.ids import conversation_uuid, session_uuid, turn_uuid
from agent.core.native import derive_ids
from agent.core.turn import SessionTurn
from agent.errors import Problem, ValidationError
from agent.formats import format_named
from agent.formats.common_fields import refusal_of
from agent.formats.conversation.message import Conversation
from agent.formats.conversation.payload import Scope, payloads
from agent.sdk.foreign import is_whole, recognised
from agent.sdk.given import is_plain, message_of, read_message
from agent.sdk.json_value import json_copy, unshared
from agent.sdk.message import A_MESSAGE, Message, ToolCall, ToolResult

# Names of what is nowhere: the same list has the same turns each time, and so the same window.
_SESSION: Final = session_uuid("a list of messages")
_CONVERSATION: Final = conversation_uuid("a list of messages")
# For readers that want a time where there is none; it is taken away again.
_NO_TIME: Final = "1970-01-01T00:00:00Z"
# What a message of several turns is: who has to stay with a call comes first.
_FIRST_OF: Final = ("tool", "system", "user", "assistant")
# What a message becomes that no reader makes a turn of, where none stands before it.
_NOTHING: Final[Mapping[str, Any]] = {"role": "assistant", "content": ""}
# Where a reader's path into a list begins.
_PLACE: Final = re.compile(r"\$\[(\d+)\]")


class Listed(NamedTuple):
    """``turns`` of a list: turn ``n`` is of the messages at ``places[n]``, and is made of ``parts[n]``.

    ``form`` is the format that some came in, ``forms`` that of each part, by its id; ours are of none.
    """

    given: tuple[object, ...]
    turns: tuple[SessionTurn, ...]
    places: tuple[range, ...]
    parts: tuple[tuple[SessionTurn, ...], ...]
    form: str | None
    forms: Mapping[str, str]

    def parted(self, window: Sequence[SessionTurn]) -> list[SessionTurn]:
        """``window``, cut from ``turns``, as what a format is written from: a turn that is whole as its parts."""
        parts = {turn.turn_id: (turn, parts) for turn, parts in zip(self.turns, self.parts, strict=True)}
        found: list[SessionTurn] = []
        for turn in window:
            whole, made = parts.get(turn.turn_id, (None, ()))
            found += made if whole is turn else (turn,)
        return found


def listed(messages: Iterable[object]) -> Listed:
    """``messages`` as turns."""
    if isinstance(messages, Message | Mapping | str | bytes) or not isinstance(messages, Iterable):
        raise ValidationError("messages must be a list of messages", [Problem("$.messages", "type")])
    given = tuple(messages)
    read = [_read(message, place) for place, message in enumerate(given)]
    parts: list[list[Mapping[str, Any]]] = []
    came_in: list[str | None] = []
    for is_ours, run in groupby(read, key=lambda each: isinstance(each, Message)):
        if is_ours:
            parts += [[turn] for turn in _ours(list(run), len(parts))]
            came_in += [None] * (len(parts) - len(came_in))
            continue
        for form, found in _foreign(list(run), len(parts)):
            parts += found
            came_in += [form] * len(found)
    places = tuple(_places(read, parts))
    turns: list[SessionTurn] = []
    made_of: list[tuple[SessionTurn, ...]] = []
    forms: dict[str, str] = {}
    for number, part in enumerate(places):
        made = [turn for place in part for turn in parts[place]] or [_NOTHING]
        turns.append(_turn(made, f"{number}", turns))
        apart = [turns[-1]] if len(made) == 1 else []
        for each in made if len(made) > 1 else ():
            apart.append(_turn([each], f"{number}.{len(apart)}", apart or turns[:-1]))
        made_of.append(tuple(apart))
        form = came_in[part.start]
        if form is not None:
            forms |= {turn.turn_id: form for turn in (turns[-1], *apart)}
    first = next((form for form in came_in if form is not None), None)
    return Listed(given, tuple(turns), places, tuple(made_of), first, forms)


def _read(message: object, place: int) -> Any:
    try:
        found = read_message(message)
        return found if isinstance(found, Message) or is_plain(found) else json_copy(found)
    except ValidationError as error:
        problems = [Problem(f"$.messages[{place}]{each.path[1:]}", each.rule) for each in error.problems]
        raise ValidationError(f"messages[{place}] is no message: {A_MESSAGE}", problems) from None


def _ours(messages: Sequence[Message], first: int) -> list[Mapping[str, Any]]:
    """The turns of messages of ours, of which the list has ``first`` before."""
    turns = [_said(message, f"{first + number}") for number, message in enumerate(messages)]
    payload = {"session_id": _SESSION, "conversation_id": _CONVERSATION, "turns": turns}
    derived: list[Mapping[str, Any]] = derive_ids(payload)["turns"]
    return derived


def _said(message: Message, name: str) -> dict[str, Any]:
    turn: dict[str, Any] = {"turn_id": name, "role": message.role, "content": message.text}
    optional = {"timestamp": message.timestamp, "model": message.model, "token_usage": message.token_usage}
    turn |= {name: unshared(value) for name, value in optional.items() if value is not None}
    entries = [*map(_named, message.tool_calls), *map(_named, message.tool_results)]
    if entries:
        turn["tool_invocations"] = entries
    if message.metadata:
        turn["metadata"] = unshared(message.metadata)
    return turn | ({"erased": True} if message.erased else {})


def _named(invocation: ToolCall | ToolResult) -> dict[str, Any]:
    arguments = getattr(invocation, "arguments", None)
    return {
        "tool_name": invocation.tool_name,
        "invocation_id": invocation.native_id or invocation.invocation_id,
        **({} if arguments is None else {"arguments": unshared(arguments)}),
        **({} if invocation.success is None else {"success": invocation.success}),
    }


def _foreign(documents: list[dict[str, Any]], first: int) -> Iterator[tuple[str | None, list[list[Mapping[str, Any]]]]]:
    """The turns of each of ``documents``, by the format that they are in; the list has ``first`` before them."""
    together = _together(documents, first)
    if together is not None:
        yield together
        return
    # Some stand for themselves, or they are of several libraries.
    for whole, grouped in groupby(documents, key=lambda each: not is_plain(each) and is_whole(each)):
        run = list(grouped)
        together = None if whole or len(run) == len(documents) else _together(run, first)
        if together is not None:
            yield together
        else:
            for number, document in enumerate(run):
                yield _alone(document, first + number)
        first += len(run)


def _together(run: list[dict[str, Any]], first: int) -> tuple[str | None, list[list[Mapping[str, Any]]]] | None:
    """The turns of ``run`` as one list of a format; None where it is none, or the places of its turns do not show."""
    if all(map(is_plain, run)):
        return None, [[turn] for turn in _ours([message_of(each) for each in run], first)]
    name, document = recognised(run)
    if name is None or not isinstance(document, list):
        return None
    made = _made_at(name, document, first)
    places = [place.partition(".")[0] for place, _ in made]
    if not all(place.isdecimal() and int(place) < len(run) for place in places):
        return None
    found: list[list[Mapping[str, Any]]] = [[] for _ in run]
    for place, (_, turn) in zip(places, made, strict=True):
        found[int(place)].append(turn)
    return name, found


def _alone(document: dict[str, Any], place: int) -> tuple[str | None, list[list[Mapping[str, Any]]]]:
    if is_plain(document):
        return None, [_ours([message_of(document)], place)]
    name, recognisable = recognised([document])
    if name is None:
        raise ValidationError(
            f"messages[{place}] is no message: {A_MESSAGE}", [Problem(f"$.messages[{place}].role", "required")]
        )
    return name, [[turn for _, turn in _made_at(name, recognisable, place)]]


def _made_at(name: str, document: Any, first: int) -> list[tuple[str, Mapping[str, Any]]]:
    """``made_turns``, whose refusals name places in the whole list; ``document`` is one message, or a list of them."""
    try:
        return made_turns(name, document, first)
    except ValidationError as error:
        problems = []
        for path, rule in error.problems:
            inside = _PLACE.match(path) if isinstance(document, list) else None
            place, rest = (first + int(inside[1]), path[inside.end() :]) if inside else (first, path[1:])
            problems.append(Problem(f"$.messages[{place}]{rest}", rule))
        raise refusal_of(problems) from None


def made_turns(name: str, document: Any, first: int) -> list[tuple[str, Mapping[str, Any]]]:
    """The turns of ``document`` in the format ``name``, each with the place of its message there."""
    found = next(format_named(name).read(document), None)
    if isinstance(found, ValidationError):
        raise found
    if not isinstance(found, Conversation):
        return []
    scope = Scope(_SESSION, _CONVERSATION, _NO_TIME, request_id=str(first))
    turns = (turn for payload in payloads(found.messages, found, scope, name) for turn in payload["turns"])
    # A turn that only says which branch is current may follow: of a list it says nothing.
    return [(message.place, _timeless(turn)) for message, turn in zip(found.messages, turns, strict=False)]


def _timeless(turn: dict[str, Any]) -> dict[str, Any]:
    derived = turn.get("metadata", {}).get("derived", ())
    return {name: value for name, value in turn.items() if name != "timestamp" or "timestamp" not in derived}


def _places(read: Sequence[Any], parts: Sequence[Sequence[Any]]) -> Iterator[range]:
    """The messages of each turn: one, and those after it that make none."""
    start = 0
    for place in range(1, len(parts)):
        if parts[place] and not _is_reasoning(read[place - 1]):
            yield range(start, place)
            start = place
    if parts:
        yield range(start, len(parts))


def _is_reasoning(read: Any) -> bool:
    """Whether it is an item that a provider takes only with the item behind it."""
    return isinstance(read, dict) and read.get("type") == "reasoning"


def _turn(made: Sequence[Mapping[str, Any]], name: str, before: Sequence[SessionTurn]) -> SessionTurn:
    """One turn of all that a message made, or of a part of it."""
    role = min((each["role"] for each in made), key=_FIRST_OF.index)
    fields = dict(made[0]) | {"role": role}
    if len(made) > 1:
        fields["content"] = "\n\n".join(each["content"] for each in made if each["content"])
        alike = [each for each in made if (each["role"] == "tool") is (role == "tool")]
        entries = [entry for each in alike for entry in each.get("tool_invocations", ())]
        fields = {name: value for name, value in fields.items() if name != "tool_invocations"}
        fields |= {"tool_invocations": entries} if entries else {}
    turn_id = turn_uuid(_SESSION, name)
    erased = fields.get("erased") is True
    return SessionTurn(
        turn_id=turn_id,
        seq=int(name.partition(".")[0]) + 1,
        conversation_id=_CONVERSATION,
        parent_turn_id=before[-1].turn_id if before else None,
        role=role,
        content=None if erased else fields["content"],
        erased=erased,
        fields=fields | {"turn_id": turn_id},
    )
