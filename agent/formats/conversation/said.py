"""What a turn says, for whoever writes it in some format: text, calls and results with the ids that they go by.

A turn that was read from the format that is now written keeps what its fields do not hold; of any other turn, and where
that was edited, only the fields count. What no list of messages says is counted, and so is what providers refuse.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from agent.core.canonical import encode
from agent.core.pairs import Place, named_invocations, native_id, paired_calls
from agent.core.timestamps import is_date_time
from agent.core.turn import SessionTurn
from agent.formats.conversation.usage import turn_usage
from agent.formats.plain_text import one_line
from agent.formats.prompt_turn import answered_place, is_made_anew, joined_how
from agent.formats.tool_calls import UNKNOWN_TOOL
from agent.formats.writing import Session, Written, model_of, not_shown, unsaid


class SaidCall(NamedTuple):
    """A call; ``arguments`` is Ellipsis where it has none."""

    id: str
    name: str
    arguments: Any


class SaidResult(NamedTuple):
    """The result of the call that goes by ``id`` in what is written; ``has_call`` if that call is there."""

    id: str
    name: str
    success: bool | None
    has_call: bool


class Said(NamedTuple):
    """A turn that is shown and not erased. ``role`` is one of ours.

    ``timestamp``, ``model`` and ``usage`` are None where the message itself did not say them, or not as CONTRACT 1 has
    them. ``native_id`` is the id
    that the message came with. ``source`` is the format that it was read from, None where it was sent as it is.
    ``native`` is what its reader kept of it, None where it came otherwise than in the format that is written;
    ``absent`` names the fields that it lacked.
    """

    turn: SessionTurn
    role: str
    content: str
    timestamp: str | None
    model: str | None
    usage: Mapping[str, int] | None
    native_id: str | None
    calls: tuple[SaidCall, ...]
    results: tuple[SaidResult, ...]
    native: Mapping[str, Any] | None
    absent: Sequence[str]
    source: str | None


# Formats in which every call has an id, that its result names.
_WITH_IDS = frozenset(
    {"openai-chat", "openai-responses", "openai-agents", "anthropic", "bedrock-converse", "langchain", "pydantic-ai"}
)
_ROLES = frozenset({"user", "assistant", "system", "tool"})
# Whose readers make a turn of every item of an answer.
_OF_ITEMS = frozenset({"openai-responses", "openai-agents", "codex"})


def said(session: Session, form: str) -> tuple[list[Said], Counter[str]]:
    """The history of ``session`` for the format ``form``, and by kind what its turns say that ``Said`` does not.

    Kinds: ``calls_of_others`` (calls of a turn that is no assistant's: left out), ``calls_without_result``,
    ``repeated_call_ids`` (which some providers refuse), ``results_without_call``, ``not_in_history``, ``roles`` (turns
    of roles that are not ours: left out), ``times`` (those that are no date-times), and those of ``writing.unsaid``, of
    which a format takes back what it does say.
    """
    pairs = paired_calls(session.all)
    shown = [turn for turn in session.shown if not turn.erased]
    lost: Counter[str] = Counter(not_in_history=not_shown(session))
    ids: dict[Place, str] = {}
    taken: set[str] = set()
    answered: set[Place] = set()
    found: list[Said] = []
    for turn in shown:
        lost += unsaid(session, turn)
        if turn.role not in _ROLES:
            lost["roles"] += 1
            continue
        calls, results = [], []
        for place, invocation_id, entry in named_invocations(turn):
            own = native_id(entry) or invocation_id
            name = entry.get("tool_name")
            name = name if isinstance(name, str) and name else UNKNOWN_TOOL
            if turn.role == "tool":
                call = answered_place(turn, place, pairs)
                has_call = call is not None and call in ids
                if call is not None:
                    answered.add(call)
                success = entry.get("success")
                result_id = ids[call] if call is not None and has_call else own
                results.append(SaidResult(result_id, name, success if isinstance(success, bool) else None, has_call))
                lost["results_without_call"] += not has_call
            elif turn.role == "assistant":
                is_repeated = own in taken and form in _WITH_IDS
                if is_repeated and own == name and session.capture_of(turn).format != form:
                    # It had no id, and went by its tool's name (CONTRACT 3a): here it needs one of its own.
                    own = invocation_id
                lost["repeated_call_ids"] += is_repeated
                taken.add(own)
                ids[place] = own
                calls.append(SaidCall(own, name, entry.get("arguments", ...)))
                lost["success"] += "success" in entry
            else:
                lost["calls_of_others"] += 1
        if turn.role == "tool" and not results:
            lost["results_without_call"] += 1
        # What another writer left in its place is no time, and no format takes it for one.
        lost["times"] += turn.timestamp is not None and not is_date_time(turn.timestamp)
        one = _said(session, turn, form, tuple(calls), tuple(results))
        if joined_how(turn) == "turn" and found:
            lost["joined_turns"] += 1
            texts = [each.content for each in (found[-1], one) if each.content]
            found[-1] = found[-1]._replace(content="\n\n".join(texts), calls=(*found[-1].calls, *one.calls))
        else:
            found.append(one)
    lost["calls_without_result"] = len(ids.keys() - answered)
    return found, +lost


def _said(
    session: Session, turn: SessionTurn, form: str, calls: tuple[SaidCall, ...], results: tuple[SaidResult, ...]
) -> Said:
    metadata = turn.fields.get("metadata")
    metadata = metadata if isinstance(metadata, dict) else {}
    derived = metadata.get("derived")
    derived = derived if isinstance(derived, list) else []
    native, absent = metadata.get("native", {}), metadata.get("native_absent", [])
    is_own = session.capture_of(turn).format == form and isinstance(native, dict) and isinstance(absent, list)
    is_own = is_own and not is_made_anew(turn)
    own_id = turn.fields.get("native_id")
    return Said(
        turn,
        turn.role,
        turn.content or "",
        turn.timestamp if "timestamp" not in derived and is_date_time(turn.timestamp) else None,
        None if "model" in derived else model_of(turn),
        turn_usage(turn.fields.get("token_usage")),
        own_id if isinstance(own_id, str) else None,
        calls,
        results,
        native if is_own else None,
        [name for name in absent if isinstance(name, str)] if is_own else [],
        session.capture_of(turn).format,
    )


def joined(turns: Sequence[Said], lost: Counter[str]) -> list[Said]:
    """``turns``, with those of an assistant that one message would say made one: ``joined_turns`` counts the others.

    Some formats have an item for each call and each text of one answer. Others refuse a call whose result does not
    follow its message: parallel calls have to stand in one.
    """
    found: list[Said] = []
    for turn in turns:
        if found and _is_one_answer(found[-1], turn):
            first = found[-1]
            texts = [each.content for each in (first, turn) if each.content]
            found[-1] = first._replace(content="\n".join(texts), calls=(*first.calls, *turn.calls))
            lost["joined_turns"] += 1
        else:
            found.append(turn)
    return found


def _is_one_answer(turn: Said, following: Said) -> bool:
    if not turn.role == following.role == "assistant" or turn.native is not None or following.native is not None:
        return False
    return is_one_answer(turn.source, following.source, has_calls=bool(turn.calls and following.calls))


def is_one_answer(source: str | None, following: str | None, *, has_calls: bool) -> bool:
    """Whether two turns of an assistant, one right after the other, are one answer; ``has_calls``: both make some."""
    return has_calls or (source in _OF_ITEMS and following in _OF_ITEMS)


def document(session: Session, members: Mapping[str, Any], lost: Counter[str]) -> Written:
    """``{"session_id", "conversation_id"?, **members}`` on a line, for the reader of the format that wrote it.

    Of the history of several conversations the list is none (``conversations``): captured again under the name of
    one, it would rewrite that one.
    """
    shown = [turn for turn in session.shown if not turn.erased]
    named: dict[str, Any] = {"session_id": session.native_session_id or session.session_id}
    conversations = dict.fromkeys(turn.conversation_id for turn in shown)
    if len(conversations) == 1:
        (conversation,) = conversations
        named["conversation_id"] = session.native_conversation_id(conversation) or conversation
    elif conversations:
        lost["conversations"] = len(conversations)
    text = one_line(encode({**named, **members}).decode()) + "\n"
    return Written((text,), len(session.shown), len(session.shown) - len(shown), +lost)
