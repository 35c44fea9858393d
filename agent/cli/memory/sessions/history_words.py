"""What a turn says of the history from there on (CONTRACT 9), in the words of the trees: ``reset``, ``keep_last 2``.

Only what has the contract's shape is said, as only that holds: a reset of 5 or a count of -1 says nothing. Of the other
members, ``params`` first of all, nothing is shown here: they hold what people said.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from agent.cli.terminal_text import cut
from agent.core.history import is_count
from agent.core.ids import is_uuid

# A count may have thousands of digits, and a note is short.
_LONGEST_COUNT: Final = 20


def history_words(memory: Mapping[str, Any], leaf: Callable[[str], str]) -> Iterator[str]:
    """The words for ``memory``, a turn's ``metadata.memory``; ``leaf`` tells where the turn of an id is."""
    reset, keep_last, named = memory.get("reset"), memory.get("keep_last"), memory.get("leaf")
    if reset is True or reset == "all":
        yield "reset" if reset is True else "reset all"
    if is_count(keep_last):
        yield f"keep_last {cut(str(int(keep_last)), _LONGEST_COUNT)}"
    if is_uuid(named):
        yield f"leaf {leaf(named.lower())}"
