"""Messages that stand where ``--at`` says, in documents that no format knows as they are.

A list of messages is one conversation. A list of lists is one too, whose lists say again what was said before, as the
training data of agents do: what two of them begin with alike is one beginning, and where they part it branches.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from agent.cli.memory.importing.recognition import Recognition
from agent.errors import Problem, ValidationError
from agent.formats.common_fields import refusal_of
from agent.formats.conversation.message import Conversation, Ignored
from agent.formats.conversation.model_calls import ModelCall, lines_of

# As an element of a list is written in many places.
_ELEMENT: Final = re.compile(r"\[[^.]*\](\.|$)")


class Located(NamedTuple):
    """What was found: conversations or errors, each with its format, and the members ``beside`` where they stood."""

    found: tuple[tuple[str, Conversation | ValidationError], ...]
    beside: Mapping[str, Any]


def is_key(key: str) -> bool:
    """Whether ``key`` is names of members with dots between them: elements of lists have no names."""
    return all(key.split(".")) and _ELEMENT.search(key) is None


def located(value: Any, key: str, recognition: Recognition) -> Located | None:
    """The conversations at the dotted path ``key`` of ``value``; None where no format knows what is there.

    Raises ValidationError where nothing is there.
    """
    at, beside = _at(value, key)
    lists = at if isinstance(at, list) and at and all(isinstance(each, list) for each in at) else None
    known = recognition.document(at if lists is None else lists[-1])
    if known is None:
        return None
    if lists is None:
        return Located(tuple(recognition.read(known)), {**beside, **known.beside})
    name = known.shares[0].name
    read = [each for some in lists if some for each in recognition.format(name).read(some)]
    errors = tuple(each for each in read if isinstance(each, ValidationError))
    said = [each for each in read if isinstance(each, Conversation)]
    return Located(tuple((name, each) for each in errors[:1] or _lines(said)), beside)


def _lines(said: list[Conversation]) -> Iterator[Conversation]:
    ignored = Ignored()
    for each in said:
        ignored.counts.update(each.ignored.counts)
    calls = [ModelCall(each.messages, ()) for each in said]
    for number, line in enumerate(lines_of(calls)):
        yield Conversation(line.messages, number=number, leaf=line.leaf, ignored=Ignored() if number else ignored)


def _at(value: Any, key: str) -> tuple[Any, dict[str, Any]]:
    """What stands at ``key``, and the members of all objects on the way there, by their own paths."""
    beside: dict[str, Any] = {}
    way = ""
    for name in key.split("."):
        if not isinstance(value, dict) or name not in value:
            raise refusal_of([Problem(f"$.{key}", "required")])
        beside |= {f"{way}{other}": member for other, member in value.items() if other != name}
        value = value[name]
        way += f"{name}."
    return value, beside
