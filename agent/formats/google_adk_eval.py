"""Eval cases of the Agent Development Kit, whose invocations are read as the events that they would have been.

``{invocation_id, user_content, intermediate_data?, final_response?, ...}``: what the user said, what the agents did
(``tool_uses``, ``tool_responses``, ``intermediate_responses``, or ``invocation_events``), and the last answer. The time
of an invocation is when the file was made, and so the conversation's at most.

Source: google-adk, ``evaluation.eval_case``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from agent.errors import Problem
from agent.formats.gemini_parts import member, snake_case

_READ = frozenset({"invocation_id", "user_content", "intermediate_data", "final_response"})
_READ_BETWEEN = frozenset({"tool_uses", "tool_responses", "intermediate_responses", "invocation_events"})


class Made(NamedTuple):
    """An event, where its content stands, and what its invocation says beside all that was read of it."""

    event: dict[str, Any]
    path: str
    kept: Mapping[str, Any]


def is_eval_set(document: Any) -> bool:
    """``{eval_set_id, eval_cases: [...]}`` in either spelling."""
    if not isinstance(document, dict):
        return False
    cases = member(document, "evalCases")
    return isinstance(cases, list) and isinstance(member(document, "evalSetId"), str)


def is_eval_case(document: Any) -> bool:
    """``{eval_id, conversation: [{user_content, ...}]}`` in either spelling."""
    if not isinstance(document, dict) or not isinstance(member(document, "evalId"), str):
        return False
    conversation = document.get("conversation")
    return isinstance(conversation, list) and all(
        isinstance(each, dict) and isinstance(member(each, "userContent"), dict) for each in conversation
    )


def eval_events(invocation: Any, path: str, problems: list[Problem]) -> Iterator[Made]:
    """What was said in ``invocation``, as events. Appends to ``problems``."""
    if not isinstance(invocation, dict):
        problems.append(Problem(path, "type"))
        return
    own_id = member(invocation, "invocationId")
    beside = {} if own_id is None else {"invocation_id": own_id}
    said = member(invocation, "userContent")
    if said is None:
        problems.append(Problem(f"{path}.user_content", "required"))
    kept = {name: value for name, value in invocation.items() if snake_case(name) not in _READ}
    between = member(invocation, "intermediateData")
    if isinstance(between, dict):
        rest = {name: value for name, value in between.items() if snake_case(name) not in _READ_BETWEEN}
        kept |= {"intermediate_data": rest} if rest else {}
    yield Made({"author": "user", **beside, "content": said}, f"{path}.user_content", kept)
    if between is not None:
        yield from _between(between, beside, f"{path}.intermediate_data", problems)
    final = member(invocation, "finalResponse")
    if final is not None:
        yield Made({**beside, "content": final}, f"{path}.final_response", {})


def _between(between: Any, beside: Mapping[str, Any], path: str, problems: list[Problem]) -> Iterator[Made]:
    if not isinstance(between, dict):
        problems.append(Problem(path, "type"))
        return
    found = {}
    for name in ("invocationEvents", "toolUses", "toolResponses", "intermediateResponses"):
        found[name] = member(between, name)
        if found[name] is not None and not isinstance(found[name], list):
            problems.append(Problem(f"{path}.{snake_case(name)}", "type"))
            found[name] = None
    for place, event in enumerate(found["invocationEvents"] or ()):
        at = f"{path}.invocation_events[{place}]"
        if isinstance(event, dict):
            yield Made({**beside, **event}, f"{at}.content", {})
        else:
            problems.append(Problem(at, "type"))
    for name, kind, role in (("toolUses", "function_call", "model"), ("toolResponses", "function_response", "user")):
        if found[name]:
            parts = [{kind: each} for each in found[name]]
            yield Made({**beside, "content": {"role": role, "parts": parts}}, f"{path}.{snake_case(name)}", {})
    for place, said in enumerate(found["intermediateResponses"] or ()):
        at = f"{path}.intermediate_responses[{place}]"
        if isinstance(said, list) and len(said) == 2 and isinstance(said[0], str):
            yield Made({**beside, "author": said[0], "content": {"role": "model", "parts": said[1]}}, at, {})
        else:
            problems.append(Problem(at, "type"))
