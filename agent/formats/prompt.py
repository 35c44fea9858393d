"""A window as a format's ``write`` turns it into a list that the format's provider takes.

``prompt(messages, format_name)`` gives turns for ``Session.shown``; ``prompt_rules`` says what a provider demands. A
marker, and what the system says on the way, stay where they are as far as the format has a place for them. Else a
marker is the first paragraph of the user's message behind it, or a user's message where none follows at once, and all
instructions stand together at the top, each text whole. Results stand behind their calls, ids come once, messages that
would stand beside one of their own speaker are one.

Nothing is edited inside a message that came as blocks: it is given back as it is, or written from its turn's fields.
What has no place at all (a blank message, where no provider takes one; half an exchange) is left out, and named.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, NamedTuple

from agent.core.pairs import Call, Place, named_invocations, paired_calls
from agent.core.turn import SessionTurn
from agent.core.window.marker import is_marker, marker_turn
from agent.formats.prompt_came import as_sendable
from agent.formats.prompt_exchanges import in_order
from agent.formats.prompt_names import with_names
from agent.formats.prompt_rules import RULES, Rules, rules_of
from agent.formats.prompt_turn import Joins, prompt_turn, with_fields

_ROLES: Final = frozenset({"user", "assistant", "system", "tool"})
# Between two texts that are one message.
_PARAGRAPH: Final = "\n\n"


class Prompt(NamedTuple):
    """``turns`` for a format's writer; ``left_out``: the ids of the turns whose message the list does not have."""

    turns: list[SessionTurn]
    left_out: tuple[str, ...]


def prompt(
    messages: Sequence[SessionTurn], format_name: str, *, pairs: Mapping[Place, Call] | None = None
) -> list[SessionTurn]:
    """``messages``, a window's, as the format ``format_name`` has to be given them (``shaped``)."""
    return shaped(messages, format_name, pairs=pairs).turns


def shaped(messages: Sequence[SessionTurn], format_name: str, *, pairs: Mapping[Place, Call] | None = None) -> Prompt:
    """``messages`` for the writer of ``format_name``, and what is left out.

    ``pairs`` are those of the session; without them, those that the messages alone tell. The turns keep their ids and
    the order of their invocations, so that the session's pairs hold for them too. Linear in turns and invocations.
    """
    rules = rules_of(format_name)
    there = [turn for turn in messages if not turn.erased and turn.role in _ROLES]
    left_out = [turn.turn_id for turn in messages if turn.erased or turn.role not in _ROLES]
    pairs = _pairs(there) if pairs is None else pairs
    turns, halves = in_order(there, pairs)
    turns, blank = _with_text(turns, rules)
    turns = with_names(turns, pairs, rules, is_made=format_name == "openai-chat")
    turns = _placed(turns, rules)
    turns, alone = as_sendable(turns, format_name)
    if messages and (rules.user_first or not turns):
        turns = _user_first(turns, messages[-1])
    return Prompt(_joined(turns, rules), (*left_out, *halves, *blank, *alone))


def needs_user_first(format_name: str) -> bool:
    """Whether the first message that is none of the system's has to be a user's (``Policy.user_first``)."""
    return rules_of(format_name).user_first


def takes_system_anywhere(format_name: str) -> bool:
    """Whether a marker stays a message of the system where it stands."""
    return rules_of(format_name).system == "anywhere"


def is_for_a_model(format_name: str) -> bool:
    """Whether the format has rules of a provider at all."""
    return format_name in RULES


def _pairs(turns: Sequence[SessionTurn]) -> dict[Place, Call]:
    """The calls that the results answer, in the order of ``turns`` alone."""
    line: list[SessionTurn] = []
    for turn in turns:
        before = line[-1].turn_id if line else None
        line.append(replace(turn, parent_turn_id=before, seq=len(line) + 1))
    return paired_calls(line)


