"""``POST .../{session_id}/hydrate``: what a chat service needs before it calls its model, in one request.

A session that the store does not have is one whose first message this is: that is how every chat begins, and no error.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, Final, NamedTuple

from agent.core.exchanges import whole_exchanges
from agent.core.ids import turn_uuid
from agent.core.json_path import json_path
from agent.core.memory import Memory
from agent.core.turn import SessionTurn
from agent.core.waiting import Hints
from agent.edge.document import parse
from agent.edge.request_body import request_body
from agent.errors import Problem, ValidationError
from agent.recall.answered import answered, known_before
from agent.recall.conversation_document import messages
from agent.recall.http.answer import Answer, document
from agent.recall.http.query import LONGEST_NAME
from agent.recall.http.request import FRESH, Operation, Request
from agent.recall.hydration import before, newest
from agent.recall.source import Source
from agent.recall.view import SeenSession, View
from agent.window_settings import ContextSettings

_USER_MESSAGE: Final = "user_message"
_TURN_ID: Final = "turn_id"


class _Asked(NamedTuple):
    """What is to be said next; ``turn_id`` is a UUID in lower case, None where the service gives it none yet."""

    user_message: str
    turn_id: str | None


def hydrate_with(settings: ContextSettings, hints: Hints) -> Operation:
    """The operation that gives so many prior messages as the settings say, and reads answers by the ``hints``."""

    def hydrate(request: Request) -> Answer:
        query = request.query("conversation_id", FRESH)
        view = request.view(query)
        asked = _asked(request_body(request.environ), request.session_id)
        seen = request.see(query, view, may_begin=True)
        seen, prior = _prior(seen, asked.turn_id, request.source)
        with request.telemetry.spans.span("respond"):
            found = newest(prior, most=settings.max_history_messages)
            there = [turn for turn in seen.held.whole(found.turns) if not turn.erased]
            given = whole_exchanges(there, seen.pairs_for(there))
            contents = (turn.content for turn in given.turns)
            request.telemetry.context_loaded(request.session_id, total_messages=len(prior), contents=contents)
            shown = messages(request.source, seen, given.turns)
            members = {
                "session_id": request.session_id,
                "messages": [*shown, _current(seen, asked)],
                "message_count": found.total + 1,
                "truncated": found.is_truncated,
                "erased": found.erased + len(found.turns) - len(there),
                "left_out": given.results + given.calls,
                "state": _known(seen, asked).document(),
                "resolution": _resolution(seen, asked, hints),
                "version": seen.held.version,
            }
            request.respond(seen)
        # A version would make an ETag, which an answer to a POST has no use for.
        return document(members)

    return hydrate


def _asked(body: bytes, session_id: str) -> _Asked:
    """The body's two members. Raises ValidationError with every problem: a misspelt ``turn_id`` doubles a message."""
    value = parse(body).value
    problems = [
        Problem(json_path([name]), "additionalProperties") for name in value if name not in (_USER_MESSAGE, _TURN_ID)
    ]
    if _USER_MESSAGE not in value:
        problems.append(Problem(f"$.{_USER_MESSAGE}", "required"))
    elif not isinstance(value[_USER_MESSAGE], str):
        problems.append(Problem(f"$.{_USER_MESSAGE}", "type"))
    problems += _problems_of_id(value)
    if problems:
        message = f"the body is {{{_USER_MESSAGE}, {_TURN_ID}?}}: a text, and an id of 1 to {LONGEST_NAME} characters"
        raise ValidationError(message, problems)
    turn_id = value.get(_TURN_ID)
    return _Asked(value[_USER_MESSAGE], None if turn_id is None else turn_uuid(session_id, turn_id))


def _problems_of_id(value: dict[str, Any]) -> list[Problem]:
    if _TURN_ID not in value:
        return []
    turn_id = value[_TURN_ID]
    if not isinstance(turn_id, str):
        return [Problem(f"$.{_TURN_ID}", "type")]
    if not turn_id:
        return [Problem(f"$.{_TURN_ID}", "minLength")]
    return [Problem(f"$.{_TURN_ID}", "maxLength")] if len(turn_id) > LONGEST_NAME else []


def _prior(seen: SeenSession, turn_id: str | None, source: Source) -> tuple[SeenSession, Sequence[SessionTurn]]:
    """What the history shows before the current message, and the session in the view in which that is.

    A message that is in the session, but on another branch or cleared, is shown what its own path shows. Raises
    ValidationError for the turn of somebody else than a user.
    """
    known = None if turn_id is None else seen.state.turns.find(turn_id)
    if turn_id is None or known is None:
        return seen, seen.history
    if known.role != "user":
        problem = Problem(f"$.{_TURN_ID}", "user_turn")
        raise ValidationError(f"{_TURN_ID} names a turn of the session that no user said", [problem])
    prior = before(seen.history, turn_id)
    if prior is None:
        seen = SeenSession(seen.held, View(leaf=turn_id), source)
        prior = before(seen.history, turn_id)
    return seen, prior or ()


def _known(seen: SeenSession, asked: _Asked) -> Memory:
    """The state before the message, so that who asks again is told the same, whatever was captured since."""
    return known_before(seen, asked.turn_id) if _is_there(seen, asked) else seen.memory


def _resolution(seen: SeenSession, asked: _Asked, hints: Hints) -> dict[str, Any] | None:
    """What the message answers; None where no parameter is waited for."""
    found = answered(seen, asked.turn_id if _is_there(seen, asked) else None, asked.user_message, hints)
    return None if found is None else asdict(found)


def _is_there(seen: SeenSession, asked: _Asked) -> bool:
    return asked.turn_id is not None and seen.state.turns.find(asked.turn_id) is not None


def _current(seen: SeenSession, asked: _Asked) -> dict[str, Any]:
    """The message that is to be answered: in the words that the service has, which a store may hold redacted."""
    shown: dict[str, Any] = {"role": "user", "content": asked.user_message}
    known = None if asked.turn_id is None else seen.state.turns.find(asked.turn_id)
    if known is not None:
        shown |= {"timestamp": known.timestamp, "turn_id": known.turn_id}
        shown |= {"seq": known.seq, "conversation_id": known.conversation_id}
    elif asked.turn_id is not None:
        shown["turn_id"] = asked.turn_id
    return {**shown, "current": True}
