"""The format ``openai-agents``: what the OpenAI Agents SDK keeps of a conversation.

The items of a session, alone or in ``items``, and the state of a run (``RunState.to_json``), whose generated items
wrap Responses items in ``raw_item``. What an item becomes stands in ``response_items``; places are those of the items,
those of ``original_input`` first. An approval that is waited for is a call without a result.

Refuses, with every path that is wrong: what is no item, unknown roles and wrong types. Of a run's state, whatever says
the same again (the model's responses, the step that it stopped at) is counted, and the rest kept beside the turns.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from agent.errors import MAX_PROBLEMS, Problem, ValidationError
from agent.formats.common_fields import POSTED, refusal_of
from agent.formats.conversation.message import Conversation, Ignored, Message
from agent.formats.openai_responses import is_telling_list
from agent.formats.response_item_kinds import is_list_of_items
from agent.formats.response_items import read_item, read_items
from agent.formats.tool_calls import ArgumentReader
from agent.formats.writing import Session, Written

_VERSION: Final = "$schemaVersion"
_APPROVAL: Final = "tool_approval_item"
_LISTS: Final = ("generated_items", "session_items")
# Members of a state that are no text of the conversation said once more.
_KEPT: Final = frozenset(
    {_VERSION, "current_turn", "max_turns", "current_agent", "conversation_id", "previous_response_id", "context"}
    | {"auto_previous_response_id", "no_active_agent_run", "reasoning_item_id_policy", "tool_use_tracker", "trace"}
    | {"generated_session_item_indexes", "sandbox", "current_turn_persisted_item_count", "generated_prompt_cache_key"}
)
_LIST_AND_BODY: Final = POSTED | {"items"}
# Of a wrapped item: what the raw one says, and what the turn's own fields do.
_WRAPPING: Final = frozenset({"raw_item", "agent", "output", "type"})


def detect(document: Any) -> bool:
    """A run's state, ``{items}`` with Responses items, or a list of such items that tells itself."""
    if not isinstance(document, dict):
        return is_telling_list(document)
    return _is_state(document) or is_list_of_items(document.get("items"))


def _is_state(document: Mapping[str, Any]) -> bool:
    return isinstance(document.get(_VERSION), str) and "original_input" in document


def read(document: Any) -> Iterator[Conversation | ValidationError]:
    """The one conversation of ``document``."""
    problems: list[Problem] = []
    ignored = Ignored()
    native: dict[str, Any] = {}
    if isinstance(document, dict) and _is_state(document):
        messages = _state(document, problems, ignored)
        native = {name: value for name, value in document.items() if name in _KEPT}
    else:
        items, path = (document, "$") if not isinstance(document, dict) else (document.get("items"), "$.items")
        messages = _items(items, path, problems)
        if isinstance(document, dict):
            native = {name: value for name, value in document.items() if name not in _LIST_AND_BODY}
            if "items" not in document:
                problems = [Problem(path, "required")]
    yield refusal_of(problems) if problems else Conversation(messages, native=native, ignored=ignored)


def _items(items: Any, path: str, problems: list[Problem], *, may_be_empty: bool = False) -> list[Message]:
    if not isinstance(items, list):
        problems.append(Problem(path, "type"))
        return []
    if not items and not may_be_empty:
        problems.append(Problem(path, "minItems"))
    return read_items(items, path, problems)


def _state(state: Mapping[str, Any], problems: list[Problem], ignored: Ignored) -> list[Message]:
    sent = state["original_input"]
    sent = [{"role": "user", "content": sent}] if isinstance(sent, str) else sent
    messages = _items(sent, "$.original_input", problems, may_be_empty=True)
    first = len(sent) if isinstance(sent, list) else 0
    lists = [value for name in _LISTS if isinstance(value := state.get(name, []), list)]
    problems.extend(
        Problem(f"$.{name}", "type") for name in _LISTS if not isinstance(state.get(name), list) and name in state
    )
    # Handing over may shorten what the model is given; the session has all of it.
    run, name = max(zip(lists, _LISTS, strict=False), key=lambda pair: len(pair[0]), default=([], _LISTS[0]))
    reader = _RunItems(problems, ignored, {_id(item) for item in run if _type(item) != _APPROVAL})
    for index, item in enumerate([*run, *_interruptions(state)]):
        path = f"$.{name}[{index}]" if index < len(run) else "$.current_step"
        messages += reader.read(item, str(first + index), path)
        if len(problems) > MAX_PROBLEMS:
            break
    for member, value in state.items():
        if value and member not in _KEPT and member not in ("original_input", name):
            ignored.add("what a run's state says again", f"$.{member}" if member.isidentifier() else "$")
    return messages


class _RunItems:
    """Reads wrapped items; ``called`` are the ids of the calls that stand there without waiting for approval."""

    def __init__(self, problems: list[Problem], ignored: Ignored, called: set[str | None]) -> None:
        self._problems = problems
        self._ignored = ignored
        self._called = called
        self._arguments = ArgumentReader()

    def read(self, wrapped: Any, place: str, path: str) -> Iterator[Message]:
        if not isinstance(wrapped, dict) or not isinstance(wrapped.get("raw_item"), dict):
            at = f"{path}.raw_item" if isinstance(wrapped, dict) else path
            self._problems.append(Problem(at, "required" if at != path and "raw_item" not in wrapped else "type"))
            return
        if _type(wrapped) == _APPROVAL:
            named = _id(wrapped)
            if named in self._called:
                self._ignored.add("approvals of calls that stand there", path)
                return
            self._called.add(named)
        agent = wrapped.get("agent")
        agent = agent.get("name") if isinstance(agent, dict) else None
        more = {name: value for name, value in wrapped.items() if name not in _WRAPPING}
        found = read_item(wrapped["raw_item"], place, f"{path}.raw_item", self._arguments, self._problems)
        for number, message in enumerate(found):
            native = dict(message.native or {}) | ({"run_item": more} if more and number == 0 else {})
            metadata = {"agent": agent} if isinstance(agent, str) and message.role == "assistant" else None
            yield message._replace(native=native or None, metadata=metadata)


def _interruptions(state: Mapping[str, Any]) -> list[Any]:
    """The approvals that the run waits for."""
    step = state.get("current_step")
    data = step.get("data") if isinstance(step, dict) else None
    waiting = data.get("interruptions") if isinstance(data, dict) else None
    return [item for item in waiting if _type(item) == _APPROVAL] if isinstance(waiting, list) else []


def _type(item: Any) -> Any:
    return item.get("type") if isinstance(item, dict) else None


def _id(item: Any) -> str | None:
    """What the call of a wrapped item goes by."""
    raw = item.get("raw_item") if isinstance(item, dict) else None
    if not isinstance(raw, dict) or str(raw.get("type")).endswith("_output"):
        return None
    named = raw.get("call_id") or raw.get("id")
    return named if isinstance(named, str) else None


def write(session: Session) -> Written:
    """The history of ``session`` as the items of a session."""
    from agent.formats.conversation.said import document, said  # a capture only reads
    from agent.formats.response_items_out import items_of

    found, lost = said(session, "openai-agents")
    lost["run_items"] = sum("run_item" in (each.native or {}) for each in found)
    return document(session, {"items": items_of(found, lost)}, lost)
