"""What the rows of a list cannot say themselves: that there are none, or that they are not all."""

from __future__ import annotations

from agent.cli.invocation import Invocation
from agent.cli.output_format import Format


def explain_end(invocation: Invocation, noun: str, count: int, *, which: str, more: bool | None) -> None:
    """Tell it on standard error, where the document does not. ``more`` None: the store does not say.

    ``which`` of all there are were listed, ``count`` of them: the first, the newest.
    """
    if invocation.format is not Format.TABLE and not invocation.jsonl:
        return
    if more is False:
        if count == 0:
            invocation.terminal.say(f"no {noun} found")
        return
    there_are = "there are more" if more else "the store does not say whether there are more"
    invocation.terminal.say(f"these are the {which} {count} {noun}s; {there_are} (see --limit)")
