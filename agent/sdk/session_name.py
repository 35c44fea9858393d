"""What sessions and conversations are called: any string, and the UUID that it becomes (CONTRACT 3).

A string that a payload may carry as an id goes into it as it is, and is found again beside its UUID. One that is empty,
too long, or holds a NUL, which not every database keeps in a name, is told apart by its UUID alone. Refuses, by
ValidationError, what is no string, and half surrogate pairs: no bytes name them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple, Self

from agent.core.ids import conversation_of_session, conversation_uuid, is_uuid, session_uuid
from agent.errors import Problem, ValidationError
from agent.sdk.arguments import checked_text

# CONTRACT 1, derive_ids.
LONGEST_ID: Final = 256


class SessionName(NamedTuple):
    """One session, and where its writes go.

    ``given`` is what the caller calls it. ``session`` and ``conversation`` are UUIDs in lower case; ``sent_session``
    and ``sent_conversation`` are what a payload carries. ``only``: the conversation was named, and reads are of it
    alone; else they are of the session, and ``conversation`` is the one for a session without turns.
    """

    given: str
    session: str
    conversation: str
    sent_session: str
    sent_conversation: str
    only: bool

    @classmethod
    def of(cls, session_id: str, conversation_id: str | None) -> Self:
        """The session ``session_id``; where no conversation is named, the one that the contract's rule gives it."""
        session = session_uuid(checked_text(session_id, "session_id"))
        if conversation_id is None:
            conversation = sent_conversation = conversation_of_session(session)
        else:
            conversation = conversation_uuid(checked_text(conversation_id, "conversation_id"))
            sent_conversation = _sent(conversation_id, conversation)
        return cls(
            given=session_id,
            session=session,
            conversation=conversation,
            sent_session=_sent(session_id, session),
            sent_conversation=sent_conversation,
            only=conversation_id is not None,
        )

    def going_on_in(self, conversation: str) -> Self:
        """The same session, its writes going to ``conversation``: a UUID in lower case."""
        return self._replace(conversation=conversation, sent_conversation=conversation)


def session_key(interaction: Any) -> str:
    """The session that an ``interaction`` belongs to: its ``context.session_id``, else its own ``id``.

    An object with these members or attributes. Raises ValidationError where neither names one.
    """
    named = _member(_member(interaction, "context"), "session_id")
    if named is None:
        named = _member(interaction, "id")
    if named is None:
        raise ValidationError(
            "an interaction must name a session: by its context.session_id, or by its id",
            [Problem("$.context.session_id", "required")],
        )
    return checked_text(named, "id")


def may_be_sent(given: str) -> bool:
    """Whether a payload may carry ``given`` as an id."""
    return 1 <= len(given) <= LONGEST_ID and "\0" not in given


def _sent(given: str, uuid: str) -> str:
    return given if may_be_sent(given) and not is_uuid(given) else uuid


def _member(value: Any, name: str) -> Any:
    found = value.get(name) if isinstance(value, Mapping) else getattr(value, name, None)
    # An empty name is what a client sends that has none.
    return None if found == "" else found
