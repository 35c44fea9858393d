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
from agent.formats.prompt_rules import Rules, rules_of
from agent.formats.prompt_turn import Joins, prompt_turn, with_fields

_ROLES: Final = frozenset({"user", "assistant", "system", "tool"})
# Between two texts that are one message.
_PARAGRAPH: Final = "\n\n"


# What stands for a user's blank message that has to be there: no text is shorter.
_NOTHING: Final = "."


class Prompt(NamedTuple):
    """``turns`` for a format's writer; ``left_out``: the ids of the turns whose message the list does not have.

    ``added``: the texts of the list that are no message's, and no marker's, of the window.
    """

    turns: list[SessionTurn]
    left_out: tuple[str, ...]
    added: tuple[str, ...] = ()


def prompt(
    messages: Sequence[SessionTurn], format_name: str, *, pairs: Mapping[Place, Call] | None = None
) -> list[SessionTurn]:
    """``messages``, a window's, as the format ``format_name`` has to be given them (``shaped``).

    Of no messages, nothing: the document then has an empty list, which providers refuse. An empty window has no turn
    to say anything of, and nothing is made up for it.
    """
    return shaped(messages, format_name, pairs=pairs).turns


def extra(messages: Sequence[SessionTurn], format_name: str, *, pairs: Mapping[Place, Call] | None = None) -> list[str]:
    """The texts that ``shaped`` adds to ``messages``, which nobody counted; at most one.

    Of a window that was cut for the format (``needs_user_first``) it is one character: in place of a user's blank
    message that opens it, or, where nobody but the system speaks, as a message of its own. A paragraph break between
    two messages that become one is none: either was counted with what a message takes beside its text.
    """
    return list(shaped(messages, format_name, pairs=pairs).added)


def shaped(messages: Sequence[SessionTurn], format_name: str, *, pairs: Mapping[Place, Call] | None = None) -> Prompt:
    """``messages`` for the writer of ``format_name``, and what is left out.

    ``pairs`` are those of the session; without them, those that the messages alone tell. The turns keep their ids. A
    result says itself which calls it answers (``PromptTurn.answers``): one that answers several is a turn for each, all
    with its id, and the first has the text. Linear in turns and invocations.
    """
    rules = rules_of(format_name)
    there = [turn for turn in messages if not turn.erased and turn.role in _ROLES]
    left_out = [turn.turn_id for turn in messages if turn.erased or turn.role not in _ROLES]
    pairs = _pairs(there) if pairs is None else pairs
    turns, blank = _with_text(there, rules)
    turns, halves = in_order(turns, pairs)
    turns = with_names(turns, pairs, rules, is_made=format_name == "openai-chat")
    turns = _placed(turns, rules)
    turns, alone = as_sendable(turns, format_name)
    left_out += (*halves, *blank, *alone)
    opener = _opener(turns, messages) if messages and (rules.user_first or not turns) else None
    if opener is None:
        return Prompt(_joined(_ended(turns, rules), rules), tuple(left_out))
    place = _first_speaker(turns)
    turns = [*turns[:place], opener.turn, *turns[place:]]
    named = tuple(turn_id for turn_id in left_out if turn_id != opener.turn.turn_id)
    return Prompt(_joined(_ended(turns, rules), rules), named, opener.added)


def needs_user_first(format_name: str) -> bool:
    """Whether the first message that is none of the system's has to be a user's (``Policy.user_first``)."""
    return rules_of(format_name).user_first


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
    return found, left_out


def _ended(turns: Sequence[SessionTurn], rules: Rules) -> list[SessionTurn]:
    """``turns``, all in their places, where an answer that is to be gone on with does not end in white space."""
    found = list(turns)
    place = next((place for place in reversed(range(len(found))) if found[place].role != "system"), None)
    last = None if place is None else found[place]
    if place is None or last is None or not rules.has_text or last.role != "assistant" or _calls(last):
        return found
    text = (last.content or "").rstrip()
    if text != last.content:
        found[place] = with_fields(last, {"content": text}, is_made=False)
    return found


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


def _first_speaker(turns: Sequence[SessionTurn]) -> int:
    """The place of the first turn that is none of the system's; behind all where there is none."""
    return next((place for place, turn in enumerate(turns) if turn.role != "system"), len(turns))


class _Opener(NamedTuple):
    turn: SessionTurn
    added: tuple[str, ...]


def _opener(turns: Sequence[SessionTurn], messages: Sequence[SessionTurn]) -> _Opener | None:
    """The user's message that has to stand before all but the system's ``turns``; None where one does.

    The window, ``messages``, has put a marker there as a rule. Where it begins with a user's message, that one is
    blank, and where nobody but the system speaks there is none: as short a text as can be stands there. Else it was not
    cut for a format that a user has to begin.
    """
    place = _first_speaker(turns)
    first = turns[place] if place < len(turns) else None
    if first is not None and first.role == "user":
        return None
    for turn in messages:
        if first is not None and turn.turn_id == first.turn_id:
            break
        if turn.role == "user" and not turn.erased and not (turn.content or "").strip():
            return _Opener(with_fields(turn, {"content": _NOTHING}, is_made=True), (_NOTHING,))
    made = _of_user(marker_turn(0, "", messages[-1] if first is None else first))
    if first is None:
        made = with_fields(made, {"content": _NOTHING}, is_made=True)
    return _Opener(made, (made.content or "",))


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
