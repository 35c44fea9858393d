"""What a store's answers say of the key that they were asked with: the status decides (CONTRACT 10).

The roles are those of the contract's store: ``read``, ``write`` (appends) and ``admin`` (erases, exports, audits).
"""

from __future__ import annotations

from typing import Final, Literal

import jiter

Role = Literal["read", "write", "admin"]
KeyState = Literal["accepted", "refused", "cannot read", "not a store", "unknown"]

KEY_VARIABLE: Final = "RUVECTOR_API_KEY"
_ADMINISTERED: Final = ("/v1/users/", "/v1/audit")


def role_needed(method: str, path: str) -> Role:
    """The role that a question needs."""
    return "admin" if method == "DELETE" or path.startswith(_ADMINISTERED) else "read"


def key_refused(status: int, role: Role) -> str | None:
    """What to say of the key in KEY_VARIABLE when ``role`` was needed; None for any status but 401 and 403."""
    if status == 401:
        return f"the store refuses the key (401): check {KEY_VARIABLE}"
    if status == 403:
        return f"the store says that the key may not do this (403): check {KEY_VARIABLE}, it needs the role {role}"
    return None


def key_state(status: int, body: bytes, *, is_sent: bool) -> KeyState:
    """What the answer to ``GET /v1/stats`` says of the key; ``is_sent``: there was one.

    A key that only appends cannot read, and is as it should be. Without any key, 403 is as much a refusal as 401.
    """
    if status == 401 or (status == 403 and not is_sent):
        return "refused"
    if status == 403:
        return "cannot read"
    if status == 200:
        # A proxy's page about signing in comes with 200 too.
        return "accepted" if _is_object(body) else "not a store"
    return "unknown"


def _is_object(body: bytes) -> bool:
    try:
        return isinstance(jiter.from_json(body), dict)
    except ValueError:
        return False
