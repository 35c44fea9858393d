"""The format ``codex``: the rollout of a Codex session, a record a line (``{timestamp, type, payload}``).

Read as a list of its records, alone or in ``records``. ``response_item`` records are the turns (``response_items``),
``compacted`` ones the summary that goes on in place of what was said, and the instructions of ``session_meta`` come
first. Places are those of the records, so a file that grew has its old turns unchanged. The texts of ``event_msg`` are
those of the items again; only where a file has no items at all are they the turns. What a record says beside its
payload is kept with its first turn, under ``record``.

Refuses what holds no records. Records that are none, and those that make no turn, are counted by kind.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from agent.errors import Problem, ValidationError
from agent.formats.common_fields import as_id, refusal_of
from agent.formats.content_parts import without_binaries
from agent.formats.conversation.message import Conversation, Ignored, Message, Result
from agent.formats.conversation.times import stated
from agent.formats.response_item_kept import INSTRUCTIONS
from agent.formats.response_item_kinds import is_item
from agent.formats.response_items import read_item
from agent.formats.tool_calls import ArgumentReader

_KINDS: Final = frozenset({"session_meta", "response_item", "event_msg", "turn_context", "compacted"})
_TEXTS: Final[Mapping[str, str]] = {"user_message": "user", "agent_message": "assistant"}
# Members of a turn's context that hold texts which the session's messages have too.
_TOLD_AGAIN: Final = ("user_instructions", "developer_instructions", "collaboration_mode")
_SNAPSHOT: Final = "ghost_snapshot"
_OF_A_RECORD: Final = frozenset({"type", "payload"})


def detect(document: Any) -> bool:
    """A list with records of a rollout, alone or in ``records``."""
    records = document.get("records") if isinstance(document, dict) else document
    return isinstance(records, list) and (any(map(_is_record, records)) or _is_first_release(records))


def _is_record(record: Any) -> bool:
    if not isinstance(record, dict) or not isinstance(record.get("payload"), dict):
        return False
    kind = record.get("type")
    if not isinstance(kind, str) or kind not in _KINDS:
        return False
    return kind not in ("response_item", "event_msg") or isinstance(record["payload"].get("type"), str)


def _is_first_release(records: list[Any]) -> bool:
    """The records of the first releases: the session, then items as they are, and states between them."""
    first = next((record for record in records if isinstance(record, dict)), {})
    return _is_first_meta(first) and any(is_item(record) and "type" in record for record in records)


def _is_first_meta(record: Mapping[str, Any]) -> bool:
    return "type" not in record and {"id", "timestamp", INSTRUCTIONS} <= record.keys()


def read(document: Any) -> Iterator[Conversation | ValidationError]:
    """The one conversation of a rollout."""
    records, path = (document, "$") if not isinstance(document, dict) else (document.get("records"), "$.records")
    if not isinstance(records, list):
        missing = isinstance(document, dict) and "records" not in document
        yield refusal_of([Problem(path, "required" if missing else "type")])
        return
    if not records:
        yield refusal_of([Problem(path, "minItems")])
        return
    yield _Rollout(records, path).conversation()


class _Rollout:
    """The records of one file, and what is known on the way through them."""

    def __init__(self, records: Sequence[Any], path: str) -> None:
        self._opened = [(index, *_opened(record), f"{path}[{index}]") for index, record in enumerate(records)]
        self._records = records
        self._arguments = ArgumentReader()
        self._has_items = any(kind == "response_item" for _, kind, _, _, _ in self._opened)
        self._model: str | None = None
        self._succeeded: dict[str, bool] = {}
        self._meta: dict[str, Any] | None = None
        self._context: dict[str, Any] | None = None
        self._events: list[tuple[str, str, str]] = []
        self._messages: list[Message] = []
        self._ignored = Ignored()

    def conversation(self) -> Conversation:
        for index, kind, payload, time, path in self._opened:
            found = self._read(str(index), kind, payload, path)
            found = [each if each.timestamp else each._replace(timestamp=time) for each in found]
            self._messages += self._with_record(found, self._records[index], payload, path)
        self._count_doubles()
        native = {"session_meta": self._meta_beside(), "turn_context": self._context}
        return Conversation(
            sorted(self._messages, key=lambda message: message.place != "system"),
            session_id=self._session_id(),
            timestamp=stated((self._meta or {}).get("timestamp")),
            native={name: value for name, value in native.items() if value is not None},
            ignored=self._ignored,
        )

    def _meta_beside(self) -> dict[str, Any] | None:
        """The session's record without the instructions, which are a turn."""
        told = None if self._meta is None else _instructions(self._meta)
        return (
            None
            if self._meta is None
            else {
                name: value
                for name, value in self._meta.items()
                if told is None or _instructions({name: value}) != told
            }
        )

    def _session_id(self) -> str | None:
        named = (self._meta or {}).get("id") or (self._meta or {}).get("session_id")
        return as_id(named)

    def _read(self, place: str, kind: str | None, payload: dict[str, Any], path: str) -> list[Message]:
        if kind == "response_item":
            return self._item(payload, place, path)
        if kind == "session_meta":
            return self._session(payload, path)
        if kind == "event_msg":
            return self._event(payload, place, path)
        if kind == "compacted":
            return self._compacted(payload, place, path)
        if kind == "turn_context":
            model = payload.get("model")
            self._model = model if isinstance(model, str) else self._model
            if self._context is not None:
                self._ignored.add("earlier turn contexts", path)
            self._context = {name: value for name, value in payload.items() if name not in _TOLD_AGAIN}
            if any(payload.get(name) for name in _TOLD_AGAIN):
                self._ignored.add("settings with texts of the session", path)
        else:
            self._ignored.add("records of no use" if kind is None else "other records", path)
        return []

    def _session(self, payload: dict[str, Any], path: str) -> list[Message]:
        if self._meta is not None:
            # A session that was resumed, or forked from another, says once more what it is.
            self._ignored.add("further session records", path)
            return []
        self._meta = payload
        told = _instructions(payload)
        return [] if told is None else [Message("system", told, "system", native={"of": INSTRUCTIONS})]

    def _item(self, item: dict[str, Any], place: str, path: str) -> list[Message]:
        if item.get("type") == _SNAPSHOT:
            self._ignored.add("snapshots of files", path)
            return []
        problems: list[Problem] = []
        found = read_item(item, place, path, self._arguments, problems)
        if problems:
            self._ignored.add("items that cannot be read", path)
        return [self._with_context(message) for message in found]

    def _with_context(self, message: Message) -> Message:
        if message.role == "assistant" and self._model is not None:
            return message._replace(model=self._model, derived=("model",))
        return message._replace(results=[self._with_success(result) for result in message.results])

    def _with_success(self, result: Result) -> Result:
        if result.success is not None or result.native_id not in self._succeeded:
            return result
        return result._replace(success=self._succeeded[result.native_id])

    def _event(self, payload: dict[str, Any], place: str, path: str) -> list[Message]:
        kind = payload.get("type")
        text = payload.get("message")
        if isinstance(kind, str) and kind in _TEXTS and isinstance(text, str):
            role = _TEXTS[kind]
            if not self._has_items:
                return [self._with_context(Message(role, text, place, native=_more(payload)))]
            self._events.append((role, text, path))
            return []
        call, success = payload.get("call_id"), payload.get("success")
        if isinstance(call, str) and isinstance(success, bool):
            self._succeeded[call] = success
        self._ignored.add(_event_kind(kind), path)
        return []

    def _compacted(self, payload: dict[str, Any], place: str, path: str) -> list[Message]:
        text = payload.get("message")
        if not isinstance(text, str):
            self._ignored.add("items that cannot be read", path)
            return []
        if payload.get("replacement_history"):
            self._ignored.add("histories said again", path)
        kept = {name: value for name, value in payload.items() if name not in ("message", "replacement_history")}
        return [self._with_context(Message("assistant", text, place, native={"of": "compacted", "item": kept}))]

    def _with_record(
        self, found: list[Message], record: Any, payload: Mapping[str, Any], path: str
    ) -> Sequence[Message]:
        """``found`` with what their record says beside its payload; of one without turns it is counted."""
        more = {} if payload is record or not isinstance(record, dict) else _beside(record)
        if found and more:
            return [found[0]._replace(native={**(found[0].native or {}), "record": more}), *found[1:]]
        if more and "payload" in record:
            self._ignored.add("members of records without a turn", path)
        return found

    def _count_doubles(self) -> None:
        """Count what events said as items did, and apart from it what they alone said."""
        said = Counter((message.role, message.content) for message in self._messages)
        for role, text, path in self._events:
            doubled = said[role, text] > 0
            said[role, text] -= doubled
            self._ignored.add("texts said again as events" if doubled else "texts of events alone", path)


