"""Calls of a model, each with the whole history that it was sent, as the conversations that they are.

Recordings and traces repeat what was said before in every call. What two calls begin with alike is one beginning; where
they part, the conversation branches. Calls that begin otherwise are conversations of their own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, NamedTuple

from agent.core.canonical import canonical
from agent.formats.conversation.message import Message

# What may be told later of a message, and what its turn calls that.
_TOLD: Final = {"timestamp": "timestamp", "model": "model", "usage": "token_usage"}


class ModelCall(NamedTuple):
    """What a call was sent and what it answered; the places of its messages do not count."""

    inputs: Sequence[Message]
    outputs: Sequence[Message]


class Line(NamedTuple):
    """One conversation: its messages, each with its place and its parent's, and the place where the last call ended."""

    messages: tuple[Message, ...]
    leaf: str


def lines_of(calls: Iterable[ModelCall]) -> list[Line]:
    """The conversations of ``calls``, in the order in which they begin.

    Two messages are the same if their roles, texts, calls and answered ids are, after equal beginnings: equal words
    later in a conversation are said twice. The first that says it is kept, with its time and all; what it says nothing
    of (time, model, usage), a later one may tell. A history that repeats calls without the text beside them, as some
    tracers do, repeats the message that had both. Messages have their places in the order in which they were first
    sent, so more calls only add to it.
    """
    roots: dict[bytes, _Node] = {}
    for call in calls:
        node: _Node | None = None
        for place, message in enumerate((*call.inputs, *call.outputs)):
            following = roots if node is None else node.following
            node = _found(message, following, is_history=place < len(call.inputs)) or _added(message, following, node)
        if node is not None:
            node.tree.leaf = node.place
    return [Line(tuple(root.tree.messages), root.tree.leaf) for root in roots.values()]


def _found(message: Message, following: dict[bytes, _Node], *, is_history: bool) -> _Node | None:
    node = following.get(said_key(message))
    if node is None and is_history and message.calls and not message.content:
        calls = _calls_key(message)
        node = next((each for each in following.values() if each.calls == calls), None)
    if node is not None:
        node.hear(message)
    return node


def _added(message: Message, following: dict[bytes, _Node], parent: _Node | None) -> _Node:
    node = following[said_key(message)] = _Node(message, parent)
    return node


class _Tree:
    def __init__(self) -> None:
        self.messages: list[Message] = []
        self.leaf = "0"


class _Node:
    """A message where it stands; ``following`` are those that came after it."""

    __slots__ = ("calls", "following", "place", "tree")

    def __init__(self, message: Message, parent: _Node | None) -> None:
        self.tree: _Tree = _Tree() if parent is None else parent.tree
        self.place = str(len(self.tree.messages))
        self.following: dict[bytes, _Node] = {}
        self.calls = _calls_key(message) if message.calls else None
        parent_place = None if parent is None else parent.place
        self.tree.messages.append(message._replace(place=self.place, native_id=None, parent=parent_place))

    def hear(self, message: Message) -> None:
        """Take from ``message``, which says the same, what nobody told yet."""
        index = int(self.place)
        known = self.tree.messages[index]
        told = {name: getattr(message, name) for name in _TOLD if getattr(known, name) is None}
        news = {name: value for name, value in told.items() if value is not None}
        if news:
            named = [_TOLD[name] for name in news if _TOLD[name] in message.derived]
            derived = list(dict.fromkeys((*known.derived, *named)))
            self.tree.messages[index] = known._replace(**news, derived=derived)


def said_key(message: Message) -> bytes:
    """What makes two messages the same, where the same was said before them."""
    return canonical(
        [
            message.role,
            message.content,
            [[call.name, call.native_id, *_arguments(call.arguments)] for call in message.calls],
            [result.native_id for result in message.results],
        ]
    )


def _calls_key(message: Message) -> bytes:
    return said_key(message._replace(content=""))


def _arguments(arguments: Any) -> Iterator[Any]:
    if arguments is not ...:
        yield arguments
