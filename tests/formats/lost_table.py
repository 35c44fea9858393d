"""What each format loses, over all data: ``python -m tests.formats.lost_table`` prints the table of docs/formats.md."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from tests.conftest import REPOSITORY, shared_folder
from tests.formats.corpus import BOTH_WAYS, OURS, documents
from tests.formats.round_trips import bare, written
from tests.formats.whole_sessions import sessions

DOCS = REPOSITORY / "docs" / "formats.md"
BEGIN, END = "<!-- lost:begin -->", "<!-- lost:end -->"


@dataclass
class Account:
    """What is lost of the conversations of one format, written as they came and with the turns' own fields alone."""

    conversations: int = 0
    turns: int = 0
    stored: Counter[str] = field(default_factory=Counter)
    bare: Counter[str] = field(default_factory=Counter)


def account(form: str, folder: Path) -> Account:
    """The account of the documents of ``form`` in ``folder``."""
    found = Account()
    for _, _, document in documents(folder, form):
        for session in sessions(form, document):
            found.conversations += 1
            found.turns += len(session.shown)
            found.stored.update(written(form, session)[1].lost)
            found.bare.update(written(form, bare(session))[1].lost)
    return found


def table(accounts: Iterable[tuple[str, Account]]) -> str:
    """The accounts as a table in Markdown."""
    rows = [
        "| format | conversations | turns | as it came | with the turns' own fields alone |",
        "|---|---|---|---|---|",
    ]
    for form, found in accounts:
        rows.append(
            f"| `{form}` | {found.conversations} | {found.turns} | {_kinds(found.stored)} | {_kinds(found.bare)} |"
        )
    return "\n".join(rows)


def _kinds(lost: Counter[str]) -> str:
    return ", ".join(f"`{kind}` {count}" for kind, count in sorted(lost.items()) if count) or "nothing"


def current() -> str:
    """The table of the shared data, and of our own where the shared data have none of a format."""
    folder = shared_folder() / "data"
    return table((form, account(form, folder if any(documents(folder, form)) else OURS)) for form in BOTH_WAYS)


def documented() -> str:
    """The table that the documentation shows."""
    return DOCS.read_text(encoding="utf-8").partition(BEGIN)[2].partition(END)[0].strip()


if __name__ == "__main__":
    print(current())
