"""Watches the whole run: nothing that is told may hold what a test has planted as content.

What that is says ``tests/leaks/canaries.py``. A plugin of pytest, loaded by ``tests/conftest.py``. It sees every
record that goes through the loggers ``agent`` and ``store``, as the product writes it and as a handler of somebody else
would; every span of ours as it ends; every metric with its labels; what each door answers where it does not do as
asked, health and headers too; and warnings. Servers in processes of their own have their logs followed by the helpers
that start them, our collectors show what they were sent, and the helper that runs the command line its standard error.
The test in whose time it happens fails, so it holds under xdist too. ``tests/leaks/doors.py`` says where each of these
goes through.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from tests.leaks.canaries import CANARIES, first_found

# What tests use as content, arguments, values, keys and messages of foreign exceptions; new tests take the first.
PLANTED: Final = tuple(canary.text for canary in CANARIES[:2])
SECRET: Final = PLANTED[0]
_LOGGERS: Final = ("agent", "store")
_REPOSITORY: Final = Path(__file__).parents[1]
_PRODUCT: Final = tuple(f"{_REPOSITORY / package}/" for package in ("agent", "store"))
_SHOWN: Final = 300


class LeakWatch(logging.Handler):
    """Keeps what it has seen of planted secrets, until it is asked."""

    def __init__(self) -> None:
        super().__init__()
        self._found: list[str] = []
        self._followed: dict[Path, int] = {}
        self._lines: logging.Handler | None = None

    def look(self, where: str, text: str) -> None:
        """Remember ``text`` if it holds a canary in any of its forms."""
        if found := first_found(text):
            start = max(0, found.start() - _SHOWN // 2)
            self._found.append(f"{where}: {text[start : start + _SHOWN]}")

    def follow(self, log: Path) -> None:
        """Look at each line that a process writes to the file ``log``."""
        self._followed[log] = 0

    def leave(self, log: Path) -> None:
        """Look at what stands in ``log`` by now, a line that was cut off too, and no more."""
        self._read(log, self._followed.pop(log, 0), whole_lines=False)

    def taken(self) -> list[str]:
        """What was found since this was asked last."""
        for log, read in self._followed.items():
            self._followed[log] = read + self._read(log, read)
        found, self._found = self._found, []
        return found

    def _read(self, log: Path, start: int, *, whole_lines: bool = True) -> int:
        """Look at ``log`` from ``start`` on, and say how many bytes that were."""
        if not log.exists() or log.stat().st_size == start:
            return 0
        with log.open("rb") as file:
            file.seek(start)
            new = file.read()
        seen = new[: new.rfind(b"\n") + 1] if whole_lines else new
        self.look(f"the log {log.name}", seen.decode(errors="replace"))
        return len(seen)

    def emit(self, record: logging.LogRecord) -> None:
        from agent.observability.logs import JsonLines  # not before coverage has begun to measure

        # Ours hold no content whoever writes them down, and a stranger's in our own lines. log_event names no file.
        if record.pathname == "" or record.pathname.startswith(_PRODUCT):
            self.look("a record", self.format(record))
        self._lines = self._lines or JsonLines(self)
        self._lines.emit(record)

    def write(self, text: str) -> None:
        """Take a line as the stream of the product's own handler."""
        self.look("a log line", text)

    def attach(self) -> None:
        """Listen to the product's loggers, also after a test has taken all their handlers away."""
        for logger in map(logging.getLogger, _LOGGERS):
            if self not in logger.handlers:
                logger.addHandler(self)


WATCH: Final = LeakWatch()


def pytest_sessionstart() -> None:
    from tests.leaks.doors import watch_doors  # as above

    watch_doors(WATCH.look)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup() -> None:
    WATCH.attach()


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_teardown() -> Iterator[None]:
    yield
    if found := WATCH.taken():
        pytest.fail("\n".join(["a planted secret was told:", *found]), pytrace=False)
