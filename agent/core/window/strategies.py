"""What each strategy keeps, in three sentences: the one text of the command line's help and of the docs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

KEEPS: Final[Mapping[str, str]] = {
    "truncate": (
        "Keeps the first message and the newest exchanges, back to one that does not fit. "
        "What room is left goes to exchanges beside those that are kept, such as those after the first message, and "
        "all others go, however much they mattered. "
        "Take it where a conversation begins with its task."
    ),
    "rolling_window": (
        "Keeps the newest exchanges, one behind the other, back to where the budget ends. "
        "Nothing older is kept, and there is one gap, at the start; only where the steps after the newest message of a "
        "user do not all fit, there is another behind it. "
        "Take it where only the last steps count."
    ),
    "importance": (
        "Keeps the exchanges that score highest: calls and their results, errors, directives, corrections, what is "
        "referred to; one that is too large for what is left gives way to smaller ones. "
        "The current task goes before completed ones, and an error stays with its correction. "
        "Take it where a decision of long ago still holds."
    ),
    "hybrid": (
        "Fills half of what is left with the newest exchanges, and the rest by importance. "
        "Small talk goes first, and the thread of the last steps stays whole as far as that half reaches. "
        "Take it where you do not know which of the two matters."
    ),
    "relevant": (
        "Keeps the older exchanges that have most to do with the message that is to be answered, by their words in any "
        "script; one that is too large for what is left gives way to smaller ones. "
        "What stands beside a hit is lifted, and recency and importance weigh in. "
        "Take it where the answer may lie anywhere in a long conversation."
    ),
}
