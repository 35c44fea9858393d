"""One thing that an event says otherwise than its inputs make it (CONTRACT 6): where, what, and both sides.

A side is an id, a hash, a count, an instant or a word of the contract. Anything else may be content: it is told by its
JSON type, and never repeated.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from agent.core.agent_identity import AGENT_ID
from agent.core.decision import CONSTRAINTS, DECISION_TYPE
from agent.core.graph import EDGE_TYPES, NODE_TYPES
from agent.core.ids import is_uuid
from agent.core.timestamps import is_date_time

_HASH: Final = re.compile(r"[0-9a-f]{64}\Z", re.ASCII)
_VERSION: Final = re.compile(r"\d{1,9}\.\d{1,9}\.\d{1,9}\Z", re.ASCII)
_WORDS: Final = frozenset({"session", *NODE_TYPES.values(), *EDGE_TYPES, *CONSTRAINTS, AGENT_ID, DECISION_TYPE})
# The fraction digits of an instant have no end, and could spell anything.
_LONGEST_INSTANT: Final = 40
# A sum of 64-bit counts is far below; a number of four thousand digits is no count.
_MOST_BITS: Final = 128
_TYPES: Final = {str: "(text)", dict: "(object)", list: "(array)", type(None): "(null)"}

Side = str | int | None


class Kind(StrEnum):
    """What is the matter with the thing at a path."""

    CHANGED = "changed"
    MISSING = "missing"
    UNEXPECTED = "unexpected"
    REPEATED = "repeated"
    TURNED_ROUND = "turned_round"
    ORDER = "order"
    SHAPE = "shape"


@dataclass(frozen=True, slots=True)
class Difference:
    """``stored`` and ``rebuilt`` are None where there is nothing on that side.

    ``path`` starts at the DecisionEvent. A node or an edge that is not there has the place that it should have.
    ``subject`` names the node or edge that the difference is about; empty for any other.
    """

    path: str
    kind: Kind
    stored: Side = None
    rebuilt: Side = None
    subject: str = ""


def shown(value: Any) -> str | int:
    """``value`` where it is no content, else its JSON type in brackets."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return value if value.bit_length() <= _MOST_BITS else "(number)"
    if isinstance(value, str) and _is_known(value):
        return value
    return _TYPES.get(type(value), "(number)")


def _is_known(text: str) -> bool:
    if text in _WORDS or is_uuid(text) or _HASH.match(text) or _VERSION.match(text):
        return True
    return len(text) <= _LONGEST_INSTANT and is_date_time(text)
