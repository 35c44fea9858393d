"""Sessions on their way out: what every format's ``write`` is given, and what it gives back.

A format writes what it can say and counts what it cannot: nothing is left out in silence. Which turns a conversation
shows is decided before (``agent.core.history``); a writer reads no store.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from agent.core.ids import conversation_uuid, session_uuid
from agent.core.pairs import named_invocations
from agent.core.turn import SessionTurn
from agent.formats import OPENAI_CHAT

# What CONTRACT 10 adds to a turn's record, beside its id.
RECORD_FIELDS: Final = frozenset(
    {"seq", "parent_turn_id", "conversation_id", "captured_at", "version", "execution_ref", "revisions", "erased"}
)
# What formats.openai_chat and its like keep of a message under these names, to give it back.
_OF_A_FORMAT: Final = frozenset({"derived", "native", "native_absent"})
_SAID_BY_ALL: Final = RECORD_FIELDS | {"turn_id", "role", "content", "timestamp", "metadata", "tool_invocations"}


@dataclass(frozen=True, slots=True)
class Capture:
    """What one capture said beside its turns.

    ``fields`` are the members of its ``inputs`` but the ids and the turns: ``context``, ``capture_options`` without
    ``derive_ids`` (what is stored has its ids), native ids, unknown fields. ``is_translated``: a format's reader made
    the turns from something else.
    """

    conversation_id: str | None
    fields: Mapping[str, Any]
    is_translated: bool = False

    @property
    def format(self) -> str | None:
        """The foreign format that its turns were read from; None where they were sent as they are."""
        native = self.fields.get("native")
        named = native.get("format") if isinstance(native, dict) else None
        if isinstance(named, str):
            return named
        # What captures of the first releases left out: there was one foreign format.
        return OPENAI_CHAT if self.is_translated else None

    @property
    def context(self) -> Mapping[str, Any]:
        """Its ``context``; empty where there is none."""
        context = self.fields.get("context")
        return context if isinstance(context, dict) else {}


NO_CAPTURE: Final = Capture(None, {})


@dataclass(frozen=True, slots=True)
class Session:
    """A session to be written, or one ``conversation_id`` of it. Ids are UUIDs in lower case.

    ``shown`` is the history, ``all`` every turn of the session in ``seq`` order. ``captures`` holds, by
    ``execution_ref``, the captures that brought the turns' latest revisions, as far as the store still has them.
    ``named_alike`` holds, by turn, what was captured under a name of RECORD_FIELDS, which records cannot show.
    ``without_parent`` are the turns that were captured without a word on their parent.
    """

    session_id: str
    conversation_id: str | None
    shown: tuple[SessionTurn, ...]
    all: tuple[SessionTurn, ...]
    captures: Mapping[str, Capture]
    named_alike: Mapping[str, Mapping[str, Any]]
    without_parent: Collection[str]

    def capture_of(self, turn: SessionTurn) -> Capture:
        """The capture that brought the latest revision of ``turn``."""
        return self.captures.get(turn.fields.get("execution_ref", ""), NO_CAPTURE)

    @property
    def native_session_id(self) -> str | None:
        """The session's own id as it was captured; None where that is its UUID."""
        named = self._named("native_session_id")
        return next((each for each in named if session_uuid(each) == self.session_id), None)

    def native_conversation_id(self, conversation_id: str) -> str | None:
        """A conversation's own id as it was captured; None where that is its UUID."""
        named = self._named("native_conversation_id")
        return next((each for each in named if conversation_uuid(each) == conversation_id), None)

    def _named(self, member: str) -> Iterator[str]:
        named = (capture.fields.get(member) for capture in self.captures.values())
        return (each for each in named if isinstance(each, str))


@dataclass(frozen=True, slots=True)
class Written:
    """A session in a format: ``documents``, each with the line break that ends it.

    ``turns`` counts the turns that were to be written, ``erased`` those of them that are only skeletons. ``lost``
    counts by kind what the format cannot say of the others; a kind that does not occur is absent.
    """

    documents: tuple[str, ...]
    turns: int
    erased: int
    lost: Mapping[str, int]


def agent_of(session: Session, turn: SessionTurn) -> str | None:
    """Who spoke (CONTRACT 1): ``metadata.agent``, else on an assistant's turn the capture's ``agent_id``."""
    metadata = turn.fields.get("metadata")
    named = metadata.get("agent") if isinstance(metadata, dict) else None
    if named is None and turn.role == "assistant":
        named = session.capture_of(turn).context.get("agent_id")
    return named if isinstance(named, str) else None


def model_of(turn: SessionTurn) -> str | None:
    """The ``model`` that a turn names; another writer's may be anything, and then it is none."""
    model = turn.fields.get("model")
    return model if isinstance(model, str) else None


def not_shown(session: Session) -> int:
    """How many turns the history leaves out: other branches, what was cleared or cut, turns that carry only state."""
    shown = {turn.turn_id for turn in session.shown}
    wanted = session.conversation_id
    return sum(turn.turn_id not in shown and wanted in (None, turn.conversation_id) for turn in session.all)


def unsaid(session: Session, turn: SessionTurn, *, has_heading: bool = False) -> Counter[str]:
    """What no list of messages says of ``turn``, by kind: all but its role, text, time and calls.

    ``has_heading``: it stands under one, which names its agent and its model where they are names.
    """
    metadata = turn.fields.get("metadata")
    members: Mapping[str, Any] = metadata if isinstance(metadata, dict) else {}
    other_fields = turn.fields.keys() - _SAID_BY_ALL - {"model", "token_usage", "native_id", "native_parent_turn_id"}
    is_named = len(turn.invocations) == sum(1 for _ in named_invocations(turn))
    found = {
        "agents": "agent" in members and not (has_heading and isinstance(members["agent"], str)),
        # Those of another writer whose ids are no UUIDs: no message shows them.
        "calls_without_id": not (has_heading or is_named),
        "contexts": bool(session.capture_of(turn).context),
        "metadata": bool(members.keys() - _OF_A_FORMAT - {"agent"}),
        "models": "model" in turn.fields and not (has_heading and model_of(turn) is not None),
        "other_fields": bool(other_fields),
        "token_usage": "token_usage" in turn.fields,
    }
    return Counter(kind for kind, is_there in found.items() if is_there)
