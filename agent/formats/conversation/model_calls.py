"""Calls of a model, each with the whole history that it was sent, as the conversations that they are.

Recordings and traces repeat what was said before in every call. What two calls begin with alike is one beginning; where
they part, the conversation branches. Calls that begin otherwise are conversations of their own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, NamedTuple

from agent.core.canonical import canonical
from agent.formats.conversation.message import Message

# What may be told later of a message, and what its turn calls that.
_TOLD: Final = {"timestamp": "timestamp", "model": "model", "usage": "token_usage"}


# ``formats.content_parts`` and its like show these for what is no text.
_PLACEHOLDER: Final = re.compile(r"\[(?:image|audio|video|file|document)\b")
# Where providers have the data, the address or the name of such a part, or this product the digest of it.
_MEDIA: Final = frozenset(
    {"data", "base64", "bytes", "url", "image_url", "uri", "fileUri", "file_uri", "file_url"}
    | {"file_data", "file_id", "sha256"}
)


class ModelCall(NamedTuple):
    """What a call was sent and what it answered; the places of its messages do not count. ``user``: whom it was for."""

    inputs: Sequence[Message]
    outputs: Sequence[Message]
    user: str | None = None


class Line(NamedTuple):
    """One conversation: its messages, each with its place and its parent's, and the place where the last call ended.

    ``users`` are those of its calls.
    """

    messages: tuple[Message, ...]
    leaf: str
    users: tuple[str, ...] = ()


def lines_of(calls: Iterable[ModelCall]) -> list[Line]:
    """The conversations of ``calls``, in the order in which they begin.

    Two messages are the same if their roles, texts, calls, answered ids and errors, and the media that they show are,
    after equal beginnings: equal words later in a conversation are said twice. The first that says it is kept, with its
    time and all; what it says nothing of (time, model, usage), a later one may tell. A history that repeats calls
    without the text beside them, as some tracers do, repeats the message that had both. Messages have their places in
    the order in which they were first sent, so more calls only add to it.
    """
    roots = _Following()
    for call in calls:
        node: _Node | None = None
        for place, message in enumerate((*call.inputs, *call.outputs)):
            following = roots if node is None else node.following
            node = _found(message, following, is_history=place < len(call.inputs)) or _added(message, following, node)
        if node is not None:
            node.tree.leaf = node.place
            node.tree.users += [] if call.user is None else [call.user]
    trees = [root.tree for root in roots.by_key.values()]
    return [Line(tuple(tree.messages), tree.leaf, tuple(tree.users)) for tree in trees]


class _Following:
    """The messages that came after one, or began: by what they say, and by their calls alone."""

    __slots__ = ("by_calls", "by_key")

    def __init__(self) -> None:
        self.by_key: dict[bytes, _Node] = {}
        self.by_calls: dict[bytes, _Node] = {}


def _found(message: Message, following: _Following, *, is_history: bool) -> _Node | None:
    node = following.by_key.get(_sent_key(message))
    if node is None and is_history and message.calls and not message.content:
        node = following.by_calls.get(_calls_key(message))
    if node is not None:
        node.hear(message)
    return node


def _added(message: Message, following: _Following, parent: _Node | None) -> _Node:
    node = following.by_key[_sent_key(message)] = _Node(message, parent)
    if message.calls:
        following.by_calls.setdefault(_calls_key(message), node)
    return node


class _Tree:
    def __init__(self) -> None:
        self.messages: list[Message] = []
        self.leaf = "0"
        self.users: list[str] = []


class _Node:
    """A message where it stands; ``following`` are those that came after it."""

    __slots__ = ("following", "place", "tree")

    def __init__(self, message: Message, parent: _Node | None) -> None:
        self.tree: _Tree = _Tree() if parent is None else parent.tree
        self.place = str(len(self.tree.messages))
        self.following = _Following()
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
    """The words of a message, the calls that it makes and the ids that it answers."""
    return canonical(
        [
            message.role,
            message.content,
            [[call.name, call.native_id, *_arguments(call.arguments)] for call in message.calls],
            [result.native_id for result in message.results],
        ]
    )


def _sent_key(message: Message) -> bytes:
    """What makes two messages the same where each was sent whole: what ``said_key`` has, errors and media."""
    failed = [place for place, result in enumerate(message.results) if result.success is False]
    media = sorted(set(_shown_media(message)))
    key = said_key(message)
    opaque = _item_id(message)
    return key if not failed and not media and opaque is None else key + canonical([failed, media, opaque])


def _item_id(message: Message) -> str | None:
    """The id of an item in which nothing is shown, as reasoning: two of them are two, whatever they hold."""
    item = None if message.content or message.calls or not message.native else message.native.get("item")
    named = item.get("id") if isinstance(item, dict) else None
    return named if isinstance(named, str) else None


def _shown_media(message: Message) -> Iterator[str]:
    """What stands behind the placeholders of a message that somebody sent: other images are another message.

    Of an answer they do not count: its provider's form of them and that of a client that repeats it are two.
    """
    if message.role == "assistant" or not message.native or _PLACEHOLDER.search(message.content) is None:
        return
    level: list[Any] = [message.native]
    while level:
        item = level.pop()
        if isinstance(item, list):
            level.extend(item)
        elif isinstance(item, dict):
            yield from (value for name, value in item.items() if name in _MEDIA and isinstance(value, str))
            level.extend(item.values())


def _calls_key(message: Message) -> bytes:
    return said_key(message._replace(content=""))


def _arguments(arguments: Any) -> Iterator[Any]:
    if arguments is not ...:
        yield arguments
