"""In one line, what a file is that an import read nothing of: its shape and counts, and nothing that stands in it."""

from __future__ import annotations

from agent.capture.json_pieces import Shape
from agent.cli.memory.importing.account import REFUSED, TOO_LARGE, Account
from agent.cli.memory.importing.conversations import EMPTY
from agent.cli.memory.importing.file_walk import NOT_JSON, FileWalk
from agent.cli.memory.importing.recognition import AUTO
from agent.errors import ValidationError


def nothing_read(
    walk: FileWalk, account: Account, *, asked: str, at: str | None, refused: ValidationError | None
) -> str:
    """Why none of what ``walk`` went through was read. ``refused`` is the first error of a format, if there is one."""
    if walk.shape is Shape.EMPTY or walk.seen.keys() == {NOT_JSON}:
        return "empty" if walk.shape is Shape.EMPTY else NOT_JSON
    count = account.skipped[REFUSED] + account.skipped[TOO_LARGE]
    if count and refused is not None:
        return f"{count} refused, the first with: {refused.message}"
    if not account.skipped:
        why = "holds no conversation with a message" if account.ignored[EMPTY] else "holds no conversation"
    elif at is not None:
        why = f"no messages that we read at {at}"
    else:
        why = "not a conversation format that we read" if asked == AUTO else f"not in the format {asked}"
    return f"{why} ({_what(walk)})"


def _what(walk: FileWalk) -> str:
    counted = [f"{count} {kind if count > 1 else kind.removesuffix('s')}" for kind, count in walk.seen.items()]
    if walk.shape is Shape.VALUES and counted == ["1 object"]:
        return walk.shape.value
    return ", ".join((walk.shape.value, *(counted or ["empty"])))
