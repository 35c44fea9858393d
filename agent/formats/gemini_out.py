"""The format ``gemini`` on its way out: the history as a request's ``systemInstruction`` and ``contents``.

``{"session_id", "conversation_id"?, "systemInstruction"?, "contents"}``, which the reader of this format takes again.
Turns that came as a content are that content again, part by part. Of others, the first of the system's is the
instruction, and results that follow each other are one content: the API wants the answers to parallel calls together.

What the API may refuse is counted: turns of the system within the conversation (``system_turns``, role ``system``),
arguments that are no object (``odd_arguments``), ``odd_tool_names``, digests in place of binaries (``binaries``).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, Final

from agent.formats.conversation.said import Said, SaidCall, document, joined, said
from agent.formats.gemini_native import BEFORE, content_of, has_digest, made_content, rebuilt
from agent.formats.gemini_pairs import OpenCalls
from agent.formats.gemini_parts import CAMEL, Names, Turn
from agent.formats.gemini_request import SYSTEM, Contents, instruction_of
from agent.formats.prompt_turn import joined_how
from agent.formats.writing import Session, Written

# What the API reference allows a function to be called.
_FUNCTION_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_.:-]{0,127}\Z", re.ASCII)


def write(session: Session) -> Written:
    """The history of ``session`` as one document."""
    turns, lost = said(session, "gemini")
    turns = joined(turns, lost)
    lost += refused(turns)
    turns = with_objects(session, turns, "gemini")
    members: dict[str, Any] = {}
    if turns and turns[0].role == SYSTEM and not _is_within(turns[0]):
        members["systemInstruction"] = _instruction(turns[0])
        turns_left = turns[1:]
    else:
        turns_left = turns
    lost["system_turns"] = sum(one.role == SYSTEM for one in turns_left)
    calls = OpenCalls()
    contents = Contents()
    for group in groups_of(turns_left, results_together=True):
        for content, read, first in contents_of(group, calls, CAMEL):
            calls.add(read)
            if joined_how(first.turn) != "message" or not contents.join(content):
                contents.add(content, first.native)
    members["contents"] = contents.written()
    lost["times"] += sum(one.timestamp is not None for one in turns)
    lost["binaries"] = sum(has_digest([members.get("systemInstruction"), members["contents"]]))
    return document(session, members, lost)


def with_objects(session: Session, turns: Sequence[Said], form: str) -> list[Said]:
    """``turns`` with arguments that the types of the API take, an object or null: what came from another format than
    ``form`` and is neither stands in an object.
    """
    return [one if session.capture_of(one.turn).format == form else one._replace(calls=_fit(one)) for one in turns]


def _fit(one: Said) -> tuple[SaidCall, ...]:
    return tuple(
        call
        if call.arguments is None or isinstance(call.arguments, dict | type(...))
        else call._replace(arguments={"arguments": call.arguments})
        for call in one.calls
    )


def _is_within(one: Said) -> bool:
    return one.native is not None and one.native.get("in") == "contents"


def _instruction(one: Said) -> Any:
    if one.native is not None and one.native.get("is_text") is True:
        return one.content
    came = rebuilt([one], CAMEL) if one.native is not None else None
    message = None if came is None else instruction_of(came, "", [])
    if message is not None and message.content == one.content:
        return came
    return {"parts": [{"text": one.content}]}


def groups_of(turns: Sequence[Said], *, results_together: bool) -> Iterator[list[Said]]:
    """The turns that came as one content, and with ``results_together`` results that follow each other and did not."""
    group: list[Said] = []
    for one in turns:
        if group and not _goes_on(one, group[-1], results_together=results_together):
            yield group
            group = []
        group.append(one)
    if group:
        yield group


def _goes_on(one: Said, last: Said, *, results_together: bool) -> bool:
    if one.native is not None:
        return last.native is not None and one.native.get("of") == BEFORE
    return (
        results_together
        and one.role == last.role == "tool"
        and last.native is None
        and bool(one.results and last.results)
    )


def contents_of(
    group: Sequence[Said], calls: OpenCalls, names: Names
) -> Iterator[tuple[dict[str, Any], list[Turn], Said]]:
    """The contents that say ``group``, each with its turns: as they came, together or each alone, or made anew.

    The last of the three is the first turn of each. Whoever takes them adds their turns to ``calls`` before the next.
    """
    came = all(one.native is not None for one in group)
    whole = content_of(group, calls, names) if came else made_content(group, calls, names)
    if whole is not None:
        yield *whole, group[0]
        return
    for one in group:
        yield *(content_of([one], calls, names) or made_content([one], calls, names)), one


def refused(turns: Sequence[Said]) -> Counter[str]:
    """What the API may refuse, and what a response does not say, by kind."""
    lost: Counter[str] = Counter()
    for one in turns:
        lost["odd_arguments"] += sum(not isinstance(call.arguments, dict | type(...)) for call in one.calls)
        named = [*(call.name for call in one.calls), *(result.name for result in one.results)]
        lost["odd_tool_names"] += sum(_FUNCTION_NAME.match(name) is None for name in named)
        lost["several_results"] += len(one.results) > 1
        lost["success"] += sum(result.success is True for result in one.results)
    return lost
