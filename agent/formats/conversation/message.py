"""A conversation as a format's reader leaves it: messages in order, with the ids and times that they came with.

A reader says what its document says and makes nothing up: ids, missing times, and which call a result answers are for
``payload``, by the one rule of CONTRACT 3. Values of these records are those of the document, never copies in other
types: a time is RFC 3339 text, a token count an integer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import EllipsisType
from typing import Any, NamedTuple

from agent.errors import Problem


class Call(NamedTuple):
    """A call that a message makes.

    ``native_id`` is the id that results name it by; the tool's name where the format has no ids (CONTRACT 3a), None
    where nothing names it. ``arguments`` is Ellipsis where the call has none, else any JSON value.
    """

    name: str
    native_id: str | None
    arguments: Any = ...


class Result(NamedTuple):
    """That a ``tool`` message is the result of a call.

    ``native_id`` is the id of the call, as above; ``name`` the tool's as the result tells it. ``success`` is False for
    an error, True only where the format says that it was none, None where it says nothing.
    """

    native_id: str | None
    name: str | None = None
    success: bool | None = None


class Message(NamedTuple):
    """One turn to be: ``role`` is one of ours, ``content`` what is shown of it.

    ``place`` names it among the messages of its list, stable as the list grows: ``"3"``, ``"3.1"`` for a second turn of
    the same message, ``"system"`` for instructions that stand beside the list. ``native_id`` is its own id where the
    format has one that is an identity, and then the place does not count.

    ``parent`` is the native id (or the place, where there are no ids) of the message that it continues: None for a
    root, Ellipsis for the one before it.

    ``native`` holds what the fields here do not hold exactly (``metadata.native``), and only of this message: what is
    erased with the turn must not stand in another. ``metadata`` goes beside it: ``agent``, ``citations``, ``memory``.
    ``usage`` is ``{prompt_tokens, completion_tokens, total_tokens}``. ``derived`` names fields that something else than
    the message itself said.
    """

    role: str
    content: str
    place: str
    native_id: str | None = None
    parent: str | EllipsisType | None = ...
    timestamp: str | None = None
    model: str | None = None
    usage: Mapping[str, int] | None = None
    calls: Sequence[Call] = ()
    results: Sequence[Result] = ()
    native: Mapping[str, Any] | None = None
    absent: Sequence[str] = ()
    metadata: Mapping[str, Any] | None = None
    derived: Sequence[str] = ()


class Ignored:
    """What a reader left out, by kind, with the place of the first of each: nothing is dropped in silence."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self._first: dict[str, str] = {}

    def add(self, kind: str, path: str) -> None:
        """Note that what stands at ``path`` was left out as ``kind``: a word or two of ours, never a value."""
        self.counts[kind] += 1
        self._first.setdefault(kind, path)

    def warnings(self) -> tuple[Problem, ...]:
        """The first of each kind, as a capture's answer names it."""
        return tuple(Problem(path, "ignored") for path in self._first.values())


@dataclass(frozen=True, slots=True)
class Conversation:
    """One conversation of a document.

    ``session_id`` and ``conversation_id`` are its own, None where it has none. Of several that have
    none in one session, ``number`` says which it is, from 0. ``timestamp`` is the conversation's own time (RFC 3339),
    for messages without one. ``leaf`` is the native id, or the place, of the message that is the current end, where
    the format says so. ``context`` is CONTRACT 1's. ``native`` is what it says beside its messages (a title, a
    request's options) and goes under ``native.beside`` at the top of the payload.
    """

    messages: Sequence[Message]
    session_id: str | None = None
    conversation_id: str | None = None
    number: int = 0
    timestamp: str | None = None
    leaf: str | None = None
    context: Mapping[str, Any] = field(default_factory=dict)
    native: Mapping[str, Any] = field(default_factory=dict)
    ignored: Ignored = field(default_factory=Ignored)
    warnings: Sequence[Problem] = ()
