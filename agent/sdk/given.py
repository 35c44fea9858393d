"""What a program appends, as the turns of a capture: messages, dictionaries, and message objects of other libraries.

A message of ours, or a dictionary of a role and a text, is a turn as it stands. What says more in the words of another
library is read as a capture in its format would be (CONTRACT 3a, ``delta``), tool calls and results included, and what
a turn does not hold stays in its ``metadata.native``. Refuses, by ValidationError, what no format knows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import groupby
from typing import Any, Final, NamedTuple

from agent.core.ids import turn_uuid
from agent.core.native import OpenCalls
from agent.errors import Problem, ValidationError
from agent.formats.conversation.payload import call_key
from agent.formats.tool_calls import UNKNOWN_TOOL
from agent.sdk.captures import Turns
from agent.sdk.foreign import Translated, document_of, is_whole, translated
from agent.sdk.json_value import json_copy, unshared
from agent.sdk.message import A_MESSAGE, A_ROLE, ROLES, Message, spelled_role
from agent.sdk.session_name import SessionName, may_be_sent

# A message's members that say what it says: the others are names, and the store's.
_SAID: Final = Message._fields.index("turn_id")
_PLAIN: Final = frozenset({"role", "content", "text"})
# What a dictionary says that has the members of a message of ours.
_OURS: Final = _PLAIN | {"timestamp", "metadata", "agent", "model", "token_usage", "turn_id"}


class Giver(NamedTuple):
    """What becomes of messages of one session: ``agent_id`` is who speaks as the assistant where nobody says it.

    ``timestamp`` is the time of messages without one. ``conversation`` is the one (a UUID) that they go into, and
    ``shown`` are the messages that the history shows, by their turn's id: what was read and is not among them is new.
    """

    name: SessionName
    agent_id: str | None
    timestamp: str
    new_id: Callable[[], str]
    conversation: Callable[[], str]
    shown: Callable[[], Mapping[str, Message]]

    def turns(self, messages: Iterable[object]) -> Turns:
        """The turns of ``messages``, in order, without those that were read from this very session."""
        if isinstance(messages, Message | Mapping | str | bytes) or not isinstance(messages, Iterable):
            message = "extend takes a list of messages: one message goes to append"
            raise ValidationError(message, [Problem("$", "type")])
        turns: list[dict[str, Any]] = []
        formats: set[str] = set()
        may_be_known = False
        for is_ours, run in groupby(map(read_message, messages), key=lambda each: isinstance(each, Message)):
            if is_ours:
                new = [each for each in run if isinstance(each, Message) and not self._is_known(each)]
                may_be_known |= any(self._is_named(each) for each in new)
                turns += map(self._turn, new)
                continue
            for part in self._translated(list(run)):
                turns += part.turns
                formats.add(part.format)
        # In some formats a message has an id that names it each time.
        formats.discard("")
        turns = each_once(self.name.session, turns)
        return Turns(tuple(with_tool_names(turns)), frozenset(formats), may_be_known or bool(formats))

    def _is_known(self, message: Message) -> bool:
        """Whether ``message`` was read, and is shown as it stands: an erased one stays what it is."""
        if not _was_read(message) or message.turn_id is None:
            return False
        there = self.shown().get(message.turn_id)
        return there is not None and (there.erased or there[:_SAID] == message[:_SAID])

    def _is_named(self, message: Message) -> bool:
        """Whether ``message`` is named by who gives it: one that was read is as long as it is shown, and revises it."""
        if message.turn_id is None:
            return False
        return not _was_read(message) or message.turn_id in self.shown()

    def _turn(self, message: Message) -> dict[str, Any]:
        turn: dict[str, Any] = {
            "turn_id": self._turn_id(message),
            "role": message.role,
            "content": message.text,
            "timestamp": message.timestamp or self.timestamp,
        }
        if message.model is not None:
            turn["model"] = message.model
        if message.token_usage is not None:
            turn["token_usage"] = dict(message.token_usage)
        invocations = [
            {"tool_name": call.tool_name, "invocation_id": call.native_id or call.invocation_id}
            | ({} if call.arguments is None else {"arguments": unshared(call.arguments)})
            | ({} if call.success is None else {"success": call.success})
            for call in message.tool_calls
        ] + [
            {"tool_name": result.tool_name, "invocation_id": result.native_id or result.invocation_id}
            | ({} if result.success is None else {"success": result.success})
            for result in message.tool_results
        ]
        if invocations:
            turn["tool_invocations"] = invocations
        metadata = self._metadata(message)
        if metadata:
            turn["metadata"] = metadata
        return turn

    def _turn_id(self, message: Message) -> str:
        if message.turn_id is None or not self._is_named(message):
            # One that was read elsewhere, or before a clear, is a new message here.
            return self.new_id()
        return message.turn_id if may_be_sent(message.turn_id) else turn_uuid(self.name.session, message.turn_id)

    def _metadata(self, message: Message) -> dict[str, Any]:
        metadata: dict[str, Any] = unshared(message.metadata)
        if message.agent is not None:
            metadata["agent"] = message.agent
        elif self.agent_id is not None and message.role == "assistant":
            metadata.setdefault("agent", self.agent_id)
        if message.timestamp is None and self._is_named(message):
            # Given again, it is known, whatever the time is then (CONTRACT 10).
            derived = metadata.get("derived", [])
            if isinstance(derived, list) and "timestamp" not in derived:
                metadata["derived"] = [*derived, "timestamp"]
        return metadata

    def _translated(self, documents: list[dict[str, Any]]) -> list[Translated]:
        if all(map(is_plain, documents)):
            return [self._plain(documents)]
        # A reader takes what may have come over the edge, and nothing else.
        documents = json_copy(documents)
        if len(documents) == 1:
            return [self._alone(documents[0])]
        found: list[Translated] = []
        for whole, grouped in groupby(documents, key=is_whole):
            run = list(grouped)
            found += map(self._alone, run) if whole else self._run(run)
        return found

    def _run(self, documents: list[dict[str, Any]]) -> list[Translated]:
        if all(map(is_plain, documents)):
            return [self._plain(documents)]
        together = self._translate(documents)
        if together is not None:
            return [together]
        # Messages of several libraries, one after the other.
        return [self._plain([each]) if is_plain(each) else self._alone(each) for each in documents]

    def _plain(self, documents: list[dict[str, Any]]) -> Translated:
        return Translated([self._turn(message_of(each)) for each in documents], "")

    def _alone(self, document: dict[str, Any]) -> Translated:
        found = self._translate([document])
        if found is None:
            if "role" in document:
                raise ValidationError(f"this is no message: role {A_ROLE}", [Problem("$.role", "enum")])
            raise ValidationError(f"this is no message: {A_MESSAGE}", [Problem("$.role", "required")])
        return found

    def _translate(self, documents: list[Any]) -> Translated | None:
        return translated(
            documents,
            session=self.name.session,
            conversation=self.conversation,
            request_id=self.new_id(),
            captured_at=self.timestamp,
        )


def read_message(message: object) -> Any:
    """A message of ours where ``message`` is one, or can be nothing else; the document of any other."""
    if isinstance(message, Message):
        return message
    if type(message) is tuple and len(message) == 2 and all(isinstance(each, str) for each in message):
        # How LangChain takes a role and a text.
        message = dict(zip(("role", "content"), message, strict=True))
    document = document_of(message)
    if not isinstance(document, dict):
        refusal = f"append takes one message, and a list of them goes to extend: {A_MESSAGE}"
        raise ValidationError(refusal, [Problem("$", "type")])
    return message_of(document) if _is_ours(document) and not is_plain(document) else document


def each_once(session: str, turns: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """``turns`` with each id once, at its first place, saying what is said last: as in several captures."""
    found: dict[str, dict[str, Any]] = {}
    for turn in turns:
        found[turn_uuid(session, turn["turn_id"])] = dict(turn)
    return list(found.values())


def with_tool_names(turns: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """``turns``, each result without a tool's name by that of the call among them that it answers."""
    calls: OpenCalls[str] = OpenCalls()
    for number, turn in enumerate(turns):
        entries = turn.get("tool_invocations", ())
        if turn["role"] != "tool":
            for entry in entries:
                calls.call(call_key(entry["invocation_id"]), turn=number, value=entry["tool_name"])
            yield turn
            continue
        named = []
        for entry in entries:
            called = calls.answer(call_key(entry["invocation_id"]))
            is_unknown = entry["tool_name"] == UNKNOWN_TOOL and called is not None
            named.append({**entry, "tool_name": called} if is_unknown else entry)
        yield {**turn, "tool_invocations": named} if named else turn


def _was_read(message: Message) -> bool:
    return message.conversation_id is not None


def is_plain(document: dict[str, Any]) -> bool:
    """Whether ``document`` is a role of ours and a text, and nothing else: it reads the same in any words."""
    return document.keys() <= _PLAIN and _has_text(document)


def _is_ours(document: dict[str, Any]) -> bool:
    """Whether ``document`` says nothing but what a message of ours does: then it is refused as one, too."""
    # A number is how others write a time.
    is_time_of_ours = isinstance(document.get("timestamp"), str | None)
    return document.keys() <= _OURS and _has_text(document) and is_time_of_ours


def _has_text(document: dict[str, Any]) -> bool:
    texts = [document[name] for name in ("content", "text") if name in document]
    role = document.get("role")
    return len(texts) == 1 and isinstance(texts[0], str) and isinstance(role, str) and spelled_role(role) in ROLES


def message_of(document: dict[str, Any]) -> Message:
    """The message of ours that says what ``document`` does."""
    named = {"text" if name == "content" else name: value for name, value in document.items()}
    return Message(**named)
