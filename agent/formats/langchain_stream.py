"""Events of a LangGraph stream, as the messages that went through it, each once.

``[mode, data]``, ``[namespace, data]``, ``[namespace, mode, data]``, ``[chunk, metadata]`` and ``{event, data}`` of the
server. A state repeats the history: a message is known by its id, one without an id by what it says and how often that
was said before. Chunks of one id are one message, and what a state says of it counts more than its chunks. All
namespaces are one conversation, in the order in which they spoke: a graph below speaks for the one above, and its name
changes with every run. Who spoke is the namespace.
Source: "Streaming" of LangGraph's documentation.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from agent.core.canonical import canonical
from agent.errors import Problem
from agent.formats.conversation.message import Ignored, Message
from agent.formats.langchain_chunks import merged
from agent.formats.langchain_message import Serialised, read_message, serialised
from agent.formats.tool_calls import ArgumentReader

_MESSAGES: Final = frozenset({"messages", "messages-tuple", "messages/partial", "messages/complete"})
_MODES: Final = _MESSAGES | {"values", "updates"}
_OTHERS: Final = frozenset({"custom", "debug", "tasks", "checkpoints", "metadata", "messages/metadata", "error", "end"})


class _Event(NamedTuple):
    namespace: tuple[str, ...]
    mode: str
    data: Any
    path: str


def is_stream(document: Any) -> bool:
    """Whether ``document`` is a list of events, of which one holds a message."""
    if not isinstance(document, list):
        return False
    events = (_event(value, "$") for value in document)
    return any(event is not None and any(_messages_in(event, Ignored())) for event in events)


def read_stream(document: list[Any], path: str, ignored: Ignored, problems: list[Problem]) -> list[Message]:
    """The messages of the events at ``path``, in the order in which they were begun."""
    stream = _Stream(ignored)
    for index, value in enumerate(document):
        at = f"{path}[{index}]"
        event = _event(value, at)
        if event is None:
            ignored.add("junk", at)
        elif event.mode not in _MODES:
            ignored.add("events of other kinds", at)
        else:
            stream.add(event)
    return stream.messages(problems)


def _event(value: Any, path: str) -> _Event | None:
    event = None
    if isinstance(value, dict) and isinstance(value.get("event"), str) and "data" in value:
        mode, *namespace = value["event"].split("|")
        event = _Event(tuple(namespace), mode, value["data"], f"{path}.data")
    elif isinstance(value, list) and len(value) == 3 and isinstance(value[1], str) and _is_namespace(value[0]):
        event = _Event(tuple(value[0]), value[1], value[2], f"{path}[2]")
    elif isinstance(value, list) and len(value) == 2:
        event = _pair(value[0], value[1], path)
    return event if event is not None and event.mode in _MODES | _OTHERS else None


def _pair(head: Any, data: Any, path: str) -> _Event | None:
    if isinstance(head, str):
        return _Event((), head, data, f"{path}[1]")
    if _is_namespace(head):
        mode = "messages" if isinstance(data, list) else "values" if _is_state(data) else "updates"
        return _Event(tuple(head), mode, data, f"{path}[1]")
    if serialised(head) is not None and isinstance(data, dict) and serialised(data) is None:
        return _Event((), "messages", [head, data], path)
    return None


def _is_namespace(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(name, str) for name in value)


def _is_state(data: Any) -> bool:
    return isinstance(data, dict) and ("messages" in data or "__interrupt__" in data)


def _messages_in(event: _Event, ignored: Ignored) -> Iterator[Serialised]:
    """The messages that ``event`` holds; what else it holds is counted."""
    if event.mode in _MESSAGES:
        yield from _listed(event.data, event.path, ignored, is_pair=not event.mode.startswith("messages/"))
    elif not isinstance(event.data, dict):
        ignored.add("junk", event.path)
    elif event.mode == "values":
        yield from _of_state(event.data, event.path, ignored)
    else:
        for node, update in event.data.items():
            if node == "__interrupt__":
                ignored.add("interrupts", event.path)
            for each in update if isinstance(update, list) else [update]:
                if isinstance(each, dict) and node != "__interrupt__":
                    yield from _of_state(each, event.path, ignored)
                elif each is not None and node != "__interrupt__":
                    ignored.add("state", event.path)


def _of_state(state: dict[str, Any], path: str, ignored: Ignored) -> Iterator[Serialised]:
    for name, value in state.items():
        if name == "messages":
            listed = value if isinstance(value, list) else [value]
            yield from _listed(listed, f"{path}.messages", ignored, is_pair=False)
        else:
            ignored.add("interrupts" if name == "__interrupt__" else "state", path)


def _listed(value: Any, path: str, ignored: Ignored, *, is_pair: bool) -> Iterator[Serialised]:
    """The messages of a list, or the one before its metadata."""
    if not isinstance(value, list) or (is_pair and not value):
        ignored.add("junk", path)
        return
    for index, each in enumerate(value[:1] if is_pair else value):
        at = f"{path}[{index}]"
        found = serialised(each, at)
        if found is None:
            ignored.add("junk", at)
        elif found.kind == "remove":
            ignored.add("removals", at)
        else:
            yield found


class _Entry:
    """A message on its way: ``whole`` as something said it whole, else its ``chunks``."""

    def __init__(self, namespace: tuple[str, ...]) -> None:
        self.whole: Serialised | None = None
        self.chunks: list[Serialised] = []
        self.namespace = namespace
        self.model: str | None = None


class _Stream:
    def __init__(self, ignored: Ignored) -> None:
        self._ignored = ignored
        self._arguments = ArgumentReader()
        self._entries: list[_Entry] = []
        self._named: dict[str, _Entry] = {}
        self._unnamed: dict[tuple[bytes, int], _Entry] = {}
        self._said: Counter[bytes] = Counter()
        # The message without an id whose chunks are coming, by namespace.
        self._coming: dict[tuple[str, ...], _Entry] = {}

    def add(self, event: _Event) -> None:
        """Take in the messages of ``event``."""
        is_history = event.mode == "values"
        here: Counter[bytes] = Counter() if is_history else self._said
        for found in _messages_in(event, self._ignored):
            if found.is_chunk and event.mode in {"messages", "messages-tuple"}:
                self._chunk(found, event)
                continue
            self._coming.pop(event.namespace, None)
            entry = self._named_entry(found, event) if found.id is not None else self._unnamed_entry(found, event, here)
            entry.whole = found
        if is_history:
            self._said |= here

    def _named_entry(self, found: Serialised, event: _Event) -> _Entry:
        if found.id not in self._named:
            self._named[str(found.id)] = self._new(event)
        return self._named[str(found.id)]

    def _unnamed_entry(self, found: Serialised, event: _Event, here: Counter[bytes]) -> _Entry:
        words = canonical(
            [found.kind, {name: found.fields.get(name) for name in ("content", "tool_calls", "tool_call_id")}]
        )
        key = (words, here[words])
        here[words] += 1
        if key not in self._unnamed:
            self._unnamed[key] = self._new(event)
        return self._unnamed[key]

    def _chunk(self, found: Serialised, event: _Event) -> None:
        if found.id is not None:
            entry = self._named_entry(found, event)
        else:
            entry = self._coming.get(event.namespace) or self._new(event)
            self._coming[event.namespace] = entry
        if entry.whole is not None:
            self._ignored.add("chunks of whole messages", found.path)
            return
        entry.chunks.append(found)
        about = event.data[1] if len(event.data) > 1 else None
        model = about.get("ls_model_name") if isinstance(about, dict) else None
        entry.model = model if isinstance(model, str) and model else entry.model

    def _new(self, event: _Event) -> _Entry:
        entry = _Entry(event.namespace)
        self._entries.append(entry)
        return entry

    def messages(self, problems: list[Problem]) -> list[Message]:
        """The turns that all of it was."""
        turns = []
        for index, entry in enumerate(self._entries):
            whole = merged(entry.chunks, self._arguments) if entry.whole is None else entry.whole
            agent = "/".join(name.partition(":")[0] for name in entry.namespace) or None
            turn = read_message(whole, str(index), problems, arguments=self._arguments, agent=agent)
            if turn is not None and turn.role == "assistant" and turn.model is None and entry.model is not None:
                turn = turn._replace(model=entry.model, derived=(*turn.derived, "model"))
            turns += [] if turn is None else [turn]
        return turns
