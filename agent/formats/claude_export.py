"""The format ``claude-export``: a conversation of a Claude.ai data export (``conversations.json``), every branch of it.

``{uuid, name, chat_messages: [{uuid, sender, text, content, created_at, parent_message_uuid?}]}``, or the export's list
of them. A turn goes by its message's uuid, the second and further turns of a message by their places in it.
Refuses, with every path that is wrong: ``chat_messages`` that is no list, messages that are no objects, and senders
that nobody knows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from agent.errors import MAX_PROBLEMS, Problem, ValidationError
from agent.formats.chatgpt_export_tree import Placed, in_order, newest_end
from agent.formats.claude_export_message import Draft, read_message
from agent.formats.common_fields import MAX_ID_CHARACTERS, POSTED, refusal_of
from agent.formats.conversation.message import Conversation, Ignored, Message
from agent.formats.conversation.times import stated

_BESIDE: Final = POSTED | {"chat_messages"}


def detect(document: Any) -> bool:
    """An object with ``chat_messages``, a list; or a list of such."""
    if isinstance(document, list):
        return bool(document) and all(isinstance(each, dict) and detect(each) for each in document)
    return isinstance(document, dict) and isinstance(document.get("chat_messages"), list)


def read(document: Any) -> Iterator[Conversation | ValidationError]:
    """The conversations of ``document``, of each its branches one after the other."""
    if isinstance(document, list):
        for index, each in enumerate(document):
            yield _conversation(each, f"$[{index}]")
    else:
        yield _conversation(document, "$")


def _conversation(document: Any, at: str) -> Conversation | ValidationError:
    sent = document.get("chat_messages") if isinstance(document, dict) else None
    if not isinstance(sent, list):
        return refusal_of([Problem(f"{at}.chat_messages", "type" if sent is not None else "required")])
    problems: list[Problem] = []
    ignored = Ignored()
    drafts: dict[str, Draft] = {}
    names = _names(sent)
    for index, message in enumerate(sent):
        draft = read_message(message, f"{at}.chat_messages[{index}]", ignored, problems)
        if draft is not None:
            drafts[names[index]] = draft
        if len(problems) >= MAX_PROBLEMS:
            break
    if problems:
        return refusal_of(problems)
    placed = in_order(_parents(sent, names))
    uuid = document.get("uuid")
    own_id = uuid if isinstance(uuid, str) and 0 < len(uuid) <= MAX_ID_CHARACTERS else None
    current = document.get("current_leaf_message_uuid")
    end = current if isinstance(current, str) and current in drafts else None
    end = end or newest_end(placed, {name: draft.timestamp for name, draft in drafts.items()})
    return Conversation(
        list(_messages(placed, drafts)),
        session_id=own_id,
        conversation_id=own_id,
        timestamp=stated(document.get("created_at")),
        leaf=None if end is None else _turn_name(end, len(drafts[end].turns) - 1),
        native={name: value for name, value in document.items() if name not in _BESIDE},
        ignored=ignored,
    )


def _names(messages: Sequence[Any]) -> list[str]:
    """What each message goes by: its uuid, or its place where it has none or one that was there before."""
    names: dict[str, None] = {}
    for index, message in enumerate(messages):
        uuid = message.get("uuid") if isinstance(message, dict) else None
        is_own = isinstance(uuid, str) and uuid != "" and uuid not in names
        names[str(uuid) if is_own else _place(index, names)] = None
    return list(names)


def _place(index: int, names: Mapping[str, None]) -> str:
    place = str(index)
    while place in names:
        place = f"#{place}"
    return place


def _parents(messages: Sequence[Mapping[str, Any]], names: Sequence[str]) -> dict[str, str | None]:
    """Whom each message continues: who it says, or the one before it where the export has no branches.

    A parent that is no message of the export is the root of all (a uuid of zeros).
    """
    known = set(names)
    parents: dict[str, str | None] = {}
    before = None
    for message, name in zip(messages, names, strict=True):
        parent = message.get("parent_message_uuid", before)
        parents[name] = parent if isinstance(parent, str) and parent in known else None
        before = name
    return parents


def _turn_name(name: str, number: int) -> str:
    return f"{name}.{number}" if number else name


def _messages(placed: Sequence[Placed], drafts: Mapping[str, Draft]) -> Iterator[Message]:
    for name, parent in placed:
        draft = drafts[name]
        has_uuid = "uuid" not in draft.absent
        above = None if parent is None else _turn_name(parent, len(drafts[parent].turns) - 1)
        for number, (turn, native) in enumerate(zip(draft.turns, draft.natives, strict=True)):
            place = _turn_name(name, number)
            yield Message(
                turn.role,
                turn.content,
                place,
                native_id=name if has_uuid and number == 0 else None,
                parent=above,
                timestamp=draft.timestamp,
                model=draft.model if turn.role == "assistant" else None,
                calls=turn.calls,
                results=turn.results,
                native=native or None,
                absent=draft.absent if number == 0 else (),
            )
            above = place
