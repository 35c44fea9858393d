"""Erasure and access (CONTRACT 10a): what a person may ask of a store, with a receipt.

An erasure that is repeated after a lost answer erases nothing more: its receipt then counts what was left to erase.
"""

from __future__ import annotations

from typing import Final

from agent.ruvector.client import AnswerTooLong
from agent.ruvector.feed import Asked
from agent.ruvector.models import ErasureReceipt
from agent.ruvector.reads import asked_for, segment

_SESSIONS: Final = "/v1/sessions"
_TURNS: Final = "/v1/turns"
_USERS: Final = "/v1/users"


class StoreErasure:
    """Erases in one store; ``asked`` is its client. Raises StoreNotFound for what the store never had."""

    def __init__(self, asked: Asked) -> None:
        self._asked = asked

    def session(self, session_id: str) -> ErasureReceipt:
        """Erase a session's content."""
        return self._erase(f"{_SESSIONS}/{segment(session_id)}")

    def turn(self, turn_id: str) -> ErasureReceipt:
        """Erase a turn in every session that has it."""
        return self._erase(f"{_TURNS}/{segment(turn_id)}")

    def user(self, user_id: str) -> ErasureReceipt:
        """Erase the turns that came in an event with this ``context.user_id``."""
        return self._erase(f"{_USERS}/{segment(user_id)}")

    def export_user(self, user_id: str) -> bytes:
        """Everything of a person: one JSON document, as it came. StoreWriteError where it is over 64 MiB."""
        try:
            return self._asked.ask("GET", f"{_USERS}/{segment(user_id)}/export", {}, bytes)
        except AnswerTooLong as error:
            raise error.refused from None

    def _erase(self, path: str) -> ErasureReceipt:
        return asked_for(self._asked, "DELETE", ErasureReceipt, path, {})
