"""``python peers/table.py FILE``: windows of other conversation memories over the conversations of a file, judged.

A line of the file is a conversation, with our windows for the same limits (``tests.windows.for_peers``).
Prints the table of docs/windows.md. One judge for all (``peers.judge``); a window that raises counts as ``raises``.
"""

from __future__ import annotations

import json
import sys
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from builders import BY_COUNT, BY_TOKENS, Builder, tokens
from judge import faults

# Windows that a provider answers with 400.
INVALID = ("orphan", "unanswered")
COLUMNS = ("orphan", "unanswered", "empty", "over", "system", "newest", "raises")


def account(builder: Builder, conversations: Sequence[dict[str, Any]], *, counts: bool) -> Counter[str]:
    """How many windows ``builder`` cuts, and how many of them have which fault."""
    found: Counter[str] = Counter()
    for conversation in conversations:
        messages = conversation["messages"]
        for limit in range(1, len(messages)) if counts else conversation["limits"]:
            found["windows"] += 1
            try:
                kept = builder(messages, limit)
            except Exception:  # noqa: BLE001 - whatever it raises, its caller has no window
                found["raises"] += 1
                continue
            wrong = faults(messages, kept, None if counts else limit, tokens)
            found.update(wrong)
            found["invalid"] += bool(wrong.intersection(INVALID))
    return found


def ours(conversations: Sequence[dict[str, Any]]) -> Counter[str]:
    """The same of the windows that the file holds; a limit that is refused by the typed error has none."""
    found: Counter[str] = Counter()
    for conversation in conversations:
        for limit, window in zip(conversation["limits"], conversation["ours"], strict=True):
            found["windows"] += 1
            if window is None:
                found["refused"] += 1
                continue
            # With its markers, and as far as a message was cut.
            found["over"] += window["tokens"] > limit
            wrong = faults(conversation["messages"], window["kept"], None, tokens)
            found.update(wrong)
            found["invalid"] += bool(wrong.intersection(INVALID))
    return found


def rows(conversations: Sequence[dict[str, Any]]) -> Iterator[str]:
    """The lines of the table."""
    yield "| windows of | cut | a provider refuses | " + " | ".join(COLUMNS) + " |"
    yield "|---" * (3 + len(COLUMNS)) + "|"
    for builders, counts in ((BY_TOKENS, False), (BY_COUNT, True)):
        for name, builder in builders.items():
            yield _row(name, account(builder, conversations, counts=counts))
    found = ours(conversations)
    yield _row(f"this project (`truncate`; {found['refused']} limits refused by the typed error)", found)


def _row(name: str, found: Counter[str]) -> str:
    share = f"{found['invalid']} ({100 * found['invalid'] / max(1, found['windows']):.0f} %)"
    return f"| {name} | {found['windows']} | {share} | " + " | ".join(str(found[each]) for each in COLUMNS) + " |"


def main(path: Path) -> None:
    """Print the table."""
    warnings.simplefilter("ignore")
    conversations = [json.loads(line) for line in path.read_text().splitlines()]
    print("\n".join(rows(conversations)))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
