"""A foreign body as it is posted: one conversation, in some format, with what every format's body may say of it.

``session_id``, ``conversation_id?``, ``mode?``, ``start_index?``, ``request_id?``, ``model?``, ``context?`` and
``capture_options?`` stand at the top of the body, beside what the format itself has there (CONTRACT 3a). ``session_id``
may be absent where the format's document names its session.

Refuses, with every path that is wrong: wrong types, ``delta`` without ``request_id`` or with ``start_index``, a body
that holds no conversation, several, or more than 10 000 turns and invocations.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Any, Final

from agent.core.capture_options import CAPTURE_OPTIONS
from agent.errors import MAX_PROBLEMS, Problem, ValidationError
from agent.formats import OPENAI_CHAT, Format, Translation, format_named
from agent.formats.asked import Place, asked, places, wrong_options
from agent.formats.common_fields import (
    check_context,
    check_id,
    check_string,
    refusal_of,
    unknown_fields,
)
from agent.formats.conversation.message import Conversation, Message
from agent.formats.conversation.payload import Scope, payloads
from agent.formats.conversation.recording import refuse_too_many_values
from agent.formats.end_user import FIELDS as END_USER
from agent.formats.end_user import with_given
from agent.formats.wrappers import INNER, opened, with_wrapper

MAX_START_INDEX: Final = 2**63 - 1
_OPTIONS: Final = ("mode", "start_index", "request_id", "model")
_SHARED: Final = ("session_id", "conversation_id", "context", "capture_options")
# The members of a body that its format reads, where the rest is no part of it: a typo is seen (CONTRACT 1).
_FIELDS: Final = {OPENAI_CHAT: frozenset({"messages"})}
# Formats in which every message is one turn: so the place before a window's first message is a turn's.
_EACH_A_TURN: Final = frozenset({OPENAI_CHAT, "sharegpt"})
# Where the list is that a body's conversation stands in.
_LIST: Final = {
    OPENAI_CHAT: "$.messages",
    "anthropic": "$.messages",
    "bedrock-converse": "$.messages",
    "gemini": "$.contents",
    "langchain": "$.messages",
    "openai-agents": "$.items",
    "openai-responses": "$.input",
    "pydantic-ai": "$.messages",
}
_INSTRUCTIONS: Final = "system"
# Members of the payload that a body's member of the same name would be mistaken for.
_TAKEN: Final = frozenset({"turns", "native", "native_session_id", "native_conversation_id"})


class PostedReader:
    """Reads bodies in the format ``name``."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._format: Format = format_named(name)
        self._list = _LIST.get(name, "$")

    def read(self, body: dict[str, Any], *, captured_at: str) -> Translation:
        """Translate ``body``, which is left as it is. Raises ValidationError with all problems, at most 50."""
        problems: list[Problem] = []
        if self._name not in _FIELDS:
            # Members of vendors' own documents, in which null is a way to say nothing.
            body = {name: value for name, value in body.items() if value is not None or name not in _SHARED}
        # First, since it refuses what is too large to be read.
        for document in (body, *(body.get(name) for name in INNER)):
            refuse_too_many_values(document)
        said = list(places(body))
        conversation = self._conversation(body, problems)
        session = body.get("session_id", None if conversation is None else conversation.session_id)
        problems = [*_option_problems(body, said, has_session=session is not None), *problems]
        if problems or conversation is None or session is None:
            raise refusal_of(problems)
        options, passed_over = asked(said)
        if options is not None:
            body = {**body, CAPTURE_OPTIONS: options}
        if "context" in body:
            conversation = replace(conversation, context=with_given(conversation.context, body["context"]))
        snapshot = body.get("mode") != "delta"
        start = int(body.get("start_index", 0))
        scope = Scope(
            session_id=session,
            conversation_id=body.get("conversation_id", conversation.conversation_id),
            captured_at=captured_at,
            request_id=None if snapshot else body["request_id"],
            before=self._before(start),
            model=body.get("model"),
        )
        messages, instructions = conversation.messages, []
        if start or not snapshot:
            # Sent with every window: as a turn they would stand before each, and cut the conversation there.
            instructions = [message.content for message in messages if message.place == _INSTRUCTIONS]
            messages = [_moved(message, start) for message in messages if message.place != _INSTRUCTIONS]
        if not messages:
            raise refusal_of([Problem(self._list, "minItems")])
        pieces = list(payloads(messages, conversation, scope, self._name))
        if len(pieces) > 1:
            raise refusal_of([Problem(self._list, "too_many_turns")])
        payload = self._with_options(body, pieces[0], conversation)
        if instructions:
            payload["native"]["instructions"] = instructions
        if clashes := self._clashes(payload):
            raise refusal_of(clashes)
        unknown = unknown_fields(body, {*_OPTIONS, *_SHARED, *self._fields(body)})
        warnings = (*passed_over, *unknown, *conversation.warnings, *conversation.ignored.warnings())[:MAX_PROBLEMS]
        return Translation(payload, warnings, self._list if snapshot else None)

    def _conversation(self, body: dict[str, Any], problems: list[Problem]) -> Conversation | None:
        inner = opened(body, self._format.detect)
        found = list(self._format.read(body if inner is None else inner.document))
        for each in found:
            if isinstance(each, ValidationError):
                problems.extend(each.problems)
        conversations = [each for each in found if isinstance(each, Conversation) and each.messages]
        if len(found) > 1:
            problems.append(Problem("$", "several_conversations"))
        elif not conversations and not problems:
            problems.append(Problem(self._list, "required"))
        if not conversations:
            return None
        beside = {} if inner is None or inner.key is None else inner.beside
        return with_wrapper(
            conversations[0], {name: value for name, value in beside.items() if name not in (*_OPTIONS, *_SHARED)}
        )

    def _fields(self, body: dict[str, Any]) -> Collection[str]:
        """The members of ``body`` that are the format's: all, where it is no list of messages but a recorded call."""
        fields = _FIELDS.get(self._name)
        if fields is None or fields.isdisjoint(body):
            return body
        return fields | {name for name, *_ in END_USER[self._name]}

    def _before(self, start: int) -> str | Any:
        if not start:
            return None
        return str(start - 1) if self._name in _EACH_A_TURN else ...

    def _with_options(
        self, body: dict[str, Any], payload: dict[str, Any], conversation: Conversation
    ) -> dict[str, Any]:
        native = payload["native"] | {name: body[name] for name in _OPTIONS if name in body}
        if "context" in body:
            payload["context"] = dict(conversation.context)
        if CAPTURE_OPTIONS in body:
            options = body[CAPTURE_OPTIONS]
            # The payload has its UUIDs already: derive_ids would reserve the native_* names that stand in it.
            payload[CAPTURE_OPTIONS] = {name: value for name, value in options.items() if name != "derive_ids"}
            if "derive_ids" in options:
                native["derive_ids"] = options["derive_ids"]
        known = {*self._fields(body), *_OPTIONS, *_SHARED}
        for name, value in body.items():
            if name not in known:
                (native if name in _TAKEN else payload)[name] = value
        payload["native"] = native
        return payload

    def _clashes(self, payload: dict[str, Any]) -> list[Problem]:
        """Call ids that were UUIDs as sent and name the session or a turn (CONTRACT 1)."""
        taken = {payload["session_id"].lower(), *(turn["turn_id"].lower() for turn in payload["turns"])}
        return [
            Problem(self._call_path(index, turn, place), "invocation_id_clash")
            for index, turn in enumerate(payload["turns"])
            for place, invocation in enumerate(turn.get("tool_invocations", ()))
            if invocation["invocation_id"].lower() in taken
        ]

    def _call_path(self, index: int, turn: dict[str, Any], place: int) -> str:
        if self._name != OPENAI_CHAT:
            return self._list
        member = "tool_call_id" if turn["role"] == "tool" else f"tool_calls[{place}].id"
        return f"{self._list}[{index}].{member}"


