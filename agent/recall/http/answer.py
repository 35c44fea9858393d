"""What a request of the read side is answered with, before it is sent: JSON unless a header says otherwise."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, Final, NamedTuple

from agent.core.canonical import encode

JSON: Final = "application/json"
_NOTHING: Final[Mapping[str, str]] = {}
_WELL: Final = {"success": True}


class Answer(NamedTuple):
    """One answer. ``version`` is the session's that it was made from; None where it is of no session, or of many."""

    body: bytes
    status: int = HTTPStatus.OK
    headers: Mapping[str, str] = _NOTHING
    version: int | None = None


def document(members: Mapping[str, Any], *, version: int | None = None) -> Answer:
    """``members`` as JSON, integers of any size with all their digits, behind the word that it went well."""
    # First, and last: a session may have been told to remember a member of any name.
    return Answer(encode({**_WELL, **members, **_WELL}), version=version)
