"""What stands around a conversation in recordings and data sets: opened, so that the conversation inside can be read.

``{task_id, traj}``, ``{source, state}``, ``{source, data}``, ``{source, response}`` and their like. A document that a
format knows as it is, is never opened.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final, NamedTuple

from agent.core.json_path import json_path
from agent.errors import Problem
from agent.formats.conversation.message import Conversation

BESIDE: Final = "members beside the conversation"
# Where the short ones are kept, among what the conversation's format keeps beside its messages.
WRAPPER: Final = "wrapper"
_MAX_BESIDE: Final = 256
INNER: Final = ("records", "traj", "state", "data", "conversation", "body", "response", "payload")


class Opened(NamedTuple):
    """``document`` is what a format knows; ``key`` the member that it stood in, None where it stood alone.

    ``beside`` are the other members of the wrapper.
    """

    document: Any
    key: str | None
    beside: Mapping[str, Any]


def opened(document: Any, detects: Callable[[Any], bool]) -> Opened | None:
    """``document``, or the first of its members that is known to wrap conversations, that ``detects`` knows.

    None where it knows neither.
    """
    if detects(document):
        return Opened(document, None, {})
    if not isinstance(document, dict):
        return None
    for key in INNER:
        if key in document and detects(document[key]):
            return Opened(document[key], key, {name: value for name, value in document.items() if name != key})
    return None


def with_wrapper(conversation: Conversation, beside: Mapping[str, Any]) -> Conversation:
    """``conversation`` with the members ``beside`` it: those that are short are kept, the rest is counted."""
    kept = {name: member for name, member in beside.items() if _is_small(member)}
    for name in beside:
        if name not in kept:
            conversation.ignored.add(BESIDE, json_path((name,)))
    if not kept:
        return conversation
    unknown = [Problem(json_path((name,)), "unknown_field") for name in kept]
    native = {WRAPPER: kept, **conversation.native}
    return replace(conversation, native=native, warnings=(*conversation.warnings, *unknown))


def _is_small(member: Any) -> bool:
    return not isinstance(member, dict | list) and (not isinstance(member, str) or len(member) <= _MAX_BESIDE)
