"""The table of an import: a row for each file, and one of all where there are several."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from agent.cli.memory.importing.account import Account
from agent.cli.terminal_text import escape

if TYPE_CHECKING:
    from agent.cli.memory.importing.report import FileTold

_COUNTS = ("conversations", "turns", "new", "known", "fuller", "revised", "calls", "ignored", "unreadable")
_ALWAYS = ("conversations", "turns")


def common_folder(files: Sequence[FileTold]) -> str:
    """The folder that all ``files`` were named in, with its separator; empty for one file, and where there is none."""
    folders = [told.source.shown.rpartition(os.sep)[0] for told in files]
    if len(files) < 2 or not all(folders):
        return ""
    try:
        return os.path.commonpath(folders) + os.sep
    except ValueError:
        # Some were named from the root, and some were not.
        return ""


def table(files: Sequence[FileTold], total: Account, *, folder: str, encoding: str) -> Table:
    """The rows of ``files``, without the ``folder`` that their names begin with.

    What counts nothing in any of them takes no room, so that a terminal of 80 columns shows names.
    """
    shown = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), show_footer=len(files) > 1)
    sums = dict(zip(_COUNTS, _values(total), strict=True))
    names = [name for name in _COUNTS if sums[name] or name in _ALWAYS]
    shown.add_column("file", "all", overflow="fold")
    shown.add_column("format", no_wrap=True)
    for name in names:
        shown.add_column(name, str(sums[name]), justify="right", no_wrap=True)
    for told in files:
        values = dict(zip(_COUNTS, _values(told.account), strict=True))
        shown.add_row(
            Text(escape(told.source.shown.removeprefix(folder), encoding)),
            Text(",\n".join(told.account.formats) or "-"),
            *(str(values[name]) for name in names),
        )
    return shown


def _values(account: Account) -> tuple[int, ...]:
    return (
        account.conversations,
        account.turns,
        account.new,
        account.known,
        account.kept_fuller,
        account.revised,
        account.calls,
        account.ignored.total(),
        account.skipped.total(),
    )
