"""Whether what an agent calls has anything to do with what it called for the task before.

Two calls belong together if their tools share a word that says what they are about (``find_movies``, ``RentMovie``), or
if a value that the later one is given was known by then: an argument of an earlier call, what it answered, or what was
said until then. Words that only say what is done ("find", "get") do not count, nor values of one or two characters.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator, Mapping
from typing import Any, Final

from agent.core.turn import SessionTurn

_PART: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[^\W\d_A-Za-z]+")
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


class Task:
    """What the calls of one task are about, as it grows."""

    def __init__(self) -> None:
        self._subjects: set[str] = set()
        self._known: deque[str] = deque(maxlen=_TEXTS)

    def __bool__(self) -> bool:
        return bool(self._subjects)

    def knows(self, entry: Mapping[str, Any]) -> bool | None:
        """Whether the call ``entry`` has to do with this task; None where it is given nothing that tells."""
        name = entry.get("tool_name")
        if not isinstance(name, str) or not self._subjects.isdisjoint(subjects(name)):
            return True
        given = "|".join(map(re.escape, values(entry.get("arguments"))))
        if not given:
            return None
        known = re.compile(rf"(?<!\w)(?:{given})(?!\w)")
        return any(known.search(text) for text in self._known)

    def add(self, turn: SessionTurn) -> None:
        """Take in a turn of the task: what it calls, and what it says."""
        if turn.role != "tool":
            for entry in turn.invocations:
                name = entry.get("tool_name")
                if isinstance(name, str):
                    self._subjects |= subjects(name)
                self._known.append("\n".join(values(entry.get("arguments"))))
        if turn.content:
            self._known.append(turn.content[:_LENGTH].lower())