def _beside(record: Mapping[str, Any]) -> dict[str, Any]:
    """What ``record`` says beside its payload; of its time only where that is none that a turn can have."""
    return {
        name: without_binaries(name, value)
        for name, value in record.items()
        if name not in _OF_A_RECORD and not (name == "timestamp" and stated(value) is not None)
    }


def _opened(record: Any) -> tuple[str | None, dict[str, Any], str | None]:
    """A record's kind, payload and time; the kind is None where it is no record."""
    if not isinstance(record, dict):
        return None, {}, None
    time = stated(record.get("timestamp"))
    payload = record.get("payload")
    kind = record.get("type")
    if isinstance(payload, dict) and isinstance(kind, str):
        return kind, payload, time
    if _is_first_meta(record):
        return "session_meta", record, time
    if is_item(record) and isinstance(kind, str):
        return "response_item", record, None
    return ("state" if "record_type" in record else None), {}, None


def _instructions(meta: Mapping[str, Any]) -> str | None:
    """The instructions that a session began with, as later and as the first releases wrote them."""
    base = meta.get("base_instructions")
    told = base.get("text") if isinstance(base, dict) else meta.get(INSTRUCTIONS)
    return told if isinstance(told, str) and told else None


def _more(payload: Mapping[str, Any]) -> dict[str, Any] | None:
    more = {name: value for name, value in payload.items() if name not in ("message", "type") and value}
    return {"item": more} if more else None


_EVENTS: Final[Mapping[str, str]] = {
    "token_count": "token counts",
    "agent_reasoning": "reasoning said again as events",
    "agent_reasoning_raw_content": "reasoning said again as events",
    "task_started": "beginnings and ends of tasks",
    "task_complete": "beginnings and ends of tasks",
    "turn_started": "beginnings and ends of tasks",
    "turn_complete": "beginnings and ends of tasks",
    "turn_aborted": "beginnings and ends of tasks",
    "patch_apply_begin": "events of tools",
    "patch_apply_end": "events of tools",
    "exec_command_begin": "events of tools",
    "exec_command_end": "events of tools",
    "mcp_tool_call_begin": "events of tools",
    "mcp_tool_call_end": "events of tools",
    "web_search_begin": "events of tools",
    "web_search_end": "events of tools",
    "item_completed": "items said again as events",
}


def _event_kind(kind: Any) -> str:
    return _EVENTS.get(kind, "other events") if isinstance(kind, str) else "other events"
