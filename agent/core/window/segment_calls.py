"""Whether what an agent calls has anything to do with what it called for the task before.

Two calls belong together if their tools share a word that says what they are about (``find_movies``, ``RentMovie``), or
if a value that the later one is given was known by then: an argument of an earlier call, what it answered, or what was
said until then. Words that only say what is done ("find", "get") do not count, nor values of one or two characters.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from typing import Any, Final

from agent.core.turn import SessionTurn

_PART: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[^\W\d_A-Za-z]+")
_WORD: Final = re.compile(r"\w+")
# Set before and behind each word: where one begins and ends can then be compared as text.
_EDGE: Final = re.compile(r"\b")
_MARK: Final = "\x00"
_DOING: Final = frozenset(
    (
        *(
            "find",
            "get",
            "search",
            "list",
            "look",
            "lookup",
            "create",
            "make",
            "add",
            "update",
            "modify",
            "change",
            "set",
        ),
        *(
            "delete",
            "remove",
            "cancel",
            "book",
            "reserve",
            "buy",
            "rent",
            "play",
            "send",
            "post",
            "read",
            "write",
            "open",
        ),
        *(
            "close",
            "check",
            "show",
            "run",
            "execute",
            "call",
            "fetch",
            "query",
            "load",
            "start",
            "stop",
            "move",
            "copy",
        ),
        *("use", "do", "tool", "function", "api", "by", "for", "to", "of", "in", "and"),
        *("the", "id", "info", "details", "data", "all", "new"),
    )
)
_SHORTEST: Final = 3
# What is longer is no name.
_LONGEST: Final = 60
# Of a call so many values are looked for, in so many texts of the task, the newest, each to this length.
_VALUES: Final = 10
_TEXTS: Final = 30
_LENGTH: Final = 4000
# So many comparisons of a name with a text between two turns; of a name beyond them its words and their order tell.
_COMPARED: Final = 3000


def subjects(tool_name: str) -> frozenset[str]:
    """The words of a tool's name that say what it is about, without their plural; where there is none, the name."""
    words = (word.lower() for word in _PART.findall(tool_name))
    found = frozenset(word.removesuffix("s") for word in words if word not in _DOING)
    return found or frozenset((tool_name.lower(),))


def values(arguments: Any) -> Iterator[str]:
    """The names that a call is given, in small letters; at most 10. A number is none, nor is prose."""
    open_values, given = [arguments], 0
    while open_values and given < _VALUES:
        value = open_values.pop()
        if isinstance(value, Mapping):
            open_values.extend(value.values())
        elif isinstance(value, list | tuple):
            open_values.extend(value[:_VALUES])
        elif isinstance(value, str):
            text = value.strip().lower()
            if _SHORTEST <= len(text) <= _LONGEST and any(map(str.isalpha, text)):
                given += 1
                yield text


class _Known:
    """A text of a task, and its words; they are read when they are first asked for.

    A name stands in it where its words do, one after another with the same signs between them. So a name of one word is
    looked up among the words, and most of the others fail there, or among the pairs of words that follow one another.
    """

    __slots__ = ("_neighbours", "_parted", "_text", "_words")

    def __init__(self, text: str) -> None:
        self._text = text
        self._words: frozenset[str] | None = None
        self._neighbours: frozenset[tuple[str, str]] = frozenset()
        self._parted = ""

    def may_have(self, name: _Name) -> bool:
        """Whether the words of ``name`` are in the text, and those follow one another that do in the name."""
        if self._words is None:
            found = _WORD.findall(self._text)
            self._words, self._neighbours = frozenset(found), frozenset(pairwise(found))
            self._parted = _EDGE.sub(_MARK, self._text)
        return name.words <= self._words and name.neighbours <= self._neighbours

    def has(self, name: _Name) -> bool:
        """Whether ``name``, which may be there, stands in the text, and is no part of another word there."""
        if name.parted not in self._parted:
            return False
        return name.has_edges or re.search(rf"(?<!\w){re.escape(name.text)}(?!\w)", self._text) is not None


class _Name:
    """A value that a call is given, read as the texts are. ``has_edges``: it begins and ends with a word."""

    __slots__ = ("has_edges", "is_word", "neighbours", "parted", "text", "words")

    def __init__(self, text: str) -> None:
        found = _WORD.findall(text)
        self.text = text
        self.words, self.neighbours = frozenset(found), frozenset(pairwise(found))
        self.is_word = found == [text]
        self.parted = _EDGE.sub(_MARK, text)
        self.has_edges = self.parted[0] == self.parted[-1] == _MARK


class Task:
    """What the calls of one task are about, as it grows."""

    def __init__(self) -> None:
        self._subjects: set[str] = set()
        self._known: deque[_Known] = deque(maxlen=_TEXTS)
        self._left = _COMPARED

    def __bool__(self) -> bool:
        return bool(self._subjects)

    def knows_any(self, calls: Iterable[Mapping[str, Any]]) -> bool | None:
        """Whether one of ``calls`` has to do with this task; None where all are given nothing that tells."""
        told = None
        for entry in calls:
            known = self.knows(entry)
            if known:
                return True
            told = known if told is None else told
        return told

    def knows(self, entry: Mapping[str, Any]) -> bool | None:
        """Whether the call ``entry`` has to do with this task; None where it is given nothing that tells."""
        name = entry.get("tool_name")
        if not isinstance(name, str) or not self._subjects.isdisjoint(subjects(name)):
            return True
        given = [_Name(value) for value in values(entry.get("arguments"))]
        if not given:
            return None
        return any(self._is_in(text, value) for value in given for text in self._known)

    def _is_in(self, text: _Known, name: _Name) -> bool:
        if not text.may_have(name):
            return False
        if name.is_word or self._left <= 0:
            return True
        self._left -= 1
        return text.has(name)

    def add(self, turn: SessionTurn) -> None:
        """Take in a turn of the task: what it calls, and what it says."""
        self._left = _COMPARED
        if turn.role != "tool":
            for entry in turn.invocations:
                name = entry.get("tool_name")
                if isinstance(name, str):
                    self._subjects |= subjects(name)
                self._known.append(_Known("\n".join(values(entry.get("arguments")))))
        if turn.content:
            self._known.append(_Known(turn.content[:_LENGTH].lower()))
