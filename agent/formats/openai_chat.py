"""The format ``openai-chat``: a list of Chat Completions messages as a native payload (CONTRACT 3, 3a).

``{session_id, conversation_id?, messages, mode?, start_index?, request_id?, model?, context?, capture_options?}``.
Turns are named by their place, calls by theirs, and times come from ``captured_at`` where a message has none.
Refuses, with every path that is wrong: unknown roles, wrong types, ``delta`` without ``request_id`` or with
``start_index``, more than 10 000 turns and invocations. Whatever clients really send is kept.

What a payload's or a turn's own fields do not hold stands under ``native``: at the top the body's options, in a
turn's ``metadata.native`` the message's fields. ``metadata.native_absent`` names fields that the turn suggests and
the message lacks.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from agent.core.graph import MAX_TURNS_AND_INVOCATIONS
from agent.core.ids import (
    called_invocation_uuid,
    conversation_of_session,
    conversation_uuid,
    is_uuid,
    session_uuid,
    turn_uuid,
)
from agent.core.json_path import json_path
from agent.core.native import OpenCalls, derive_ids
from agent.errors import MAX_PROBLEMS, Problem
from agent.formats import Translation
from agent.formats.common_fields import (
    check_context_and_options,
    check_id,
    check_string,
    refusal_of,
    unknown_fields,
)
from agent.formats.openai_message import MessageDraft, read_message
from agent.formats.tool_calls import UNKNOWN_TOOL, ArgumentReader

MAX_START_INDEX: Final = 2**63 - 1

# The Chat Completions reference, requests and answers, and what this reader takes beside it.
_MESSAGE_FIELDS: Final = frozenset(
    {"role", "content", "name", "refusal", "audio", "annotations", "tool_calls", "tool_call_id", "function_call"}
    | {"id", "timestamp"}
)
_OPTIONS: Final = ("mode", "start_index", "request_id", "model")
_SHARED: Final = ("session_id", "conversation_id", "context", "capture_options")
_KNOWN: Final = frozenset({*_OPTIONS, *_SHARED, "messages"})
# Fields of the payload that a body's field of the same name would be mistaken for.
_TAKEN: Final = frozenset({"turns", "native", "native_session_id", "native_conversation_id"})


class _Scope(NamedTuple):
    """What every turn of one body shares: UUIDs in lower case, the prefix of its turns' names, the first place."""

    session: str
    prefix: str
    start: int
    model: str | None
    captured_at: str
    snapshot: bool

    def turn_id(self, index: int) -> str:
        return turn_uuid(self.session, f"{self.prefix}:{self.start + index}")

    def parent(self, index: int) -> dict[str, str | None]:
        """What a turn continues: in a snapshot the place before its own, in every list that it may come in.

        A window may come before the list that it is of, and then waits for it. A delta goes on from the current end.
        """
        if not self.snapshot:
            return {}
        return {"parent_turn_id": self.turn_id(index - 1) if self.start + index else None}


class OpenAIChatReader:
    """Reads what Chat Completions clients hold."""

    def read(self, body: dict[str, Any], *, captured_at: str) -> Translation:
        """Translate ``body``, which is left as it is. Raises ValidationError with all problems, at most 50."""
        problems: list[Problem] = []
        _check_options(body, problems)
        drafts = _read_messages(body, problems)
        _refuse(problems)
        payload = derive_ids(_payload(body, drafts, captured_at))
        _refuse(_clashes(payload))
        snapshot = body.get("mode") != "delta"
        warnings = (*unknown_fields(body, _KNOWN), *_unknown_in_messages(body["messages"]))[:MAX_PROBLEMS]
        return Translation(payload, warnings, "$.messages" if snapshot else None)


def _unknown_in_messages(messages: list[dict[str, Any]]) -> list[Problem]:
    """A warning for each field that no Chat Completions message has, where it occurs first: a typo is seen."""
    first: dict[str, Problem] = {}
    for index, message in enumerate(messages):
        if not message.keys() <= _MESSAGE_FIELDS:
            for name in message:
                if name not in _MESSAGE_FIELDS:
                    first.setdefault(name, Problem(json_path(("messages", index, name)), "unknown_field"))
    return list(first.values())


def _refuse(problems: list[Problem]) -> None:
    if problems:
        raise refusal_of(problems)


def _check_options(body: dict[str, Any], problems: list[Problem]) -> None:
    check_id(body, "session_id", problems, required=True)
    check_id(body, "conversation_id", problems)
    check_context_and_options(body, problems)
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


def _check_start_index(start: object, problems: list[Problem]) -> None:
    whole = isinstance(start, int) or (isinstance(start, float) and start.is_integer())
    if isinstance(start, bool) or not isinstance(start, int | float) or not whole:
        problems.append(Problem("$.start_index", "type"))
    elif start < 0:
        problems.append(Problem("$.start_index", "minimum"))
    elif start > MAX_START_INDEX:
        problems.append(Problem("$.start_index", "maximum"))


