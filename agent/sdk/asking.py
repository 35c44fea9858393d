"""The turns of a question: an agent that asks for a parameter, and a user who answers.

What is asked and what it came to stand in ``metadata.memory`` of the very turn that says it (CONTRACT 9), so that one
event holds both.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from agent.sdk.arguments import checked_name
from agent.sdk.message import Message

if TYPE_CHECKING:
    from agent.core.waiting import Hints, Resolution
    from agent.sdk.view import View


def question(param: str, prompt: str | None, hints: Hints) -> Message:
    """An agent asks for ``param``: from here on the session waits for it.

    Without a ``prompt`` in the words of its hint, or else in plain ones.
    """
    name = checked_name(param, "param")
    if prompt is None:
        # Loaded when somebody is asked: most programs only keep what is said.
        from agent.core.waiting.hint import question as words_for

        prompt = words_for(name, hints.params.get(name), showing=False)
    return Message("assistant", prompt, metadata={"memory": {"waiting_for_param": name}})


def answered(view: View, text: str, hints: Hints) -> tuple[Message, Resolution]:
    """What a user says, read as the answer to what is waited for, and what came of it."""
    from agent.core.waiting import resolve

    found = resolve(view.memory, text, _as_asked(view, hints))
    # The parameter by its name ends the waiting for it, and for no other that was asked for meanwhile (CONTRACT 9).
    said: dict[str, Any] = {"params": dict(found.params)} if found.params else {}
    return Message("user", text, metadata={"memory": said} if said else None), found


def asked_in(view: View) -> str | None:
    """The conversation (a UUID) whose turn asked last for what is waited for; None where nothing is."""
    name = view.memory.waiting_for_param
    if name is None:
        return None
    asking = (turn for turn in reversed(view.state.turns) if turn.memory.get("waiting_for_param") == name)
    return next(asking).conversation_id


def _as_asked(view: View, hints: Hints) -> Hints:
    """``hints``, with the question as the agent asked it where that for what is waited for has no prompt."""
    from agent.core.waiting import Hint
    from agent.core.waiting.hint import question as words_for

    name = view.memory.waiting_for_param
    hint = None if name is None else hints.params.get(name, Hint(name))
    if name is None or hint is None or hint.prompt:
        return hints
    asked = _asked(view, name)
    # One that was asked again with examples has them already.
    examples = words_for(name, hint, showing=True).removeprefix(words_for(name, hint, showing=False))
    prompt = asked.removesuffix(examples) or None
    return replace(hints, params={name: replace(hint, prompt=prompt)})


def _asked(view: View, name: str) -> str:
    """The text of the newest turn that asked for ``name``, as it is waited for now; "" where that said nothing."""
    answers = 0
    for turn in reversed(view.history):
        if turn.role == "assistant" and turn.memory.get("waiting_for_param") == name:
            (whole,) = view.whole([turn])
            return whole.content or ""
        answers += turn.role == "user"
        if answers > view.memory.answers:
            # Before this nobody waited, or for another one.
            break
    return ""
