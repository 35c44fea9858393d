"""Calls of a model, each with the whole history that it was sent, as the conversations that they are.

Recordings and traces repeat what was said before in every call. What two calls begin with alike is one beginning; where
they part, the conversation branches. Calls that begin otherwise are conversations of their own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from agent.core.canonical import canonical
from agent.formats.conversation.message import Message


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
    later in a conversation are said twice. The first that says it is kept, with its time and all. Messages have their
    places in the order in which they were first sent, so more calls only add to it.
    """
    roots: dict[bytes, _Node] = {}
    for call in calls:
        node: _Node | None = None
        for message in (*call.inputs, *call.outputs):
            key = _key(message)
            following = roots if node is None else node.following
            if key not in following:
                following[key] = _Node(message, node)
            node = following[key]
        if node is not None:
            node.tree.leaf = node.place
    return [Line(tuple(root.tree.messages), root.tree.leaf) for root in roots.values()]


class _Tree:
    def __init__(self) -> None:
        self.messages: list[Message] = []
        self.leaf = "0"


class _Node:
    """A message where it stands; ``following`` are those that came after it."""

    __slots__ = ("following", "place", "tree")

    def __init__(self, message: Message, parent: _Node | None) -> None:
        self.tree: _Tree = _Tree() if parent is None else parent.tree
        self.place = str(len(self.tree.messages))
        self.following: dict[bytes, _Node] = {}
        parent_place = None if parent is None else parent.place
        self.tree.messages.append(message._replace(place=self.place, native_id=None, parent=parent_place))


def _key(message: Message) -> bytes:
    return canonical(
        [
            message.role,
            message.content,
            [[call.name, call.native_id, *_arguments(call.arguments)] for call in message.calls],
            [result.native_id for result in message.results],
        ]
    )


def _arguments(arguments: Any) -> Iterator[Any]:
    if arguments is not ...:
        yield arguments
