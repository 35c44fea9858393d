"""Identity (CONTRACT 3): what a UUID is, and how a native id becomes one.

Names are hashed with UUID version 5 (RFC 9562 5.5) in one namespace, so the same payload gives the same ids on
every machine and in every implementation.
"""

from __future__ import annotations

import hashlib
import re
import uuid
from typing import Final, TypeGuard

NAMESPACE: Final = uuid.uuid5(uuid.NAMESPACE_URL, "https://agentics.dev/contracts/conversation-memory/v1")

# \Z, not $: nothing may stand before or after, not even a line break. ASCII digits only.
_UUID: Final = re.compile(r"[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12}\Z", re.ASCII)

_VARIANT: Final = {digit: "89ab"[int(digit, 16) & 3] for digit in "0123456789abcdef"}
# Copying a primed SHA-1 costs a quarter of uuid.uuid5, and a capture needs one for every edge.
_PRIMED: Final = hashlib.sha1(NAMESPACE.bytes, usedforsecurity=False)


def is_uuid(text: object) -> TypeGuard[str]:
    """Whether ``text`` is a UUID as CONTRACT 2 has it: 8-4-4-4-12 ASCII hex, any case, any version, nil too."""
    return isinstance(text, str) and _UUID.match(text) is not None


def name_uuid(name: str) -> str:
    """``uuid5(NS, name)`` as lower-case text."""
    digest = _PRIMED.copy()
    digest.update(name.encode())
    text = digest.hexdigest()
    # RFC 9562 5.5: the first 128 bits, with version 5 in bits 48-51 and variant 10 in bits 64-65.
    return f"{text[:8]}-{text[8:12]}-5{text[13:16]}-{_VARIANT[text[16]]}{text[17:20]}-{text[20:32]}"


def edge_id(edge_type: str, from_node_id: str, to_node_id: str) -> str:
    """The id of an edge; both node ids in lower case."""
    return name_uuid(f"{edge_type}:{from_node_id}:{to_node_id}")


def session_uuid(native: str) -> str:
    """A session's id from its native string; a UUID stays (in lower case)."""
    return native.lower() if is_uuid(native) else name_uuid(f"session:{native}")


def conversation_uuid(native: str) -> str:
    """A conversation's id from its native string; a UUID stays (in lower case)."""
    return native.lower() if is_uuid(native) else name_uuid(f"conversation:{native}")


def conversation_of_session(session: str) -> str:
    """The conversation id of a session whose format has none; ``session`` is the session's UUID in lower case."""
    return name_uuid(f"conversation:{session}")


def turn_uuid(session: str, native: str) -> str:
    """A turn's id from its native string, within the session's UUID; a UUID stays (in lower case)."""
    return native.lower() if is_uuid(native) else name_uuid(f"turn:{session}:{native}")


def called_invocation_uuid(turn: str, place: int) -> str:
    """The id of a call: its turn's UUID and its place there, since providers reuse call ids."""
    return name_uuid(f"invocation:{turn}:{place}")


def orphan_invocation_uuid(session: str, native: str) -> str:
    """The id of a result whose call is not in the payload: the session's UUID and the call's native string."""
    return name_uuid(f"invocation:{session}:{native}")