def _with_text(turns: Sequence[SessionTurn], rules: Rules) -> tuple[list[SessionTurn], list[str]]:
    """``turns`` without blank messages, and the ids of those; all of them where ``rules`` do not mind."""
    if not rules.has_text:
        return list(turns), []
    found: list[SessionTurn] = []
    left_out: list[str] = []
    for turn in turns:
        if (turn.content or "").strip():
            found.append(turn)
        elif turn.role == "tool" or _calls(turn):
            found.append(turn if not turn.content else with_fields(turn, {"content": ""}, is_made=False))
        else:
            left_out.append(turn.turn_id)
    last = found[-1] if found else None
    if last is not None and last.role == "assistant" and last.content and not _calls(last):
        # An answer that is to be gone on with may not end in white space.
        text = last.content.rstrip()
        found[-1] = last if text == last.content else with_fields(last, {"content": text}, is_made=False)
    return found, left_out


def _placed(turns: Sequence[SessionTurn], rules: Rules) -> list[SessionTurn]:
    """``turns`` with markers and instructions where they may stand."""
    if rules.system == "anywhere":
        # That it is a marker is for whoever reads the window; no list says it.
        return [with_fields(turn, {"metadata": {}}, is_made=True) if is_marker(turn) else turn for turn in turns]
    said = [turn for turn in turns if turn.role == "system" and not is_marker(turn)]
    found = [_instructions(said, rules)] if said else []
    waiting: SessionTurn | None = None
    for turn in turns:
        if is_marker(turn):
            found += () if waiting is None else (waiting,)
            waiting = _of_user(turn)
        elif turn.role != "system":
            if waiting is not None and turn.role == "user" and not _native(turn):
                # Where its reader kept something of it, it may be blocks, and stays as it is.
                found.append(with_fields(turn, {"content": _paragraphs([waiting, turn])}, is_made=True))
            else:
                found += [turn] if waiting is None else [waiting, turn]
            waiting = None
    return found if waiting is None else [*found, waiting]


def _instructions(said: Sequence[SessionTurn], rules: Rules) -> SessionTurn:
    """All that the system says, as one turn at the top; a user's where there is no such place."""
    first, *more = said
    if rules.system == "nowhere":
        return with_fields(first, {"role": "user", "content": _paragraphs(said)}, is_made=True)
    if more:
        return with_fields(first, {"content": _paragraphs(said)}, is_made=True)
    # Those that came among the messages have to go to the top.
    return prompt_turn(first, is_made="in" in _native(first))


def _of_user(marker: SessionTurn) -> SessionTurn:
    return with_fields(marker, {"role": "user", "metadata": {}}, is_made=True)


def _native(turn: SessionTurn) -> Mapping[str, Any]:
    metadata = turn.fields.get("metadata")
    native = metadata.get("native") if isinstance(metadata, dict) else None
    return native if isinstance(native, dict) else {}


def _paragraphs(turns: Iterable[SessionTurn]) -> str:
    return _PARAGRAPH.join(turn.content for turn in turns if turn.content)


def _calls(turn: SessionTurn) -> bool:
    return turn.role == "assistant" and any(named_invocations(turn))


def _user_first(turns: Sequence[SessionTurn], last: SessionTurn) -> list[SessionTurn]:
    """``turns`` with a user's message in front of what an assistant begins; the window has put one there as a rule.

    Where nobody but the system speaks, too: ``last`` is the last turn of the window.
    """
    place = next((place for place, turn in enumerate(turns) if turn.role != "system"), len(turns))
    if place < len(turns) and turns[place].role == "user":
        return list(turns)
    beside = turns[place] if place < len(turns) else last
    return [*turns[:place], _of_user(marker_turn(0, "", beside)), *turns[place:]]


def _joined(turns: Sequence[SessionTurn], rules: Rules) -> list[SessionTurn]:
    """``turns``, each with how it goes on with the one before."""
    found: list[SessionTurn] = []
    for turn in turns:
        joins = _joins(found[-1], turn, rules) if found else ""
        if joins == "turn":
            # Made of both, neither is what it came as.
            found[-1] = prompt_turn(found[-1], is_made=True)
        found.append(turn if not joins else prompt_turn(turn, joins=joins, is_made=joins == "turn"))
    return found


def _joins(before: SessionTurn, turn: SessionTurn, rules: Rules) -> Joins:
    if "system" in (before.role, turn.role):
        return ""
    if rules.speakers == "message":
        # Which role a message has only its writer knows: it joins those of one role.
        return "message"
    if _calls(before) and _calls(turn):
        return rules.calls
    return rules.speakers if before.role == turn.role != "tool" else ""
