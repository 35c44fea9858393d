"""What stands around a conversation in recordings and data sets: opened, so that the conversation inside can be read.

``{task_id, traj}``, ``{source, state}``, ``{source, data}``, ``{source, response}`` and their like. A document that a
format knows as it is, is never opened.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

_INNER: Final = ("records", "traj", "state", "data", "conversation", "body", "response", "payload")


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
    for key in _INNER:
        if key in document and detects(document[key]):
            return Opened(document[key], key, {name: value for name, value in document.items() if name != key})
    return None
