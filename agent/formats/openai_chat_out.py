"""The format ``openai-chat`` on its way out: the history as one list of Chat Completions messages.

``{"session_id", "conversation_id"?, "messages"}``, which the reader of this format takes again. A turn that came as
such a message is that message again, with every field that it had. Any other turn becomes the message that says it
best: calls with arguments as JSON text, each result under the id of the call that it answers.

What a message cannot say is counted, and so is what a provider refuses: nothing is made up to please one.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from agent.core.canonical import encode
from agent.core.pairs import Place, named_invocations, native_id, paired_calls
from agent.core.turn import SessionTurn
from agent.formats import OPENAI_CHAT
from agent.formats.content_parts import digests_in
from agent.formats.conversation.said import is_one_answer
from agent.formats.openai_message import ANSWER, read_message
from agent.formats.plain_text import one_line
from agent.formats.prompt_turn import answered_place, is_made_anew, joined_how
from agent.formats.tool_calls import UNKNOWN_TOOL, ArgumentReader, arguments_text, is_read_otherwise
from agent.formats.writing import Session, Written, not_shown, unsaid

_ROLES: Final = frozenset({"user", "assistant", "system", "tool"})
# What the Chat Completions reference allows a function to be called.
_FUNCTION_NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,64}\Z", re.ASCII)


def write(session: Session) -> Written:
    """The history of ``session`` as one document."""
    shown = [turn for turn in session.shown if not turn.erased]
    messages = _Messages(session)
    for turn in shown:
        messages.add(turn)
    lost = messages.lost
    lost["calls_without_result"] = len(messages.calls.keys() - messages.answered)
    lost["not_in_history"] = not_shown(session)
    document: dict[str, Any] = {"session_id": session.native_session_id or session.session_id}
    conversations = dict.fromkeys(turn.conversation_id for turn in shown)
    if len(conversations) == 1:
        (conversation,) = conversations
        document["conversation_id"] = session.native_conversation_id(conversation) or conversation
    else:
        # The list is none of them: captured again under the name of one, it would rewrite that one.
        lost["conversations"] = len(conversations)
    document["messages"] = messages.messages
    text = one_line(encode(document).decode()) + "\n"
    return Written((text,), len(session.shown), len(session.shown) - len(shown), +lost)


class _Messages:
    """The list while it grows; ``calls`` are those of the list, each with the id that it goes by there."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._pairs = paired_calls(session.all)
        self.messages: list[dict[str, Any]] = []
        self.calls: dict[Place, Any] = {}
        self.answered: set[Place] = set()
        self.lost: Counter[str] = Counter()
        self._ids: set[Any] = set()
        # The turn whose message is the last, where its fields alone made it.
        self._said: SessionTurn | None = None

    def add(self, turn: SessionTurn) -> None:
        """Append what says ``turn``."""
        self.lost += unsaid(self._session, turn)
        capture = self._session.capture_of(turn)
        is_own = capture.format in (None, OPENAI_CHAT) and not is_made_anew(turn)
        self.lost["answers"] += is_own and _came_with_answer(turn)
        message = message_of(turn, is_translated=capture.is_translated) if is_own else None
        if message is None and turn.role in _ROLES - {"tool"}:
            self._say(turn)
            return
        self._said = None
        if message is not None:
            self._give_back(turn, message)
        elif turn.role == "tool":
            self._results(turn)
        else:
            # Of another writer: no message has such a role.
            self.lost["roles"] += 1

    def _give_back(self, turn: SessionTurn, message: dict[str, Any]) -> None:
        self.lost["binaries"] += digests_in(message)
        if turn.role != "tool":
            sent = message.get("tool_calls") or ()
            # An old function_call stands behind them, and has no id.
            ids = [call.get("id") for call in sent] + [None] * (len(turn.invocations) - len(sent))
            self.calls |= {Place(turn.turn_id, number): call_id for number, call_id in enumerate(ids)}
            self._ids.update(each for each in ids if isinstance(each, str))
        for _, call in self._answers(turn):
            self.lost["results_without_call"] += call is None or call not in self.calls
        self.messages.append(message)

    def _say(self, turn: SessionTurn) -> None:
        self.lost["times"] += _says_its_time(turn)
        message: dict[str, Any] = {"role": turn.role, "content": turn.content or ""}
        calls = list(named_invocations(turn))
        if calls and turn.role == "assistant":
            message["content"] = turn.content or None
            message["tool_calls"] = [self._call(place, entry) for place, _, entry in calls]
        else:
            self.lost["calls_of_others"] += len(calls)
        if self._is_going_on(turn):
            self._join(message)
        else:
            self.messages.append(message)
        self._said = turn

    def _is_going_on(self, turn: SessionTurn) -> bool:
        """Whether ``turn`` goes on with the answer that was just said: a provider wants its calls in one message."""
        before = self._said
        if before is None or not before.role == turn.role == "assistant":
            return False
        sources = (self._session.capture_of(each).format for each in (before, turn))
        has_calls = bool(before.invocations and turn.invocations)
        return joined_how(turn) == "turn" or is_one_answer(*sources, has_calls=has_calls)

    def _join(self, message: Mapping[str, Any]) -> None:
        self.lost["joined_turns"] += 1
        whole = self.messages[-1]
        texts = [text for text in (whole["content"], message["content"]) if text]
        calls = [*whole.get("tool_calls", ()), *message.get("tool_calls", ())]
        whole["content"] = "\n".join(texts) or (None if calls else "")
        if calls:
            whole["tool_calls"] = calls

    def _call(self, place: Place, entry: Mapping[str, Any]) -> dict[str, Any]:
        name = entry.get("tool_name")
        name = name if isinstance(name, str) else UNKNOWN_TOOL
        self.lost["odd_tool_names"] += _FUNCTION_NAME.match(name) is None
        self.lost["success"] += "success" in entry
        call_id = self._own_id(entry, name)
        self.calls[place] = call_id
        self.lost["calls_without_arguments"] += "arguments" not in entry
        self.lost["json_texts"] += is_read_otherwise(entry.get("arguments"))
        arguments = arguments_text(entry["arguments"]) if "arguments" in entry else "{}"
        return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}

    def _own_id(self, entry: Mapping[str, Any], name: str) -> Any:
        """The id of a call; one that went by its tool's name (CONTRACT 3a) again gets one of its own."""
        call_id = _id(entry)
        is_repeated = call_id in self._ids
        self.lost["repeated_call_ids"] += is_repeated
        call_id = entry.get("invocation_id") if is_repeated and call_id == name else call_id
        self._ids.add(call_id)
        return call_id

    def _results(self, turn: SessionTurn) -> None:
        """A message for each call that the turn answers, each with the whole text: a provider wants all answered."""
        self.lost["times"] += _says_its_time(turn)
        said = list(self._answers(turn))
        self.lost["several_results"] += len(said) > 1
        self.lost["success"] += sum("success" in entry for entry in turn.invocations)
        for entry, call in said:
            self.lost["results_without_call"] += call is None or call not in self.calls
            call_id = None if call is None else self.calls.get(call)
            self._result(turn, _id(entry) if call_id is None else call_id)
        if not said:
            self.lost["results_without_call"] += 1
            self._result(turn, turn.turn_id)

    def _result(self, turn: SessionTurn, call_id: str) -> None:
        self.messages.append({"role": "tool", "tool_call_id": call_id, "content": turn.content or ""})

    def _answers(self, turn: SessionTurn) -> Iterator[tuple[Mapping[str, Any], Place | None]]:
        """What a tool turn names, each with the place of the call that it answers."""
        for place, _, entry in named_invocations(turn) if turn.role == "tool" else ():
            call = answered_place(turn, place, self._pairs)
            if call is not None:
                self.answered.add(call)
            yield entry, call