def _moved(message: Message, start: int) -> Message:
    """``message`` at its place in the whole conversation, of which the list begins at ``start``."""
    head, dot, rest = message.place.partition(".")
    return message._replace(place=f"{int(head) + start}{dot}{rest}") if head.isdecimal() else message


def _option_problems(body: dict[str, Any], said: list[Place], *, has_session: bool) -> list[Problem]:
    """What is wrong beside the conversation itself; ``has_session``: it, or its body, names one.

    ``said`` are the places of its ``capture_options``.
    """
    problems: list[Problem] = []
    check_id(body, "session_id", problems, required=not has_session)
    check_id(body, "conversation_id", problems)
    check_context(body, problems)
    problems += wrong_options(said)
    check_string(body, "mode", problems)
    mode = body.get("mode", "snapshot")
    if isinstance(mode, str) and mode not in ("snapshot", "delta"):
        problems.append(Problem("$.mode", "enum"))
    check_string(body, "request_id", problems, required=mode == "delta", min_length=1)
    check_string(body, "model", problems)
    if "start_index" in body:
        if mode == "delta":
            # A delta has no place of its own; CONTRACT 3a counts within its list.
            problems.append(Problem("$.start_index", "not"))
        _check_start_index(body["start_index"], problems)
    return problems


def _check_start_index(start: object, problems: list[Problem]) -> None:
    whole = isinstance(start, int) or (isinstance(start, float) and start.is_integer())
    if isinstance(start, bool) or not isinstance(start, int | float) or not whole:
        problems.append(Problem("$.start_index", "type"))
    elif start < 0:
        problems.append(Problem("$.start_index", "minimum"))
    elif start > MAX_START_INDEX:
        problems.append(Problem("$.start_index", "maximum"))
