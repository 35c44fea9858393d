"""The bar of an import: how far, how fast, and only where somebody waits."""

from __future__ import annotations

import io

from rich.console import Console
from rich.progress import Progress

from agent.cli.memory.importing.progress import Bar


class Watched:
    """A bar over 1 000 bytes, by a clock of our own."""

    def __init__(self) -> None:
        self.now = 100.0
        self.printed = io.StringIO()
        self.progress = Progress(console=Console(file=self.printed, force_terminal=True), auto_refresh=False)
        self.bar = Bar(self.progress, 1000, clock=lambda: self.now)

    @property
    def percentage(self) -> float:
        return self.progress.tasks[0].percentage

    @property
    def said(self) -> tuple[str, int, str]:
        task = self.progress.tasks[0]
        return task.description, task.fields["conversations"], task.fields["rate"]


def test_what_ends_within_a_second_shows_no_bar() -> None:
    watched = Watched()
    watched.bar.file("a", 1000)
    watched.now += 0.9
    watched.bar.update(1.0, 7)
    assert watched.percentage == 0
    assert not watched.printed.getvalue()


def test_the_bar_goes_by_the_bytes_of_all_files_and_tells_the_rate() -> None:
    watched = Watched()
    watched.bar.file("a", 400)
    watched.now += 2
    watched.bar.update(0.5, 10)
    assert (watched.percentage, watched.said) == (20.0, ("a", 10, "5/s"))
    watched.bar.file("b\x1b[2J", 600)
    watched.now += 2
    watched.bar.update(0.5, 30)
    assert (watched.percentage, watched.said) == (70.0, ("b\\x1b[2J", 40, "10/s"))
    watched.progress.stop()


def test_the_bar_is_not_drawn_for_every_conversation() -> None:
    watched = Watched()
    watched.bar.file("a", 1000)
    watched.now += 2
    watched.bar.update(0.1, 1)
    watched.now += 0.05
    watched.bar.update(0.2, 1)
    assert watched.percentage == 10.0
    watched.now += 0.06
    watched.bar.update(0.3, 1)
    assert (watched.percentage, watched.said[1]) == (30.0, 3)
    watched.progress.stop()
