"""A turn of a window as a format's writer gets it for a model: what the turn itself cannot say of its message.

An export gives back what came; a model's list has to keep its provider's rules. So a turn may go on with the message
before it, and may have to be written from its fields alone. Only windows make such turns: no captured field does.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Final, Literal

from agent.core.pairs import Call, Place
from agent.core.turn import SessionTurn

# "turn": both are said as one turn. "message": the message has the blocks of both, each as it is. "": neither.
Joins = Literal["", "turn", "message"]


@dataclass(frozen=True, slots=True)
class PromptTurn(SessionTurn):
    """``joins``: how it goes on with what is before it. ``is_made``: whatever it came as, its fields say it all.

    ``answers``: the place of the call that each of its invocations answers, by the invocation's number. A turn that
    answers calls of several messages stands in the list more than once, each time with the ids of other calls: no pairs
    of a session hold for it. None where they do.
    """

    joins: Joins = ""
    is_made: bool = False
    answers: Mapping[int, Place] | None = None


_NAMES: Final = tuple(field.name for field in fields(SessionTurn))


def prompt_turn(
    turn: SessionTurn,
    *,
    joins: Joins | None = None,
    is_made: bool = False,
    answers: Mapping[int, Place] | None = None,
) -> PromptTurn:
    """``turn`` as one of a prompt; what is not said stays as it is."""
    members = {name: getattr(turn, name) for name in _NAMES}
    return PromptTurn(
        **members,
        joins=joined_how(turn) if joins is None else joins,
        is_made=is_made or is_made_anew(turn),
        answers=_answers(turn) if answers is None else answers,
    )


def with_fields(turn: SessionTurn, changed: Mapping[str, Any], *, is_made: bool) -> PromptTurn:
    """``turn`` with these fields; ``role`` and ``content`` among them count as the turn's own.

    Whoever changes the number or the order of a result's invocations says anew what they answer.
    """
    members = {name: getattr(turn, name) for name in _NAMES}
    members |= {name: changed[name] for name in ("role", "content") if name in changed}
    members["fields"] = {**turn.fields, **changed}
    return PromptTurn(**members, joins=joined_how(turn), is_made=is_made or is_made_anew(turn), answers=_answers(turn))


def answered_place(turn: SessionTurn, place: Place, pairs: Mapping[Place, Call]) -> Place | None:
    """The place of the call that the invocation at ``place`` of ``turn`` answers; ``pairs`` where it does not say."""
    answers = _answers(turn)
    if answers is not None:
        return answers.get(place.number)
    call = pairs.get(place)
    return None if call is None else call.place


def _answers(turn: SessionTurn) -> Mapping[int, Place] | None:
    return turn.answers if isinstance(turn, PromptTurn) else None


def joined_how(turn: SessionTurn) -> Joins:
    """How ``turn`` goes on with what is before it."""
    return turn.joins if isinstance(turn, PromptTurn) else ""


def is_made_anew(turn: SessionTurn) -> bool:
    """Whether ``turn`` is written from its fields, whatever it came as."""
    return isinstance(turn, PromptTurn) and turn.is_made
