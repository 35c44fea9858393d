"""The lines of a Claude Code transcript that make one message, as the turns that it is.

An answer is written block by block, each on a line of its own with the same message id and the usage so far: it is one
turn, with the usage of the last line. Results of tools come on lines of type ``user``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from agent.formats.blocks.documents import usage_with_caches
from agent.formats.claude_export_blocks import Segment, kept_parts, segments
from agent.formats.content_parts import without_binaries
from agent.formats.conversation.message import Message
from agent.formats.conversation.times import stated

# What was sent, also what was read from a cache or written to one (Messages API, usage).
_SENT: Final = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
# Some files have the name of the member so.
_TIMES: Final = ("timestamp", "timesstamp")


class Lines:
    """A message while its lines are read; ``name`` is the uuid of the first, or its place where it has none.

    ``parent`` is the message that it continues; a string where that is no line of the file; None for a root.
    ``answers`` is the message whose calls it answers, ``end`` the last of those that answer this one, or itself.
    """

    def __init__(self, name: str, role: str, parent: Lines | str | None) -> None:
        self.name = name
        self.role = role
        self.parent = parent
        self.answers: Lines | None = None
        self.end: Lines = self
        self.lines: list[Mapping[str, Any]] = []
        self._cut: list[Segment] | None = None

    def add(self, line: Mapping[str, Any]) -> None:
        """Add the next of its lines."""
        self.lines.append(line)
        self._cut = None

    @property
    def has_results(self) -> bool:
        """Whether tools say something in it."""
        return any(turn.role == "tool" for turn in self._turns())

    def _turns(self) -> list[Segment]:
        if self._cut is None:
            self._cut = segments([block for line in self.lines for block in blocks_of(line)], self.role)
        return self._cut

    def last_turn(self) -> str:
        """What its last turn goes by."""
        return _turn_name(self.name, len(self._turns()) - 1)

    def messages(self, session_id: str | None) -> list[Message]:
        """Its turns, in order."""
        above = self.parent.last_turn() if isinstance(self.parent, Lines) else self.parent
        timestamp = _time(self.lines[0])
        found = []
        for number, turn in enumerate(self._turns()):
            place = _turn_name(self.name, number)
            is_first, is_answer = number == 0, turn.role == "assistant"
            kept = kept_parts(turn)
            parts = dict(zip(turn.places, turn.parts, strict=True))
            native = {"lines": self._kept_lines(parts, timestamp, session_id)} if is_first else {"of": "before", **kept}
            has_uuid = is_first and self.lines[0].get("uuid") == self.name
            found.append(
                Message(
                    turn.role,
                    turn.content,
                    place,
                    native_id=self.name if has_uuid else None,
                    parent=above,
                    timestamp=timestamp,
                    model=self._model() if is_answer else None,
                    usage=self._usage() if is_answer and is_first else None,
                    calls=turn.calls,
                    results=turn.results,
                    native=native,
                    absent=("content",) if is_first and not any(map(_has_content, self.lines)) else (),
                )
            )
            above = place
        return found

    def _model(self) -> str | None:
        models = (message_of(line).get("model") for line in self.lines)
        return next((model for model in models if isinstance(model, str) and model), None)

    def _usage(self) -> Mapping[str, int] | None:
        usages = (usage_with_caches(message_of(line).get("usage"), _SENT, "output_tokens") for line in self.lines)
        return next((usage for usage in reversed(list(usages)) if usage is not None), None)

    def _kept_lines(self, parts: Mapping[int, Any], timestamp: str | None, session_id: str | None) -> list[Any]:
        """The lines without what the first turn holds: its id, its time, and null in place of blocks.

        Blocks of the message's other turns are null too: they stand with those.
        """
        kept, place = [], 0
        for number, line in enumerate(self.lines):
            count = len(blocks_of(line))
            own = [parts.get(place + index) for index in range(count)]
            place += count
            held = {"sessionId": session_id}
            if number == 0:
                held |= {"uuid": self.name, "timestamp": timestamp}
            kept.append(
                {
                    name: _kept(name, value, own)
                    for name, value in line.items()
                    if name not in held or value is None or value != held[name]
                }
            )
        return kept


def _kept(name: str, value: Any, parts: Sequence[Any]) -> Any:
    if name == "message" and isinstance(value, dict):
        return {member: _content(each, parts) if member == "content" else each for member, each in value.items()}
    return without_binaries(name, value)


def _content(content: Any, parts: Sequence[Any]) -> Any:
    """Null for a text, which the turn holds, or what stands for each block."""
    if isinstance(content, str):
        return None
    return list(parts) if isinstance(content, list) else content


def message_of(line: Mapping[str, Any]) -> Mapping[str, Any]:
    """The message on ``line``; empty where it is none, or only a text."""
    message = line.get("message")
    return message if isinstance(message, dict) else {}


def blocks_of(line: Mapping[str, Any]) -> list[Any]:
    """The blocks of the message on ``line``; a text is one."""
    message = line.get("message")
    content = message.get("content") if isinstance(message, dict) else message
    if isinstance(content, str):
        return [content]
    return content if isinstance(content, list) else []


def _has_content(line: Mapping[str, Any]) -> bool:
    return isinstance(line.get("message"), str) or isinstance(message_of(line).get("content"), str | list)


def _time(line: Mapping[str, Any]) -> str | None:
    return next((time for time in (stated(line.get(name)) for name in _TIMES) if time is not None), None)


def _turn_name(name: str, number: int) -> str:
    return f"{name}.{number}" if number else name