def _read_messages(body: dict[str, Any], problems: list[Problem]) -> list[MessageDraft]:
    messages = body.get("messages")
    if not isinstance(messages, list):
        problems.append(Problem("$.messages", "type" if "messages" in body else "required"))
        return []
    if not messages:
        problems.append(Problem("$.messages", "minItems"))
    if len(messages) > MAX_TURNS_AND_INVOCATIONS:
        problems.append(Problem("$.messages", "too_many_turns"))
        return []
    arguments = ArgumentReader()
    drafts = []
    entries = len(messages)
    for index, message in enumerate(messages):
        draft = read_message(message, f"$.messages[{index}]", arguments, problems)
        if draft is not None:
            drafts.append(draft)
            entries += len(draft.calls) + (draft.result_of is not None)
        if len(problems) >= MAX_PROBLEMS:
            break
    if entries > MAX_TURNS_AND_INVOCATIONS:
        problems.append(Problem("$.messages", "too_many_turns"))
    return drafts


def _payload(body: dict[str, Any], drafts: list[MessageDraft], captured_at: str) -> dict[str, Any]:
    """The native payload, still with the native strings of session, conversation, calls and results."""
    session = session_uuid(body["session_id"])
    conversation = body.get("conversation_id", conversation_of_session(session))
    prefix = conversation_uuid(conversation)
    snapshot = body.get("mode") != "delta"
    if not snapshot:
        prefix = f"{prefix}:{body['request_id']}"
    scope = _Scope(session, prefix, int(body.get("start_index", 0)), body.get("model"), captured_at, snapshot)
    payload = {"session_id": body["session_id"], "conversation_id": conversation, "turns": _turns(drafts, scope)}
    native: dict[str, Any] = {name: body[name] for name in _OPTIONS if name in body}
    if "context" in body:
        payload["context"] = body["context"]
    if "capture_options" in body:
        options = body["capture_options"]
        # The payload has its UUIDs already: derive_ids would reserve the native_* names that stand in it.
        payload["capture_options"] = {name: value for name, value in options.items() if name != "derive_ids"}
        if "derive_ids" in options:
            native["derive_ids"] = options["derive_ids"]
    for name, value in body.items():
        if name not in _KNOWN:
            (native if name in _TAKEN else payload)[name] = value
    if native:
        payload["native"] = native
    return payload


def _turns(drafts: list[MessageDraft], scope: _Scope) -> list[dict[str, Any]]:
    tools: OpenCalls[str] = OpenCalls()
    latest = scope.captured_at
    turns = []
    for index, draft in enumerate(drafts):
        turn_id = scope.turn_id(index)
        latest = draft.timestamp or latest
        turn: dict[str, Any] = {"turn_id": turn_id, "role": draft.role, "content": draft.content, "timestamp": latest}
        turn |= scope.parent(index)
        derived = [] if draft.timestamp else ["timestamp"]
        if draft.role == "assistant" and scope.model is not None:
            turn["model"] = scope.model
            derived.append("model")
        if invocations := _invocations(draft, index, turn_id, tools):
            turn["tool_invocations"] = invocations
            if draft.result_of is not None:
                # Which call it answers, and that one's name, depend on where the list begins.
                derived.append("tool_invocations")
        metadata = {"derived": derived, "native": draft.native, "native_absent": list(draft.absent)}
        if told := {name: value for name, value in metadata.items() if value}:
            turn["metadata"] = told
        turns.append(turn)
    return turns


def _invocations(draft: MessageDraft, index: int, turn_id: str, tools: OpenCalls[str]) -> list[dict[str, Any]]:
    if draft.result_of is not None:
        called = tools.answer(_call_key(draft.result_of))
        name = draft.tool_name or called or UNKNOWN_TOOL
        return [{"tool_name": name, "invocation_id": draft.result_of}]
    invocations = []
    for place, call in enumerate(draft.calls):
        invocation: dict[str, Any] = {"tool_name": call.tool_name}
        if call.native_id is None:
            invocation["invocation_id"] = called_invocation_uuid(turn_id, place)
        else:
            invocation["invocation_id"] = call.native_id
            tools.call(_call_key(call.native_id), turn=index, value=call.tool_name)
        if call.has_arguments:
            invocation["arguments"] = call.arguments
        invocations.append(invocation)
    return invocations


def _call_key(native: str) -> str:
    # UUIDs are compared in lower case (CONTRACT 2), all other strings as they are.
    return native.lower() if is_uuid(native) else native


def _clashes(payload: dict[str, Any]) -> list[Problem]:
    """Call ids that were UUIDs as sent and name the session or a turn (CONTRACT 1)."""
    taken = {payload["session_id"].lower(), *(turn["turn_id"] for turn in payload["turns"])}
    return [
        Problem(f"$.messages[{index}].{_place(turn, place)}", "invocation_id_clash")
        for index, turn in enumerate(payload["turns"])
        for place, invocation in enumerate(turn.get("tool_invocations", ()))
        if invocation["invocation_id"].lower() in taken
    ]


def _place(turn: dict[str, Any], place: int) -> str:
    return "tool_call_id" if turn["role"] == "tool" else f"tool_calls[{place}].id"
