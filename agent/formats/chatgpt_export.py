"""The format ``chatgpt-export``: a conversation of a ChatGPT data export (``conversations.json``), every branch of it.

``{mapping: {id: {message, parent, children}}, current_node, title, create_time}``, or the export's list of them. A turn
goes by its node's id and continues the nearest ancestor that has a message. The current end is ``current_node``, or
where there is none the newest leaf. Refuses, with every path that is wrong: a ``mapping`` and nodes that are no
objects, messages that are neither objects nor null, and roles that nobody knows. Parents that are not there and rings
of parents are no error: such a message begins anew.

What a node says beside its message and its place is kept with the turn, under ``node``. What a tool's message repeats
of the call that it answers is not: its turn says where in the call it stands (``chatgpt_export_message.of_call``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from agent.core.json_path import json_path
from agent.errors import MAX_PROBLEMS, Problem, ValidationError
from agent.formats.chatgpt_export_message import Draft, of_call, read_message
from agent.formats.chatgpt_export_tree import Placed, in_order, newest_end
from agent.formats.common_fields import MAX_ID_CHARACTERS, POSTED, refusal_of
from agent.formats.content_parts import without_binaries
from agent.formats.conversation.message import Call, Conversation, Ignored, Message, Result
from agent.formats.conversation.times import from_epoch, stated
from agent.formats.tool_calls import ArgumentReader

# ``conversation_id`` is the export's own.
_BESIDE: Final = (POSTED - {"conversation_id"}) | {"mapping"}
_OF_A_NODE: Final = frozenset({"message", "parent", "children"})
_NODE: Final = "node"
_SIGNS: Final = frozenset({"current_node", "create_time", "title", "conversation_id"})


def detect(document: Any) -> bool:
    """An object with a ``mapping`` of nodes (objects with a message, a parent, or children), or a list of such."""
    if isinstance(document, list):
        return bool(document) and all(isinstance(each, dict) and detect(each) for each in document)
    mapping = document.get("mapping") if isinstance(document, dict) else None
    if not isinstance(mapping, dict):
        return False
    if not mapping:
        return not _SIGNS.isdisjoint(document)
    return all(isinstance(node, dict) and not _OF_A_NODE.isdisjoint(node) for node in mapping.values())


def read(document: Any) -> Iterator[Conversation | ValidationError]:
    """The conversations of ``document``, of each its branches one after the other."""
    if isinstance(document, list):
        for index, each in enumerate(document):
            yield _conversation(each, (index,))
    else:
        yield _conversation(document, ())


def _conversation(document: Any, at: tuple[int, ...]) -> Conversation | ValidationError:
    problems: list[Problem] = []
    mapping = document.get("mapping") if isinstance(document, dict) else None
    if not isinstance(mapping, dict):
        return refusal_of([Problem(json_path((*at, "mapping")), "type" if mapping is not None else "required")])
    drafts = _drafts(mapping, (*at, "mapping"), problems)
    if problems:
        return refusal_of(problems)
    ancestors = _nearest(_parents(mapping), drafts)
    placed = in_order({name: above for name, above in ancestors.items() if name in drafts})
    ignored = Ignored()
    for name in mapping:
        if name not in drafts:
            ignored.add("nodes without a message", json_path((*at, "mapping", name)))
        elif _NODE in drafts[name].native and _beside(mapping[name], name):
            # The message has a member of that very name.
            ignored.add("members of nodes", json_path((*at, "mapping", name)))
    own_id = next((found for found in map(document.get, ("conversation_id", "id")) if _is_id(found)), None)
    return Conversation(
        list(_messages(placed, drafts, mapping)),
        session_id=own_id,
        conversation_id=own_id,
        timestamp=from_epoch(document.get("create_time")) or stated(document.get("create_time")),
        leaf=_leaf(document.get("current_node"), placed, drafts, ancestors),
        native={name: value for name, value in document.items() if name not in _BESIDE},
        ignored=ignored,
    )


def _is_id(value: Any) -> bool:
    return isinstance(value, str) and 0 < len(value) <= MAX_ID_CHARACTERS


def _drafts(mapping: Mapping[str, Any], at: tuple[str | int, ...], problems: list[Problem]) -> dict[str, Draft]:
    arguments = ArgumentReader()
    drafts: dict[str, Draft] = {}
    for name, node in mapping.items():
        path = json_path((*at, name))
        message = node.get("message") if isinstance(node, dict) else None
        if not isinstance(node, dict):
            problems.append(Problem(path, "type"))
        elif message is not None and not isinstance(message, dict):
            problems.append(Problem(f"{path}.message", "type"))
        elif message is not None:
            draft = read_message(message, name, f"{path}.message", arguments, problems)
            if draft is not None:
                drafts[name] = draft
        if len(problems) >= MAX_PROBLEMS:
            break
    return drafts


def _parents(mapping: Mapping[str, Any]) -> dict[str, str | None]:
    """The parent of each node, in the order in which parents list their children; where a node names none, whoever
    lists it is its parent.
    """
    listed: dict[str, str] = {}
    for name, node in mapping.items():
        children = node.get("children")
        for child in children if isinstance(children, list) else ():
            if isinstance(child, str) and child in mapping:
                listed.setdefault(child, name)
    parents: dict[str, str | None] = {}
    # Listed children first, in their order; the mapping's own order says nothing.
    for name in (*listed, *mapping):
        stated_parent = mapping[name].get("parent")
        is_there = isinstance(stated_parent, str) and stated_parent in mapping
        parents.setdefault(name, stated_parent if is_there else listed.get(name))
    return parents


def _nearest(parents: Mapping[str, str | None], drafts: Mapping[str, Draft]) -> dict[str, str | None]:
    """For each node the nearest one above it that has a message."""
    nearest: dict[str, str | None] = {}
    for name, parent in in_order(parents):
        nearest[name] = parent if parent is None or parent in drafts else nearest[parent]
    # In the order in which parents list their children.
    return {name: nearest[name] for name in parents}


def _beside(node: Mapping[str, Any], name: str) -> dict[str, Any]:
    """What ``node`` says beside its message and its place in the tree."""
    return {
        member: without_binaries(member, value)
        for member, value in node.items()
        if member not in _OF_A_NODE and not (member == "id" and value == name)
    }


def _messages(placed: Sequence[Placed], drafts: Mapping[str, Draft], mapping: Mapping[str, Any]) -> Iterator[Message]:
    """The messages; a tool's answers the call that it follows, with other tools' at most between them."""
    called: dict[str | None, Call | None] = {None: None}
    for place, (name, parent) in enumerate(placed):
        draft = drafts[name]
        follows = called[parent] if draft.role == "tool" else None
        called[name] = draft.calls[0] if draft.calls else follows
        native = draft.native if follows is None else of_call(draft.native, follows)
        beside = _beside(mapping[name], name)
        results = () if draft.answers is None else (_answering(draft.answers, follows),)
        yield Message(
            draft.role,
            draft.content,
            str(place),
            native_id=name,
            parent=parent,
            timestamp=draft.timestamp,
            model=draft.model,
            calls=draft.calls,
            results=results,
            native=({_NODE: beside} if beside else {}) | native or None,
            absent=draft.absent,
        )


def _answering(result: Result, call: Call | None) -> Result:
    return result if call is None else result._replace(native_id=call.native_id)


def _leaf(
    current: Any, placed: Sequence[Placed], drafts: Mapping[str, Draft], ancestors: Mapping[str, str | None]
) -> str | None:
    """The message that the conversation stands at: the current node's, else the newest that nothing continues."""
    if isinstance(current, str) and current in ancestors:
        found = current if current in drafts else ancestors[current]
        if found is not None:
            return found
    return newest_end(placed, {name: drafts[name].timestamp for name, _ in placed})
