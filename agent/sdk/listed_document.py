"""A provider's whole document (a list of messages, and what stands beside it) as a list with its system prompt.

``{"system": ..., "messages": [...]}`` is one. Its list is read as any list; the instructions beside it are one turn of
the system before it, as the format's reader has them. Everything else of the document (tools, the model's name) stays
as it is, and is not counted. Refuses, by ValidationError, a mapping without a list of messages, and
one with messages of this library, which have a role for the system.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from agent.core.ids import conversation_uuid, session_uuid, turn_uuid
from agent.core.turn import SessionTurn
from agent.core.window.window import Window
from agent.errors import Problem, ValidationError
from agent.formats import ReadName, format_named
from agent.recall.posted_messages import FORMATS
from agent.sdk.foreign import document_of
from agent.sdk.handed_back import handed_back, user_message
from agent.sdk.listed import Listed, listed, made_turns
from agent.sdk.message import Message

# The members that hold a list, by the format's word for it.
_LISTS: Final = ("messages", "contents", "input", "items")
# Whose documents may have the system prompt beside the list.
_WITH_SYSTEM_BESIDE: Final = frozenset({"anthropic", "bedrock-converse", "gemini", "openai-responses"})
_CONVERSATION: Final = conversation_uuid("a list of messages")
_BESIDE: Final = turn_uuid(session_uuid("a list of messages"), "beside")


class ListedDocument(NamedTuple):
    """``listed`` is its list, the system's turn before it; ``handed_back`` gives a document of a window of it."""

    document: Mapping[str, Any]
    member: str
    listed: Listed

    def handed_back(self, window: Window) -> dict[str, Any]:
        """The document with what is kept of its list; all else in it is what was given."""
        inside = [turn for turn in window.messages if turn.turn_id != _BESIDE]
        return {**self.document, self.member: handed_back(self._list(), inside)}

    def _list(self) -> Listed:
        found = self.listed
        beside = sum(turn.turn_id == _BESIDE for turn in found.turns)
        return found._replace(turns=found.turns[beside:], parts=found.parts[beside:])


def listed_document(document: Mapping[str, Any]) -> ListedDocument:
    """``document`` with its list as turns."""
    member = next((name for name in _LISTS if isinstance(document.get(name), list | tuple)), None)
    if member is None:
        raise ValidationError(
            f"messages must be a list of messages, or a document with one under {', '.join(_LISTS)}",
            [Problem("$.messages", "type")],
        )
    messages = document[member]
    if any(isinstance(message, Message) for message in messages):
        raise ValidationError(
            f"{member} must hold messages of the document's provider: give a list of Messages as a list",
            [Problem("$.messages", "type")],
        )
    found = listed(messages)
    form = _form(document, member, messages) or found.form
    if form is not None and (said := _beside(document, member, form)):
        turns = (_system(said), *found.turns)
        found = found._replace(turns=turns, parts=((turns[0],), *found.parts))
    return ListedDocument(document, member, found._replace(form=form))


def _form(document: Mapping[str, Any], member: str, messages: Sequence[Any]) -> ReadName | None:
    """The format that the document is of, None for none that is known."""
    shown = [document_of(message) for message in messages] or [user_message(_first_guess(member), ".")]
    whole = {**document, member: shown}
    return next((name for name in FORMATS if format_named(name).detect(whole)), None)


def _first_guess(member: str) -> str | None:
    return "gemini" if member == "contents" else None


def _beside(document: Mapping[str, Any], member: str, form: str) -> str:
    """What the system says beside the list, by the reader of the format: the list itself has one message then."""
    if form not in _WITH_SYSTEM_BESIDE:
        return ""
    alone = {**document, member: [user_message(form, ".")]}
    return "\n\n".join(turn["content"] for _, turn in made_turns(form, alone, 0) if turn["role"] == "system")


def _system(text: str) -> SessionTurn:
    """The turn of what stands beside the list, of place 0."""
    return SessionTurn(
        turn_id=_BESIDE,
        seq=0,
        conversation_id=_CONVERSATION,
        parent_turn_id=None,
        role="system",
        content=text,
        erased=False,
        fields={"turn_id": _BESIDE, "role": "system", "content": text},
    )
