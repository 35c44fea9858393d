"""The bar that an import shows while it runs, on a terminal: how far, how fast, how long still."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from agent.cli.terminal import Terminal
from agent.cli.terminal_text import escape

if TYPE_CHECKING:
    from rich.progress import Progress

_EVERY_S: Final = 0.1
# What ends before has no need of a bar.
_FIRST_S: Final = 1.0


class Bar:
    """The bar of all files, each by its share of the bytes; does nothing without a terminal."""

    def __init__(self, progress: Progress | None, total: int, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._progress = progress
        self._task = None if progress is None else progress.add_task("", total=max(total, 1), conversations=0, rate="")
        self._clock = clock
        self._began = clock()
        self._next_s = self._began + _FIRST_S
        self._passed = 0
        self._conversations = 0
        self._name = ""
        self._size = 0

    def file(self, name: str, size: int) -> None:
        """Go on to the next file."""
        self._passed += self._size
        self._name, self._size = escape(name), size

    def update(self, share: float, conversations: int) -> None:
        """So much of this file was read, and so many conversations more are done."""
        self._conversations += conversations
        now = self._clock()
        if self._progress is None or self._task is None or now < self._next_s:
            return
        self._next_s = now + _EVERY_S
        self._progress.start()
        self._progress.update(
            self._task,
            completed=self._passed + self._size * share,
            description=self._name,
            conversations=self._conversations,
            rate=f"{self._conversations / (now - self._began):.0f}/s",
        )


@contextmanager
def bar(terminal: Terminal, *, total: int, results_are_shown: bool) -> Iterator[Bar]:
    """A bar on standard error, gone when the block ends; none where nobody looks, or where results would cross it."""
    if not terminal.stderr.isatty() or (results_are_shown and terminal.stdout.isatty()):
        yield Bar(None, total)
        return
    # Late: whoever pipes an import into a log does not wait for Rich.
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    console = Console(file=terminal.stderr, markup=False, emoji=False, highlight=False, _environ=terminal.environ)
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TaskProgressColumn(),
        TextColumn("{task.fields[conversations]} conversations, {task.fields[rate]}", markup=False),
        TimeRemainingColumn(),
    )
    progress = Progress(*columns, console=console, transient=True)
    try:
        yield Bar(progress, total)
    finally:
        progress.stop()