def message_of(turn: SessionTurn, *, is_translated: bool) -> dict[str, Any] | None:
    """The message that ``turn`` came as; None where it did not come as one, or is no longer whole.

    ``is_translated``: its capture was. Where that is not known, the turn has to say so itself: what it keeps of a
    message is exactly what the reader would keep. Without content (CONTRACT 8) no turn gives a message back.
    """
    metadata = turn.fields.get("metadata", {})
    if not isinstance(metadata, dict):
        return None
    kept = metadata.get("native", {}), metadata.get("native_absent", [])
    if _came_with_answer(turn):
        kept = {name: value for name, value in kept[0].items() if name != ANSWER}, kept[1]
    if not (is_translated or any(kept)) or not isinstance(kept[0], dict) or not isinstance(kept[1], list):
        return None
    message = _rebuilt(turn, *kept)
    again = None if message is None else read_message(message, "$", ArgumentReader(), [])
    if again is None or again.role != turn.role:
        return None
    if turn.role == "tool" and turn.invocations and again.result_of is None:
        # What named its call is gone.
        return None
    return message if is_translated or (again.native, list(again.absent)) == kept else None


def _rebuilt(turn: SessionTurn, native: Mapping[str, Any], absent: Iterable[Any]) -> dict[str, Any] | None:
    message: dict[str, Any] = {"role": turn.role, "content": turn.content}
    if _says_its_time(turn):
        message["timestamp"] = turn.timestamp
    message |= native
    if turn.role != "tool":
        invocations = list(turn.invocations)
        if isinstance(native.get("function_call"), dict):
            # The old form stands behind the others, and has its message's field to itself.
            invocations = invocations[:-1]
        if invocations:
            sent = native.get("tool_calls", [None] * len(invocations))
            if not isinstance(sent, list) or len(sent) != len(invocations):
                return None
            message["tool_calls"] = [
                _exact_call(entry) if call is None else call for call, entry in zip(sent, invocations, strict=True)
            ]
    return {field: value for field, value in message.items() if field not in absent}


def _says_its_time(turn: SessionTurn) -> bool:
    """Whether the time of ``turn`` is its own: one that was found otherwise is named in ``metadata.derived``."""
    return not _is_derived(turn, "timestamp")


def _is_derived(turn: SessionTurn, name: str) -> bool:
    metadata = turn.fields.get("metadata")
    derived = metadata.get("derived") if isinstance(metadata, dict) else None
    return isinstance(derived, list) and name in derived


def _came_with_answer(turn: SessionTurn) -> bool:
    """Whether ``turn`` keeps what an answer said beside its message: no member of the message is called so then."""
    metadata = turn.fields.get("metadata")
    native = metadata.get("native") if isinstance(metadata, dict) else None
    return isinstance(native, dict) and ANSWER in native and _is_derived(turn, ANSWER)


def _id(entry: Mapping[str, Any]) -> Any:
    """The id of an invocation as its client knows it."""
    native = native_id(entry)
    return entry.get("invocation_id") if native is None else native


def _exact_call(entry: Mapping[str, Any]) -> dict[str, Any]:
    """The call that an invocation holds to the letter (``ToolCall.exact``)."""
    return {
        "id": _id(entry),
        "type": "function",
        "function": {"name": entry.get("tool_name"), "arguments": arguments_text(entry.get("arguments"))},
    }
