"""The turns of a question: an agent that asks for a parameter, a user who answers, a tool that was called.

What is asked and what it came to stand in ``metadata.memory`` of the very turn that says it (CONTRACT 9), so that one
event holds both.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from agent.core.memory import Memory
from agent.errors import Problem, ValidationError
from agent.sdk.json_value import json_copy
from agent.sdk.message import Message, ToolResult

if TYPE_CHECKING:
    from agent.core.waiting import Hints, Resolution


def question(param: str, prompt: str) -> Message:
    """An agent asks for ``param``: from here on the session waits for it."""
    return Message("assistant", prompt, metadata={"memory": {"waiting_for_param": checked_name(param, "param")}})


def answered(memory: Memory, text: str, hints: Hints) -> tuple[Message, Resolution]:
    """What a user says, read as the answer to what is waited for, and what came of it."""
    # Loaded when somebody is asked: most programs only keep what is said.
    from agent.core.waiting import resolve

    found = resolve(memory, text, hints)
    said: dict[str, Any] = {"params": dict(found.params)} if found.params else {}
    if found.cleared:
        said["waiting_for_param"] = None
    return Message("user", text, metadata={"memory": said} if said else None), found


def tool_said(
    name: str, summary: str, *, params: Mapping[str, Any] | None, result: Any, success: bool | None, invocation_id: str
) -> Message:
    """A tool's result: the ``summary`` as its text, the rest of it as what the session knows from here on."""
    said: dict[str, Any] = {}
    if params:
        said["params"] = checked_params(params)
    if result is not None:
        said["last_result"] = json_copy(result, "$.result")
    return Message(
        "tool",
        summary,
        metadata={"memory": said} if said else None,
        tool_results=(ToolResult(invocation_id, checked_name(name, "name"), success),),
    )


def checked_params(params: Mapping[str, Any]) -> dict[str, Any]:
    """``params`` as they are merged: by name, where None takes one away. Raises ValidationError for what is none."""
    if not isinstance(params, Mapping):
        raise ValidationError("the parameters are no mapping of names to values", [Problem("$.params", "type")])
    copied: dict[str, Any] = json_copy(params, "$.params")
    return copied


def checked_name(given: object, member: str) -> str:
    """``given`` as the name of something. Raises ValidationError for what is none."""
    if not isinstance(given, str):
        raise ValidationError(f"the {member} is no string", [Problem(f"$.{member}", "type")])
    if not given:
        raise ValidationError(f"the {member} is empty", [Problem(f"$.{member}", "minLength")])
    return str(json_copy(given, f"$.{member}"))
